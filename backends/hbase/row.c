/*
 * row.c - what the cells of a group's row mean, read and written
 *
 *     o:guard              the token of the last write
 *     o:layout             1
 *     o:cluster            Kafka's cluster id
 *     o:TOPIC:3            the offset, or "none" once it was removed
 *     o:TOPIC:3:owner      {"epoch":5,"host":"h","pid":12,"client":"c"}
 *     o:TOPIC:3:state      {"batch":7,"renewed_ms":1764547200000,"pending":900,"print":"..."}
 *
 * What is zero or empty is left out. A column is read from its end, so that a topic may hold what it likes.
 */
#include "backends/hbase/hbase_store.h"

#include <stdio.h>
#include <string.h>

#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "util/text.h"
#include "util/partition.h"

#define LAYOUT "1"
#define NONE   "none"

/* Which cell of a partition. */
typedef enum kind { OFFSET, OWNER, STATE } kind;

static const char *const suffixes[] = {[OFFSET] = "", [OWNER] = ":owner", [STATE] = ":state"};

/* ------------------------------------------------------------------------------------------- a row in our memory -- */

static void
free_line(void *user)
{
    pawl__hbase_line *line = user;

    g_free((char *) line->entry.partition.topic);
    g_free(line->unreadable);
    g_free(line);
}

pawl__hbase_row *
pawl__hbase_row_new(const char *group)
{
    pawl__hbase_row *row = g_new0(pawl__hbase_row, 1);

    row->group = g_strdup(group);
    row->guard = g_strdup("");
    row->lines = g_hash_table_new_full(pawl__partition_hash, pawl__partition_equal, NULL, free_line);
    return row;
}

void
pawl__hbase_row_free(pawl__hbase_row *row)
{
    if (row == NULL)
        return;
    g_hash_table_unref(row->lines);
    g_free(row->unreadable);
    g_free(row->guard);
    g_free(row->group);
    g_free(row);
}

/* The line of a partition, made if there is none. */
static pawl__hbase_line *
get_line(pawl__hbase_row *row, pawl_partition partition)
{
    pawl__hbase_line *line = g_hash_table_lookup(row->lines, &partition);

    if (line == NULL) {
        line = g_new0(pawl__hbase_line, 1);
        line->entry.partition = (pawl_partition){g_strdup(partition.topic), partition.number};
        g_hash_table_insert(row->lines, &line->entry.partition, line);
    }
    return line;
}

bool
pawl__hbase_line_is_listed(const pawl__hbase_line *line)
{
    return line->unreadable != NULL || line->entry.offset.known || line->entry.owner.host[0] != '\0';
}

pawl_status
pawl__hbase_row_entry(const pawl__hbase_row *row, pawl_partition partition, pawl_entry *ret_entry, pawl_error *err)
{
    const pawl__hbase_line *line = g_hash_table_lookup(row->lines, &partition);

    if (line == NULL)
        memset(ret_entry, 0, sizeof *ret_entry);
    else if (line->unreadable != NULL)
        return pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "%s", line->unreadable);
    else
        *ret_entry = line->entry;
    ret_entry->partition = partition;
    return PAWL_OK;
}

void
pawl__hbase_row_set(pawl__hbase_row *row, const pawl_entry *entry)
{
    pawl__hbase_line *line = get_line(row, entry->partition);
    pawl_partition partition = line->entry.partition;

    line->entry = *entry;
    line->entry.partition = partition;
}

/* ------------------------------------------------------------------------------------------------------- reading -- */

void
pawl__hbase_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    const pawl__hbase_store *store = self;

    snprintf(text, text_size, "column %s:%s:%d of row '%s' in HBase's table '%s' at %s", store->family, partition.topic,
             (int) partition.number, group, store->table, store->gateways[store->gateway]);
}

