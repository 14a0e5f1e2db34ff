/* Binds values, steps statements, reads columns. */
#include "store/sqlite/engine/query.h"
#include "base/log/log.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void store_query_start(struct store_query *q, struct store_connection *c, struct problem *problem,
                       const char *sql, const struct store_value *values) {
    *q = (struct store_query){.connection = c, .sql = sql, .problem = problem};
    if (problem->type) {
        return;
    }
    q->statement = store_connection_statement(c, sql, problem);
    for (int i = 0; q->statement && values[i].kind != STORE_VALUE_END; i++) {
        int code = bind(q->statement, i + 1, &values[i]);
        if (code != SQLITE_OK) {
            store_connection_failed(c, code, sql, problem);
            store_query_end(q);
        }
    }
}

bool store_query_row(struct store_query *q) {
    if (!q->statement || q->problem->type) {
        return false;
    }
    int code = sqlite3_step(q->statement);
    if (code == SQLITE_ROW) {
        return true;
    }
    return code == SQLITE_DONE ? false
                               : store_connection_failed(q->connection, code, q->sql, q->problem);
}

void store_query_end(struct store_query *q) {
    if (q->statement) {
        sqlite3_reset(q->statement);
        sqlite3_clear_bindings(q->statement);
        q->statement = NULL;
    }
}

int64_t store_query_int(struct store_query *q, int column) {
    return sqlite3_column_int64(q->statement, column);
}

double store_query_real(struct store_query *q, int column) {
    return sqlite3_column_type(q->statement, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(q->statement, column);
}

const char *store_query_text(struct store_query *q, int column) {
    return (const char *)sqlite3_column_text(q->statement, column);
}

char *store_query_take(struct store_query *q, int column) {
    if (sqlite3_column_type(q->statement, column) == SQLITE_NULL) {
        return NULL;
    }
    const char *text = store_query_text(q, column);
    char *copy = text ? strdup(text) : NULL;
    if (!copy) {
        problem_no_memory(q->problem);
    }
    return copy;
}

bool store_query_intact(struct store_query *q, int column) {
    const char *damage = store_query_text(q, column);
    if (damage == NULL) {
        return true;
    }
    log_error("store.damaged", log_str("row", damage));
    return problem_set_permanent(q->problem, PROBLEM_INTERNAL, "stored data is damaged: %s",
                                 damage);
}

bool store_check_values(struct store_connection *c, struct problem *problem, const char *sql,
                        const struct store_value *values) {
    struct store_query q;
    store_query_start(&q, c, problem, sql, values);
    const bool intact = !store_query_row(&q) || store_query_intact(&q, 0);
    store_query_end(&q);
    return intact;
}

void store_query_copy(struct store_query *q, int column, char *out, size_t size) {
    const char *text = store_query_text(q, column);
    size_t n = text ? strlen(text) : 0;
    n = n < size ? n : size - 1;
    if (text && n) {
        memcpy(out, text, n);
    }
    out[n] = '\0';
}

bool store_run_values(struct store_connection *c, struct problem *problem, int64_t *changed,
                      const char *sql, const struct store_value *values) {
    struct store_query q;
    store_query_start(&q, c, problem, sql, values);
    while (store_query_row(&q)) {
    }
    if (changed) {
        *changed = problem->type ? 0 : sqlite3_changes64(c->db);
    }
    store_query_end(&q);
    return problem->type == PROBLEM_NONE;
}

int64_t store_ask_values(struct store_connection *c, struct problem *problem, int64_t none,
                         const char *sql, const struct store_value *values) {
    struct store_query q;
    store_query_start(&q, c, problem, sql, values);
    int64_t answer = none;
    /* Steps through all rows, because INSERT ... RETURNING must be stepped to the end. */
    for (bool first = true; store_query_row(&q); first = false) {
        answer = first ? store_query_int(&q, 0) : answer;
    }
    store_query_end(&q);
    return problem->type ? none : answer;
}
