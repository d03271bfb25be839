/*
 * builtins.c - where the library is put together: what is built in, for a core that knows none of it
 */
#include "core/source.h"
#include "source/kafka/kafka.h"

const pawl_source_backend *const pawl__default_source = &pawl__kafka_source;