/* Splits "flights:3:owner". The topic is given by its size. False: no column of a partition. */
static bool
parse_column(const char *column, size_t *ret_topic_size, int32_t *ret_number, kind *ret_kind)
{
    size_t size = strlen(column);
    const char *colon;
    int64_t number;

    *ret_kind = OFFSET;
    for (kind each = OWNER; each <= STATE; each++)
        if (g_str_has_suffix(column, suffixes[each])) {
            *ret_kind = each;
            size -= strlen(suffixes[each]);
        }
    colon = g_strrstr_len(column, (gssize) size, ":");
    if (colon == NULL || colon == column ||
        !pawl__text_offset(colon + 1, size - (size_t) (colon + 1 - column), &number) || number > INT32_MAX)
        return false;
    *ret_topic_size = (size_t) (colon - column);
    *ret_number = (int32_t) number;
    return true;
}

static bool
read_offset(const pawl__hbase_cell *cell, pawl_position *ret_offset)
{
    int64_t offset;

    if (strcmp(cell->value, NONE) == 0) {
        *ret_offset = pawl_position_absent();
        return true;
    }
    if (!pawl__text_offset(cell->value, cell->size, &offset))
        return false;
    *ret_offset = pawl_position_at(offset);
    return true;
}

/* A member of a JSON object that is a number from 0 up; *ret_number stays where there is no such member. */
static bool
read_number(yajl_val object, const char *name, int64_t *ret_number)
{
    yajl_val value = yajl_tree_get(object, (const char *[]){name, NULL}, yajl_t_any);

    if (value == NULL)
        return true;
    return YAJL_IS_NUMBER(value) &&
           pawl__text_offset(YAJL_GET_NUMBER(value), strlen(YAJL_GET_NUMBER(value)), ret_number);
}

static bool
read_text(yajl_val object, const char *name, char *ret_text, size_t size)
{
    yajl_val value = yajl_tree_get(object, (const char *[]){name, NULL}, yajl_t_any);

    if (value == NULL)
        return true;
    if (!YAJL_IS_STRING(value))
        return false;
    return g_strlcpy(ret_text, YAJL_GET_STRING(value), size) < size;
}

static bool
read_owner(yajl_val object, pawl_entry *entry)
{
    return read_number(object, "epoch", &entry->epoch) && read_number(object, "pid", &entry->owner.pid) &&
           read_text(object, "host", entry->owner.host, sizeof entry->owner.host) &&
           read_text(object, "client", entry->owner.client_id, sizeof entry->owner.client_id);
}

static bool
read_state(yajl_val object, pawl_entry *entry)
{
    int64_t pending = -1;

    if (!read_number(object, "batch", &entry->batch) || !read_number(object, "renewed_ms", &entry->owner.renewed_ms) ||
        !read_number(object, "pending", &pending) || !read_text(object, "print", entry->print, sizeof entry->print))
        return false;
    if (pending >= 0)
        entry->pending = pawl_position_at(pending);
    return true;
}

static bool
read_cell(const pawl__hbase_cell *cell, kind which, pawl_entry *entry)
{
    yajl_val object;
    char reason[8];
    bool right;

    if (which == OFFSET)
        return read_offset(cell, &entry->offset);
    object = strlen(cell->value) == cell->size ? yajl_tree_parse(cell->value, reason, sizeof reason) : NULL;
    right = YAJL_IS_OBJECT(object) && (which == OWNER ? read_owner(object, entry) : read_state(object, entry));
    yajl_tree_free(object);
    return right;
}

/* The sentence about a cell that pawl did not write. */
static char *
unreadable(pawl__hbase_store *store, const char *group, pawl_partition partition, kind which,
           const pawl__hbase_cell *cell)
{
    char place[PAWL__HBASE_PLACE_SIZE], shown[PAWL__BYTES_TEXT_SIZE];

    pawl__hbase_place(store, group, partition, place, sizeof place);
    return g_strdup_printf("'%s' is stored%s%s, which pawl did not write, in %s",
                           pawl__text_from_bytes(cell->value, cell->size, shown), which == OFFSET ? "" : " as ",
                           which == OFFSET ? "" : suffixes[which] + 1, place);
}

