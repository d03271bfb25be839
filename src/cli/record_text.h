/*
 * record_text.h - records as lines, for programs that read them
 */
#ifndef PAWL_CLI_RECORD_TEXT_H
#define PAWL_CLI_RECORD_TEXT_H

#include <pawl/batch.h>

#include "cli/buffer.h"

/* What is the same in all lines of a partition: '{"topic":"t","partition":0,"offset":'. */
void pawl__record_json_head(pawl_buffer *head, const char *topic, int32_t partition);

/*
 * Adds one JSON object and a newline:
 *
 *     {"topic":"t","partition":0,"offset":1,"timestamp":2,"key":null,"value":"v","headers":[{"name":"n","value":"v"}]}
 *
 * Bytes that are no UTF-8 are base64, and "key_encoding" or "value_encoding" with the value "base64" comes after them. A
 * key, a value or a timestamp that is not there is null. A header's name is text in any case: bytes of it that are no
 * UTF-8 become U+FFFD.
 */
void pawl__record_json(pawl_buffer *out, const pawl_buffer *head, const pawl_record *record);

#endif
