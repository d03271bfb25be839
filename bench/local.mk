# bench/local.mk - what `make bench` runs

PHONY += bench
bench: all
	$(srcdir)/bench/run $(abs_builddir)
