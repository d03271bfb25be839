/*
 * metadata.c - what pawl keeps beside an offset: one line of JSON in the metadata of the commit
 *
 *     {"pawl":1,"batch":17,"pending":4000,"print":"2999-0123456789abcdef0123456789abcdef"}
 */
#include "backends/kafka/kafka_store.h"

#include <inttypes.h>
#include <string.h>

#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "util/text.h"

#define LAYOUT 1

static void
gen_number(yajl_gen json, const char *name, int64_t number)
{
    yajl_gen_string(json, (const unsigned char *) name, strlen(name));
    yajl_gen_integer(json, number);
}

char *
pawl__kafka_store_metadata_text(const pawl__kafka_metadata *metadata)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    const unsigned char *bytes;
    size_t size;
    char *text;

    yajl_gen_map_open(json);
    gen_number(json, "pawl", LAYOUT);
    gen_number(json, "batch", metadata->batch);
    if (metadata->pending.known)
        gen_number(json, "pending", metadata->pending.offset);
    if (metadata->print[0] != '\0') {
        yajl_gen_string(json, (const unsigned char *) "print", strlen("print"));
        yajl_gen_string(json, (const unsigned char *) metadata->print, strlen(metadata->print));
    }
    yajl_gen_map_close(json);
    yajl_gen_get_buf(json, &bytes, &size);
    text = g_strndup((const char *) bytes, size);
    yajl_gen_free(json);
    return text;
}

/* A number that is not negative. False: there is none of that name, or it is something else. */
static bool
get_number(yajl_val tree, const char *name, int64_t *ret_number)
{
    const char *path[] = {name, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_number);

    if (value == NULL || !YAJL_IS_INTEGER(value) || YAJL_GET_INTEGER(value) < 0)
        return false;
    *ret_number = YAJL_GET_INTEGER(value);
    return true;
}

static bool
has(yajl_val tree, const char *name)
{
    const char *path[] = {name, NULL};

    return yajl_tree_get(tree, path, yajl_t_any) != NULL;
}

static bool
read_fields(yajl_val tree, pawl__kafka_metadata *metadata)
{
    const char *print_path[] = {"print", NULL};
    yajl_val print = yajl_tree_get(tree, print_path, yajl_t_string);

    metadata->pending.known = get_number(tree, "pending", &metadata->pending.offset);
    if (print != NULL)
        g_strlcpy(metadata->print, YAJL_GET_STRING(print), sizeof metadata->print);
    return get_number(tree, "batch", &metadata->batch) && metadata->pending.known == has(tree, "pending") &&
           (print != NULL) == has(tree, "print");
}

pawl_status
pawl__kafka_store_metadata_read(const char *text, size_t size, const char *place, pawl__kafka_metadata *ret_metadata,
                                pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];
    char *copy = g_strndup(text != NULL ? text : "", size);
    yajl_val tree = g_str_has_prefix(copy, "{\"pawl\":") ? yajl_tree_parse(copy, NULL, 0) : NULL;
    bool ours = g_str_has_prefix(copy, "{\"pawl\":");
    int64_t layout = 0;
    pawl_status status = PAWL_OK;

    memset(ret_metadata, 0, sizeof *ret_metadata);
    if (tree != NULL && get_number(tree, "pawl", &layout) && layout > LAYOUT)
        status =
            pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                           "%s: the metadata have layout %" PRId64 ", and this pawl knows %d", place, layout, LAYOUT);
    else if (ours && (tree == NULL || layout != LAYOUT || !read_fields(tree, ret_metadata)))
        status = pawl_error_set(err, PAWL_UNREADABLE, 0, 0, "%s: the metadata \"%s\" are not what pawl writes", place,
                                pawl__text_from_bytes(copy, strlen(copy), shown));
    yajl_tree_free(tree);
    g_free(copy);
    return status;
}
