/* For tests: small tables for every kind of points: numbers, bits, sparse columns, words, graphs,
 * character sequences, a precomputed kernel. The classes alternate. */
#ifndef TESTS_KERNEL_TABLES_H
#define TESTS_KERNEL_TABLES_H

#include "unit/core/support.h"
#include "unit/core/table/chunked.h"

enum kt_kind {
    KT_NUMBERS,
    KT_BITS,
    KT_SPARSE,
    KT_WORDS,
    KT_GRAPHS,
    KT_CHARACTERS,
    KT_GIVEN,
    KT_KINDS
};

struct kt_table {
    enum kt_kind kind;
    size_t n, n_inputs, n_features, n_classes;
    double entries, words; /* dn_train_request.entries and .different_words */
    size_t *inputs;        /* [n_inputs] */
    /* [n_inputs × n], or the entries of a sparse column */
    double *numbers;
    char *strings; /* memory of `text`, of `class` and of the names of columns */
    const char **text, **class;
    size_t *row_start;
    uint32_t *place;
    chunked_column *columns; /* [n_inputs + 1], the target last */
    size_t borders[2];
    chunked source;
};

struct kt_table *kt_new(enum kt_kind kind, size_t n, size_t d, size_t each, size_t n_classes);

void kt_free(struct kt_table *t);

dn_train_request kt_request(const struct kt_table *t, const dn_params *params);

/* settings: "name=value name=value". A numeric value sets a number (for `layers` a list of one
 * number), any other value a word. */
dn_params *kt_params(const char *algorithm, const char *settings);

#endif
