/* An SQLite connection: its pragmas, its cache of prepared statements, and problems for SQLite's
 * errors. Used by one thread at a time. */
#ifndef STORE_CONNECTION_H
#define STORE_CONNECTION_H

#include "base/problem.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define STORE_PAGE_SIZE 16384
#define STORE_APPLICATION_ID 0x4473726e /* "Dsrn" */
#define STORE_BUSY_MS 5000              /* longest wait for a lock that another program holds */
/* number of slots of the statement cache; there are fewer different statements */
#define STORE_STATEMENTS 256

/* A cached statement. Its key is the address of the SQL text. */
struct store_statement {
    const char *sql;         /* static text; NULL: the slot is free */
    sqlite3_stmt *statement; /* reset and without bindings while it is not in use */
};

/* What a failed call of SQLite means for the file, in ascending order of severity. */
enum store_failure {
    STORE_FAILURE_NONE,  /* nothing: the failure is of the statement or of the memory */
    STORE_FAILURE_WRITE, /* nothing was written */
    STORE_FAILURE_FULL,  /* nothing was written: the kernel had no room for the bytes */
    /* a write or an fsync failed: bytes of earlier transactions may be in the kernel's memory only,
     * and a later fsync does not write them */
    STORE_FAILURE_LOST
};

struct store_connection {
    sqlite3 *db;
    enum store_failure failure; /* the most severe failure since the owner cleared it */
    bool lost_full;             /* LOST: for lack of room */
    struct store_statement statements[STORE_STATEMENTS]; /* hash table with open addressing */
};

/* Configures the library before its first use. Further calls have no effect. */
void store_connection_configure(void);
enum store_access {
    STORE_READ,
    STORE_WRITE,
    STORE_INSPECT /* reads a file that another process may have open */
};
/* Opens the file, which must exist, and runs the pragmas. Returns NULL on failure and sets
 * problem. */
struct store_connection *store_connection_open(const char *path, enum store_access access,
                                               struct problem *problem);
void store_connection_close(struct store_connection *c); /* NULL is allowed */
/* Closes the connection without a checkpoint, also if it is the last one. NULL is allowed. */
void store_connection_abandon(struct store_connection *c);
/* Runs SQL text without the statement cache. Has no effect if the problem is set. */
bool store_connection_exec(struct store_connection *c, const char *sql, struct problem *problem);
/* Logs an SQLite result code, raises c->failure, and sets the problem: PROBLEM_STORAGE_FULL or
 * PROBLEM_INTERNAL. Returns false. */
bool store_connection_failed(struct store_connection *c, int code, const char *sql,
                             struct problem *problem);
/* Logs the result code of a checkpoint and raises c->failure. */
void store_connection_checkpoint_failed(struct store_connection *c, int code);
/* Returns the cached statement of a static SQL text; NULL on failure, and sets problem. */
sqlite3_stmt *store_connection_statement(struct store_connection *c, const char *sql,
                                         struct problem *problem);

#endif
