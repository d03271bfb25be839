/*
 * script.c - the Lua that runs on the server
 *
 * A script runs alone: it looks at everything first, and then writes all or nothing. Numbers stay texts, since those of
 * Lua are exact to 2^53 only. Many fields go in pieces, since Lua's stack holds a few thousand values. A hash of which
 * most is wanted is read as a whole: to look up a field in one of up to 128 takes Redis as long as to read half of it.
 */
#include "backends/redis/redis_store.h"

#include <string.h>

#include "util/error.h"
#include "util/text.h"

#define LAYOUT "1"

#define PRELUDE                                                                                     \
    "local offsets, states = KEYS[1], KEYS[2]\n"                                                    \
    "local layout = redis.call('HGET', states, 'layout')\n"                                         \
    "if layout and layout ~= '" LAYOUT "' then return {'LAYOUT', layout} end\n"                     \
    "local function in_pieces(first, last, list, fn)\n"                                             \
    "  for i = first, last, 1000 do fn(i - first, unpack(list, i, math.min(i + 999, last))) end\n"  \
    "end\n"                                                                                         \
    "local function get(key, list, first, last)\n"                                                  \
    "  local values, count = {}, last - first + 1\n"                                                \
    "  if redis.call('HLEN', key) < 2 * count then\n"                                               \
    "    local all, value_of = redis.call('HGETALL', key), {}\n"                                    \
    "    for i = 1, #all, 2 do value_of[all[i]] = all[i + 1] end\n"                                 \
    "    for i = 1, count do values[i] = value_of[list[first + i - 1]] or false end\n"              \
    "    return values\n"                                                                           \
    "  end\n"                                                                                       \
    "  in_pieces(first, last, list, function(before, ...)\n"                                        \
    "    for i, value in ipairs(redis.call('HMGET', key, ...)) do values[before + i] = value end\n" \
    "  end)\n"                                                                                      \
    "  return values\n"                                                                             \
    "end\n"                                                                                         \
    "local function set(key, list, first, last)\n"                                                  \
    "  in_pieces(first, last, list, function(_, ...) redis.call('HSET', key, ...) end)\n"           \
    "end\n"                                                                                         \
    "local function every(first, stride)\n"                                                         \
    "  local list = {}\n"                                                                           \
    "  for i = first, #ARGV, stride do list[#list + 1] = ARGV[i] end\n"                             \
    "  return list\n"                                                                               \
    "end\n"

/* The cluster's id, and of each field the offset and the state. */
static const char load[] =
    PRELUDE "return {'OK', redis.call('HGET', states, 'cluster'), get(offsets, ARGV, 1, #ARGV),\n"
            "get(states, ARGV, 1, #ARGV)}";

/* The fields that have an offset, and all states. */
static const char list[] = PRELUDE "return {'OK', redis.call('HKEYS', offsets), redis.call('HGETALL', states)}";

/* A write that changes nothing: what was written before it is on a replica when this is. */
static const char settle[] = PRELUDE "if layout then redis.call('HSET', states, 'layout', layout) end\n"
                                     "return {'OK'}";

/* cluster, the time, owner, new epoch, then lines of field, epoch seen, initial offset. The group's field `owner` says who
 * was the last to acquire anything of it, and under which epoch. */
