/* Short chunks at the end of a stored table, taken into a new one with the rows that are appended,
 * as in a log-structured merge. Private to formats.
 *
 * From the last one backwards a chunk is taken in while it has at most twice as many rows as those
 * behind it that are rewritten or new, and all fit in one chunk by the builder's rule. So every
 * time a row is written again the chunk that it is in has grown by half at least: it is written
 * about log n times. And what is left in front is more than twice as long, or full together with
 * what comes behind it: about log n short chunks. Chunks that are stored with others, as in a body
 * of several, are shared as they are. When the new rows fill a chunk by themselves, or are too many
 * for the first that would be taken in, what is taken in becomes a chunk without them. */
#ifndef WIRE_TABLE_TAIL_H
#define WIRE_TABLE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_tail {
    int64_t *rows;   /* [n] of the last chunks that are stored, each by itself; malloc'ed */
    size_t n;        /* 0: none may be taken in */
    bool held;       /* the builder's blobs are the only chunk of the new rows, not delivered yet */
    int64_t own;     /* with it: its rows */
    size_t own_room; /* with it: of BUILDER_CHUNK_BYTES */
    int64_t n_taken; /* taken in */
};

struct table_builder;
/* Notes the chunks; those noted before are forgotten. false: no memory. */
bool table_tail_set(struct table_tail *tail, const int64_t *rows, size_t n);
void table_tail_done(struct table_tail *tail);
/* All new rows are read and summed up: delivers the chunk that is held, joined with what is taken
 * in, or without it. false: the builder's problem. */
bool table_tail_end(struct table_builder *b);

#endif
