/*
 * mirror.h - saved offsets, told to Kafka's consumer group as well (mirror = kafka)
 *
 * A thread of its own writes the latest offsets to a second store, so that no save ever waits for that or fails with it:
 * what could not be written is warned of, now and then, and tried again. Of offsets that follow each other faster than
 * they are written only the last ones are. NULL is a mirror that does nothing.
 */
#ifndef PAWL_CORE_MIRROR_H
#define PAWL_CORE_MIRROR_H

#include <pawl/log.h>
#include <pawl/store.h>

typedef struct pawl__mirror pawl__mirror;

/* Starts the thread. The store is taken, also when this fails; group and log are borrowed. */
pawl_status pawl__mirror_new(pawl_store *store, const char *group, const pawl_log *log, pawl__mirror **ret_mirror,
                             pawl_error *err);

/* Hands over offsets that are saved; returns at once. Any thread. */
void pawl__mirror_give(pawl__mirror *mirror, const pawl_save_line *lines, size_t count);

/* Another has the partition now: what is not written of it shall not be. Any thread. */
void pawl__mirror_forget(pawl__mirror *mirror, pawl_partition partition);

/* Ends the thread soon, whatever is not written. Any thread. */
void pawl__mirror_cancel(pawl__mirror *mirror);

/* Ends the thread when it has written the last offsets, or at the deadline. */
void pawl__mirror_finish(pawl__mirror *mirror, int64_t deadline_ms);

/* Ends the thread soon, unless that is done, and closes the store. */
void pawl__mirror_free(pawl__mirror *mirror);

#endif
