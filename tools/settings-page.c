/*
 * settings-page.c - prints the manual page pawl-settings(5), out of the table that parses the settings
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pawl/version.h>

#include "cli/process.h"
#include "core/settings.h"
#include "tools/mdoc.h"

static const char head[] = ".Dd November 29, 2026\n"
                           ".Dt PAWL-SETTINGS 5\n"
                           ".Os pawl " PAWL_VERSION "\n"
                           ".Sh NAME\n"
                           ".Nm pawl-settings\n"
                           ".Nd settings of a pawl job\n"
                           ".Sh DESCRIPTION\n"
                           "A setting has a name and a text.\n"
                           "Programs hand them to\n"
                           ".Fn pawl_config_set ,\n"
                           "one by one.\n"
                           "A name that does not exist and a value that cannot be are refused there.\n"
                           ".Pp\n"
                           "Durations are written\n"
                           ".Ql 250ms , 10s , 5m , 2h , 1d\n"
                           "or\n"
                           ".Ql PT10S ;\n"
                           "a bare number is refused, except 0.\n"
                           "Sizes are written\n"
                           ".Ql 64MiB , 1GiB , 512KiB\n"
                           "or\n"
                           ".Ql 64MB ,\n"
                           "and a bare number is bytes.\n"
                           "Flags are\n"
                           ".Cm true\n"
                           "or\n"
                           ".Cm false .\n"
                           ".Sh SETTINGS\n"
                           ".Bl -tag -width Ds\n";

static const char other_names[] = ".El\n"
                                  ".Sh OTHER NAMES\n"
                                  "Two kinds of names are not in the table:\n"
                                  ".Bl -tag -width Ds\n"
                                  ".It Cm kafka . Ns Ar NAME\n"
                                  "The property\n"
                                  ".Ar NAME\n"
                                  "of librdkafka, passed through:\n"
                                  ".Cm kafka.bootstrap.servers\n"
                                  "says where the brokers are.\n"
                                  "Properties that pawl sets itself are refused, with the setting to use instead:\n"
                                  ".Cm group.id , client.id , group.instance.id , enable.auto.* , auto.commit.* ,\n"
                                  ".Cm offset.store.* , auto.offset.reset , isolation.level , transactional.id ,\n"
                                  ".Cm enable.partition.eof , queued.* , fetch.max.bytes ,\n"
                                  ".Cm fetch.message.max.bytes , max.partition.fetch.bytes\n"
                                  "and\n"
                                  ".Cm max.poll.records .\n"
                                  ".Cm check.crcs\n"
                                  "is on unless it is switched off.\n"
                                  ".It Cm user . Ns Ar NAME\n"
                                  "Kept for the program, which gets it back from\n"
                                  ".Fn pawl_config_get .\n"
                                  ".El\n";

static const char job_files[] =
    ".Sh JOB FILES\n"
    "A file for\n"
    ".Ql pawl run\n"
    "has sections, and in them lines\n"
    ".Ql key = value .\n"
    "The settings above stand in\n"
    ".Bq job ,\n"
    "properties of librdkafka in\n"
    ".Bq kafka\n"
    "and a plugin's own settings in\n"
    ".Bq user ,\n"
    "the latter two without their prefix.\n"
    "A line that begins with # or ; is a comment; in a value nothing is special but\n"
    ".Bl -tag -width Ds\n"
    ".It ${env : Ns Ar NAME Ns }\n"
    "the environment variable\n"
    ".Ar NAME\n"
    ".It ${file : Ns Ar PATH Ns }\n"
    "the content of the file\n"
    ".Ar PATH ,\n"
    "without its last line end.\n"
    "A path that is not absolute is one in the folder in which pawl was started.\n"
    ".El\n"
    ".Pp\n"
    "Both are percent-encoded where they are the user, the password or the value of a parameter of\n"
    "a URL, so that these may hold any character; one more $ before them keeps them as they are.\n"
    "What is missing is an error.\n"
    ".Pp\n"
    "In\n"
    ".Bq process\n"
    "stands what is done with the records:\n"
    ".Bl -tag -width Ds\n";

static const char environment[] =
    ".El\n"
    ".Ss What a command finds\n"
    "In its environment\n"
    ".Ev PAWL_GROUP\n"
    "and\n"
    ".Ev PAWL_BATCH ;\n"
    "a command of exec also\n"
    ".Ev PAWL_TOPIC , PAWL_PARTITION , PAWL_FROM , PAWL_UNTIL\n"
    "and\n"
    ".Ev PAWL_ATTEMPT .\n"
    "With replay = exact group, topic, partition, from and until are the key by which a repetition\n"
    "can be told; without, a repetition begins at the same from and may end elsewhere.\n"
    ".Pp\n"
    "On its standard input the records in ascending order, each as\n"
    ".Bd -literal -offset indent\n"
    "{\"topic\":\"t\",\"partition\":0,\"offset\":1,\"timestamp\":1357034400000,\n"
    " \"key\":null,\"value\":\"v\",\"headers\":[{\"name\":\"n\",\"value\":\"w\"}]}\n"
    ".Ed\n"
    ".Pp\n"
    "in one line.\n"
    "What is no UTF-8 is base64, and \"key_encoding\" or \"value_encoding\" with the value\n"
    "\"base64\" stands behind it.\n"
    "With format = value a null is an empty line.\n"
    ".Pp\n"
    "A command may stop reading at any time.\n"
    "Its standard output is that of pawl, unless that is used for\n"
    ".Fl -json .\n"
    "It runs in a process group of its own, and what is left of that when it ends is killed.\n"
    "Of what it writes to standard error the first 100 lines are logged, then ten a second and\n"
    "always the last one.\n";

static const char see_also[] = ".Sh SEE ALSO\n"
                               ".Xr pawl 1 ,\n"
                               ".Xr pawl_job_run 3 ,\n"
                               ".Xr pawl 7\n";

/* A number of milliseconds in the greatest unit that holds it exactly. */
static const char *
duration_text(int64_t ms, char *text, size_t size)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
    size_t i = 0;

    if (ms == 0)
        return "0";
    while (ms % units[i].ms != 0)
        i++;
    snprintf(text, size, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
    return text;
}

