/*
 * offsets_file.h - offsets in a file: what export writes and import reads
 *
 * CSV: a line "topic,partition,offset" each, without a heading, as kafka-consumer-groups writes and reads it. JSON: an
 * object with the group, Kafka's cluster id and the partitions. Which of both it is, import sees by itself.
 */
#ifndef PAWL_CLI_OFFSETS_FILE_H
#define PAWL_CLI_OFFSETS_FILE_H

#include <stdio.h>

#include "cli/moves.h"

/* Writes what is stored, without partitions that have no offset. "" as cluster: not known. */
void pawl__offsets_write_csv(FILE *file, const GArray *moves);
void pawl__offsets_write_json(FILE *file, const char *group, const char *cluster, const GArray *moves);

/*
 * Reads the text of a file, and adds its offsets to the moves as what is given. *ret_cluster lives for ever; NULL where
 * the file names none. PAWL_INVALID with the line or member that is wrong; `name` is the file's.
 */
pawl_status pawl__offsets_read(const char *name, const char *text, size_t size, GArray *moves, const char **ret_cluster,
                               pawl_error *err);

#endif
