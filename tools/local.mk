# tools/local.mk - what is needed to build and to work on pawl

noinst_PROGRAMS += tools/settings-page
tools_settings_page_SOURCES = tools/settings-page.c tools/mdoc.c tools/mdoc.h
tools_settings_page_LDADD = $(CLI_LIBS)

noinst_PROGRAMS += tools/command-page
tools_command_page_SOURCES = tools/command-page.c tools/mdoc.c tools/mdoc.h
tools_command_page_LDADD = $(CLI_LIBS)

# Completion for bash, made from the table of commands; bash-completion looks for it there by the command's name.
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = tools/completion/pawl
CLEANFILES += tools/completion/pawl

tools/completion/pawl: tools/command-page$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) tools/completion && tools/command-page$(EXEEXT) bash >$@.part && mv $@.part $@

EXTRA_DIST += \
	tools/install-packages \
	tools/try-bare-debian
