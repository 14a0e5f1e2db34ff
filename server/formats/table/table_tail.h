/* Joins short chunks at the end of a stored table with the appended rows, as in a log-structured
 * merge tree. Private to formats.
 *
 * The chunks are examined from the last one backwards. A chunk is joined while it has at most twice
 * as many rows as all rows after it, and while all joined rows fit in one chunk. So a row that is
 * written again is in a chunk at least 1.5 times as long as before, and is written O(log n) times.
 * A short chunk that is not joined has more than twice as many rows as all rows after it, or is
 * full together with them, so there are O(log n) short chunks.
 *
 * Rewriting only the last short chunk would be simpler, but every version keeps its own chunks:
 * 1,000 appends of a row would store 500,000 rows instead of fewer than 20,000.
 *
 * A chunk is joined only if it is alone in its part; other chunks are shared with the older
 * version. If the new rows fill a chunk, or do not fit into one with the last chunk of the table,
 * the stored chunks are joined without the new rows. */
#ifndef FORMATS_TABLE_TAIL_H
#define FORMATS_TABLE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_tail {
    /* [n] rows of each of the last chunks that are alone in their parts; malloc'ed */
    int64_t *rows;
    size_t n;        /* 0: no chunk may be joined */
    bool held;       /* b->blobs are the only chunk of the new rows, which is not delivered yet */
    int64_t own;     /* used if `held`: rows of that chunk */
    size_t own_room; /* used if `held`: bytes of the cells of that chunk */
    int64_t n_taken; /* number of joined chunks */
};

struct table_builder;
/* Sets the chunks that may be joined. Returns false if out of memory. */
bool table_tail_set(struct table_tail *tail, const int64_t *rows, size_t n);
void table_tail_done(struct table_tail *tail);
/* At the end of the table: joins chunks and delivers the held chunk, joined or not. Returns false
 * on failure and sets b->problem. */
bool table_tail_end(struct table_builder *b);

#endif
