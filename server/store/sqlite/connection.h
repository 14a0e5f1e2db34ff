/* An SQLite connection: its pragmas, its cache of prepared statements, and problems for SQLite's
 * errors. Used by one thread at a time. */
#ifndef STORE_SQLITE_CONNECTION_H
#define STORE_SQLITE_CONNECTION_H

#include "store/engine/engine.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define STORE_PAGE_SIZE 16384
#define STORE_APPLICATION_ID 0x4473726e /* "Dsrn" */
#define STORE_BUSY_MS 5000              /* longest wait for a lock that another program holds */
/* number of slots of the statement cache; there are fewer different statements */
#define STORE_STATEMENTS 256

/* A cached statement. Its key is the address of the SQL text. */
struct store_sqlite_statement {
    const char *sql;         /* static text; NULL: the slot is free */
    sqlite3_stmt *statement; /* reset and without bindings while it is not in use */
};

struct store_sqlite {
    struct store_connection base; /* must be the first member */
    sqlite3 *db;
    bool durable;                                               /* PRAGMA synchronous is FULL */
    struct store_sqlite_statement statements[STORE_STATEMENTS]; /* hash table, open addressing */
};
static inline struct store_sqlite *store_sqlite_of(struct store_connection *c) {
    return (struct store_sqlite *)c;
}
static inline sqlite3 *store_sqlite_db(struct store_connection *c) {
    return store_sqlite_of(c)->db;
}

/* Configures the library before its first use. Further calls have no effect. */
void store_sqlite_configure(void);
enum store_access {
    STORE_READ,
    STORE_WRITE,
    STORE_INSPECT /* reads a file that another process may have open */
};
/* Opens the file, which must exist, and runs the pragmas. Returns NULL on failure and sets
 * problem. */
struct store_connection *store_sqlite_connect(const char *path, enum store_access access,
                                              struct problem *problem);
void store_sqlite_disconnect(struct store_connection *c); /* NULL is allowed */
/* Closes the connection without a checkpoint, also if it is the last one. NULL is allowed. */
void store_sqlite_abandon(struct store_connection *c);
/* Runs SQL text without the statement cache. Has no effect if the problem is set. */
bool store_sqlite_exec(struct store_connection *c, const char *sql, struct problem *problem);
/* Logs an SQLite result code, raises the failure of the connection, and sets the problem:
 * PROBLEM_STORAGE_FULL or PROBLEM_INTERNAL. Returns false. */
bool store_sqlite_failed(struct store_connection *c, int code, const char *sql,
                         struct problem *problem);
/* Logs the result code of a checkpoint and raises the failure of the connection. */
void store_sqlite_checkpoint_failed(struct store_connection *c, int code);
/* Returns the cached statement of a static SQL text; NULL on failure, and sets problem. */
sqlite3_stmt *store_sqlite_statement(struct store_connection *c, const char *sql,
                                     struct problem *problem);

/* Runs PRAGMA synchronous if it has another value. To be called outside a transaction. */
void store_sqlite_set_durable(struct store_connection *c, bool durable, struct problem *problem);

/* statement.c: the functions of struct store_engine for statements. */
void *store_sqlite_start(struct store_connection *c, const char *sql,
                         const struct store_value *values, struct problem *problem);
bool store_sqlite_row(struct store_query *q);
void store_sqlite_end(struct store_query *q);
int64_t store_sqlite_changed(struct store_query *q);
enum store_kind store_sqlite_kind(struct store_query *q, int column);
int64_t store_sqlite_get_int(struct store_query *q, int column);
double store_sqlite_get_real(struct store_query *q, int column);
const char *store_sqlite_get_text(struct store_query *q, int column);
const void *store_sqlite_get_bytes(struct store_query *q, int column, size_t *size);
size_t store_sqlite_text_size(struct store_query *q);
enum { STORE_SQLITE_SMALL_BLOB = 16384 }; /* cheaper as a column than with sqlite3_blob_open */
bool store_sqlite_read_blob(struct store_connection *c, int64_t id, char *out, size_t size,
                            struct problem *problem);

#endif
