/* An engine: the code for one kind of database. The logic of the store (tables/) runs SQL through
 * query.h; the writer thread, the readers and store.c call the functions of struct store_engine.
 * store_open chooses the engine. There is no other place that asks for the kind of the database. */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include "base/problem.h"
#include "store/copies.h"
#include "store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_query;
struct store_tx;
struct store_value;

/* What a failed call means for the database, in ascending order of severity. */
enum store_failure {
    STORE_FAILURE_NONE,  /* nothing: the failure is of the statement or of the memory */
    STORE_FAILURE_WRITE, /* nothing was written */
    STORE_FAILURE_FULL,  /* nothing was written: there was no room for the bytes */
    /* bytes of earlier transactions, if they were not durable, may be lost: the database must be
     * opened again */
    STORE_FAILURE_LOST
};

/* A connection. Used by one thread at a time. It is the first member of the engine's struct. */
struct store_connection {
    const struct store_engine *engine;
    enum store_failure failure; /* the most severe failure since the owner cleared it */
    bool lost_full;             /* LOST: for lack of room */
    int64_t seen; /* number of the newest change that a read sees; 0: changes have no numbers */
};

/* The type of a value in a row. */
enum store_kind { STORE_NULL, STORE_INTEGER, STORE_REAL, STORE_TEXT, STORE_BYTES };

enum store_begin {
    STORE_BEGIN_READ,   /* all statements see the same state of the database */
    STORE_BEGIN_LAZY,   /* a power failure may undo the commit */
    STORE_BEGIN_DURABLE /* the commit is on the disk when it returns */
};

/* What several processes of one database must not do at the same time. */
enum store_hold {
    STORE_HOLD_VERSION, /* read a dataset version: any number of holders; the sweep is excluded */
    STORE_HOLD_KEY,     /* run a request with an idempotency key */
    STORE_HOLD_APPEND,  /* append to a dataset */
    STORE_HOLD_OWNER    /* be the process with this owner id */
};

/* The functions of an engine whose databases several processes may have open. */
struct store_sharing {
    /* Starts and ends the thread that learns of the changes of the other processes. */
    bool (*start)(struct store *store, struct problem *problem);
    void (*stop)(struct store *store);
    /* In a transaction of the writer thread, after BEGIN: waits until no other process writes and
     * adds the changes of the others to the ring. Sets store->clock_ahead. Until the end of the
     * transaction no other process writes anything but chunks. */
    void (*enter)(struct store *store, struct problem *problem);
    /* Before COMMIT: inserts the changes of the transaction for the other processes. Returns the
     * number of the first. */
    int64_t (*publish)(struct store *store, const struct store_change *changes, size_t n,
                       struct problem *problem);
    /* Adds the changes to the ring that the other processes have committed until now. On a thread
     * that may wait. */
    bool (*follow)(struct store *store, struct problem *problem);
    /* Whether the numbers in the ring are those of the database. Any thread. */
    bool (*is_known)(struct store *store);
    /* Holds something until `release` or the end of the process, any number of times. Returns false
     * if another process holds it, or after setting the problem. On a thread that may wait; release
     * on any thread. */
    bool (*hold)(struct store *store, enum store_hold what, const char *name,
                 struct problem *problem);
    void (*release)(struct store *store, enum store_hold what, const char *name);
    /* In a transaction of the writer thread: whether a process reads the dataset version. */
    bool (*is_read)(struct store_tx *tx, int64_t version);
    /* In a transaction of the writer thread: whether the process with this owner id has ended, or has
     * lost its connection for now. */
    bool (*is_gone)(struct store_tx *tx, const char *owner);
    /* In a transaction of the writer thread: deletes changes that all processes know. */
    void (*prune)(struct store_tx *tx);
};

/* A blob to be inserted. */
struct store_new_blob {
    struct store_blob blob;
    uint32_t crc;
};

struct store_engine {
    /* ---- the database ---- */
    /* Creates or opens the database, sets store->name, store->own and writer.connection, and
     * applies the migrations. Fails while another process has the database open and the engine has no
     * sharing. On failure, close is called. */
    bool (*open)(struct store *store, const struct store_settings *settings,
                 struct problem *problem);
    /* Sets store->name to an existing database, so that `connect` can be called. Changes
     * nothing. */
    bool (*find)(struct store *store, const char *path, struct problem *problem);
    /* Last work on the database, after the writer thread has ended. */
    void (*finish)(struct store *store);
    /* Closes the writer's connection and frees store->own. After `find` there is no connection. */
    void (*close)(struct store *store);
    /* Sets the sizes of the database: the first members of struct store_stats up to free_bytes. */
    void (*sizes)(struct store *store, struct store_connection *c, struct store_stats *out,
                  struct problem *problem);

