/*
 * expand.h - ${env:NAME} and ${file:PATH} in a value
 */
#ifndef PAWL_CLI_EXPAND_H
#define PAWL_CLI_EXPAND_H

#include <pawl/error.h>

/*
 * Puts the variable, or the content of the file without its last line end, in the place of each reference. In the
 * user, the password and the parameters' values of a URL it is percent-encoded, so that they may hold any character.
 * $${env:NAME} stands for ${env:NAME} itself; any other "$" is left alone, for shells.
 *
 * *ret_value is what the setting gets; *ret_shown is what people may see of it: files, and variables whose name sounds
 * like a secret, stay references. The caller frees both. PAWL_INVALID: a variable or a file is not there.
 */
pawl_status pawl__expand(const char *text, char **ret_value, char **ret_shown, pawl_error *err);

#endif
