/* Staged parts of this process: what was begun and neither published nor dropped. */
#ifndef STORE_PARTS_H
#define STORE_PARTS_H

#include "base/problem.h"
#include "store/sqlite/engine/query.h"
#include "store/store.h"
#include <pthread.h>

#define STORE_PART_BUCKETS 64

/* parts.state in the database. Staged: leased to its owner. Dead: to be removed by the sweep. */
enum store_part_state { STORE_PART_STAGED, STORE_PART_PUBLISHED, STORE_PART_DEAD };

struct store_part {
    struct store_part *next; /* in its bucket */
    int64_t id;
    int64_t n_chunks;         /* appended so far, written or not */
    int64_t due;              /* number of the chunk that is to come */
    bool front;               /* number 0 may come too */
    struct store_claim claim; /* of the job that stages it; job 0: none */
    size_t pending;           /* of them not written yet */
    bool made;                /* its row is in the database; the writer thread's */
    bool dropped;             /* to be marked dead, once nothing is pending */
    enum problem_type failed; /* why a chunk could not be written: then none may be published */
};
struct store_parts {
    pthread_mutex_t mutex; /* guards the buckets and what is in the parts */
    pthread_cond_t cond;   /* a part has nothing pending any more */
    struct store_part *buckets[STORE_PART_BUCKETS];
    size_t n;
};
/* What publishing a part expects to find. */
struct store_part_sum {
    int64_t part, n_chunks;
};

bool store_parts_init(struct store_parts *parts, struct problem *problem);
void store_parts_done(struct store_parts *parts);
bool store_parts_alive(struct store_parts *parts); /* some are staged */
/* Waits until all chunks of the part are written; fails with what failed for one of them, or when
 * it is not staged here. Not on the writer thread. */
bool store_parts_settle(struct store_parts *parts, int64_t part, struct store_part_sum *out,
                        struct problem *problem);
void store_parts_forget(struct store_parts *parts, int64_t part); /* published */
/* Dropped parts with nothing pending, at most `room` of them. They stay known until they are
 * forgotten. */
size_t store_parts_dropped(struct store_parts *parts, int64_t *out, size_t room);

/* Inside the publishing transaction: all chunks are there (n_rows, bytes: their sums, -1: whatever
 * they are), and the part is staged no longer. */
struct store_tx;
void store_part_publish(struct store_tx *tx, const struct store_part_sum *staged, int64_t n_rows,
                        int64_t bytes);
/* One blob, within a read: replaces out's contents; the CRC is verified. */
struct store_read;
bool store_blob_read(struct store_read *r, int64_t part, int64_t chunk, size_t column,
                     struct buf *out);

#endif