    /* ---- connections ---- */
    /* Opens a connection to a database that another process may have open, for a check of its audit.
     * Returns NULL after setting the problem. */
    struct store_connection *(*inspect)(const char *database, struct problem *problem);
    /* Opens a connection for reading. Returns NULL after setting the problem. */
    struct store_connection *(*connect)(struct store *store, struct problem *problem);
    void (*disconnect)(struct store_connection *c); /* NULL is allowed */

    /* ---- statements: query.h ---- */
    /* Returns the statement with its values; NULL after setting the problem. sql: a static text,
     * whose address is the key of the connection's cache. */
    void *(*start)(struct store_connection *c, const char *sql, const struct store_value *values,
                   struct problem *problem);
    bool (*row)(struct store_query *q);
    void (*end)(struct store_query *q);
    int64_t (*changed)(struct store_query *q); /* number of rows, after the last step */
    enum store_kind (*kind)(struct store_query *q, int column);
    int64_t (*get_int)(struct store_query *q, int column);
    double (*get_real)(struct store_query *q, int column);
    const char *(*get_text)(struct store_query *q, int column);
    const void *(*get_bytes)(struct store_query *q, int column, size_t *size);
    size_t (*text_size)(struct store_query *q); /* bytes of all texts of the row */
    /* A blob of at most this size is selected as a column; larger ones are read with read_blob. */
    int64_t small_blob;
    /* Copies the blob with this id into out[size], in the transaction of the connection. */
    bool (*read_blob)(struct store_connection *c, int64_t id, char *out, size_t size,
                      struct problem *problem);

    /* ---- transactions; they end with the statements COMMIT and ROLLBACK ---- */
    bool (*begin)(struct store_connection *c, enum store_begin kind, struct problem *problem);
    /* Whether a transaction is open: a failure may have ended it. */
    bool (*in_transaction)(struct store_connection *c);

    /* Takes n ids of blobs in a row and returns the first. */
    int64_t (*take_blobs)(struct store_tx *tx, int64_t n);
    /* Inserts n blobs with ids in a row, from `first`. */
    void (*put_blobs)(struct store_tx *tx, int64_t first, const struct store_new_blob *blobs,
                      size_t n);

    /* ---- on the writer thread, between transactions ---- */
    /* Regular work. pressing: a caller waits for a commit. */
    void (*tend)(struct store *store, bool pressing);
    /* Whether no chunk should be written and no data swept before the next `tend`. */
    bool (*holds)(struct store *store);
    /* Whether there is work for an idle time, and this work. */
    bool (*has_idle_work)(struct store *store);
    void (*work_idle)(struct store *store);
    /* Whether the reserve for other writes remains after a chunk of `bytes` is written. *lacking:
     * number of missing bytes. */
    bool (*has_room)(struct store *store, size_t bytes, int64_t *lacking);
    /* Returns free space to the system, a bounded amount. *more: call it again. */
    bool (*shrink)(struct store *store, bool *more, struct problem *problem);
    /* In a transaction: writes something, but changes no value. */
    void (*touch)(struct store_tx *tx);
    /* After a transaction has failed with STORE_FAILURE_LOST and before its callers learn of it:
     * does what is possible so that it is not found committed later. */
    void (*retract)(struct store *store);
    /* After STORE_FAILURE_LOST: opens the database again. Returns false if that is not possible
     * now; it is called again later. */
    bool (*reopen)(struct store *store);

    /* ---- several processes with one database; NULL: one process at a time has it open ---- */
    const struct store_sharing *sharing;

    /* ---- whole databases: the functions of copies.h ---- */
    bool (*backs_up)(struct problem *problem); /* store_backup_possible */
    bool (*backup)(struct store *store, const char *folder, const struct store_watch *watch,
                   struct store_backup **out, struct problem *problem);
    bool (*backup_file)(const char *database, const char *path, int64_t *bytes,
                        struct problem *problem);
    bool (*check)(const char *database, struct store_check *check, struct problem *problem);
    bool (*restore)(const char *backup, const char *database, bool replace,
                    struct store_check *check, int64_t *bytes, struct problem *problem);
};

#endif
