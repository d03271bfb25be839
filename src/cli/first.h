/*
 * first.h - being the first process of a container
 *
 * Process 1 gets signals that it has no handler for not at all, and adopts processes whose parent has ended; nobody but
 * it can collect them.
 */
#ifndef PAWL_CLI_FIRST_H
#define PAWL_CLI_FIRST_H

/*
 * Where this is process 1: starts the rest of the program in a child and returns there. Process 1 itself hands signals
 * on, collects whatever ends, and ends as the child does. Elsewhere it does nothing. To be called while there is one
 * thread.
 */
void pawl__first_process(void);

#endif
