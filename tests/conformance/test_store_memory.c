/*
 * test_store_memory.c - the memory: store passes the conformance suite
 */
#include "tests/conformance/conformance.h"

#include <stdlib.h>

#include <pawl/sys/registry.h>

#include "backends/memory/memory.h"

int
main(void)
{
    static const conformance memory = {.name = "memory", .url = "memory:conformance"};

    if (pawl_registry_add_store(&pawl__store_memory, NULL) != PAWL_OK)
        return EXIT_FAILURE;
    return conformance_run(&memory);
}
