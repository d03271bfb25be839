/*
 * flights.h - what flights.c hands to its sink
 */
#ifndef FLIGHTS_H
#define FLIGHTS_H

#include <glib.h>
#include <pawl/pawl.h>

/* What is known of one carrier on one day. Integers only, so that sums are exact in whatever order they are made. */
typedef struct totals {
    gint64 flights, cancelled;
    gint64 arrived, delay; /* flights with a known arrival delay, and the sum of these, in minutes */
} totals;

/*
 * The sink, a pawl_hooks.flush. The slot of each range holds its totals by "CARRIER,DAY", or NULL where it had no records.
 * They are added to the table carrier_day inside the transaction that saves the batch's offsets: both are there
 * afterwards, or neither. That is why "add to what is there" is safe here, although a batch that was cut off by a crash is
 * processed again.
 */
pawl_verdict flush_totals(void *user, pawl_batch *batch, pawl_error *err);

#endif
