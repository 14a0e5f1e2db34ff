/* Rows that parameter tables have in common, so that the same parameter has one default and one range, and looking at parameters by name. */
#ifndef DNI_PARAM_ROWS_H
#define DNI_PARAM_ROWS_H

#include <discern/algorithm.h>

#include <math.h>
#include <string.h>

/* One of the words of a NULL-terminated list; `meanings` is as long. */
#define DNI_PARAM_CHOICE(id, text, standard, words, meanings)                                      \
    {                                                                                              \
        .name = id, .type = DN_PARAM_CHOICE, .meaning = text, .default_choice = standard,          \
        .choices = words, .choice_meanings = meanings                                              \
    }

/* Strength of a penalty. */
#define DNI_PARAM_LAMBDA(text)                                                                     \
    {                                                                                              \
        .name = "lambda", .type = DN_PARAM_NUMBER, .meaning = text, .default_number = 1e-3,        \
        .minimum = 0, .maximum = (double)INFINITY, .open_maximum = true                            \
    }

/* auto, or a number; `number` is what auto most often means. */
#define DNI_PARAM_LEARNING_RATE(text, number)                                                      \
    {                                                                                              \
        .name = "learning_rate", .type = DN_PARAM_NUMBER, .meaning = text,                         \
        .default_choice = "auto", .default_number = number, .minimum = 0,                          \
        .maximum = (double)INFINITY, .open_minimum = true, .open_maximum = true, .word = "auto"    \
    }
/* 0 is allowed: to the end of the iterations. */
#define DNI_PARAM_TOLERANCE(text, number)                                                          \
    {                                                                                              \
        .name = "tolerance", .type = DN_PARAM_NUMBER, .meaning = text, .default_choice = "auto",   \
        .default_number = number, .minimum = 0, .maximum = (double)INFINITY, .open_maximum = true, \
        .word = "auto"                                                                             \
    }
#define DNI_PARAM_MAX_ITERATIONS(text, number)                                                     \
    {                                                                                              \
        .name = "max_iterations", .type = DN_PARAM_INTEGER, .meaning = text,                       \
        .default_choice = "auto", .default_number = number, .minimum = 1, .maximum = 1e9,          \
        .word = "auto"                                                                             \
    }

/* Memory for rows of a kernel matrix. */
#define DNI_PARAM_CACHE_MIB(text)                                                                  \
    {                                                                                              \
        .name = "cache_mib", .type = DN_PARAM_NUMBER, .meaning = text, .default_number = 512,      \
        .minimum = 1, .maximum = 1048576                                                           \
    }

/* Whether the parameter is this word; false where it is a number or a list. */
static inline bool dni_params_is(const dn_params *params, const char *name, const char *word) {
    const char *own = dn_params_word(params, name);
    return own != NULL && strcmp(own, word) == 0;
}

#endif
