/* The body of a table: a reader makes chunks of it, which are staged as a part of the store and
 * then published. Shared by PUT of a dataset, POST of rows, and the preview, which drops the part.
 *
 * Threads: the call (an I/O thread in begin and seen; a pool thread in deferred functions, data and
 * end), and the store's writer thread, which reports committed chunks. The call may be over while
 * chunks are queued; then the last of them frees the object. The reader is used on pool threads
 * only, the hash on the I/O thread until the end. */
#ifndef API_DATASET_BODY_H
#define API_DATASET_BODY_H

#include "api/idempotency.h"
#include "base/hash.h"
#include "formats/formats.h"
#include "http/http.h"
#include "store/store.h"

#include <pthread.h>

/* The maximum number of bytes that one upload holds: an open chunk, the builders of its columns, a
 * part of the limit of exact counts, and bytes that the I/O thread has received. The store limits
 * the chunks in its queue. */
#define DATASET_BODY_HOLDS (33 << 20)

/* The options of a request as stored documents: "name=length:value;…", in the call's arena. */
struct dataset_options {
    const char *all;   /* every option of the route, with its initial value if it is not given */
    const char *given; /* those of the query only, as document format 1 stores them */
};

struct dataset_body {
    struct store *store;
    struct table *table;          /* NULL: not opened yet, or released */
    struct hash_sha256 *sha256;   /* hash of the body; NULL: an append without a key */
    struct api_key key;           /* append: its Idempotency-Key */
    int64_t part;                 /* the part of the staged chunks; 0: published or dropped */
    struct dataset_options given; /* options that change the reading */
    int64_t began;                /* start of the body, monotonic clock, ns */
    int64_t staged, max_staged;   /* bytes of chunks, and their limit; 0: no limit */
    int64_t rows, bytes;          /* size of the body; set at its end. Preview: bytes so far */
    int64_t n_charged;            /* rows that were charged to the token */
    int64_t show;                 /* preview: number of rows to show */
    int64_t expires_in;           /* seconds until the name expires; 0: never */
    bool crowded; /* the queue of the store became full while the present bytes were read */
    /* options for a reader that is opened later; their texts belong to the call */
    struct table_options reading;

    /* The version that the rows are appended to; {0}: an upload. */
    struct store_dataset onto;
    struct store_chunk *onto_chunks; /* [n_onto] chunks of that version, which is pinned */
    size_t n_onto;
    int64_t append; /* place in the queue of appends; 0: none */
    struct http_server *server;

    /* guards the members below. Only http_resume_body is called with it held */
    pthread_mutex_t lock;
    pthread_cond_t settled; /* a chunk was committed or failed */
    struct http_call *call; /* NULL: the call is over */
    size_t waiting;         /* chunks in the queue of the store */
    /* while the body is paused: the number of waiting chunks at which it is resumed; SIZE_MAX: the
     * body is not paused */
    size_t resume_at;
    struct problem failure; /* problem of the first chunk that failed */
};

/* Sets the reader's options from the media type and the query parameters of the route, and *texts
 * to the documents. Returns false if it has replied. */
bool dataset_body_options(struct http_call *call, struct table_options *options,
                          struct dataset_options *texts);
/* Returns the value of an option in a stored document, copied to the arena. NULL: the document does
 * not have the option or has an empty value, or no memory. */
const char *dataset_body_option(struct arena *arena, const char *document, const char *name);
/* Makes the body of this call, without a reader. It is the state of the call and freed with it.
 * Returns NULL if it has replied. */
struct dataset_body *dataset_body_new(struct http_call *call);
/* Implements table_stored.summary for the version that rows are appended to; arg: the body. */
bool dataset_body_summary(void *arg, size_t column, struct buf *out, struct problem *problem);
/* Returns the sink that the reader writes to. */
struct table_sink dataset_body_sink(struct dataset_body *b);
/* Sets the version that rows are appended to: takes its memory, pins it and looks up its chunks.
 * The version set before is released. Returns false after setting the problem; no version is set
 * then. */
bool dataset_body_onto(struct dataset_body *b, struct store_dataset *onto, struct problem *problem);
/* Waits until all chunks are committed, or one has failed. Pool thread. */
bool dataset_body_settle(struct dataset_body *b, struct problem *problem);
/* Frees the reader, drops staged chunks that are not published, gives up the place in the queue,
 * and releases the Idempotency-Key; dataset_body_release_data: except the key. */
void dataset_body_release(struct dataset_body *b);
void dataset_body_release_data(struct dataset_body *b);

/* Ends the reader and charges the last rows. Returns false with a problem. */
bool dataset_body_read_end(struct http_call *call, struct dataset_body *b,
                           struct table_summary *out, struct problem *problem);
/* Ends the reader and publishes the table: the uploaded one, or the version that rows are appended
 * to with the rows. *dataset: the new version, for the caller to free. Pool thread. */
bool dataset_body_publish(struct http_call *call, struct dataset_body *b,
                          struct store_dataset_published *out, struct store_dataset *dataset,
                          struct problem *problem);
/* Answers with the dataset's object, Location, ETag and the time that the body took. Frees *d. */
void dataset_body_reply(struct http_call *call, const struct dataset_body *b, int status,
                        struct store_dataset *d);

/* The same answer, kept for the key; `write` of struct store_key. arg: the body. */
void dataset_body_keep(void *arg, const void *made, struct store_answer *out);

/* Functions for a sink. dataset_body_seen is only for a body with a sha256. */
void dataset_body_seen(struct http_call *call, const char *bytes, size_t n);
enum http_sink_state dataset_body_data(struct http_call *call, const char *bytes, size_t n);
void dataset_body_abort(struct http_call *call);

#endif
