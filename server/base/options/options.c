/* Reads options: defaults, environment, command line, all by one table. */
#include "base/options/options.h"
#include "base/nearest.h"
#include "base/options/options_parse.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Whether `variable` (length: up to '=') is the option's name in the environment, as
 * "DISCERN_MAX_BODY" is for "max-body". */
static bool is_variable_of(const char *variable, size_t length, const struct option_row *row) {
    if (strlen(row->name) + OPTIONS_PREFIX_SIZE != length) {
        return false;
    }
    for (size_t i = 0; row->name[i] != '\0'; i++) {
        const char c = row->name[i];
        const char upper = (char)(c == '-' ? '_' : toupper((unsigned char)c));
        if (variable[OPTIONS_PREFIX_SIZE + i] != upper) {
            return false;
        }
    }
    return true;
}

/* Returns the row whose name is the `length` bytes at `name`; NULL if there is none. */
static const struct option_row *row_find(const struct option_row *rows, size_t n, const char *name,
                                         size_t length) {
    for (size_t i = 0; i < n; i++) {
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static bool refuse_flag(const struct option_row *rows, size_t n, const char *name, size_t length,
                        struct problem *problem) {
    const struct option_row *nearest = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const size_t d = nearest_distance(name, length, rows[i].name, strlen(rows[i].name));
        if (d < best && rows[i].help != NULL) {
            best = d;
            nearest = &rows[i];
        }
    }
    const int shown = (int)(length < 100 ? length : 100);
    if (nearest != NULL) {
        return problem_set(problem, PROBLEM_INVALID, "unknown option --%.*s; did you mean --%s?",
                           shown, name, nearest->name);
    }
    return problem_set(problem, PROBLEM_INVALID, "unknown option --%.*s; --help lists them all",
                       shown, name);
}

static bool read_environment(const struct option_row *rows, size_t n, void *settings,
                             struct problem *problem) {
    for (char **e = environ; e != NULL && *e != NULL; e++) {
        const char *equals = strchr(*e, '=');
        if (equals == NULL || strncmp(*e, OPTIONS_PREFIX, OPTIONS_PREFIX_SIZE) != 0) {
            continue;
        }
        const size_t length = (size_t)(equals - *e);
        const struct option_row *row = NULL;
        for (size_t i = 0; i < n && row == NULL; i++) {
            row = is_variable_of(*e, length, &rows[i]) ? &rows[i] : NULL;
        }
        if (row == NULL) {
            return problem_set(problem, PROBLEM_INVALID,
                               "unknown environment variable %.*s; --help lists them all",
                               (int)(length < 100 ? length : 100), *e);
        }
        if (equals[1] == '\0') {
            continue; /* `DISCERN_X=` in a compose or unit file means that the option is not set */
        }
        if (row->kind == OPTION_LIST) {
            options_list_clear(row, settings); /* the list replaces the default */
        }
        char shown[128];
        (void)snprintf(shown, sizeof shown, "%.*s", (int)(length < 100 ? length : 100), *e);
        if (!options_parse(row, shown, equals + 1, settings, problem)) {
            return false;
        }
    }
    return true;
}

/* Reads argv[i] and its value. Returns the number of arguments that were read; 0 on failure. */
static int read_flag(const struct option_row *rows, size_t n, int argc, char **argv, int i,
                     bool *seen, void *settings, struct problem *problem) {
    static char help[] = "--help";
    if (strcmp(argv[i], "-h") == 0 && row_find(rows, n, "help", 4) != NULL) {
        argv[i] = help;
    }
    if (argv[i][0] != '-' || argv[i][1] != '-' || argv[i][2] == '\0') {
        problem_set(problem, PROBLEM_INVALID,
                    "stray argument \"%.100s\"; options look like --name value", argv[i]);
        return 0;
    }
    const char *name = argv[i] + 2;
    const size_t length = strcspn(name, "=");
    const struct option_row *row = row_find(rows, n, name, length);
    if (row == NULL) {
        refuse_flag(rows, n, name, length, problem);
        return 0;
    }
    char shown[128];
    (void)snprintf(shown, sizeof shown, "--%s", row->name);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    int taken = 1;
    if (value == NULL && row->kind == OPTION_FLAG) {
        value = "true";
    } else if (value == NULL) {
        if (i + 1 >= argc) {
            problem_set(problem, PROBLEM_INVALID, "%s needs a value (%s)", shown,
                        options_argument(row));
            return 0;
        }
        value = argv[i + 1];
        taken = 2;
    }
    if (row->kind == OPTION_LIST && !seen[row - rows]) {
        /* Flags replace the list of the environment or the default. */
        options_list_clear(row, settings);
    }
    seen[row - rows] = true;
    return options_parse(row, shown, value, settings, problem) ? taken : 0;
}

/* Sets all fields to zero, then to the defaults of the table, which must be valid. */
static void read_fallbacks(const struct option_row *rows, size_t n, void *settings) {
    for (size_t i = 0; i < n; i++) {
        options_zero(&rows[i], settings);
        if (rows[i].fallback != NULL) {
            struct problem wrong = {0};
            const bool good =
                options_parse(&rows[i], rows[i].name, rows[i].fallback, settings, &wrong);
            assert(good);
            (void)good;
            problem_done(&wrong);
        }
    }
}

static bool read_all(const struct option_row *rows, size_t n, bool environment, int argc,
                     char **argv, void *settings, struct problem *problem) {
    bool *seen = calloc(n + 1, sizeof *seen);
    if (seen == NULL) {
        return problem_no_memory(problem);
    }
    read_fallbacks(rows, n, settings);
    bool good = !environment || read_environment(rows, n, settings, problem);
    for (int i = 1; good && i < argc;) {
        const int taken = read_flag(rows, n, argc, argv, i, seen, settings, problem);
        good = taken > 0;
        i += taken;
    }
    free(seen);
    return good;
}

bool options_read(const struct option_row *rows, size_t n, int argc, char **argv, void *settings,
                  struct problem *problem) {
    return read_all(rows, n, true, argc, argv, settings, problem);
}

bool options_read_arguments(const struct option_row *rows, size_t n, int argc, char **argv,
                            void *settings, struct problem *problem) {
    return read_all(rows, n, false, argc, argv, settings, problem);
}

void options_free(const struct option_row *rows, size_t n, void *settings) {
    for (size_t i = 0; i < n; i++) {
        if (rows[i].kind == OPTION_LIST) {
            options_list_clear(&rows[i], settings);
        }
    }
}
