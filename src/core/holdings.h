/*
 * holdings.h - the partitions that a job holds, and where it stands in each
 *
 * Belongs to the loop's thread; workers read a holding's partition and its tap. Its address is stable until it is removed.
 */
#ifndef PAWL_CORE_HOLDINGS_H
#define PAWL_CORE_HOLDINGS_H

#include <pawl/offsets.h>
#include <pawl/store.h>
#include <pawl/sys/source.h>

#include "core/print.h"

/* How a partition is held, when a group shares them out. */
typedef enum pawl__tenure {
    PAWL__TENURE_HELD,
    PAWL__TENURE_LEAVING, /* revoked: what is in hand of it is saved first */
    PAWL__TENURE_GONE,    /* it belongs to another: nothing of it may be saved */
} pawl__tenure;

typedef struct pawl__holding {
    pawl_partition partition; /* the topic is owned */
    pawl_source_tap *tap;
    int64_t epoch;
    pawl__tenure tenure;
    bool opened; /* on_open said yes: on_close is owed */

    pawl_position stored; /* what the store holds: `expected` of the next save */
    int64_t position;     /* the next offset to read; above `stored` while a sink holds records back */
    pawl__print stored_print, position_print;
    pawl_position pending; /* a range that was written down before a crash: it is run first, exactly */
    pawl_position planned; /* until of the range of the batch in hand, where it is written down */
    pawl_position pin;     /* available-now: where it ends */
    int64_t low, high;     /* the log's bounds as last told */
    int64_t saved_ms;      /* when its entry was last written: refresh.interval counts from there */

    bool looks_back; /* the source begins with the record before `position`, to be compared with position_print */
    bool remade;     /* it was another record */

    int64_t unanswered_since_ms;    /* since when the brokers do not tell its bounds; 0: they do */
    int64_t pending_above_since_ms; /* since when the log ends below `pending`; 0: it does not */
    bool fetch_lost;                /* the last fetch was out of range: the source has to be told anew where to read */
    int out_of_range;               /* times in a row that a fetch was out of range though the bounds say otherwise */
} pawl__holding;

/* Whether a sink holds records of this partition back. */
static inline bool
pawl__holding_is_held(const pawl__holding *holding)
{
    return holding->stored.known && holding->stored.offset < holding->position;
}

/* Takes down what a save has just written. */
void pawl__holding_note_saved(pawl__holding *holding, const pawl_save_line *line);

typedef struct pawl__holdings pawl__holdings;

pawl__holdings *pawl__holdings_new(void);
void pawl__holdings_free(pawl__holdings *holdings);

/* Adds a partition that is not there; the topic is copied. Borrowed. */
pawl__holding *pawl__holdings_add(pawl__holdings *holdings, pawl_partition partition);

/* Removes one and frees it. */
void pawl__holdings_remove(pawl__holdings *holdings, pawl__holding *holding);

/* The holding of a partition, or NULL. Borrowed. */
pawl__holding *pawl__holdings_find(pawl__holdings *holdings, pawl_partition partition);

size_t pawl__holdings_count(const pawl__holdings *holdings);

/* Number `index`, in the order of topic and partition. Adding one moves those after it. */
pawl__holding *pawl__holdings_at(pawl__holdings *holdings, size_t index);

#endif
