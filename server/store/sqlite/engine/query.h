/* A statement with its values, stepped row by row. Errors are sticky in the problem: with one that
 * is set nothing is run, so callers write a straight line and check once. */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "store/sqlite/engine/connection.h"
#include <stddef.h>

/* A value for a parameter; {0} ends a list. */
struct store_value {
    enum { STORE_VALUE_END, STORE_VALUE_INT, STORE_VALUE_TEXT, STORE_VALUE_BLOB } kind;
    int64_t i; /* INT */
    const void
        *bytes;  /* TEXT (NUL-terminated, NULL: null) and BLOB; must outlive the statement's run */
    size_t size; /* of a BLOB */
};
static inline struct store_value store_int(int64_t i) {
    return (struct store_value){.kind = STORE_VALUE_INT, .i = i};
}
static inline struct store_value store_text(const char *s) {
    return (struct store_value){.kind = STORE_VALUE_TEXT, .bytes = s};
}
static inline struct store_value store_bytes(const void *bytes, size_t size) {
    return (struct store_value){.kind = STORE_VALUE_BLOB, .bytes = bytes, .size = size};
}
#define STORE_NO_VALUES ((struct store_value){0})

struct store_query {
    struct store_connection *connection;
    const char *sql;
    sqlite3_stmt *statement; /* NULL: failed before it began */
    struct problem *problem; /* borrowed; the first failure stays */
};

/* Begins; afterwards store_query_row while it says true, then store_query_end in any case. Use
 * STORE_QUERY, which takes the values. sql: static text. */
void store_query_start(struct store_query *q, struct store_connection *c, struct problem *problem,
                       const char *sql, const struct store_value *values);
#define STORE_QUERY(q, c, problem, sql, ...)                                                       \
    store_query_start(q, c, problem, sql, (const struct store_value[]){__VA_ARGS__, {0}})
bool store_query_row(
    struct store_query *q); /* true: there is a row; false: the end, or a failure */
void store_query_end(struct store_query *q);
int64_t store_query_int(struct store_query *q, int column);
const char *store_query_text(struct store_query *q,
                             int column); /* valid until the next step; NULL for null */
/* A copy for the caller to free; NULL for null, or out of memory: then the problem is set. */
char *store_query_take(struct store_query *q, int column);
/* Copies text into out[size]; "" for null. */
void store_query_copy(struct store_query *q, int column, char *out, size_t size);

/* Runs a statement that gives no rows. Returns false on failure; *changed (may be NULL) is the
 * number of rows it touched. */
bool store_run_values(struct store_connection *c, struct problem *problem, int64_t *changed,
                      const char *sql, const struct store_value *values);
#define STORE_RUN(c, problem, sql, ...)                                                            \
    store_run_values(c, problem, NULL, sql, (const struct store_value[]){__VA_ARGS__, {0}})
#define STORE_RUN_COUNT(c, problem, changed, sql, ...)                                             \
    store_run_values(c, problem, changed, sql, (const struct store_value[]){__VA_ARGS__, {0}})
/* The integer of the first row; `none` when there is no row or on failure. */
int64_t store_ask_values(struct store_connection *c, struct problem *problem, int64_t none,
                         const char *sql, const struct store_value *values);
#define STORE_ASK(c, problem, none, sql, ...)                                                      \
    store_ask_values(c, problem, none, sql, (const struct store_value[]){__VA_ARGS__, {0}})

#endif
