/* Statements of PostgreSQL: prepares them once for each connection, sends values and receives rows in
 * binary form, one row at a time. */
#include "base/memory/buf.h"
#include "store/engine/query.h"
#include "store/postgres/connection.h"
#include "store/postgres/translate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 32 };

/* The values of an execution. */
struct parameters {
    int n;
    Oid types[MOST_VALUES];
    const char *values[MOST_VALUES];
    int sizes[MOST_VALUES], formats[MOST_VALUES];
    unsigned char numbers[MOST_VALUES][8];
};

/* ---- numbers: most significant byte first ---- */

static void put_number(unsigned char out[8], uint64_t value) {
    for (int i = 0; i < 8; i++) {
        out[i] = (unsigned char)(value >> (56 - 8 * i));
    }
}

static uint64_t number_of(const char *bytes, int size) {
    const unsigned char *b = (const unsigned char *)bytes;
    /* the sign of a shorter integer */
    uint64_t value = size > 1 && size < 8 && (b[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (int i = 0; i < size; i++) {
        value = value << 8 | b[i];
    }
    return value;
}

/* ---- values ---- */

static void set_value(struct parameters *p, const struct store_value *v) {
    const int i = p->n++;
    uint64_t bits;
    p->formats[i] = 1;
    p->sizes[i] = 8;
    p->values[i] = (const char *)p->numbers[i];
    switch (v->kind) {
    case STORE_VALUE_REAL:
        p->types[i] = STORE_OID_FLOAT8;
        memcpy(&bits, &v->r, sizeof bits);
        put_number(p->numbers[i], bits);
        p->values[i] = v->r == v->r ? p->values[i] : NULL; /* NaN is null */
        break;
    case STORE_VALUE_TEXT:
        p->types[i] = STORE_OID_TEXT;
        p->values[i] = v->bytes;
        p->sizes[i] = v->bytes != NULL ? (int)strlen(v->bytes) : 0;
        break;
    case STORE_VALUE_BLOB:
        p->types[i] = STORE_OID_BYTEA;
        p->values[i] = v->size > 0 ? v->bytes : "";
        p->sizes[i] = (int)v->size;
        break;
    default:
        p->types[i] = STORE_OID_INT8;
        put_number(p->numbers[i], (uint64_t)v->i);
        break;
    }
}

/* ---- prepare ---- */

static bool prepare(struct store_connection *c, struct store_postgres_statement *s, const char *sql,
                    const struct parameters *p, struct problem *problem) {
    struct buf text = {0};
    store_translate(sql, &text);
    const char *translated = buf_cstr(&text);
    PGresult *result = NULL;
    bool good = false;
    if (translated == NULL) {
        problem_no_memory(problem);
    } else {
        result = PQprepare(store_postgres_of(c)->conn, s->name, translated, p->n, p->types);
        good = PQresultStatus(result) == PGRES_COMMAND_OK ||
               store_postgres_failed(c, result, translated, problem);
    }
    PQclear(result);
    buf_done(&text);
    return good;
}

static struct store_postgres_statement *find(struct store_connection *c, const char *sql,
                                             const struct parameters *p, struct problem *problem) {
    const size_t start = ((uintptr_t)sql >> 3) % STORE_POSTGRES_STATEMENTS;
    for (size_t i = 0; i < STORE_POSTGRES_STATEMENTS; i++) {
        const size_t at = (start + i) % STORE_POSTGRES_STATEMENTS;
        struct store_postgres_statement *s = &store_postgres_of(c)->statements[at];
        if (s->sql == sql) {
            return s;
        }
        if (s->sql == NULL) {
            (void)snprintf(s->name, sizeof s->name, "s%zu", at);
            if (!prepare(c, s, sql, p, problem)) {
                return NULL;
            }
            s->sql = sql;
            return s;
        }
    }
    problem_set(problem, PROBLEM_INTERNAL, "the cache of SQL statements is full");
    return NULL;
}

/* ---- execution ---- */

void *store_postgres_start(struct store_connection *c, const char *sql,
                           const struct store_value *values, struct problem *problem) {
    PGconn *conn = store_postgres_of(c)->conn;
    struct parameters p = {.n = 0};
    for (; values[p.n].kind != STORE_VALUE_END && p.n < MOST_VALUES;) {
        set_value(&p, &values[p.n]);
    }
    if (values[p.n].kind != STORE_VALUE_END) {
        problem_set(problem, PROBLEM_INTERNAL, "a statement has more than %d values", MOST_VALUES);
        return NULL;
    }
    /* PQprepare would drop the rows that are not read yet */
    if (PQtransactionStatus(conn) == PQTRANS_ACTIVE) {
        problem_set(problem, PROBLEM_INTERNAL, "another statement is being read");
        return NULL;
    }
    struct store_postgres_statement *s = find(c, sql, &p, problem);
    if (s == NULL) {
        return NULL;
    }
    s->changed = 0;
    if (PQsendQueryPrepared(conn, s->name, p.n, p.values, p.sizes, p.formats, 1) == 0 ||
        PQsetSingleRowMode(conn) == 0) {
        (void)store_postgres_failed(c, NULL, sql, problem);
        return NULL;
    }
    return s;
}

/* Notes how the execution ended. COMMIT of a transaction that has failed ends it, but commits
 * nothing. */
static void note_end(struct store_query *q, struct store_postgres_statement *s) {
    const char *changed = PQcmdTuples(s->result);
    s->changed = *changed != '\0' ? strtoll(changed, NULL, 10) : 0;
    if (strcmp(q->sql, "COMMIT") == 0 && strcmp(PQcmdStatus(s->result), "ROLLBACK") == 0) {
        problem_set(q->problem, PROBLEM_INTERNAL, "the database rolled the transaction back");
    }
}

bool store_postgres_row(struct store_query *q) {
    struct store_postgres_statement *s = q->statement;
    PGconn *conn = store_postgres_of(q->connection)->conn;
    for (;;) {
        PQclear(s->result);
        s->result = PQgetResult(conn);
        if (s->result == NULL) {
            return false;
        }
        switch (PQresultStatus(s->result)) {
        case PGRES_SINGLE_TUPLE:
            return true;
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK:
            note_end(q, s);
            break;
        default:
            (void)store_postgres_failed(q->connection, s->result, q->sql, q->problem);
            break;
        }
    }
}

/* Rows that the caller does not want must be received, before the next statement. */
void store_postgres_end(struct store_query *q) {
    struct store_postgres_statement *s = q->statement;
    PGconn *conn = store_postgres_of(q->connection)->conn;
    do {
        PQclear(s->result);
        s->result = PQgetResult(conn);
    } while (s->result != NULL);
}

int64_t store_postgres_changed(struct store_query *q) {
    const struct store_postgres_statement *s = q->statement;
    return s->changed;
}

/* ---- columns ---- */

static const PGresult *row_of(const struct store_query *q) {
    const struct store_postgres_statement *s = q->statement;
    return s->result;
}

enum store_kind store_postgres_kind(struct store_query *q, int column) {
    if (PQgetisnull(row_of(q), 0, column)) {
        return STORE_NULL;
    }
    switch (PQftype(row_of(q), column)) {
    case STORE_OID_BOOL:
    case STORE_OID_INT2:
    case STORE_OID_INT4:
    case STORE_OID_INT8:
        return STORE_INTEGER;
    case STORE_OID_FLOAT8:
        return STORE_REAL;
    case STORE_OID_BYTEA:
        return STORE_BYTES;
    default:
        return STORE_TEXT;
    }
}

int64_t store_postgres_get_int(struct store_query *q, int column) {
    if (store_postgres_kind(q, column) != STORE_INTEGER) {
        return 0;
    }
    return (int64_t)number_of(PQgetvalue(row_of(q), 0, column), PQgetlength(row_of(q), 0, column));
}

double store_postgres_get_real(struct store_query *q, int column) {
    if (store_postgres_kind(q, column) != STORE_REAL) {
        return (double)store_postgres_get_int(q, column);
    }
    const uint64_t bits = number_of(PQgetvalue(row_of(q), 0, column), 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* libpq puts NUL behind each value. */
const char *store_postgres_get_text(struct store_query *q, int column) {
    return PQgetisnull(row_of(q), 0, column) ? NULL : PQgetvalue(row_of(q), 0, column);
}

const void *store_postgres_get_bytes(struct store_query *q, int column, size_t *size) {
    *size = (size_t)PQgetlength(row_of(q), 0, column);
    return PQgetisnull(row_of(q), 0, column) ? NULL : PQgetvalue(row_of(q), 0, column);
}

size_t store_postgres_text_size(struct store_query *q) {
    size_t size = 0;
    for (int i = 0; i < PQnfields(row_of(q)); i++) {
        if (store_postgres_kind(q, i) == STORE_TEXT) {
            size += (size_t)PQgetlength(row_of(q), 0, i);
        }
    }
    return size;
}
