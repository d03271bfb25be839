/*
 * store_owner.c - what tells one acquire from another
 *
 * All containers have process 1, may have the same host name, and may be started at the same time: the texts of two owners
 * may be the same to the last character. So acquire puts a random token behind the host's name, HOST~TOKEN, and that is
 * what is stored. Nobody but the backends sees it.
 */
#include "core/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "util/text.h"

#define DIGITS     "0123456789abcdef"
#define TOKEN_SIZE 17 /* "~" and 16 digits */

pawl_status
pawl__owner_mark(pawl_owner *owner, pawl_error *err)
{
    uint64_t token;
    size_t size = pawl__text_cut(owner->host, strlen(owner->host), sizeof owner->host - 1 - TOKEN_SIZE);

    if (getrandom(&token, sizeof token, 0) != (ssize_t) sizeof token)
        return pawl_error_set(err, PAWL_FAILED, 0, errno, "the system has no random numbers: %s", strerror(errno));
    snprintf(owner->host + size, sizeof owner->host - size, "~%016" PRIx64, token);
    return PAWL_OK;
}

void
pawl__owner_unmark(pawl_owner *owner)
{
    char *mark = strrchr(owner->host, '~');

    if (mark != NULL && strlen(mark) == TOKEN_SIZE && strspn(mark + 1, DIGITS) == TOKEN_SIZE - 1)
        *mark = '\0';
}
