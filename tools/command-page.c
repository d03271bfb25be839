/*
 * command-page.c - prints what belongs to the program besides itself, out of the table of its commands
 *
 *     command-page pawl.1        # the manual page pawl(1): what commands there are
 *     command-page pawl-run.1    # the manual page of one of them
 *     command-page bash          # completion for bash
 */
#include <stdio.h>
#include <string.h>

#include <pawl/version.h>

#include "cli/command.h"
#include "tools/mdoc.h"
#include "util/error.h"

/* Calls fn for each command, parents before their members; `name` is the whole of it, "pawl offsets set". */
static void
for_each(const pawl_command *command, const char *name, void (*fn)(const pawl_command *command, const char *name))
{
    fn(command, name);
    for (size_t i = 0; command->members != NULL && command->members[i] != NULL; i++) {
        char *member = g_strconcat(name, " ", command->members[i]->name, NULL);

        for_each(command->members[i], member, fn);
        g_free(member);
    }
}

/* -------------------------------------------------------------------------------------------------------- manual -- */

static const char exit_status[] = ".Sh EXIT STATUS\n"
                                  ".Bl -tag -width Ds\n"
                                  ".It 0\n"
                                  "Done.\n"
                                  ".It 1\n"
                                  "Failed.\n"
                                  ".It 2\n"
                                  "Wrong usage or configuration; nothing was changed.\n"
                                  ".It 3\n"
                                  "Records that were never read are gone from Kafka.\n"
                                  ".It 4\n"
                                  "Somebody else owns the partitions, or has moved their offsets.\n"
                                  ".It 5\n"
                                  "A server cannot be reached.\n"
                                  ".El\n";

static void
print_exit_status(void)
{
    fputs(exit_status, stdout);
    puts(".Pp\nThe word with which a job logs its failure tells more:\n.Bl -tag -width Ds");
    for (size_t i = 0; i < pawl__status_count(); i++) {
        printf(".It Em %s , No exit status %d\n", pawl_status_name((pawl_status) i),
               pawl_status_exit_code((pawl_status) i));
        mdoc_print_text(pawl__status_meaning((pawl_status) i));
    }
    puts(".El");
}

static const char see_also[] = ".Xr pawl-settings 5 ,\n"
                               ".Xr pawl 7\n";

static void
print_head(const char *name, const char *summary)
{
    char *title = g_ascii_strup(name, -1);

    printf(".Dd November 29, 2026\n.Dt %s 1\n.Os pawl %s\n.Sh NAME\n.Nm %s\n.Nd %s\n.Sh SYNOPSIS\n", title,
           PAWL_VERSION, name, summary);
    g_free(title);
}

/* The name without the program's own. */
static const char *
own_name(const char *name)
{
    const char *blank = strchr(name, ' ');

    return blank != NULL ? blank + 1 : "";
}

static void
print_flag(const pawl_option *option)
{
    printf("Fl \\-%s", option->name);
    if (option->argument != NULL)
        printf(" Ar %s", option->argument);
    putchar('\n');
}

static void
print_operands(const pawl_command *command)
{
    char **words = command->operands != NULL ? g_strsplit(command->operands, " ", -1) : NULL;

    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        if (strcmp(words[i], "...") == 0)
            puts(".No ...");
        else
            printf(command->min_operands > 0 ? ".Ar %s\n" : ".Op Ar %s\n", words[i]);
    }
    g_strfreev(words);
}

static void
print_synopsis(const pawl_command *command, const char *name)
{
    bool optional = false;

    if (command->run == NULL)
        return;
    printf(".Nm pawl\n.Cm %s\n", own_name(name));
    for (size_t i = 0; command->options != NULL && command->options[i] != NULL; i++) {
        optional = optional || !command->options[i]->required;
        if (!command->options[i]->required)
            continue;
        putchar('.');
        print_flag(command->options[i]);
    }
    if (optional)
        puts(".Op Ar option ...");
    print_operands(command);
}

static void
print_option(const pawl_option *option)
{
    fputs(".It ", stdout);
    print_flag(option);
    mdoc_print_text(option->summary);
    if (option->required)
        puts("Required.");
    if (option->kind == PAWL_OPTION_LIST)
        puts("May be given more than once.");
    for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL; i++)
        printf("%s.Cm %s%s\n", i == 0 ? "One of\n" : "", option->choices[i],
               option->choices[i + 1] != NULL ? " ," : " .");
    if (option->fallback != NULL)
        printf("Default:\n.Cm %s .\n", option->fallback);
}

/* "runs a job" as a sentence. */
static void
print_summary(const pawl_command *command)
{
    char *sentence = g_strdup_printf("%c%s.", g_ascii_toupper(command->summary[0]), command->summary + 1);

    mdoc_print_text(sentence);
    g_free(sentence);
}

/* What a command does; a command of a command has a heading of its own. */
static void
print_description(const pawl_command *command, const char *name)
{
    if (strchr(own_name(name), ' ') != NULL)
        printf(".Ss %s\n", name);
    print_summary(command);
    if (command->details != NULL)
        mdoc_print_text(command->details);
    if (command->options != NULL) {
        puts(".Bl -tag -width Ds");
        for (size_t i = 0; command->options[i] != NULL; i++)
            print_option(command->options[i]);
        puts(".El");
    }
}

static void
print_examples(const pawl_command *command, const char *name)
{
    (void) name;
    for (size_t i = 0; command->examples != NULL && command->examples[i] != NULL; i++)
        mdoc_print_literal(command->examples[i]);
}

