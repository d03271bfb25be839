/*
 * notify.h - telling a service manager how we are (sd_notify(3))
 */
#ifndef PAWL_CLI_NOTIFY_H
#define PAWL_CLI_NOTIFY_H

/* Sends "READY=1" or "STOPPING=1" to the socket that NOTIFY_SOCKET names. Without one it does nothing, and who does not
 * listen is not waited for. */
void pawl__notify(const char *state);

#endif
