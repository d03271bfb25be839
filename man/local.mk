# man/local.mk - the manual pages

dist_man_MANS = \
	man/pawl.7 \
	man/pawl_job_run.3

# Made from the tables that parse commands and settings.
nodist_man_MANS = man/pawl.1 man/pawl-settings.5
CLEANFILES += man/pawl.1 man/pawl-settings.5

man/pawl.1: tools/command-page$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && tools/command-page$(EXEEXT) man >$@.part && mv $@.part $@

man/pawl-settings.5: tools/settings-page$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && tools/settings-page$(EXEEXT) >$@.part && mv $@.part $@
