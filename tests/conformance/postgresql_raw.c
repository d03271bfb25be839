/*
 * postgresql_raw.c - a PostgreSQL server and its tables behind the store's back, for the tests of the postgresql: store
 */
#include "tests/conformance/postgresql_raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/sys/registry.h>

service *raw_server;
char *raw_url;

void
raw_init(void)
{
    raw_server = service_new("postgresql", NULL);
    raw_url = service_value(raw_server, "POSTGRESQL_URL");
    pawl_registry_add_store(&pawl__store_postgresql, NULL);
    raw_run_once("CREATE TABLE results (name text PRIMARY KEY, number bigint)");
}

void
raw_done(void)
{
    service_free(raw_server);
    g_free(raw_url);
}

char *
raw_url_with(const char *query)
{
    return g_strconcat(raw_url, query, NULL);
}

/* raw_url is postgresql://USER:PASSWORD@HOST/DATABASE. */
char *
raw_url_of(const char *user_and_password, const char *host, const char *database)
{
    char **parts = g_strsplit_set(raw_url + strlen("postgresql://"), "@/", 3);
    char *url = g_strdup_printf("postgresql://%s@%s/%s", user_and_password != NULL ? user_and_password : parts[0],
                                host != NULL ? host : parts[1], database != NULL ? database : parts[2]);

    g_strfreev(parts);
    return url;
}

char *
raw_host_of(const service *server)
{
    char *url = service_value(server, "POSTGRESQL_URL"), *host = strchr(url, '@') + 1;

    *strrchr(host, '/') = '\0';
    host = g_strdup(host);
    g_free(url);
    return host;
}

pawl_status
raw_try_store(const char *url, pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 3000};

    return pawl_store_open(url, &options, ret_store, err);
}

PGconn *
raw_connect(void)
{
    PGconn *conn = PQconnectdb(raw_url);

    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(conn));
    PQsetNoticeProcessor(conn, NULL, NULL);
    return conn;
}

static PGresult *
run(PGconn *conn, const char *format, va_list args)
{
    char *sql = g_strdup_vprintf(format, args);
    PGresult *result = PQexec(conn, sql);

    if (PQresultStatus(result) == PGRES_FATAL_ERROR)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    g_free(sql);
    return result;
}

void
raw_run(PGconn *conn, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    PQclear(run(conn, format, args));
    va_end(args);
}

void
raw_run_once(const char *format, ...)
{
    PGconn *conn = raw_connect();
    va_list args;

    va_start(args, format);
    PQclear(run(conn, format, args));
    va_end(args);
    PQfinish(conn);
}

int64_t
raw_number(PGconn *conn, const char *format, ...)
{
    PGresult *result;
    int64_t number = -1;
    va_list args;

    va_start(args, format);
    result = run(conn, format, args);
    va_end(args);
    if (PQntuples(result) > 0)
        number = g_ascii_strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

char *
raw_quote(const char *text)
{
    GString *literal = g_string_new(text);

    g_string_replace(literal, "'", "''", 0);
    g_string_prepend_c(literal, '\'');
    g_string_append_c(literal, '\'');
    return g_string_free(literal, FALSE);
}

void
raw_put_result(void *handle, const char *group, int64_t number)
{
    char *name = raw_quote(group);

    raw_run(handle,
            "INSERT INTO results VALUES (%s, %" G_GINT64_FORMAT
            ") ON CONFLICT (name) DO UPDATE SET number = excluded.number",
            name, number);
    g_free(name);
}

int64_t
raw_get_result(const char *url, const char *group)
{
    PGconn *conn = raw_connect();
    char *name = raw_quote(group);
    int64_t number = raw_number(conn, "SELECT number FROM results WHERE name = %s", name);

    (void) url;
    g_free(name);
    PQfinish(conn);
    return number;
}
