/*
 * error.c - PostgreSQL's SQLSTATEs in pawl's words
 */
#include "backends/postgresql/postgresql_store.h"

#include <string.h>

#include <glib.h>

/* What a SQLSTATE, or its class (the first two characters), means for the store. The first that fits counts. */
static const struct {
    const char *state;
    pawl_status status;
    unsigned flags;
    const char *what; /* comes before the server's own words */
} meanings[] = {
    {"40003", PAWL_OUTCOME_UNKNOWN, 0, "whether it was written is not known"},
    {"08007", PAWL_OUTCOME_UNKNOWN, 0, "whether it was written is not known"},
    {"40", PAWL_FAILED, PAWL_ERROR_RETRIABLE, "nothing was written, since another transaction came in between"},
    {"55P03", PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, "another transaction holds the rows and has not let go in time"},
    {"57014", PAWL_FAILED, PAWL_ERROR_RETRIABLE, "nothing was written, since somebody stopped the statement"},
    {"26000", PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, "the session has lost its prepared statements"},
    {"25006", PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, "the server can only be read now"},
    {"42501", PAWL_FAILED, 0, "the role may not do that"},
    {"3F000", PAWL_INVALID, 0, "the option 'schema' names none that there is"},
    {"53100", PAWL_FAILED, 0, "the server's disk is full: nothing was written"},
    {"53", PAWL_FAILED, PAWL_ERROR_RETRIABLE, "the server is short of something"},
    {"42", PAWL_UNREADABLE, 0, "the table is not as pawl made it"},
    {"22", PAWL_FAILED, 0, "nothing was written"},
    {"23", PAWL_FAILED, 0, "nothing was written"},
};

/* A text of several lines as one. The caller frees it. */
static char *
in_one_line(const char *text)
{
    char **words = g_strsplit_set(text != NULL ? text : "", " \t\r\n", -1);
    GString *line = g_string_new(NULL);

    for (size_t i = 0; words[i] != NULL; i++)
        if (words[i][0] != '\0')
            g_string_append_printf(line, "%s%s", line->len > 0 ? " " : "", words[i]);
    g_strfreev(words);
    return g_string_free(line, FALSE);
}

char *
pawl__pg_connection_says(const PGconn *conn)
{
    return in_one_line(PQerrorMessage(conn));
}

static bool
has_state(const PGresult *result, const char *state)
{
    return g_strcmp0(PQresultErrorField(result, PG_DIAG_SQLSTATE), state) == 0;
}

bool
pawl__pg_is_missing(const PGresult *result)
{
    return has_state(result, "42P01");
}

bool
pawl__pg_is_made(const PGresult *result)
{
    return has_state(result, "42P07") || has_state(result, "23505");
}

bool
pawl__pg_is_refused(const PGresult *result)
{
    return has_state(result, "22012");
}

pawl_status
pawl__pg_fail(pawl__pg_store *store, const PGresult *result, pawl_error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    char *says = in_one_line(primary != NULL ? primary : PQresultErrorMessage(result));
    pawl_status status = PAWL_FAILED;
    unsigned flags = 0;
    const char *what = "the server refuses";

    for (size_t i = 0; state != NULL && i < G_N_ELEMENTS(meanings); i++) {
        if (!g_str_has_prefix(state, meanings[i].state))
            continue;
        status = meanings[i].status;
        flags = meanings[i].flags;
        what = meanings[i].what;
        break;
    }
    pawl_error_set(err, status, flags, 0, "%s, table %s: %s: %s (SQLSTATE %s)", store->url, store->table, what, says,
                   state != NULL ? state : "unknown");
    g_free(says);
    return status;
}
