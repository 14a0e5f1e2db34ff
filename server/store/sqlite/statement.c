/* Statements of SQLite: binds values, steps, reads columns. */
#include "store/engine/query.h"
#include "store/sqlite/connection.h"

static int bind(sqlite3_stmt *s, int at, const struct store_value *v) {
    switch (v->kind) {
    case STORE_VALUE_INT:
        return sqlite3_bind_int64(s, at, v->i);
    case STORE_VALUE_REAL:
        return sqlite3_bind_double(s, at, v->r);
    case STORE_VALUE_TEXT:
        return sqlite3_bind_text(s, at, v->bytes, -1, SQLITE_STATIC);
    /* for a NULL pointer SQLite would bind null, not an empty blob */
    case STORE_VALUE_BLOB:
        return v->size ? sqlite3_bind_blob64(s, at, v->bytes, v->size, SQLITE_STATIC)
                       : sqlite3_bind_zeroblob(s, at, 0);
    default:
        return SQLITE_MISUSE;
    }
}

void *store_sqlite_start(struct store_connection *c, const char *sql,
                         const struct store_value *values, struct problem *problem) {
    sqlite3_stmt *statement = store_sqlite_statement(c, sql, problem);
    for (int i = 0; statement != NULL && values[i].kind != STORE_VALUE_END; i++) {
        const int code = bind(statement, i + 1, &values[i]);
        if (code != SQLITE_OK) {
            store_sqlite_failed(c, code, sql, problem);
            sqlite3_clear_bindings(statement);
            return NULL;
        }
    }
    return statement;
}

bool store_sqlite_row(struct store_query *q) {
    const int code = sqlite3_step(q->statement);
    if (code == SQLITE_ROW) {
        return true;
    }
    return code == SQLITE_DONE ? false
                               : store_sqlite_failed(q->connection, code, q->sql, q->problem);
}

void store_sqlite_end(struct store_query *q) {
    sqlite3_reset(q->statement);
    sqlite3_clear_bindings(q->statement);
}

int64_t store_sqlite_changed(struct store_query *q) {
    return sqlite3_changes64(store_sqlite_db(q->connection));
}

enum store_kind store_sqlite_kind(struct store_query *q, int column) {
    switch (sqlite3_column_type(q->statement, column)) {
    case SQLITE_INTEGER:
        return STORE_INTEGER;
    case SQLITE_FLOAT:
        return STORE_REAL;
    case SQLITE_TEXT:
        return STORE_TEXT;
    case SQLITE_BLOB:
        return STORE_BYTES;
    default:
        return STORE_NULL;
    }
}

int64_t store_sqlite_get_int(struct store_query *q, int column) {
    return sqlite3_column_int64(q->statement, column);
}

double store_sqlite_get_real(struct store_query *q, int column) {
    return sqlite3_column_double(q->statement, column);
}

const char *store_sqlite_get_text(struct store_query *q, int column) {
    return (const char *)sqlite3_column_text(q->statement, column);
}

const void *store_sqlite_get_bytes(struct store_query *q, int column, size_t *size) {
    const void *bytes = sqlite3_column_blob(q->statement, column);
    *size = (size_t)sqlite3_column_bytes(q->statement, column);
    return bytes;
}

size_t store_sqlite_text_size(struct store_query *q) {
    size_t size = 0;
    for (int i = 0; i < sqlite3_column_count(q->statement); i++) {
        if (sqlite3_column_type(q->statement, i) == SQLITE_TEXT) {
            size += (size_t)sqlite3_column_bytes(q->statement, i);
        }
    }
    return size;
}

bool store_sqlite_read_blob(struct store_connection *c, int64_t id, char *out, size_t size,
                            struct problem *problem) {
    sqlite3_blob *blob = NULL;
    int code = sqlite3_blob_open(store_sqlite_db(c), "main", "blobs", "bytes", id, 0, &blob);
    if (code == SQLITE_OK) {
        code = sqlite3_blob_read(blob, out, (int)size, 0);
    }
    if (code != SQLITE_OK) {
        store_sqlite_failed(c, code, "blob", problem);
    }
    sqlite3_blob_close(blob);
    return code == SQLITE_OK;
}
