/* Helpers for the tests of table readers: a table sink in memory, reading of a body in given
 * pieces, and the rows as text. */
#ifndef TESTS_TABLE_HELPER_H
#define TESTS_TABLE_HELPER_H

/* these headers are needed before cmocka.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table in memory, as a store would keep it. */
struct table_copy {
    bool well;                /* the result of table_end */
    struct table_blob *blobs; /* [n_chunks × n_columns] encoded column chunks */
    int64_t *rows;            /* [n_chunks] rows of each chunk */
    size_t n_chunks, n_columns;
    size_t n_reread;          /* number of calls of reread */
    struct table_summary sum; /* its pointers are invalid; the copies below are valid */
    char *columns, *notes;    /* copies of the summary's texts */
    struct table_blob *saved; /* [n_saved] copies of the saved column summaries */
    size_t n_saved;
    struct problem problem;  /* the problem, unless `well` */
    struct buf problem_text; /* the problem document */
};

bool table_sink_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                      size_t n_columns, struct problem *problem);

/* A sink function that frees the blobs of a chunk. arg: a size_t that counts the chunks; NULL: they
 * are not counted. */
bool table_sink_forget(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem);

bool table_sink_reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                       struct problem *problem);

/* Returns a copy of the saved column summaries; *n: their number. */
struct table_blob *table_copy_saved(const struct table_summary *sum, size_t *n);

void table_free_saved(struct table_blob *saved, size_t n);

/* Reads the body in pieces. cut[0 … n_cuts - 1]: the offsets of the cuts, ascending. */
struct table_copy table_read_cut(const struct table_options *options, const char *body, size_t size,
                                 const size_t *cut, size_t n_cuts);

struct table_copy table_read_options(const struct table_options *options, const char *body);

struct table_copy cells_read(const char *body);

void table_done(struct table_copy *t);

/* Appends all rows as text in a format, with the types of the summary; as_text: all columns as
 * strings. */
void table_rows(const struct table_copy *t, const struct format *format, bool as_text,
                struct buf *out);

/* A pseudorandom number generator whose sequence is the same on every system. */
uint32_t cells_random(uint64_t *state);

#endif
