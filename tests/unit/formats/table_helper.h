/* For the tests of table readers: a sink in memory, a body read in given cuts, and the rows back as
 * text. */
#ifndef TESTS_TABLE_HELPER_H
#define TESTS_TABLE_HELPER_H

/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table as a store would keep it. */
struct table_copy {
    bool well;                /* table_end said so */
    struct table_blob *blobs; /* [n_chunks × n_columns] */
    int64_t *rows;            /* [n_chunks] */
    size_t n_chunks, n_columns;
    size_t n_reread;          /* calls of reread */
    struct table_summary sum; /* pointers below */
    char *columns, *notes;    /* copies */
    struct table_blob *saved; /* [n_saved] copies of the summaries */
    size_t n_saved;
    struct problem problem;  /* when not well */
    struct buf problem_text; /* as the client reads it */
};

bool table_sink_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                      size_t n_columns, struct problem *problem);

bool table_sink_reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                       struct problem *problem);

/* The saved summaries of a table that is read: a copy; *n of them. */
struct table_blob *table_copy_saved(const struct table_summary *sum, size_t *n);

void table_free_saved(struct table_blob *saved, size_t n);

/* Feeds the body in pieces: cut[0 … n_cuts - 1] are offsets, ascending. */
struct table_copy table_read_cut(const struct table_options *options, const char *body, size_t size,
                                 const size_t *cut, size_t n_cuts);

struct table_copy table_read_options(const struct table_options *options, const char *body);

struct table_copy cells_read(const char *body);

void table_done(struct table_copy *t);

/* All rows as text in a format, by the types of the summary (as_text: every column as strings). */
void table_rows(const struct table_copy *t, const struct format *format, bool as_text,
                struct buf *out);

/* A seeded sequence of its own, the same everywhere. */
uint32_t cells_random(uint64_t *state);

#endif
