/*
 * chatter.c - what a command says on standard error, into the log
 */
#include "cli/chatter.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "util/log.h"
#include "util/text.h"

/* So many lines at once, and then so many a second. */
#define BURST       100
#define LINES_PER_S 10
#define SECOND_MS   1000

void
pawl__chatter_init(pawl_chatter *chatter, const pawl_log *log, const char *who, int64_t now_ms)
{
    chatter->log = log;
    chatter->who = who;
    chatter->size = 0;
    chatter->cut = false;
    chatter->last[0] = '\0';
    chatter->allowed = BURST;
    chatter->filled_ms = now_ms;
    chatter->left_out = chatter->left_out_bytes = 0;
}

static bool
is_allowed(pawl_chatter *chatter, int64_t now_ms)
{
    int64_t more = (now_ms - chatter->filled_ms) * LINES_PER_S / SECOND_MS;

    if (more > 0) {
        chatter->allowed = MIN(chatter->allowed + more, BURST);
        chatter->filled_ms += more * SECOND_MS / LINES_PER_S;
    }
    if (chatter->allowed == 0)
        return false;
    chatter->allowed--;
    return true;
}

/* Control characters would move the cursor of whoever reads the log; what is no UTF-8 would spoil its JSON. */
static void
keep_as_text(pawl_chatter *chatter)
{
    size_t size = pawl__text_cut(chatter->line, chatter->size, sizeof chatter->last - 1);
    char *valid;

    while (size > 0 && chatter->line[size - 1] == '\r')
        size--;
    valid = g_utf8_make_valid(chatter->line, (gssize) size);
    for (char *at = valid; *at != '\0'; at++)
        if ((unsigned char) *at < 0x20 || *at == 0x7f)
            *at = ' ';
    g_strlcpy(chatter->last, valid, sizeof chatter->last);
    chatter->last[pawl__text_cut(chatter->last, strlen(chatter->last), sizeof chatter->last - 1)] = '\0';
    g_free(valid);
}

static void
end_line(pawl_chatter *chatter, int64_t now_ms)
{
    bool logged = is_allowed(chatter, now_ms);

    keep_as_text(chatter);
    if (logged) {
        pawl__log(chatter->log, PAWL_LOG_INFO, "exec", "%s: %s%s", chatter->who, chatter->last,
                  chatter->cut ? " ..." : "");
    } else {
        chatter->left_out++;
        chatter->left_out_bytes += (int64_t) chatter->size;
    }
    chatter->size = 0;
    chatter->cut = false;
}

void
pawl__chatter_add(pawl_chatter *chatter, const char *bytes, size_t size, int64_t now_ms)
{
    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end != NULL ? (size_t) (end - bytes) : size;
        size_t room = sizeof chatter->line - chatter->size;
        size_t taken = MIN(length, room);

        memcpy(chatter->line + chatter->size, bytes, taken);
        chatter->size += taken;
        if (taken < length) {
            chatter->cut = true;
            chatter->left_out_bytes += (int64_t) (length - taken);
        }
        if (end != NULL)
            end_line(chatter, now_ms);
        length += end != NULL ? 1 : 0;
        bytes += length;
        size -= length;
    }
}

void
pawl__chatter_end(pawl_chatter *chatter, int64_t now_ms)
{
    if (chatter->size > 0)
        end_line(chatter, now_ms);
    if (chatter->left_out > 0)
        pawl__log(chatter->log, PAWL_LOG_WARN, "exec",
                  "%s: %" PRId64 " lines more, not logged (%" PRId64 " bytes); the last: %s", chatter->who,
                  chatter->left_out, chatter->left_out_bytes, chatter->last);
    chatter->left_out = chatter->left_out_bytes = 0;
}
