/* Options: one table; flags `--name value` / `--name=value`, or environment DISCERN_NAME (a flag
 * wins). */
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

/* One row of the table. Values are written to the field at `offset` of the caller's settings
 * struct: STRING const char *, LIST struct option_list, INT int64_t, SIZE int64_t (bytes; suffixes
 * K, M, G, binary: 64M, 64MiB), SECONDS double (plain number, or with s, m, h, ms), FLAG bool,
 * CHOICE const char *. */
struct option_row {
    const char *name; /* "max-connections" */
    enum option_kind kind;
    size_t offset;
    const char *fallback;    /* default as text; NULL: NULL, 0 or false */
    double minimum, maximum; /* of INT, SIZE, SECONDS */
    const char *choices;     /* "text|json" */
    const char *argument;    /* what --help calls the value: "ADDRESS:PORT" */
    const char *help;        /* one or two sentences; NULL: --help does not show the option */
    const char *group;       /* heading in --help */
};
#define OPTION_LIST_MAX 64
struct option_list {
    size_t n;
    const char *items[OPTION_LIST_MAX]; /* comma-separated or repeated; static or argv memory, or
                                           leaked once at start */
};

/* Fills settings: defaults, then the environment, then argv. false: problem with one clear line
 * ("--workers must be an integer from 1 to 256, got \"x\""; for the environment "DISCERN_WORKERS
 * …"; an unknown flag; a missing value; a stray argument; an unknown DISCERN_ variable is an error
 * too). */
bool options_read(const struct option_row *rows, size_t n, int argc, char **argv, void *settings,
                  struct problem *problem);
/* Frees the lists. Strings are not owned. */
void options_free(const struct option_row *rows, size_t n, void *settings);
/* `usage`, then every option under its group's heading, wrapped at 100 columns. */
void options_help(const struct option_row *rows, size_t n, const char *usage, FILE *out);

#endif
