/* An SQLite connection: its pragmas, its cache of prepared statements, problems of SQLite's errors.
 * Used by one thread at a time. */
#ifndef STORE_CONNECTION_H
#define STORE_CONNECTION_H

#include "base/problem.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define STORE_PAGE_SIZE 16384
#define STORE_APPLICATION_ID 0x4473726e /* "Dsrn" */
#define STORE_BUSY_MS 5000              /* longest wait for the lock of another program */
#define STORE_STATEMENTS 256 /* slots of the statement cache; there are fewer statements */

/* A cached statement. Its key is the address of the SQL text. */
struct store_statement {
    const char *sql;         /* static text; NULL: the slot is free */
    sqlite3_stmt *statement; /* reset and without bindings while no query uses it */
};

struct store_connection {
    sqlite3 *db;
    struct store_statement statements[STORE_STATEMENTS]; /* open addressing */
};

enum store_access { STORE_READ, STORE_WRITE };
/* Opens the file, which must exist, and runs the pragmas. NULL: problem. */
struct store_connection *store_connection_open(const char *path, enum store_access access,
                                               struct problem *problem);
void store_connection_close(struct store_connection *c); /* NULL is allowed */
/* Runs SQL text without the cache. Has no effect if the problem is set. */
bool store_connection_exec(struct store_connection *c, const char *sql, struct problem *problem);
/* Logs an SQLite result code and sets the problem: PROBLEM_STORAGE_FULL or PROBLEM_INTERNAL.
 * Returns false. */
bool store_connection_failed(struct store_connection *c, int code, const char *sql,
                             struct problem *problem);
/* The cached statement of a static SQL text; NULL: problem. */
sqlite3_stmt *store_connection_statement(struct store_connection *c, const char *sql,
                                         struct problem *problem);

#endif