static bool
has_examples(const pawl_command *command)
{
    bool has = command->examples != NULL;

    for (size_t i = 0; !has && command->members != NULL && command->members[i] != NULL; i++)
        has = has_examples(command->members[i]);
    return has;
}

/* The page of one command, with those that belong to it. */
static void
print_page(const char *page, const pawl_command *command)
{
    char *name = g_strconcat(pawl__cli_program.name, " ", command->name, NULL);

    print_head(page, command->summary);
    for_each(command, name, print_synopsis);
    puts(".Sh DESCRIPTION");
    for_each(command, name, print_description);
    puts(".Sh EXIT STATUS\nThat of\n.Xr pawl 1 .");
    if (has_examples(command)) {
        puts(".Sh EXAMPLES\n.Bd -literal");
        for_each(command, name, print_examples);
        puts(".Ed");
    }
    printf(".Sh SEE ALSO\n.Xr pawl 1 ,\n%s", see_also);
    g_free(name);
}

/* pawl(1). */
static void
print_overview(void)
{
    const pawl_command *const *members = pawl__cli_program.members;

    print_head(pawl__cli_program.name, pawl__cli_program.summary);
    puts(".Nm\n.Ar command\n.Op Ar option ...\n.Op Ar operand ...\n"
         ".Nm\n.Op Ar command\n.Fl \\-help\n.Nm\n.Fl \\-version\n.Sh DESCRIPTION\n.Bl -tag -width Ds");
    for (size_t i = 0; members[i] != NULL; i++) {
        printf(".It Xr pawl-%s 1\n", members[i]->name);
        print_summary(members[i]);
    }
    puts(".El\n.Pp\nEach command shows with\n.Fl \\-help\nwhat stands in its page.");
    print_exit_status();
    puts(".Sh SEE ALSO");
    for (size_t i = 0; members[i] != NULL; i++)
        printf(".Xr pawl-%s 1 ,\n", members[i]->name);
    fputs(see_also, stdout);
}

/* A page's name is the file's, "pawl-run.1". False: there is no such page. */
static bool
print_manual(const char *file)
{
    char *page = g_str_has_suffix(file, ".1") ? g_strndup(file, strlen(file) - 2) : g_strdup("");
    const pawl_command *const *members = pawl__cli_program.members;
    bool found = strcmp(page, pawl__cli_program.name) == 0;

    if (found)
        print_overview();
    for (size_t i = 0; !found && members[i] != NULL; i++) {
        found = g_str_has_prefix(page, "pawl-") && strcmp(page + strlen("pawl-"), members[i]->name) == 0;
        if (found)
            print_page(page, members[i]);
    }
    g_free(page);
    return found;
}

/* ----------------------------------------------------------------------------------------------- completion: bash -- */

static const char bash_head[] =
    "# bash completion for pawl; made from the table of its commands\n"
    "_pawl()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} name=pawl words= files= i\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case \"$name ${COMP_WORDS[i]}\" in\n";

static const char bash_tail[] = "    esac\n"
                                "    # shellcheck disable=SC2207 # words hold no blanks\n"
                                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                                "    if [[ -n $files && $cur != -* ]]; then\n"
                                "        # shellcheck disable=SC2207\n"
                                "        COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
                                "    fi\n"
                                "}\n"
                                "complete -o filenames -F _pawl pawl\n";

/* Which words make a longer command's name. */
static void
print_bash_name(const pawl_command *command, const char *name)
{
    (void) command;
    if (strchr(name, ' ') != NULL)
        printf("        '%s') name='%s' ;;\n", name, name);
}

/* After an option that takes a value: its choices, or files, or nothing. */
static void
print_bash_value(const pawl_command *command, const char *name)
{
    for (size_t i = 0; command->options != NULL && command->options[i] != NULL; i++) {
        const pawl_option *option = command->options[i];

        if (option->argument == NULL)
            continue;
        printf("    '%s --%s')", name, option->name);
        if (option->choices != NULL) {
            fputs(" words='", stdout);
            for (size_t c = 0; option->choices[c] != NULL; c++)
                printf("%s%s", c == 0 ? "" : " ", option->choices[c]);
            fputs("'", stdout);
        }
        fputs(option->is_file ? " files=1 ;;\n" : " ;;\n", stdout);
    }
}

/* Otherwise: commands and options. */
static void
print_bash_words(const pawl_command *command, const char *name)
{
    printf("    '%s '*) words='", name);
    for (size_t i = 0; command->members != NULL && command->members[i] != NULL; i++)
        printf("%s ", command->members[i]->name);
    for (size_t i = 0; command->options != NULL && command->options[i] != NULL; i++)
        printf("--%s ", command->options[i]->name);
    printf("--help'%s ;;\n", command->operands_are_files ? " files=1" : "");
}

/* `case` takes the first that fits: a command's members come before itself. */
static void
print_bash_words_deep(const pawl_command *command, const char *name)
{
    for (size_t i = 0; command->members != NULL && command->members[i] != NULL; i++) {
        char *member = g_strconcat(name, " ", command->members[i]->name, NULL);

        print_bash_words_deep(command->members[i], member);
        g_free(member);
    }
    print_bash_words(command, name);
}

static void
print_bash(void)
{
    const pawl_command *program = &pawl__cli_program;

    fputs(bash_head, stdout);
    for_each(program, program->name, print_bash_name);
    fputs("        esac\n    done\n    case \"$name $prev\" in\n", stdout);
    for_each(program, program->name, print_bash_value);
    print_bash_words_deep(program, program->name);
    fputs(bash_tail, stdout);
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "bash") == 0)
        print_bash();
    else if (!print_manual(argv[1]))
        return 2;
    return fflush(stdout) == 0 ? 0 : 1;
}
