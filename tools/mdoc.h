/*
 * mdoc.h - text for manual pages
 */
#ifndef PAWL_TOOLS_MDOC_H
#define PAWL_TOOLS_MDOC_H

/* Prints sentences, each from a new line on, as mdoc wants them. A newline in the text starts a paragraph. */
void mdoc_print_text(const char *text);

/* Prints one line of a literal display. */
void mdoc_print_literal(const char *line);

#endif
