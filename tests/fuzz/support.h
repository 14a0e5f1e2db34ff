/* What the fuzz targets share: an assertion that NDEBUG does not remove, a table sink in memory,
 * reading in pieces that the input determines, rows as text, a small model. */
#ifndef TESTS_FUZZ_SUPPORT_H
#define TESTS_FUZZ_SUPPORT_H

#include "formats/formats.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Like assert, but independent of NDEBUG. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The next number of a pseudorandom sequence, which determines where a body is cut. */
uint32_t fuzz_random(uint64_t *state);

/* Returns a copy in a block of exactly n bytes, so that the sanitizer reports a read beyond its
 * end. The caller frees it. */
char *fuzz_copy(const void *bytes, size_t n);

/* ---- tables ---- */
struct fuzz_table {
    struct table_blob *blobs; /* [n_chunks × n_columns] encoded column chunks */
    int64_t *rows;            /* [n_chunks] rows of each chunk */
    size_t n_chunks, n_columns;
    bool well;
    char content[80];
    char *columns;   /* the columns of the summary; NULL unless `well` */
    struct buf text; /* the summary or the problem document; must not depend on the cuts */
};

/* Reads the body in one piece (seed 0) or in several pieces. */
struct fuzz_table fuzz_read(const struct table_options *options, const char *body, size_t size,
                            uint64_t seed);

void fuzz_table_done(struct fuzz_table *t);

/* Checks what holds for every table reader: the result does not depend on where the body is cut;
 * and an accepted table, sent back as JSON with its types, is the same table. inferred: it must be
 * the same table with inferred types, too. */
void fuzz_check_table(const struct table_options *options, const char *body, size_t size,
                      uint64_t seed, bool inferred);

/* ---- a model of two numbers, a category and a boolean, with three classes ---- */
dn_model *fuzz_model(void);

#endif
