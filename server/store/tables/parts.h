/* The parts that this process stages, until they are published or removed. */
#ifndef STORE_PARTS_H
#define STORE_PARTS_H

#include "base/problem.h"
#include "store/engine/query.h"
#include "store/store.h"
#include <pthread.h>

#define STORE_PART_BUCKETS 64

/* Values of parts.state in the database. Staged: leased to its owner. Dead: the sweep removes
 * it. */
enum store_part_state { STORE_PART_STAGED, STORE_PART_PUBLISHED, STORE_PART_DEAD };

struct store_part {
    struct store_part *next; /* next part in the same bucket */
    int64_t id;
    int64_t n_chunks;         /* number of appended chunks, including queued ones */
    int64_t due;              /* number of the next chunk */
    bool front;               /* number 0 is accepted too, because the first chunk had number 1 */
    struct store_claim claim; /* claim of the job that stages the part; job 0: none */
    size_t pending;           /* number of queued chunks */
    bool made;                /* the row of the part is in the database; set by the writer thread */
    /* the part is to be marked as dead when none of its chunks is queued */
    bool dropped;
    enum problem_type failed; /* why a chunk was not written; such a part cannot be published */
};
struct store_parts {
    pthread_mutex_t mutex; /* guards the buckets and the parts */
    pthread_cond_t cond;   /* signalled when `pending` of a part decreased */
    struct store_part *buckets[STORE_PART_BUCKETS];
    size_t n;
};
/* A staged part, all chunks of which are written. */
struct store_part_sum {
    int64_t part, n_chunks;
};

bool store_parts_init(struct store_parts *parts, struct problem *problem);
void store_parts_done(struct store_parts *parts);
/* Whether any part is staged. */
bool store_parts_alive(struct store_parts *parts);
/* Waits until all chunks of the part are written. Fails if a chunk could not be written, or if this
 * process does not stage the part. Must not be called on the writer thread. */
bool store_parts_settle(struct store_parts *parts, int64_t part, struct store_part_sum *out,
                        struct problem *problem);
/* Fails all staged parts that have chunks: they may be lost. The writer thread calls it before
 * it runs another transaction. */
void store_parts_lose(struct store_parts *parts);
/* Removes the part from the table, because it is published or dead. */
void store_parts_forget(struct store_parts *parts, int64_t part);
/* Returns the ids of dropped parts without queued chunks, at most `room`. The parts stay in the
 * table. */
size_t store_parts_dropped(struct store_parts *parts, int64_t *out, size_t room);

/* Called in the transaction of a publish: checks the number, rows and bytes of the stored chunks,
 * and sets the state of the part to published. n_rows, bytes: -1: not checked. */
struct store_tx;
void store_part_publish(struct store_tx *tx, const struct store_part_sum *staged, int64_t n_rows,
                        int64_t bytes);
/* Reads a blob. Replaces the contents of `out`. The CRC is checked. */
struct store_read;
bool store_blob_read(struct store_read *r, int64_t part, int64_t chunk, size_t column,
                     struct buf *out);

#endif
