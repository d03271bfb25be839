/*
 * http.c - one request to one of the gateways: deadline, cancel, the next gateway
 *
 * The multi interface of libcurl does it, since its poll can be woken up by another thread. A PUT is sent once: libcurl
 * would repeat it of its own accord when a connection that it kept ends without an answer, and is kept from that.
 */
#include "backends/hbase/hbase_store.h"

#include <pthread.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

#define CONNECT_TIMEOUT_MS 5000
#define LONGEST_POLL_MS    1000
#define LARGEST_ANSWER     (256u << 20) /* HBase itself sends no more at once */

/* What is under way. */
typedef struct exchange {
    bool is_put;
    bool sent; /* or about to be */
    GString *received;
} exchange;

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void
init_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Before a request goes out, when it is connected. */
static int
on_request(void *user, char *address, char *own_address, int port, int own_port)
{
    exchange *under_way = user;

    (void) address, (void) own_address, (void) port, (void) own_port;
    if (under_way->is_put && under_way->sent)
        return CURL_PREREQFUNC_ABORT;
    under_way->sent = true;
    return CURL_PREREQFUNC_OK;
}

static size_t
receive_body(char *buffer, size_t size, size_t count, void *user)
{
    exchange *under_way = user;

    if (under_way->received->len + size * count > LARGEST_ANSWER)
        return 0;
    g_string_append_len(under_way->received, buffer, (gssize) (size * count));
    return size * count;
}

/* ------------------------------------------------------------------------------------------------ ready and done -- */

static void
set_options(pawl__hbase_store *store)
{
    CURL *easy = store->easy;

    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, store->curl_error);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, store->headers);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive_body);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long) CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* a library does not read the environment */
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a name server that hangs does not hold us */
#endif
    if (store->user != NULL || store->password != NULL) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, store->user != NULL ? store->user : "");
        curl_easy_setopt(easy, CURLOPT_PASSWORD, store->password != NULL ? store->password : "");
    }
    if (store->ca_file[0] != '\0')
        curl_easy_setopt(easy, CURLOPT_CAINFO, store->ca_file);
}

pawl_status
pawl__hbase_http_init(pawl__hbase_store *store, pawl_error *err)
{
    static const char *const headers[] = {
        "Accept: application/json", "Content-Type: application/json",
        "Expect:", /* no asking first whether a large body is welcome */
    };

    pthread_once(&curl_once, init_curl);
    store->multi = curl_multi_init();
    store->easy = curl_easy_init();
    for (size_t i = 0; i < G_N_ELEMENTS(headers); i++)
        store->headers = curl_slist_append(store->headers, headers[i]);
    if (store->multi == NULL || store->easy == NULL || store->headers == NULL)
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "libcurl cannot be initialized");
    set_options(store);
    return PAWL_OK;
}

void
pawl__hbase_http_done(pawl__hbase_store *store)
{
    curl_easy_cleanup(store->easy);
    curl_multi_cleanup(store->multi);
    curl_slist_free_all(store->headers);
}

/* --------------------------------------------------------------------------------------------------- one gateway -- */

static const char *
gateway(const pawl__hbase_store *store)
{
    return store->gateways[store->gateway];
}

static bool
is_cancelled(pawl__hbase_store *store)
{
    return g_atomic_int_get(&store->cancelled) != 0;
}

static pawl_status
cancelled(pawl_error *err)
{
    return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the store was cancelled");
}

/* Runs what the easy handle is set to, until its end or cancel. */
static CURLcode
transfer(pawl__hbase_store *store)
{
    CURLcode result = CURLE_ABORTED_BY_CALLBACK;
    int running = 1, left;
    CURLMcode code = curl_multi_add_handle(store->multi, store->easy);
    CURLMsg *message;

    while (code == CURLM_OK && running && !is_cancelled(store)) {
        code = curl_multi_perform(store->multi, &running);
        if (code == CURLM_OK && running)
            code = curl_multi_poll(store->multi, NULL, 0, LONGEST_POLL_MS, NULL);
    }
    while ((message = curl_multi_info_read(store->multi, &left)) != NULL)
        if (message->msg == CURLMSG_DONE)
            result = message->data.result;
    curl_multi_remove_handle(store->multi, store->easy);
    return code == CURLM_OK ? result : CURLE_OUT_OF_MEMORY;
}

static bool
is_lasting(CURLcode code)
{
    switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL: /* an answer that is no HTTP */
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_WRITE_ERROR:
        return true;
    default:
        return false;
    }
}

/* No answer. A PUT of which something was sent may have been applied, now or later. */
static pawl_status
no_answer(pawl__hbase_store *store, CURLcode code, const exchange *under_way, int64_t deadline_ms, pawl_error *err)
{
    const char *why = store->curl_error[0] != '\0' ? store->curl_error : curl_easy_strerror(code);

    if (code == CURLE_ABORTED_BY_CALLBACK)
        why = "the connection ended";
    if (is_cancelled(store))
        return cancelled(err);
    if (under_way->is_put && under_way->sent)
        return pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, (int32_t) code,
                              "the answer of HBase's gateway %s to a write was lost: %s", gateway(store), why);
    if (code == CURLE_OPERATION_TIMEDOUT && pawl__clock_ms() >= deadline_ms)
        return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, (int32_t) code,
                              "HBase's gateway %s has not answered in time: %s", gateway(store), why);
    if (is_lasting(code))
        return pawl_error_set(err, PAWL_UNREACHABLE, 0, (int32_t) code,
                              "%s is no gateway of HBase that we can talk to: %s", gateway(store), why);
    return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, (int32_t) code,
                          "HBase's gateway %s cannot be reached: %s", gateway(store), why);
}

