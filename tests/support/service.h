/*
 * service.h - a real server of services/ that belongs to one test, which may kill it
 */
#ifndef PAWL_TESTS_SERVICE_H
#define PAWL_TESTS_SERVICE_H

#include <sys/types.h>

typedef struct service {
    char *kind;   /* "zookeeper": the folder below services/ */
    char *folder; /* its data */
    char *env;    /* what its start wrote, as text */
} service;

/* Starts one with the given properties (ended by NULL, or NULL), in a folder of its own. The test fails if that fails. */
service *service_new(const char *kind, const char *const *properties);

/* "stop", "kill", "start". */
void service_do(service *server, const char *verb);

/* The value that start gave to this name; the caller frees it. */
char *service_value(const service *server, const char *name);

/* SIGSTOP and the like, for its process, whose pid is the value of this name. Returns when SIGSTOP has stopped it. */
void service_signal(const service *server, const char *pid_name, int signal);

/* Stops it and removes its folder. NULL is fine. */
void service_free(service *server);

#endif
