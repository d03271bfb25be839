/*
 * service.c - a real server of services/ that belongs to one test, which may kill it
 */
#include "tests/support/service.h"

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_WAIT_S 30

/* Not by cmocka: servers are started before its tests, too. */
static void
give_up(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* Runs services/KIND/VERB FOLDER [PROPERTY ...]. */
static void
run(const service *server, const char *verb, const char *const *properties)
{
    const char *source = g_getenv("PAWL_SOURCE_DIR");
    char *script = g_build_filename(source != NULL ? source : ".", "services", server->kind, verb, NULL);
    GPtrArray *words = g_ptr_array_new();
    GError *error = NULL;
    int wait_status;

    g_ptr_array_add(words, script);
    g_ptr_array_add(words, server->folder);
    for (size_t i = 0; properties != NULL && properties[i] != NULL; i++)
        g_ptr_array_add(words, (gpointer) properties[i]);
    g_ptr_array_add(words, NULL);
    if (!g_spawn_sync(NULL, (char **) words->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL,
                      &wait_status, &error) ||
        !g_spawn_check_wait_status(wait_status, &error))
        give_up(script, error->message);
    g_ptr_array_unref(words);
    g_free(script);
}

static void
start(service *server, const char *const *properties)
{
    char *path = g_build_filename(server->folder, "env", NULL);

    run(server, "start", properties);
    g_free(server->env);
    if (!g_file_get_contents(path, &server->env, NULL, NULL))
        give_up(path, "start has not written it");
    g_free(path);
}

service *
service_new(const char *kind, const char *const *properties)
{
    service *server = g_new0(service, 1);
    char *name = g_strdup_printf("pawl-%s-XXXXXX", kind);

    server->kind = g_strdup(kind);
    server->folder = g_build_filename(g_get_tmp_dir(), name, NULL);
    if (g_mkdtemp(server->folder) == NULL)
        give_up(server->folder, "cannot be made");
    g_free(name);
    start(server, properties);
    return server;
}

void
service_do(service *server, const char *verb)
{
    if (strcmp(verb, "start") == 0)
        start(server, NULL);
    else
        run(server, verb, NULL);
}

char *
service_value(const service *server, const char *name)
{
    char **lines = g_strsplit(server->env, "\n", -1), *value = NULL;
    size_t size = strlen(name);

    for (size_t i = 0; lines[i] != NULL && value == NULL; i++)
        if (strncmp(lines[i], name, size) == 0 && lines[i][size] == '=')
            value = g_strdup(lines[i] + size + 1);
    g_strfreev(lines);
    if (value == NULL)
        give_up(name, "start has not said that");
    return value;
}

/* Whether a thread is stopped, or has ended: "PID (NAME) STATE ...". */
static bool
is_stopped(const char *folder, const char *thread)
{
    char *path = g_build_filename(folder, thread, "stat", NULL), *text = NULL, *name_end;
    bool stopped = true;

    if (g_file_get_contents(path, &text, NULL, NULL) && (name_end = strrchr(text, ')')) != NULL)
        stopped = strchr("TtZX", name_end[2]) != NULL;
    g_free(text);
    g_free(path);
    return stopped;
}

static bool
are_all_stopped(const char *pid)
{
    char *folder = g_build_filename("/proc", pid, "task", NULL);
    GDir *threads = g_dir_open(folder, 0, NULL);
    bool stopped = true;

    for (const char *thread; stopped && threads != NULL && (thread = g_dir_read_name(threads)) != NULL;)
        stopped = is_stopped(folder, thread);
    if (threads != NULL)
        g_dir_close(threads);
    g_free(folder);
    return stopped;
}

void
service_signal(const service *server, const char *pid_name, int signal)
{
    gint64 deadline = g_get_monotonic_time() + STOP_WAIT_S * G_TIME_SPAN_SECOND;
    char *pid = service_value(server, pid_name);

    kill((pid_t) atoi(pid), signal);
    while (signal == SIGSTOP && !are_all_stopped(pid)) { /* only its parent would be told */
        if (g_get_monotonic_time() > deadline)
            give_up(server->folder, "does not stop");
        g_usleep(1000);
    }
    g_free(pid);
}

void
service_free(service *server)
{
    if (server == NULL)
        return;
    const char *const command[] = {"rm", "-rf", server->folder, NULL};

    run(server, "stop", NULL);
    g_spawn_sync(NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(server->kind);
    g_free(server->folder);
    g_free(server->env);
    g_free(server);
}
