/*
 * ini.h - sections, keys and values out of a text, with the numbers of their lines
 *
 *     # a comment, as is a line that begins with ";"
 *     [section]
 *     key = value
 *
 * A value goes from the first character after "=" that is no blank to the last of its line that is none. Nothing in it is
 * special: commands hold quotes, "#" and ";" (which is why this is no library: those cut values at a ";"). Lines may end
 * with CR LF.
 */
#ifndef PAWL_CLI_INI_H
#define PAWL_CLI_INI_H

#include <stddef.h>

#include <pawl/error.h>

typedef struct pawl_ini_entry {
    const char *section;
    const char *key;
    const char *value;
    unsigned line; /* from 1 on */
} pawl_ini_entry;

typedef pawl_status (*pawl_ini_fn)(void *user, const pawl_ini_entry *entry, pawl_error *err);

/*
 * Calls fn for each key, with borrowed texts. What is wrong is PAWL_INVALID with a message that begins with "NAME:LINE",
 * `name` being what the text is called; an error of fn gets this beginning as well.
 */
pawl_status pawl__ini_parse(const char *name, const char *text, size_t size, pawl_ini_fn fn, void *user,
                            pawl_error *err);

#endif
