/* What the fuzzers share: an assertion that stays, a table sink in memory, reading in cuts taken
 * from the input, rows back as text, a small model. */
#ifndef TESTS_FUZZ_SUPPORT_H
#define TESTS_FUZZ_SUPPORT_H

#include "formats/formats.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Unlike assert it says what the input led to. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* A seeded sequence, for cuts. */
uint32_t fuzz_random(uint64_t *state);

/* A copy of exactly that size, so that a read beyond it is noticed. The caller frees. */
char *fuzz_copy(const void *bytes, size_t n);

/* ---- tables ---- */
struct fuzz_table {
    struct table_blob *blobs; /* [n_chunks × n_columns] */
    int64_t *rows;            /* [n_chunks] */
    size_t n_chunks, n_columns;
    bool well;
    char content[80];
    char *columns;   /* of the summary, when well */
    struct buf text; /* summary or problem document: what must not depend on cuts */
};

/* Reads the body: whole (seed 0) or in pieces. */
struct fuzz_table fuzz_read(const struct table_options *options, const char *body, size_t size,
                            uint64_t seed);

void fuzz_table_done(struct fuzz_table *t);

/* The body as any table reader must take it: cuts do not show, and a table that is well, sent back
 * as JSON, is the same table: with its types, and if they were inferred, by inference too. */
void fuzz_check_table(const struct table_options *options, const char *body, size_t size,
                      uint64_t seed, bool inferred);

/* ---- a model: two numbers, a category, a boolean; three classes ---- */
dn_model *fuzz_model(void);

#endif
