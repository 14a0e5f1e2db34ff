/* A connection to PostgreSQL: its cache of prepared statements, and problems for its errors. */
#ifndef STORE_POSTGRES_CONNECTION_H
#define STORE_POSTGRES_CONNECTION_H

#include "store/engine/engine.h"
#include <libpq-fe.h>

/* Number of slots of the statement cache; there are fewer different statements. */
#define STORE_POSTGRES_STATEMENTS 256
/* Types of values, from the table pg_type of PostgreSQL, which never change. */
enum {
    STORE_OID_BOOL = 16,
    STORE_OID_BYTEA = 17,
    STORE_OID_INT8 = 20,
    STORE_OID_INT2 = 21,
    STORE_OID_INT4 = 23,
    STORE_OID_TEXT = 25,
    STORE_OID_FLOAT8 = 701
};

/* A prepared statement. */
struct store_postgres_statement {
    const char *sql; /* static text, whose address is the key; NULL: the slot is free */
    char name[16];
    PGresult *result; /* the current row; NULL: there is none */
    int64_t changed;  /* number of rows that the last execution changed */
};

struct store_postgres {
    struct store_connection base; /* must be the first member */
    PGconn *conn;
    bool opening; /* errors are not logged: they become the one line of a refusal to start */
    bool durable; /* synchronous_commit is on; false at first: the role may have another default */
    struct store_postgres_statement statements[STORE_POSTGRES_STATEMENTS]; /* open addressing */
};
static inline struct store_postgres *store_postgres_of(struct store_connection *c) {
    return (struct store_postgres *)c;
}

/* Connects to the database of a URI. Returns NULL after setting the problem: the server cannot be
 * reached, is too old, or does not use UTF-8. */
struct store_connection *store_postgres_connect(const char *uri, struct problem *problem);
void store_postgres_disconnect(struct store_connection *c); /* NULL is allowed */
/* Whether the connection is open. If not, raises its failure. Not called while a statement runs. */
bool store_postgres_alive(struct store_connection *c);
/* Begins a read in one message to the server, and sets c->seen. */
bool store_postgres_begin_read(struct store_connection *c, struct problem *problem);
/* Runs SQL text of several statements without parameters. No effect if the problem is set. */
bool store_postgres_exec(struct store_connection *c, const char *sql, struct problem *problem);
/* Logs the error of a result (NULL: of the connection), raises the failure of the connection, and
 * sets the problem. Returns false. */
bool store_postgres_failed(struct store_connection *c, const PGresult *result, const char *sql,
                           struct problem *problem);

/* statement.c: the functions of struct store_engine for statements. */
void *store_postgres_start(struct store_connection *c, const char *sql,
                           const struct store_value *values, struct problem *problem);
bool store_postgres_row(struct store_query *q);
void store_postgres_end(struct store_query *q);
int64_t store_postgres_changed(struct store_query *q);
enum store_kind store_postgres_kind(struct store_query *q, int column);
int64_t store_postgres_get_int(struct store_query *q, int column);
double store_postgres_get_real(struct store_query *q, int column);
const char *store_postgres_get_text(struct store_query *q, int column);
const void *store_postgres_get_bytes(struct store_query *q, int column, size_t *size);
size_t store_postgres_text_size(struct store_query *q);

#endif
