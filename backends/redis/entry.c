/*
 * entry.c - keys, fields, and the text that is kept beside an offset
 *
 * The keys of a group have its name in braces: that much of a key decides in a cluster on which node it lies. A key of
 * offsets ends with a brace and one of states does not, so that any name of a group can be read out of either.
 */
#include "backends/redis/redis_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

#define KEY_START   "pawl:{"
#define OFFSETS_END "}"
#define STATES_END  "}:state"

/* ------------------------------------------------------------------------------------------- keys, fields, place -- */

char *
pawl__redis_offsets_key(const char *group)
{
    return g_strconcat(KEY_START, group, OFFSETS_END, NULL);
}

char *
pawl__redis_states_key(const char *group)
{
    return g_strconcat(KEY_START, group, STATES_END, NULL);
}

char *
pawl__redis_group_of_key(const char *key, bool *ret_has_offsets)
{
    const char *end = OFFSETS_END;

    *ret_has_offsets = g_str_has_suffix(key, OFFSETS_END);
    if (!*ret_has_offsets)
        end = STATES_END;
    if (!g_str_has_prefix(key, KEY_START) || !g_str_has_suffix(key, end) || !g_utf8_validate(key, -1, NULL) ||
        strlen(key) <= strlen(KEY_START) + strlen(end))
        return NULL;
    return g_strndup(key + strlen(KEY_START), strlen(key) - strlen(KEY_START) - strlen(end));
}

bool
pawl__redis_read_field(const char *field, char **ret_topic, int32_t *ret_number)
{
    const char *colon = strrchr(field, ':');
    int64_t number;

    if (colon == NULL || colon == field || !pawl__text_offset(colon + 1, strlen(colon + 1), &number) ||
        number > INT32_MAX || !g_utf8_validate(field, -1, NULL))
        return false;
    *ret_topic = g_strndup(field, (gsize) (colon - field));
    *ret_number = (int32_t) number;
    return true;
}

void
pawl__redis_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    pawl__redis_store *store = self;

    snprintf(text, text_size, "field '%s:%d' of hash '" KEY_START "%s" OFFSETS_END "' in %s", partition.topic,
             (int) partition.number, group, store->url);
}

char *
pawl__redis_escape(const char *text)
{
    return g_uri_escape_string(text, "/:@+,;", TRUE);
}

/* ------------------------------------------------------------------------------------------------------- reading -- */

/* Takes "name=value" and the blank after it off the front of a state. */
static bool
take(const char **state, const char *name, const char **ret_value, size_t *ret_size)
{
    size_t size = strlen(name);

    if (strncmp(*state, name, size) != 0 || (*state)[size] != '=')
        return false;
    *ret_value = *state + size + 1;
    *ret_size = strcspn(*ret_value, " ");
    *state = *ret_value + *ret_size;
    if (**state == ' ')
        ++*state;
    return true;
}

static bool
take_number(const char **state, const char *name, int64_t *ret_number)
{
    const char *value;
    size_t size;

    return take(state, name, &value, &size) && pawl__text_offset(value, size, ret_number);
}

static bool
take_position(const char **state, const char *name, pawl_position *ret_position)
{
    const char *value;
    size_t size;
    int64_t offset = 0;

    if (!take(state, name, &value, &size))
        return false;
    if (size == 1 && *value == '-') {
        *ret_position = pawl_position_absent();
        return true;
    }
    if (!pawl__text_offset(value, size, &offset))
        return false;
    *ret_position = pawl_position_at(offset);
    return true;
}

static bool
take_text(const char **state, const char *name, char *ret_text, size_t text_size)
{
    const char *value;
    size_t size;
    char *decoded;

    if (!take(state, name, &value, &size))
        return false;
    decoded = g_uri_unescape_segment(value, value + size, NULL);
    if (decoded == NULL)
        return false;
    g_strlcpy(ret_text, decoded, text_size);
    g_free(decoded);
    return true;
}

/* As script.c writes it. */
static bool
read_state(const char *state, pawl__redis_found *found)
{
    pawl_entry *entry = &found->entry;

    return take_number(&state, "epoch", &entry->epoch) && take_number(&state, "batch", &entry->batch) &&
           take_position(&state, "pending", &entry->pending) && take_position(&state, "at", &found->written) &&
           take_text(&state, "print", entry->print, sizeof entry->print) &&
           take_number(&state, "renewed", &entry->owner.renewed_ms) && take_number(&state, "pid", &entry->owner.pid) &&
           take_text(&state, "host", entry->owner.host, sizeof entry->owner.host) &&
           take_text(&state, "client", entry->owner.client_id, sizeof entry->owner.client_id) && *state == '\0';
}

static bool
is_text(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING && strlen(reply->str) == reply->len;
}

/* Something stands there that pawl did not write. It is shown, and never taken for "nothing". */
static pawl_status
unreadable(pawl__redis_store *store, const char *group, pawl_partition partition, const redisReply *what,
           const char *kind, pawl_error *err)
{
    char place[PAWL__REDIS_PLACE_SIZE], shown[PAWL__BYTES_TEXT_SIZE];

    pawl__redis_place(store, group, partition, place, sizeof place);
    return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "'%s' is no %s as pawl writes it: %s",
                          pawl__text_from_bytes(what->str != NULL ? what->str : "", what->len, shown), kind, place);
}

pawl_status
pawl__redis_read_entry(pawl__redis_store *store, const char *group, pawl_partition partition, const redisReply *offset,
                       const redisReply *state, pawl__redis_found *ret_found, pawl_error *err)
{
    int64_t number = 0;

    memset(ret_found, 0, sizeof *ret_found);
    ret_found->entry.partition = partition;
    if (offset->type != REDIS_REPLY_NIL) {
        if (!is_text(offset) || !pawl__text_offset(offset->str, offset->len, &number))
            return unreadable(store, group, partition, offset, "offset", err);
        ret_found->entry.offset = pawl_position_at(number);
    }
    if (state->type != REDIS_REPLY_NIL && (!is_text(state) || !read_state(state->str, ret_found)))
        return unreadable(store, group, partition, state, "state (of hash ...:state)", err);
    return PAWL_OK;
}

pawl_status
pawl__redis_read_refused(pawl__redis_store *store, const char *group, pawl_partition partition, const redisReply *reply,
                         pawl__redis_found *ret_found, pawl_error *err)
{
    return pawl__redis_read_entry(store, group, partition, reply->element[2], reply->element[3], ret_found, err);
}
