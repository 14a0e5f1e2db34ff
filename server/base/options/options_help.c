/* The text of --help: options by group, wrapped, each with its default and its environment
 * variable. */
#include "base/options/options_parse.h"

#include "base/memory/buf.h"

#include <ctype.h>
#include <string.h>

enum { HELP_COLUMN = 32, HELP_WIDTH = 100 };

const char *options_argument(const struct option_row *row) {
    static const char *const words[] = {
        [OPTION_STRING] = "TEXT", [OPTION_LIST] = "LIST",    [OPTION_INT] = "N",
        [OPTION_SIZE] = "SIZE",   [OPTION_SECONDS] = "TIME", [OPTION_FLAG] = "",
        [OPTION_CHOICE] = NULL};
    if (row->argument != NULL) {
        return row->argument;
    }
    return row->kind == OPTION_CHOICE ? row->choices : words[row->kind];
}

/* Returns the number of characters, not bytes. */
static size_t width_of(const char *s, size_t n) {
    size_t width = 0;
    for (size_t i = 0; i < n; i++) {
        width += ((unsigned char)s[i] & 0xC0) != 0x80 ? 1 : 0;
    }
    return width;
}

/* Writes the words of `text`, beginning at column `at`; further lines are indented by `indent`.
 * Ends the line. */
static void put_wrapped(FILE *out, const char *text, size_t at, size_t indent) {
    bool line_begins = true;
    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        const size_t n = strcspn(text, " \n"), width = width_of(text, n);
        if (!line_begins && at + 1 + width > HELP_WIDTH) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
            line_begins = true;
        }
        (void)fprintf(out, "%s%.*s", line_begins ? "" : " ", (int)n, text);
        at += width + (line_begins ? 0 : 1);
        line_begins = false;
        text += n;
    }
    (void)fputc('\n', out);
}

static void put_row(const struct option_row *row, FILE *out) {
    struct buf text = {0};
    const char *argument = options_argument(row);
    buf_printf(&text, "%s%s%s%s", row->help, row->help[0] != '\0' ? " " : "",
               row->kind == OPTION_LIST ? "Comma-separated or repeated. " : "", "[");
    if (row->kind == OPTION_CHOICE && row->argument != NULL) {
        buf_printf(&text, "%s; ", row->choices);
    }
    if (row->fallback != NULL && row->kind != OPTION_FLAG) {
        buf_printf(&text, "default: %s; ", row->fallback);
    }
    buf_puts(&text, OPTIONS_PREFIX);
    for (const char *p = row->name; *p != '\0'; p++) {
        buf_putc(&text, (char)(*p == '-' ? '_' : toupper((unsigned char)*p)));
    }
    buf_putc(&text, ']');

    const size_t left = 4 + strlen(row->name) +
                        (argument[0] != '\0' ? 1 + width_of(argument, strlen(argument)) : 0);
    (void)fprintf(out, "  --%s%s%s", row->name, argument[0] != '\0' ? " " : "", argument);
    if (left + 2 > HELP_COLUMN) {
        (void)fprintf(out, "\n%*s", HELP_COLUMN, "");
    } else {
        (void)fprintf(out, "%*s", (int)(HELP_COLUMN - left), "");
    }
    const char *s = buf_cstr(&text);
    put_wrapped(out, s != NULL ? s : row->help, HELP_COLUMN, HELP_COLUMN);
    buf_done(&text);
}

static const char *group_of(const struct option_row *row) {
    return row->group != NULL ? row->group : "Options";
}

void options_help(const struct option_row *rows, size_t n, const char *usage, FILE *out) {
    (void)fprintf(out, "%s\n", usage);
    for (size_t i = 0; i < n; i++) {
        /* true for the first row of a group; all rows of the group are then written, wherever they
         * are in the table. */
        bool first = rows[i].help != NULL;
        for (size_t k = 0; k < i; k++) {
            first = first &&
                    (rows[k].help == NULL || strcmp(group_of(&rows[k]), group_of(&rows[i])) != 0);
        }
        if (!first) {
            continue;
        }
        (void)fprintf(out, "\n%s:\n", group_of(&rows[i]));
        for (size_t k = i; k < n; k++) {
            if (rows[k].help != NULL && strcmp(group_of(&rows[k]), group_of(&rows[i])) == 0) {
                put_row(&rows[k], out);
            }
        }
    }
}
