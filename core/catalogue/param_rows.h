/* Entries that several parameter tables share, so that a parameter has the same range in every
 * algorithm; and a function that compares a parameter with a word. */
#ifndef DNI_PARAM_ROWS_H
#define DNI_PARAM_ROWS_H

#include <discern/algorithm.h>

#include <math.h>
#include <string.h>

/* A choice between words. `words` is NULL-terminated; `meanings` has the same length. */
#define DNI_PARAM_CHOICE(id, text, standard, words, meanings)                                      \
    {                                                                                              \
        .name = id, .type = DN_PARAM_CHOICE, .meaning = text, .default_choice = standard,          \
        .choices = words, .choice_meanings = meanings                                              \
    }

/* Strength of a penalty: "auto" or a number >= 0. */
#define DNI_PARAM_LAMBDA_AUTO(text)                                                                \
    {                                                                                              \
        .name = "lambda", .type = DN_PARAM_NUMBER, .meaning = text, .default_choice = "auto",      \
        .default_number = 1e-3, .minimum = 0, .maximum = (double)INFINITY, .open_maximum = true,   \
        .word = "auto", .complexity = -1                                                           \
    }

/* "auto" or a number > 0. `number`: the value that "auto" most frequently resolves to. */
#define DNI_PARAM_LEARNING_RATE(text, number)                                                      \
    {                                                                                              \
        .name = "learning_rate", .type = DN_PARAM_NUMBER, .meaning = text,                         \
        .default_choice = "auto", .default_number = number, .minimum = 0,                          \
        .maximum = (double)INFINITY, .open_minimum = true, .open_maximum = true, .word = "auto"    \
    }
/* "auto" or a number >= 0. With tolerance 0 a fit converges only if its convergence measure is
 * exactly 0. An algorithm with this parameter must set `resolve`. */
#define DNI_PARAM_TOLERANCE(text, number)                                                          \
    {                                                                                              \
        .name = "tolerance", .type = DN_PARAM_NUMBER, .meaning = text, .default_choice = "auto",   \
        .default_number = number, .minimum = 0, .maximum = (double)INFINITY, .open_maximum = true, \
        .word = "auto"                                                                             \
    }
#define DNI_PARAM_MAX_ITERATIONS(text, number) DNI_PARAM_MAX_ITERATIONS_FROM(1, text, number)
#define DNI_PARAM_MAX_ITERATIONS_FROM(least, text, number)                                         \
    {                                                                                              \
        .name = "max_iterations", .type = DN_PARAM_INTEGER, .meaning = text,                       \
        .default_choice = "auto", .default_number = number, .minimum = least, .maximum = 1e9,      \
        .word = "auto"                                                                             \
    }

/* Size in MiB of the cache for rows of a kernel matrix. */
#define DNI_PARAM_CACHE_MIB(text)                                                                  \
    {                                                                                              \
        .name = "cache_mib", .type = DN_PARAM_NUMBER, .meaning = text, .default_number = 512,      \
        .minimum = 1, .maximum = 1048576                                                           \
    }

/* Returns true if the value of a parameter is `word`; false if the value is a number or a list. */
static inline bool dni_params_is(const dn_params *params, const char *name, const char *word) {
    const char *value = dn_params_word(params, name);
    return value != NULL && strcmp(value, word) == 0;
}

#endif
