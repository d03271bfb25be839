/*
 * client_log.c - the client library's own log
 *
 * Its log function knows neither handle nor user, so every open store's log gets every line, at debug. What it has to say
 * before there is a handle would go to standard error: that goes nowhere.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <pthread.h>
#include <stdio.h>

#include "util/log.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static GPtrArray *logs; /* pawl_log, borrowed */

static void
silence(void)
{
    FILE *nowhere = fopen("/dev/null", "we");

    logs = g_ptr_array_new();
    if (nowhere != NULL)
        zoo_set_log_stream(nowhere);
    zoo_set_debug_level(ZOO_LOG_LEVEL_INFO);
}

void
pawl__zk_log_add(const pawl_log *log)
{
    pthread_once(&log_once, silence);
    pthread_mutex_lock(&log_lock);
    g_ptr_array_add(logs, (gpointer) log);
    pthread_mutex_unlock(&log_lock);
}

void
pawl__zk_log_remove(const pawl_log *log)
{
    pthread_once(&log_once, silence);
    pthread_mutex_lock(&log_lock);
    g_ptr_array_remove(logs, (gpointer) log);
    pthread_mutex_unlock(&log_lock);
}

void
pawl__zk_log_take(const char *line)
{
    pthread_mutex_lock(&log_lock);
    for (guint i = 0; i < logs->len; i++)
        pawl__log(g_ptr_array_index(logs, i), PAWL_LOG_DEBUG, "zookeeper", "%s", line);
    pthread_mutex_unlock(&log_lock);
}
