/* Statements with values, stepped row by row. If the problem is set, the functions have no effect,
 * so the caller can run several statements and check once. */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "store/engine/engine.h"
#include "store/engine/rows.h"
#include <stddef.h>

/* The value of a statement parameter; {0} ends a list. */
struct store_value {
    enum {
        STORE_VALUE_END,
        STORE_VALUE_INT,
        STORE_VALUE_REAL,
        STORE_VALUE_TEXT,
        STORE_VALUE_BLOB
    } kind;
    int64_t i; /* value of an INT */
    double r;  /* value of a REAL; NaN binds null */
    /* TEXT (NUL-terminated; NULL binds null) or BLOB; must stay valid until the query ends */
    const void *bytes;
    size_t size; /* size of a BLOB */
};
static inline struct store_value store_int(int64_t i) {
    return (struct store_value){.kind = STORE_VALUE_INT, .i = i};
}
static inline struct store_value store_real(double r) {
    return (struct store_value){.kind = STORE_VALUE_REAL, .r = r};
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
    void *statement;         /* of the engine; NULL: it could not be prepared or bound */
    struct problem *problem; /* the caller's problem; keeps the first failure */
};

/* Starts a query. Use the macro STORE_QUERY, which takes the values. Then call store_query_row
 * until it returns false, and store_query_end in any case. sql: a static text. */
void store_query_start(struct store_query *q, struct store_connection *c, struct problem *problem,
                       const char *sql, const struct store_value *values);
#define STORE_QUERY(q, c, problem, sql, ...)                                                       \
    store_query_start(q, c, problem, sql, (const struct store_value[]){__VA_ARGS__, {0}})
/* Returns true if there is a row; false at the end or after a failure. */
bool store_query_row(struct store_query *q);
void store_query_end(struct store_query *q);
int64_t store_query_int(struct store_query *q, int column);
double store_query_real(struct store_query *q, int column); /* NaN for null */
enum store_kind store_query_kind(struct store_query *q, int column);
bool store_query_is_null(struct store_query *q, int column);
/* Returns NULL for null. The text is valid until the next step. */
const char *store_query_text(struct store_query *q, int column);
/* Returns the bytes of a blob, which are valid until the next step. NULL: null, or no bytes. */
const void *store_query_bytes(struct store_query *q, int column, size_t *size);
/* Returns the number of bytes of all texts in the row. */
size_t store_query_text_size(struct store_query *q);
/* Returns a copy that the caller frees; NULL for null. If out of memory, returns NULL and sets the
 * problem. */
char *store_query_take(struct store_query *q, int column);
/* Checks a column that was selected with STORE_DAMAGE. If the row is damaged, logs it, sets the
 * problem (permanent) and returns false. */
bool store_query_intact(struct store_query *q, int column);
/* Checks the first column of the first row like store_query_intact; no row is intact. */
bool store_check_values(struct store_connection *c, struct problem *problem, const char *sql,
                        const struct store_value *values);
#define STORE_CHECK(c, problem, sql, ...)                                                          \
    store_check_values(c, problem, sql, (const struct store_value[]){__VA_ARGS__, {0}})
/* Copies a text into out[size], truncated if it is too long; "" for null. */
void store_query_copy(struct store_query *q, int column, char *out, size_t size);

/* Runs a statement and ignores its rows. *changed: number of rows that the statement changed; may
 * be NULL. */
bool store_run_values(struct store_connection *c, struct problem *problem, int64_t *changed,
                      const char *sql, const struct store_value *values);
#define STORE_RUN(c, problem, sql, ...)                                                            \
    store_run_values(c, problem, NULL, sql, (const struct store_value[]){__VA_ARGS__, {0}})
#define STORE_RUN_COUNT(c, problem, changed, sql, ...)                                             \
    store_run_values(c, problem, changed, sql, (const struct store_value[]){__VA_ARGS__, {0}})
/* Returns the integer in the first row; `none` if there is no row or on failure. */
int64_t store_ask_values(struct store_connection *c, struct problem *problem, int64_t none,
                         const char *sql, const struct store_value *values);
#define STORE_ASK(c, problem, none, sql, ...)                                                      \
    store_ask_values(c, problem, none, sql, (const struct store_value[]){__VA_ARGS__, {0}})

#endif