static const char acquire[] = PRELUDE
    "local cluster, time, owner, new = unpack(ARGV, 1, 4)\n"
    "local fields = every(5, 3)\n"
    "local found, known, moved, written = get(offsets, fields, 1, #fields), get(states, fields, 1, #fields), {}, {}\n"
    "local function is_offset(text)\n"
    "  return text == '0' or (text:match('^[1-9]%d*$') and\n"
    "    (#text < 19 or (#text == 19 and text <= '9223372036854775807')))\n"
    "end\n"
    "for i, field in ipairs(fields) do\n"
    "  local seen, initial = unpack(ARGV, 3 * i + 3, 3 * i + 4)\n"
    "  local offset, state = found[i], known[i]\n"
    "  local epoch, batch, pending, print = '0', '0', '-', ''\n"
    "  if state then\n"
    "    epoch, batch, pending, print =\n"
    "      state:match('^epoch=(%d+) batch=(%d+) pending=([^ ]+) at=[^ ]+ print=([^ ]*) renewed=')\n"
    "  end\n"
    "  if epoch ~= seen or (offset and not is_offset(offset)) then return {'LINE', i - 1, offset, state} end\n"
    "  if not offset and initial ~= '-' then\n"
    "    offset = initial\n"
    "    moved[#moved + 1], moved[#moved + 2] = field, offset\n"
    "  end\n"
    "  written[2 * i - 1] = field\n"
    "  written[2 * i] = 'epoch=' .. new .. ' batch=' .. batch .. ' pending=' .. pending .. ' at=' .. (offset "
    "or '-') ..\n"
    "    ' print=' .. print .. ' renewed=' .. time .. ' ' .. owner\n"
    "end\n"
    "redis.call('HSET', states, 'layout', '" LAYOUT "', 'owner', 'epoch=' .. new .. ' ' .. owner)\n"
    "if cluster ~= '' then redis.call('HSET', states, 'cluster', cluster) end\n"
    "set(offsets, moved, 1, #moved)\n"
    "set(states, written, 1, #written)\n"
    "return {'OK'}";

/* lines of field, epoch; what is another's stays as it is */
static const char release[] = PRELUDE
    "local fields = every(1, 2)\n"
    "local written = {}\n"
    "for i, state in ipairs(get(states, fields, 1, #fields)) do\n"
    "  local head, epoch, client\n"
    "  if state then\n"
    "    head, epoch, client = state:match('^(epoch=(%d+) .-)renewed=%d+ pid=[^ ]* host=[^ ]* (client=[^ ]*)$')\n"
    "  end\n"
    "  if epoch == ARGV[2 * i] then\n"
    "    written[#written + 1], written[#written + 2] = fields[i], head .. 'renewed=0 pid=0 host= ' .. client\n"
    "  end\n"
    "end\n"
    "set(states, written, 1, #written)\n"
    "return {'OK'}";

/* Plan, remove, and a save that has no number: the time, then lines of field, epoch, expected, and what offset, batch,
 * pending and print shall be. '-' is no offset; '=' leaves what is there. */
static const char change[] =
    PRELUDE "local fields = every(2, 7)\n"
            "local found, known, moved, gone, written = get(offsets, fields, 1, #fields), get(states, fields, 1, "
            "#fields), {}, {}, {}\n"
            "for i, field in ipairs(fields) do\n"
            "  local epoch, expected, offset, batch, pending, print = unpack(ARGV, 7 * i - 4, 7 * i + 1)\n"
            "  local state, old_epoch, old_batch, at, old_print, renewed, owner = known[i]\n"
            "  if state then\n"
            "    old_epoch, old_batch, at, old_print, renewed, owner = state:match(\n"
            "      '^epoch=(%d+) batch=(%d+) pending=[^ ]+ at=([^ ]+) print=([^ ]*) renewed=(%d+) (.+)$')\n"
            "  end\n"
            "  if old_epoch ~= epoch or found[i] ~= (expected ~= '-' and expected) then\n"
            "    return {'LINE', i - 1, found[i], state}\n"
            "  end\n"
            "  if offset == '-' then\n"
            "    gone[#gone + 1] = field\n"
            "  elseif offset ~= '=' then\n"
            "    moved[#moved + 1], moved[#moved + 2] = field, offset\n"
            "  end\n"
            "  written[2 * i - 1] = field\n"
            "  written[2 * i] = 'epoch=' .. epoch .. ' batch=' .. (batch == '=' and old_batch or batch) ..\n"
            "    ' pending=' .. pending .. ' at=' .. (offset == '=' and at or offset) ..\n"
            "    ' print=' .. (print == '=' and old_print or print) ..\n"
            "    ' renewed=' .. (ARGV[1] == '=' and renewed or ARGV[1]) .. ' ' .. owner\n"
            "end\n"
            "set(offsets, moved, 1, #moved)\n"
            "in_pieces(1, #gone, gone, function(_, ...) redis.call('HDEL', offsets, ...) end)\n"
            "set(states, written, 1, #written)\n"
            "return {'OK'}";