/* The row as a whole cannot be used. Columns come in the order of their names: the layout has the last word. */
static void
refuse_row(pawl__hbase_row *row, pawl_status status, char *sentence)
{
    g_free(row->unreadable);
    row->unreadable = sentence;
    row->status = status;
}

static void
read_cluster(const pawl__hbase_store *store, pawl__hbase_row *row, const pawl__hbase_cell *cell)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    if (cell->size < sizeof row->cluster && g_strlcpy(row->cluster, cell->value, sizeof row->cluster) == cell->size)
        return;
    refuse_row(row, PAWL_UNREADABLE,
               g_strdup_printf("'%s' is no cluster id that pawl wrote, in column %s:cluster of row '%s' in HBase's "
                               "table '%s'",
                               pawl__text_from_bytes(cell->value, cell->size, shown), store->family, row->group,
                               store->table));
}

static void
read_layout(const pawl__hbase_store *store, pawl__hbase_row *row, const pawl__hbase_cell *cell)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    row->has_layout = true;
    if (strcmp(cell->value, LAYOUT) != 0)
        refuse_row(row, PAWL_UNSUPPORTED,
                   g_strdup_printf("row '%s' in HBase's table '%s' has version '%s' of the layout, and this pawl knows "
                                   "version " LAYOUT " only",
                                   row->group, store->table, pawl__text_from_bytes(cell->value, cell->size, shown)));
}

/* What the row says of itself. False: it is about a partition, or not ours. */
static bool
read_group_cell(const pawl__hbase_store *store, pawl__hbase_row *row, const char *column, const pawl__hbase_cell *cell)
{
    if (strcmp(column, "guard") == 0) {
        g_free(row->guard);
        row->guard = g_strdup(cell->value);
    } else if (strcmp(column, "cluster") == 0) {
        read_cluster(store, row, cell);
    } else if (strcmp(column, "layout") == 0) {
        read_layout(store, row, cell);
    } else {
        return false;
    }
    return true;
}

void
pawl__hbase_row_read(pawl__hbase_store *store, pawl__hbase_row *row, const pawl__hbase_cells *cells)
{
    for (guint i = 0; i < cells->cells->len; i++) {
        const pawl__hbase_cell *cell = &g_array_index(cells->cells, pawl__hbase_cell, i);
        const char *colon = strchr(cell->column, ':'), *column = colon != NULL ? colon + 1 : "";
        pawl_partition partition;
        pawl__hbase_line *line;
        size_t topic_size;
        kind which;
        char *topic;

        if (read_group_cell(store, row, column, cell) || !parse_column(column, &topic_size, &partition.number, &which))
            continue;
        partition.topic = topic = g_strndup(column, topic_size);
        line = get_line(row, partition);
        if (!read_cell(cell, which, &line->entry) && line->unreadable == NULL)
            line->unreadable = unreadable(store, row->group, partition, which, cell);
        g_free(topic);
    }
}

/* ------------------------------------------------------------------------------------------------------- writing -- */

static void
append_base64(GString *put, const char *text)
{
    gsize size = strlen(text), start = put->len;
    gint state = 0, save = 0;

    g_string_set_size(put, start + (size / 3 + 1) * 4 + 4);
    start += g_base64_encode_step((const guchar *) text, size, FALSE, put->str + start, &state, &save);
    start += g_base64_encode_close(FALSE, put->str + start, &state, &save);
    g_string_set_size(put, start);
}

GString *
pawl__hbase_put_begin(const char *group)
{
    GString *put = g_string_new("{\"Row\":[{\"key\":\"");

    append_base64(put, group);
    g_string_append(put, "\",\"Cell\":[");
    return put;
}

void
pawl__hbase_put_cell(const pawl__hbase_store *store, GString *put, const char *column, const char *value)
{
    char *whole = g_strconcat(store->family, ":", column, NULL);

    if (put->str[put->len - 1] == '}')
        g_string_append_c(put, ',');
    g_string_append(put, "{\"column\":\"");
    append_base64(put, whole);
    g_string_append(put, "\",\"$\":\"");
    append_base64(put, value);
    g_string_append(put, "\"}");
    g_free(whole);
}

