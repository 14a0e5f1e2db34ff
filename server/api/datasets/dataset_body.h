/* A table in a body that flows through a reader into a staged part of the store: what PUT of a
 * dataset and POST of its rows share.
 *
 * Who touches a body: the call (an I/O thread in begin and seen, a pool thread in what is deferred,
 * in data and end) and the store's writer thread, which says when a chunk is committed. The call
 * may be over while chunks are still queued, so the object is freed by the last of them. The reader
 * is the pool thread's alone, the hash the I/O thread's until the end. */
#ifndef API_DATASET_BODY_H
#define API_DATASET_BODY_H

#include "base/hash.h"
#include "formats/formats.h"
#include "http/http.h"
#include "store/store.h"

#include <pthread.h>

/* An open chunk and its columns' builders, and a share of the counts of distinct values, which
 * seldom come to their limit; what waits for the store is bounded there. And what is on its way
 * from the I/O thread. */
#define DATASET_BODY_HOLDS (33 << 20)

struct dataset_body {
    struct store *store;
    struct wire_table *table; /* the call's; NULL before it is opened and once it has let go */
    struct hash_sha256
        *sha256;         /* of the bytes of the body; NULL: they are rows that are appended */
    int64_t part;        /* staged chunks; 0 once published or dropped */
    const char *options; /* what of the query changes the reading, canonical; in the call's arena */
    int64_t began;       /* when, by the monotonic clock, in ns */
    int64_t rows, bytes; /* of the body, once it is read */
    bool crowded;        /* the store asked for a pause while the present bytes were read */
    struct wire_table_options
        reading; /* for a reader that is made later; what they point to is the call's */

    /* The version that the rows are appended to. {0}: they are a table of their own. */
    struct store_dataset onto;
    struct store_chunk *onto_chunks; /* [n_onto] of that version, which is pinned */
    size_t n_onto;
    int64_t append; /* the place in the queue of appends; 0: none */
    struct http_server *server;

    pthread_mutex_t lock;   /* guards what follows; a leaf, but for http_resume_body */
    pthread_cond_t settled; /* a chunk was committed or failed */
    struct http_call *call; /* NULL: the call is over */
    size_t waiting;         /* chunks handed to the store whose end we have not heard of */
    size_t
        resume_at; /* paused: go on when no more than this many are waiting; SIZE_MAX: not paused */
    struct problem failure; /* of the first chunk that could not be stored */
};

/* Reads the query, which may have the reader's options in `known` (NULL-terminated) and no others,
 * and the media type into reader options; *canonical: the text of those of the query, in the call's
 * arena. false: answered. */
bool dataset_body_options(struct http_call *call, const char *const *known,
                          struct wire_table_options *options, const char **canonical);
/* The value of an option in a canonical text, a copy in the arena; NULL: it has none, or no memory.
 */
const char *dataset_body_option(struct arena *arena, const char *canonical, const char *name);
/* The body of this call, its state from then on and freed with it. It has no reader yet. NULL:
 * answered. */
struct dataset_body *dataset_body_new(struct http_call *call);
/* wire_table_stored.summary for the version noted; arg is the body. */
bool dataset_body_summary(void *arg, size_t column, struct buf *out, struct problem *problem);
/* The sink for its reader. */
struct wire_table_sink dataset_body_sink(struct dataset_body *b);
/* Notes the version that rows are appended to, in place of the one noted before: takes its memory,
 * pins it and looks its chunks up. false: problem, and none is noted. */
bool dataset_body_onto(struct dataset_body *b, struct store_dataset *onto, struct problem *problem);
/* Waits until the store has settled all chunks, or one has failed. Pool thread. */
bool dataset_body_settle(struct dataset_body *b, struct problem *problem);
/* Drops the staged chunks, the reader and the place in the queue: the rows are published or
 * refused, or the client has left. */
void dataset_body_let_go(struct dataset_body *b);

/* Ends the reader and publishes what came of it: a table of its own, or the version noted with the
 * rows behind it. *dataset is the version, the caller's to free. Pool thread. */
bool dataset_body_publish(struct http_call *call, struct dataset_body *b,
                          struct store_dataset_published *out, struct store_dataset *dataset,
                          struct problem *problem);
/* Answers with the dataset's object, its place and tag, and beside it how long the body took, and
 * frees it. */
void dataset_body_reply(struct http_call *call, const struct dataset_body *b, int status,
                        struct store_dataset *d);

/* A sink's seen (where there is a sha256), data and abort. */
void dataset_body_seen(struct http_call *call, const char *bytes, size_t n);
enum http_sink_state dataset_body_data(struct http_call *call, const char *bytes, size_t n);
void dataset_body_abort(struct http_call *call);

#endif