/*
 * The ordinary save, where all lines have the same epoch and batch: how many; the words of a state up to the epoch, from
 * there to the offset, and from the print to the owner; our owner. Then all fields, what offset each has, what it shall
 * have, and the prints.
 *
 * Only an acquire changes an epoch, and it writes the group's `owner`. While that is ours, with this epoch, every epoch of
 * that acquire stands, and there is no need to look at the states, which would take as long as all the rest.
 */
static const char save[] = PRELUDE
    "local argv, count, epoch, batch, renewed, owner = ARGV, tonumber(ARGV[1]), unpack(ARGV, 2, 5)\n"
    "local field_at, expected_at, until_at, print_at = 5, 5 + count, 5 + 2 * count, 5 + 3 * count\n"
    "local found, known = get(offsets, argv, field_at + 1, field_at + count)\n"
    "if redis.call('HGET', states, 'owner') ~= epoch .. owner then\n"
    "  known = get(states, argv, field_at + 1, field_at + count)\n"
    "end\n"
    "local function owner_of(state)\n"
    "  local before = state and string.sub(state, 1, #epoch) == epoch and string.find(state, ' pid=', 1, true)\n"
    "  return before and string.sub(state, before + 1)\n"
    "end\n"
    "local moved, written = {}, {}\n"
    "for i = 1, count do\n"
    "  local field, expected, offset = argv[field_at + i], argv[expected_at + i], argv[until_at + i]\n"
    "  local line_owner = owner\n"
    "  if known then line_owner = owner_of(known[i]) end\n"
    "  if not line_owner or found[i] ~= (expected ~= '-' and expected) then\n"
    "    return {'LINE', i - 1, found[i], redis.call('HGET', states, field)}\n"
    "  end\n"
    "  moved[2 * i - 1], moved[2 * i], written[2 * i - 1] = field, offset, field\n"
    "  written[2 * i] = epoch .. batch .. offset .. ' print=' .. argv[print_at + i] .. renewed .. line_owner\n"
    "end\n"
    "set(offsets, moved, 1, 2 * count)\n"
    "set(states, written, 1, 2 * count)\n"
    "return {'OK'}";

static const struct {
    const char *text;
    bool writes;
} scripts[PAWL__REDIS_SCRIPTS] = {
    [PAWL__REDIS_LOAD] = {load, false},      [PAWL__REDIS_LIST] = {list, false},
    [PAWL__REDIS_SETTLE] = {settle, false},  [PAWL__REDIS_ACQUIRE] = {acquire, true},
    [PAWL__REDIS_RELEASE] = {release, true}, [PAWL__REDIS_CHANGE] = {change, true},
    [PAWL__REDIS_SAVE] = {save, true},
};

/* ------------------------------------------------------------------------------------------------------- running -- */

static pawl_status
other_layout(const pawl__redis_store *store, const char *group, const redisReply *layout, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                          "group '%s' in %s was written by another pawl: its layout is version '%s', this pawl knows "
                          "version " LAYOUT,
                          group, store->url, pawl__text_from_bytes(layout->str, layout->len, shown));
}

