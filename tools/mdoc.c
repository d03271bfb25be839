/*
 * mdoc.c - text for manual pages
 */
#include "tools/mdoc.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 76

/* Prints characters so that mandoc takes them for text, and a dash before an option's name for what can be copied. */
static void
print_characters(const char *word, size_t size, bool at_start)
{
    bool is_option = size > 2 && word[0] == '-' && word[1] == '-';

    if (at_start && (word[0] == '.' || word[0] == '\''))
        fputs("\\&", stdout);
    for (size_t i = 0; i < size; i++) {
        if (word[i] == '\\')
            fputs("\\e", stdout);
        else if (word[i] == '-' && is_option)
            fputs("\\-", stdout);
        else
            putchar(word[i]);
    }
}

void
mdoc_print_text(const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t size = strcspn(text, " \n");
        bool ends = size > 0 && text[size - 1] == '.' && (size < 3 || memcmp(text + size - 3, "...", 3) != 0);

        if (column > 0 && column + 1 + size > LINE_WIDTH) {
            putchar('\n');
            column = 0;
        } else if (column > 0) {
            putchar(' ');
            column++;
        }
        print_characters(text, size, column == 0);
        column += size;
        text += size;
        if (*text == '\n') {
            fputs("\n.Pp\n", stdout);
            column = 0;
        } else if (ends && *text != '\0') {
            putchar('\n');
            column = 0;
        }
        text += strspn(text, " \n");
    }
    putchar('\n');
}

void
mdoc_print_literal(const char *line)
{
    for (bool at_start = true; *line != '\0'; at_start = false) {
        size_t size = strcspn(line, " ");

        print_characters(line, size, at_start);
        line += size;
        if (*line == ' ') {
            putchar(' ');
            line++;
        }
    }
    putchar('\n');
}
