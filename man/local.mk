# man/local.mk - the manual pages

dist_man_MANS = \
	man/pawl.7 \
	man/pawl_job_run.3

# Made from the table that parses the settings.
nodist_man_MANS = man/pawl-settings.5
CLEANFILES += man/pawl-settings.5

man/pawl-settings.5: tools/settings-page$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && tools/settings-page$(EXEEXT) >$@.part && mv $@.part $@