/* One try, by "EVALSHA" and the script's hash, or by "EVAL" and its text. */
static pawl_status
try_script(pawl__redis_store *store, pawl__redis_script script, const char *command, const char *name,
           const pawl_store_call *call, const pawl__redis_args *args, redisReply **ret_reply, pawl_error *err)
{
    char *offsets = pawl__redis_offsets_key(call->group), *states = pawl__redis_states_key(call->group);
    pawl__redis_args first;
    GString *request;
    pawl_status status;

    pawl__redis_args_init(&first);
    pawl__redis_args_add(&first, command);
    pawl__redis_args_add(&first, name);
    pawl__redis_args_add(&first, "2");
    pawl__redis_args_add(&first, offsets);
    pawl__redis_args_add(&first, states);
    request = pawl__redis_args_request(&first, args);
    if (scripts[script].writes)
        status = pawl__redis_write(store, request, call->deadline_ms, ret_reply, err);
    else
        status = pawl__redis_read(store, request, call->deadline_ms, ret_reply, err);
    g_string_free(request, TRUE);
    pawl__redis_args_done(&first);
    g_free(offsets);
    g_free(states);
    return status;
}

/* The server knows a script by its SHA-1 once it has seen it; after a restart it has not. */
static pawl_status
ask_script(pawl__redis_store *store, pawl__redis_script script, const pawl_store_call *call,
           const pawl__redis_args *args, redisReply **ret_reply, pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status;

    if (store->hashes[script] == NULL)
        store->hashes[script] = g_compute_checksum_for_string(G_CHECKSUM_SHA1, scripts[script].text, -1);
    status = try_script(store, script, "EVALSHA", store->hashes[script], call, args, &reply, err);
    if (status == PAWL_OK && pawl__redis_is_error(reply, "NOSCRIPT")) {
        freeReplyObject(reply);
        status = try_script(store, script, "EVAL", scripts[script].text, call, args, &reply, err);
    }
    if (status != PAWL_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR) {
        status = pawl__redis_fail(store, reply, err);
        freeReplyObject(reply);
        return status;
    }
    *ret_reply = reply;
    return PAWL_OK;
}

void
pawl__redis_scripts_done(pawl__redis_store *store)
{
    for (int i = 0; i < PAWL__REDIS_SCRIPTS; i++)
        g_free(store->hashes[i]);
}

/* Whether it is what a script of ours returns, and begins with this word. */
static bool
says(const redisReply *reply, const char *word)
{
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements >= 1 &&
           reply->element[0]->type == REDIS_REPLY_STRING && strcmp(reply->element[0]->str, word) == 0;
}

static pawl_status
check_answer(const pawl__redis_store *store, const char *group, const redisReply *reply, pawl_error *err)
{
    if (says(reply, "OK"))
        return PAWL_OK;
    if (says(reply, "LINE") && reply->elements == 4)
        return PAWL_OK;
    if (says(reply, "LAYOUT") && reply->elements == 2)
        return other_layout(store, group, reply->element[1], err);
    return pawl__redis_strange(store, err);
}

/* What the script has written is there, and may yet be lost with the master. */
static pawl_status
confirm(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err)
{
    pawl_status status = pawl__redis_wait_replicas(store, deadline_ms, err);

    if (status == PAWL_OK || status == PAWL_CANCELLED)
        return status;
    return pawl__error_turn_into(err, PAWL_OUTCOME_UNKNOWN, 0);
}

pawl_status
pawl__redis_run(pawl__redis_store *store, const pawl_store_call *call, pawl__redis_script script,
                const pawl__redis_args *args, redisReply **ret_reply, pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_session(store, call->deadline_ms, err);

    if (status == PAWL_OK)
        status = ask_script(store, script, call, args, &reply, err);
    if (status == PAWL_OK)
        status = check_answer(store, call->group, reply, err);
    if (status == PAWL_OK && scripts[script].writes && says(reply, "OK"))
        status = confirm(store, call->deadline_ms, err);
    if (status == PAWL_OK)
        *ret_reply = reply;
    else if (reply != NULL)
        freeReplyObject(reply);
    return status;
}

bool
pawl__redis_refused(const redisReply *reply, size_t count, size_t *ret_line)
{
    if (!says(reply, "LINE"))
        return false;
    *ret_line = MIN((size_t) reply->element[1]->integer, count - 1);
    return true;
}
