/*
 * bare.h - a save with nothing but a store's client, for store_saves.c to compare with
 *
 * Each bare_NAME.c writes as much as pawl does, in one round trip of the kind that pawl needs as well: of each partition
 * the offset, and beside it the number of the batch, the print and the time. It checks nothing, remembers nothing, and
 * gives up when something goes wrong.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <inttypes.h>

#define BARE_TOPIC "flights"

typedef struct bare bare;

/* A connection of its own to the server (or file) at `address`, and a place there for so many partitions. */
bare *bare_open(const char *address, int partitions);

/* Writes the same for all partitions. */
void bare_save(bare *client, int64_t offset, int64_t batch, const char *print, int64_t now_ms);

void bare_close(bare *client);

/* Ends the program; of store_saves.c. */
_Noreturn void give_up(const char *what, const char *why);

#endif
