/*
 * service.c - a real server of services/ that belongs to one test, which may kill it
 */
#include "tests/support/service.h"

#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void
service_signal(const service *server, const char *pid_name, int signal)
{
    char *pid = service_value(server, pid_name);

    kill((pid_t) atoi(pid), signal);
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
