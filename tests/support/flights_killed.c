/*
 * flights_killed.c - examples/flights.c and one of its sinks, word for word, in a program that kills itself where
 * killing.h says
 */
#include "killing.h"

/* What the example calls by these names is the wrapped one. The header of the store, which the sink includes, follows. */
#define pawl_job_new           killing_job_new
#define pawl_batch_transaction killing_batch_transaction
#define main                   flights_main

int flights_main(int argc, char **argv);

#include "examples/flights.c"
#include FLIGHTS_SINK
#undef main

int
main(int argc, char **argv)
{
    killing_install(argc > 2 ? argv[2] : "");
    return flights_main(argc, argv);
}
