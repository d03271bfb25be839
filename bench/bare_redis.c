/*
 * bare_redis.c - one EVALSHA that sets two hashes, of offsets and of what goes with them; the address is HOST:PORT
 */
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <hiredis/hiredis.h>

#include "bare.h"

/* As long as what pawl keeps beside an offset. */
#define NOTE                                                                                      \
    "epoch=1764547200000000 pending=- at=%" PRId64 " batch=%" PRId64 " print=%s renewed=%" PRId64 \
    " pid=1 host=localhost~0123456789abcdef client=bench"

/* The fields and values of the first hash, then those of the second; in pieces, since Lua's stack is small. */
static const char script[] = "for k = 1, 2 do\n"
                             "  local last = k * #ARGV / 2\n"
                             "  for i = last - #ARGV / 2 + 1, last, 1000 do\n"
                             "    redis.call('HSET', KEYS[k], unpack(ARGV, i, math.min(i + 999, last)))\n"
                             "  end\n"
                             "end";

struct bare {
    redisContext *context;
    char *sha;
    char **fields;
    int partitions;
};

static redisReply *
check(const bare *client, redisReply *reply)
{
    if (reply == NULL)
        give_up("redis", client->context->errstr);
    if (reply->type == REDIS_REPLY_ERROR)
        give_up("redis", reply->str);
    return reply;
}

bare *
bare_open(const char *address, int partitions)
{
    char **parts = g_strsplit(address, ":", 2);
    bare *client = g_new0(bare, 1);
    redisReply *reply;

    client->context = redisConnect(parts[0], atoi(parts[1]));
    if (client->context == NULL || client->context->err != 0)
        give_up("redis", address);
    reply = check(client, redisCommand(client->context, "SCRIPT LOAD %s", script));
    client->sha = g_strdup(reply->str);
    freeReplyObject(reply);
    client->partitions = partitions;
    client->fields = g_new0(char *, partitions + 1);
    for (int i = 0; i < partitions; i++)
        client->fields[i] = g_strdup_printf(BARE_TOPIC ":%d", i);
    g_strfreev(parts);
    return client;
}

void
bare_save(bare *client, int64_t offset, int64_t batch, const char *print, int64_t now_ms)
{
    const char **words = g_new(const char *, 5 + 4 * client->partitions);
    char number[24], note[300];
    int count = 0;

    g_snprintf(number, sizeof number, "%" PRId64, offset);
    g_snprintf(note, sizeof note, NOTE, offset, batch, print, now_ms);
    words[count++] = "EVALSHA";
    words[count++] = client->sha;
    words[count++] = "2";
    words[count++] = "bare:{offsets}";
    words[count++] = "bare:{offsets}:state";
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < client->partitions; i++) {
            words[count++] = client->fields[i];
            words[count++] = k == 0 ? number : note;
        }
    }
    freeReplyObject(check(client, redisCommandArgv(client->context, count, words, NULL)));
    g_free(words);
}

void
bare_close(bare *client)
{
    redisFree(client->context);
    g_free(client->sha);
    g_strfreev(client->fields);
    g_free(client);
}
