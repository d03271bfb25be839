/*
 * target.h - what every fuzz target defines
 */
#ifndef PAWL_FUZZ_TARGET_H
#define PAWL_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input; aborts when a law is broken. Named by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
