/*
 * notify.h - telling a service manager how we are (sd_notify(3))
 */
#ifndef PAWL_CLI_NOTIFY_H
#define PAWL_CLI_NOTIFY_H

#include <stdbool.h>

/* Whether there is somebody to tell: NOTIFY_SOCKET names a socket. */
bool pawl__notify_wanted(void);

/* Sends "READY=1", "STOPPING=1" or "STATUS=..." there. Where it is not wanted it does nothing, and who does not listen is
 * not waited for. */
void pawl__notify(const char *state);

#endif