static const char *
size_text(int64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;

    while (bytes != 0 && bytes % 1024 == 0 && i + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1024;
        i++;
    }
    snprintf(text, size, "%" PRId64 "%s", bytes, units[i]);
    return text;
}

/* "A duration, 100ms to 1h.": what a value may be. */
static void
print_form(const pawl__setting *setting)
{
    char line[400], min[40], max[40];

    switch (setting->kind) {
    case PAWL__SETTING_INTEGER:
        if (setting->max == INT64_MAX)
            snprintf(line, sizeof(line), "A number, at least %" PRId64 ".", setting->min);
        else
            snprintf(line, sizeof(line), "A number, %" PRId64 " to %" PRId64 ".", setting->min, setting->max);
        break;
    case PAWL__SETTING_DURATION:
        snprintf(line, sizeof(line), "A duration, %s to %s.", duration_text(setting->min, min, sizeof(min)),
                 duration_text(setting->max, max, sizeof(max)));
        break;
    case PAWL__SETTING_SIZE:
        snprintf(line, sizeof(line), "A size, %s to %s.", size_text(setting->min, min, sizeof(min)),
                 size_text(setting->max, max, sizeof(max)));
        break;
    case PAWL__SETTING_FLAG:
        snprintf(line, sizeof(line), "A flag.");
        break;
    case PAWL__SETTING_CHOICE:
        line[0] = '\0';
        for (const char *const *choice = setting->choices; *choice != NULL; choice++) {
            size_t used = strlen(line);

            snprintf(line + used, sizeof(line) - used, "%s%s", used == 0 ? "One of: " : ", ", *choice);
        }
        strncat(line, ".", sizeof(line) - strlen(line) - 1);
        break;
    default:
        snprintf(line, sizeof(line), "Form: %s", setting->form);
        break;
    }
    mdoc_print_text(line);
}

static void
print_setting(const pawl__setting *setting)
{
    printf(".It Cm %s\n", setting->name);
    mdoc_print_text(setting->summary);
    fputs(".Pp\n", stdout);
    print_form(setting);
    if (setting->fallback != NULL)
        printf(".br\nDefault:\n.Cm %s\n", setting->fallback);
}

int
main(void)
{
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);

    fputs(head, stdout);
    for (size_t i = 0; i < count; i++)
        print_setting(&table[i]);
    fputs(other_names, stdout);
    fputs(job_files, stdout);
    table = pawl__process_table(&count);
    for (size_t i = 0; i < count; i++)
        print_setting(&table[i]);
    fputs(environment, stdout);
    fputs(see_also, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