/* The beginning of an answer, for people: what goes before the stack trace of Java. */
static const char *
reason(const pawl__hbase_answer *answer, char text[PAWL__BYTES_TEXT_SIZE])
{
    const char *end = strstr(answer->body->str, "\n\tat ");
    char *line = g_strndup(answer->body->str, end != NULL ? (gsize) (end - answer->body->str) : answer->body->len);

    g_strdelimit(g_strstrip(line), "\r\n\t", ' ');
    pawl__text_from_bytes(line, strlen(line), text);
    g_free(line);
    return text;
}

/* Whether the answer is one to our request, and not about who we are or how HBase is. */
static pawl_status
check_answer(pawl__hbase_store *store, const pawl__hbase_answer *answer, bool is_put, pawl_error *err)
{
    char text[PAWL__BYTES_TEXT_SIZE];

    if (answer->code == 401 || answer->code == 403)
        return pawl_error_set(err, PAWL_FAILED, 0, (int32_t) answer->code,
                              "HBase's gateway %s refuses us (%ld) for table '%s': see to the user and the password in "
                              "the URL, and to what they may do",
                              gateway(store), answer->code, store->table);
    if (answer->code < 500)
        return PAWL_OK;
    if (is_put)
        return pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, (int32_t) answer->code,
                              "HBase's gateway %s answered a write with %ld: %s", gateway(store), answer->code,
                              reason(answer, text));
    return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, (int32_t) answer->code,
                          "HBase's gateway %s answered %ld, as it does when HBase is away: %s", gateway(store),
                          answer->code, reason(answer, text));
}

static pawl_status
ask_one(pawl__hbase_store *store, int64_t deadline_ms, const char *path, const GString *body,
        pawl__hbase_answer *ret_answer, pawl_error *err)
{
    exchange under_way = {.is_put = body != NULL, .received = g_string_new(NULL)};
    int64_t left_ms = deadline_ms - pawl__clock_ms();
    char *url = g_strdup_printf("%s://%s/%s", store->tls ? "https" : "http", gateway(store), path);
    pawl_status status;
    CURLcode code;

    curl_easy_setopt(store->easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(store->easy, CURLOPT_CUSTOMREQUEST, body != NULL ? "PUT" : NULL);
    if (body != NULL) {
        curl_easy_setopt(store->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) body->len);
        curl_easy_setopt(store->easy, CURLOPT_POSTFIELDS, body->str); /* a small one goes out in one piece */
    }
    curl_easy_setopt(store->easy, CURLOPT_URL, url);
    curl_easy_setopt(store->easy, CURLOPT_PREREQDATA, &under_way);
    curl_easy_setopt(store->easy, CURLOPT_WRITEDATA, &under_way);
    curl_easy_setopt(store->easy, CURLOPT_TIMEOUT_MS, (long) CLAMP(left_ms, 1, store->request_timeout_ms));
    store->curl_error[0] = '\0';
    code = transfer(store);
    g_free(url);

    ret_answer->body = under_way.received;
    curl_easy_getinfo(store->easy, CURLINFO_RESPONSE_CODE, &ret_answer->code);
    if (code != CURLE_OK)
        status = no_answer(store, code, &under_way, deadline_ms, err);
    else
        status = check_answer(store, ret_answer, body != NULL, err);
    if (status != PAWL_OK)
        g_string_free(g_steal_pointer(&ret_answer->body), TRUE);
    return status;
}

/* ------------------------------------------------------------------------------------------------- all of them -- */

/* Whether another gateway may be asked the same. */
static bool
is_worth_another(pawl_status status)
{
    return status == PAWL_UNREACHABLE || status == PAWL_TIMEOUT;
}

pawl_status
pawl__hbase_ask(pawl__hbase_store *store, int64_t deadline_ms, const char *path, const GString *body,
                pawl__hbase_answer *ret_answer, pawl_error *err)
{
    guint count = g_strv_length(store->gateways);
    pawl_error last = {.status = PAWL_OK};
    pawl_status status = PAWL_UNREACHABLE;

    for (guint i = 0; i < count && is_worth_another(status); i++) {
        if (is_cancelled(store))
            return cancelled(err);
        if (pawl__clock_ms() >= deadline_ms)
            return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0, "there was no time left to ask HBase%s%s",
                                  last.status != PAWL_OK ? ": " : "", last.status != PAWL_OK ? last.message : "");
        status = ask_one(store, deadline_ms, path, body, ret_answer, &last);
        if (status != PAWL_OK && status != PAWL_CANCELLED)
            store->gateway = (store->gateway + 1) % count;
        if (is_worth_another(status) && i + 1 < count)
            pawl__log(store->log, PAWL_LOG_WARN, "hbase", "%s; asking %s", last.message, gateway(store));
    }
    if (status != PAWL_OK && err != NULL)
        *err = last;
    return status;
}

pawl_status
pawl__hbase_unexpected(const pawl__hbase_store *store, const pawl__hbase_answer *answer, pawl_error *err)
{
    char text[PAWL__BYTES_TEXT_SIZE];

    return pawl_error_set(err, PAWL_FAILED, 0, (int32_t) answer->code,
                          "%s answered %ld, which a gateway of HBase does not do here: %s", gateway(store),
                          answer->code, reason(answer, text));
}

pawl_status
pawl__hbase_pause(pawl__hbase_store *store, int64_t pause_ms, int64_t deadline_ms, pawl_error *err)
{
    int64_t now_ms = pawl__clock_ms(), until_ms = now_ms + pause_ms;

    if (until_ms >= deadline_ms)
        return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0, "the time was over");
    for (; now_ms < until_ms && !is_cancelled(store); now_ms = pawl__clock_ms())
        curl_multi_poll(store->multi, NULL, 0, (int) (until_ms - now_ms), NULL);
    return is_cancelled(store) ? cancelled(err) : PAWL_OK;
}
