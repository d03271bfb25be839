# man/local.mk - the manual pages

dist_man_MANS = \
	man/pawl.7 \
	man/pawl_job_run.3

# Made from the tables that parse commands and settings.
COMMAND_PAGES = \
	man/pawl.1 \
	man/pawl-lag.1 \
	man/pawl-offsets.1 \
	man/pawl-peek.1 \
	man/pawl-run.1 \
	man/pawl-stores.1
nodist_man_MANS = $(COMMAND_PAGES) man/pawl-settings.5
CLEANFILES += $(nodist_man_MANS)

$(COMMAND_PAGES): tools/command-page$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && tools/command-page$(EXEEXT) $(@F) >$@.part && mv $@.part $@

man/pawl-settings.5: tools/settings-page$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && tools/settings-page$(EXEEXT) >$@.part && mv $@.part $@
