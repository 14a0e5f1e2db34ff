/* Joins short chunks at the end of a stored table with the appended rows, as in a log-structured
 * merge tree. Private to formats.
 *
 * Beginning with the last chunk, a chunk is joined while it has at most twice as many rows as all
 * joined and new rows behind it, and while all fit in one chunk. So a row that is written again is
 * in a chunk at least 1.5 times as long as before, and is written O(log n) times. A chunk that
 * stays has more than twice as many rows as all behind it, or is full with them, so there are O(log
 * n) short chunks.
 *
 * Rewriting only the last short chunk would be simpler, but every version keeps its own chunks:
 * 1,000 appends of a row would store 500,000 rows instead of fewer than 20,000.
 *
 * Only chunks that are alone in their part are joined; others are shared with the older version. If
 * the new rows fill a chunk, or do not fit into one with the last chunk of the table, the chunks
 * are joined without them. */
#ifndef FORMATS_TABLE_TAIL_H
#define FORMATS_TABLE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_tail {
    /* [n] rows of each of the last chunks that are alone in their parts; malloc'ed */
    int64_t *rows;
    size_t n;        /* 0: none may be joined */
    bool held;       /* b->blobs are the only chunk of the new rows, not delivered yet */
    int64_t own;     /* held: rows of that chunk */
    size_t own_room; /* held: bytes of its cells */
    int64_t n_taken; /* joined chunks */
};

struct table_builder;
/* Sets the chunks that may be joined. false: no memory. */
bool table_tail_set(struct table_tail *tail, const int64_t *rows, size_t n);
void table_tail_done(struct table_tail *tail);
/* At the end of the table: joins chunks and delivers the held one, joined or not. false:
 * b->problem. */
bool table_tail_end(struct table_builder *b);

#endif
