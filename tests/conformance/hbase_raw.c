/*
 * hbase_raw.c - a real HBase for tests, and its tables without pawl
 */
#include "tests/conformance/suite.h"

#include "tests/conformance/hbase_raw.h"

#include <curl/curl.h>
#include <string.h>

#include <pawl/sys/registry.h>

extern const pawl_store_backend pawl__store_hbase;

char *raw_hbase_table;
service raw_hbase = {.kind = (char *) "hbase"};
static char *raw_gateway;

bool
raw_hbase_init(void)
{
    const char *folder = g_getenv("PAWL_TEST_HBASE");

    if (folder == NULL)
        return false;
    raw_hbase.folder = (char *) folder;
    service_do(&raw_hbase, "start");
    raw_gateway = service_value(&raw_hbase, "HBASE_REST");
    return pawl_registry_add_store(&pawl__store_hbase, NULL) == PAWL_OK;
}

void
raw_hbase_done(void)
{
    g_free(raw_hbase.env);
    g_free(raw_gateway);
}

void
raw_hbase_kill(const char *part)
{
    char *script = g_build_filename(g_getenv("PAWL_SOURCE_DIR"), "services", "hbase", "kill", NULL);
    char *words[] = {script, raw_hbase.folder, (char *) part, NULL};
    int wait_status;

    assert_true(g_spawn_sync(NULL, words, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &wait_status, NULL));
    assert_int_equal(wait_status, 0);
    g_free(script);
}

const char *
raw_hbase_gateway(void)
{
    return raw_gateway;
}

static size_t
take(char *data, size_t size, size_t count, void *user)
{
    g_string_append_len(user, data, (gssize) (size * count));
    return size * count;
}

long
raw_hbase_ask(const char *path, const char *body, char **ret_answer)
{
    GString *answer = g_string_new(NULL);
    char *url = g_strdup_printf("http://%s/%s", raw_gateway, path);
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    CURL *curl = curl_easy_init();
    long code = 0;

    headers = curl_slist_append(headers, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
    }
    assert_int_equal(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    g_free(url);
    *ret_answer = g_string_free(answer, FALSE);
    return code;
}

void
raw_hbase_make(const char *table, const char *family)
{
    char *path = g_strconcat(table, "/schema", NULL), *answer;
    char *schema = g_strdup_printf("{\"name\":\"%s\",\"ColumnSchema\":[{\"name\":\"%s\"}]}", table, family);

    assert_int_equal(raw_hbase_ask(path, schema, &answer), 201);
    g_free(answer);
    g_free(schema);
    g_free(path);
}

static char *
base64(const char *text)
{
    return g_base64_encode((const guchar *) text, strlen(text));
}

void
raw_hbase_put(const char *table, const char *row, const char *column, const char *value)
{
    char *path = g_strconcat(table, "/row", NULL), *answer;
    char *row64 = base64(row), *column64 = base64(column), *value64 = base64(value);
    char *body = g_strdup_printf("{\"Row\":[{\"key\":\"%s\",\"Cell\":[{\"column\":\"%s\",\"$\":\"%s\"}]}]}", row64,
                                 column64, value64);

    assert_int_equal(raw_hbase_ask(path, body, &answer), 200);
    g_free(answer);
    g_free(body);
    g_free(value64);
    g_free(column64);
    g_free(row64);
    g_free(path);
}

char *
raw_hbase_get(const char *table, const char *row, const char *column)
{
    char *path = g_strdup_printf("%s/%s/%s", table, row, column), *answer, *value = NULL;
    const char *found;
    gsize size;

    if (raw_hbase_ask(path, NULL, &answer) == 200 && (found = strstr(answer, "\"$\":\"")) != NULL) {
        char *encoded = g_strndup(found + 5, strcspn(found + 5, "\""));
        guchar *decoded = g_base64_decode(encoded, &size);

        value = g_strndup((const char *) decoded, size);
        g_free(decoded);
        g_free(encoded);
    }
    g_free(answer);
    g_free(path);
    return value;
}

pawl_store *
raw_hbase_open(const char *gateways)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 60000};
    char *url = g_strdup_printf("hbase://%s/%s", gateways, raw_hbase_table);
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_open(url, &options, &store, &err), err);
    g_free(url);
    return store;
}

void
raw_hbase_assert_stored(pawl_store *store, const char *group, int32_t number, int64_t offset)
{
    suite_assert_offset(store, group, "t", number, pawl_position_at(offset), __FILE__, __LINE__);
}