void
pawl__hbase_put_end(const pawl__hbase_store *store, GString *put, const char *new_guard, const char *old_guard)
{
    pawl__hbase_put_cell(store, put, "guard", new_guard);
    /* With check=put the gateway takes the last cell off, and writes the rest only where it finds that; "": nothing. */
    pawl__hbase_put_cell(store, put, "guard", old_guard);
    g_string_append(put, "]}]}");
}

static void
gen_text(yajl_gen json, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    yajl_gen_string(json, (const unsigned char *) name, strlen(name));
    yajl_gen_string(json, (const unsigned char *) text, strlen(text));
}

static void
gen_number(yajl_gen json, const char *name, int64_t number)
{
    yajl_gen_string(json, (const unsigned char *) name, strlen(name));
    yajl_gen_integer(json, number);
}

static void
gen_owner(yajl_gen json, const pawl_entry *entry)
{
    gen_number(json, "epoch", entry->epoch);
    gen_text(json, "host", entry->owner.host);
    if (entry->owner.pid != 0)
        gen_number(json, "pid", entry->owner.pid);
    gen_text(json, "client", entry->owner.client_id);
}

static void
gen_state(yajl_gen json, const pawl_entry *entry)
{
    if (entry->batch != 0)
        gen_number(json, "batch", entry->batch);
    if (entry->owner.renewed_ms != 0)
        gen_number(json, "renewed_ms", entry->owner.renewed_ms);
    if (entry->pending.known)
        gen_number(json, "pending", entry->pending.offset);
    gen_text(json, "print", entry->print);
}

static void
put_partition_cell(const pawl__hbase_store *store, GString *put, const pawl_entry *entry, kind which, const char *value)
{
    char *column = g_strdup_printf("%s:%d%s", entry->partition.topic, (int) entry->partition.number, suffixes[which]);

    pawl__hbase_put_cell(store, put, column, value);
    g_free(column);
}

static void
put_object(const pawl__hbase_store *store, GString *put, const pawl_entry *entry, kind which)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    const unsigned char *text;
    size_t size;

    yajl_gen_map_open(json);
    if (which == OWNER)
        gen_owner(json, entry);
    else
        gen_state(json, entry);
    yajl_gen_map_close(json);
    yajl_gen_get_buf(json, &text, &size);
    put_partition_cell(store, put, entry, which, (const char *) text);
    yajl_gen_free(json);
}

static bool
same_owner(const pawl_entry *a, const pawl_entry *b)
{
    return a->epoch == b->epoch && a->owner.pid == b->owner.pid && strcmp(a->owner.host, b->owner.host) == 0 &&
           strcmp(a->owner.client_id, b->owner.client_id) == 0;
}

static bool
same_state(const pawl_entry *a, const pawl_entry *b)
{
    return a->batch == b->batch && a->owner.renewed_ms == b->owner.renewed_ms &&
           pawl_position_equal(a->pending, b->pending) && strcmp(a->print, b->print) == 0;
}

void
pawl__hbase_put_entry(const pawl__hbase_store *store, GString *put, const pawl_entry *before, const pawl_entry *after)
{
    char offset[PAWL_POSITION_TEXT_SIZE];

    if (!pawl_position_equal(before->offset, after->offset))
        put_partition_cell(store, put, after, OFFSET,
                           after->offset.known ? pawl_position_text(after->offset, offset) : NONE);
    if (!same_owner(before, after))
        put_object(store, put, after, OWNER);
    if (!same_state(before, after))
        put_object(store, put, after, STATE);
}

void
pawl__hbase_put_group(const pawl__hbase_store *store, GString *put, const pawl__hbase_row *row, const char *cluster)
{
    if (!row->has_layout)
        pawl__hbase_put_cell(store, put, "layout", LAYOUT);
    if (cluster != NULL && cluster[0] != '\0' && strcmp(cluster, row->cluster) != 0)
        pawl__hbase_put_cell(store, put, "cluster", cluster);
}
