# tools/local.mk - what is needed to build and to work on pawl

noinst_PROGRAMS += tools/settings-page
tools_settings_page_SOURCES = tools/settings-page.c
tools_settings_page_LDADD = src/libpawl-core.la $(LIBPAWL_LIBS)

EXTRA_DIST += \
	tools/install-packages \
	tools/try-bare-debian
