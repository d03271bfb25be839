/*
 * bare_hbase.c - one conditional PUT of a row to the REST gateway; the address is HOST:PORT
 *
 * The row is in the table `bench`, which store_saves.c makes by opening the store.
 */
#include <string.h>

#include <curl/curl.h>
#include <glib.h>

#include "bare.h"

struct bare {
    CURL *easy;
    struct curl_slist *headers;
    GString *answer;
    char *url;
    char row[64];
    char guard[33]; /* what the row holds, for the condition */
    int partitions;
};

static size_t
take_body(char *buffer, size_t size, size_t count, void *user)
{
    g_string_append_len(user, buffer, (gssize) (size * count));
    return size * count;
}

bare *
bare_open(const char *address, int partitions)
{
    static const char *const headers[] = {"Accept: application/json", "Content-Type: application/json", "Expect:"};
    bare *client = g_new0(bare, 1);

    curl_global_init(CURL_GLOBAL_DEFAULT);
    client->partitions = partitions;
    client->easy = curl_easy_init();
    client->answer = g_string_new(NULL);
    client->url = g_strdup_printf("http://%s/bench/row?check=put", address);
    g_snprintf(client->row, sizeof client->row, "bare-%" PRId64, g_get_real_time());
    for (size_t i = 0; i < G_N_ELEMENTS(headers); i++)
        client->headers = curl_slist_append(client->headers, headers[i]);
    curl_easy_setopt(client->easy, CURLOPT_URL, client->url);
    curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, client->headers);
    curl_easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(client->easy, CURLOPT_WRITEDATA, client->answer);
    curl_easy_setopt(client->easy, CURLOPT_CUSTOMREQUEST, "PUT");
    return client;
}

static void
append_base64(GString *body, const char *before, const char *text, const char *after)
{
    char *encoded = g_base64_encode((const guchar *) text, strlen(text));

    g_string_append(body, before);
    g_string_append(body, encoded);
    g_string_append(body, after);
    g_free(encoded);
}

static void
append_cell(GString *body, const char *column, const char *value)
{
    append_base64(body, "{\"column\":\"", column, "\",");
    append_base64(body, "\"$\":\"", value, "\"},");
}

static void
put(const bare *client, const GString *body)
{
    long code = 0;
    CURLcode result;

    g_string_truncate(client->answer, 0);
    curl_easy_setopt(client->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) body->len);
    curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS, body->str);
    result = curl_easy_perform(client->easy);
    if (result != CURLE_OK)
        give_up("hbase", curl_easy_strerror(result));
    curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200)
        give_up("hbase: a PUT was answered", client->answer->str);
}

void
bare_save(bare *client, int64_t offset, int64_t batch, const char *print, int64_t now_ms)
{
    GString *body = g_string_new(NULL);
    char column[64], number[24], note[200], guard[33];

    g_snprintf(number, sizeof number, "%" PRId64, offset);
    g_snprintf(note, sizeof note, "{\"batch\":%" PRId64 ",\"renewed_ms\":%" PRId64 ",\"print\":\"%s\"}", batch, now_ms,
               print);
    g_snprintf(guard, sizeof guard, "%032" PRIx64, batch);
    append_base64(body, "{\"Row\":[{\"key\":\"", client->row, "\",\"Cell\":[");
    for (int i = 0; i < client->partitions; i++) {
        g_snprintf(column, sizeof column, "o:" BARE_TOPIC ":%d", i);
        append_cell(body, column, number);
        g_snprintf(column, sizeof column, "o:" BARE_TOPIC ":%d:state", i);
        append_cell(body, column, note);
    }
    append_cell(body, "o:guard", guard);
    append_cell(body, "o:guard", client->guard);
    g_string_truncate(body, body->len - 1);
    g_string_append(body, "]}]}");
    put(client, body);
    g_strlcpy(client->guard, guard, sizeof client->guard);
    g_string_free(body, TRUE);
}

void
bare_close(bare *client)
{
    curl_easy_cleanup(client->easy);
    curl_slist_free_all(client->headers);
    g_string_free(client->answer, TRUE);
    g_free(client->url);
    g_free(client);
}
