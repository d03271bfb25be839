# backends/memory/local.mk - the memory: store, the reference to read; only tests link it

STORE_MEMORY_SOURCES = \
	backends/memory/memory.c \
	backends/memory/memory.h

EXTRA_DIST += backends/memory/README.md
