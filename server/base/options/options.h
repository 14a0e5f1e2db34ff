/* Options, defined by one table: flags `--name value` or `--name=value`, or environment variables
 * DISCERN_NAME. A flag takes precedence over the environment. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_STRING,
    OPTION_LIST,
    OPTION_INT,
    OPTION_SIZE,
    OPTION_SECONDS,
    OPTION_FLAG,
    OPTION_CHOICE
};

/* One row of the table. The value is written to the field at `offset` of the caller's settings
 * struct. STRING: const char *; LIST: struct option_list; INT: int64_t; SIZE: int64_t (bytes;
 * binary suffixes K, M, G: 64M, 64MiB); SECONDS: double (a number, alone or with s, m, h, ms);
 * FLAG: bool; CHOICE: const char *. */
struct option_row {
    const char *name; /* as "max-connections" */
    enum option_kind kind;
    size_t offset;
    const char *fallback;    /* default value as text; NULL: the value is NULL, 0 or false */
    double minimum, maximum; /* limits of INT, SIZE and SECONDS */
    const char *choices;     /* CHOICE: as "text|json" */
    const char *argument;    /* name of the value in --help, as "ADDRESS:PORT" */
    const char *help;        /* one or two sentences; NULL: --help does not show the option */
    const char *group;       /* heading in --help */
};
#define OPTION_LIST_MAX 64
struct option_list {
    size_t n;
    /* The items were comma-separated or given by repeated flags. They are malloc'ed; options_free
     * frees them. */
    const char *items[OPTION_LIST_MAX];
};

/* Sets the settings: defaults, then the environment, then argv. Returns false and sets problem with
 * a one-line message ("--workers must be an integer from 1 to 256, got \"x\"", or for the
 * environment "DISCERN_WORKERS …"). An unknown flag or DISCERN_ variable, a missing value and a
 * stray argument are errors too. */
bool options_read(const struct option_row *rows, size_t n, int argc, char **argv, void *settings,
                  struct problem *problem);
/* As options_read, without the environment. */
bool options_read_arguments(const struct option_row *rows, size_t n, int argc, char **argv,
                            void *settings, struct problem *problem);
/* Frees the lists. The strings of other options are not owned. */
void options_free(const struct option_row *rows, size_t n, void *settings);
/* Writes `usage`, then every option under the heading of its group, wrapped at 100 columns. */
void options_help(const struct option_row *rows, size_t n, const char *usage, FILE *out);

#endif
