/*
 * error.h - how pawl says that something went wrong
 *
 * Every function that can fail returns a pawl_status and takes, as its last parameter, a pawl_error that the caller
 * owns. The error is written only when the status is not PAWL_OK. NULL is fine for a caller who wants the status only.
 */
#ifndef PAWL_ERROR_H
#define PAWL_ERROR_H

#include <stdint.h>

#include <pawl/visibility.h>

PAWL_BEGIN_DECLS

/* What happened. The numbers are part of the ABI: new ones are added at the end. */
typedef enum pawl_status {
    PAWL_OK = 0,
    PAWL_FAILED,          /* went wrong in a way that has no name of its own; the message tells */
    PAWL_INVALID,         /* a setting, an argument or a URL is wrong, or does not fit what is there */
    PAWL_UNSUPPORTED,     /* this store or source cannot do that; its capabilities say so beforehand */
    PAWL_UNREACHABLE,     /* a server did not answer, or refused to talk to us */
    PAWL_TIMEOUT,         /* the deadline of the call passed */
    PAWL_CANCELLED,       /* pawl_store_cancel(), or a job that was told twice to stop */
    PAWL_UNREADABLE,      /* something is stored, and it is no offset: never taken for "nothing stored" */
    PAWL_STALE,           /* acquire: the epoch seen is no longer the one stored; load again */
    PAWL_FENCED,          /* somebody else owns the partition now: nothing was written */
    PAWL_CONFLICT,        /* the stored offset is not the expected one: nothing was written */
    PAWL_OUTCOME_UNKNOWN, /* a write was sent, its answer was lost, and it could not be read back */
    PAWL_DATA_LOSS,       /* records that were never read are gone from Kafka */
    PAWL_STALLED,         /* no progress for stall_timeout, or a batch beyond batch_timeout */
} pawl_status;

/* The same call may succeed later, unchanged. */
#define PAWL_ERROR_RETRIABLE 0x1u
/* The handle is of no more use: close it. */
#define PAWL_ERROR_FATAL        0x2u

#define PAWL_ERROR_MESSAGE_SIZE 1000

/* Filled in by the function that failed; a plain struct, so it can live on the stack. Its layout is frozen. */
typedef struct pawl_error {
    pawl_status status;
    unsigned flags;                        /* PAWL_ERROR_* */
    int32_t native_code;                   /* the client library's or the system's own number, or 0 */
    char message[PAWL_ERROR_MESSAGE_SIZE]; /* one sentence: what, where, what to do; no newline at the end */
} pawl_error;

/* Clears the error: status PAWL_OK, empty message. NULL is fine. */
PAWL_API void pawl_error_clear(pawl_error *err);

/*
 * Writes the error and returns `status`, so that a function can end with `return pawl_error_set(...)`.
 * To be called once, where the cause is known; callers further up add to it with pawl_error_prefix(). A message that is
 * too long is cut at the end of a character. NULL as err is fine.
 */
PAWL_API pawl_status pawl_error_set(pawl_error *err, pawl_status status, unsigned flags, int32_t native_code,
                                    const char *format, ...) PAWL_PRINTF(5, 6);

/* Puts "<text>: " before the message that is there, and returns the status that is there. NULL is fine. */
PAWL_API pawl_status pawl_error_prefix(pawl_error *err, const char *format, ...) PAWL_PRINTF(2, 3);

/* The status as a word of the interface, "fenced" for instance; a static string, never NULL. */
PAWL_API const char *pawl_status_name(pawl_status status);

/*
 * The exit code that pawl's own programs give for a status: 0 done, 1 failed, 2 usage or configuration, 3 data loss,
 * 4 fenced or conflict, 5 a server cannot be reached.
 */
PAWL_API int pawl_status_exit_code(pawl_status status);

PAWL_END_DECLS

#endif
