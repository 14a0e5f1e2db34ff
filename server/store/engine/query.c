/* Statements of any engine: the parts that are the same for all. */
#include "store/engine/query.h"
#include "base/log/log.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void store_query_start(struct store_query *q, struct store_connection *c, struct problem *problem,
                       const char *sql, const struct store_value *values) {
    *q = (struct store_query){.connection = c, .sql = sql, .problem = problem};
    if (problem->type == PROBLEM_NONE) {
        q->statement = c->engine->start(c, sql, values, problem);
    }
}

bool store_query_row(struct store_query *q) {
    return q->statement != NULL && q->problem->type == PROBLEM_NONE &&
           q->connection->engine->row(q);
}

void store_query_end(struct store_query *q) {
    if (q->statement != NULL) {
        q->connection->engine->end(q);
        q->statement = NULL;
    }
}

int64_t store_query_int(struct store_query *q, int column) {
    return q->connection->engine->get_int(q, column);
}

double store_query_real(struct store_query *q, int column) {
    return store_query_is_null(q, column) ? (double)NAN
                                          : q->connection->engine->get_real(q, column);
}

enum store_kind store_query_kind(struct store_query *q, int column) {
    return q->connection->engine->kind(q, column);
}

bool store_query_is_null(struct store_query *q, int column) {
    return store_query_kind(q, column) == STORE_NULL;
}

const char *store_query_text(struct store_query *q, int column) {
    return q->connection->engine->get_text(q, column);
}

const void *store_query_bytes(struct store_query *q, int column, size_t *size) {
    return q->connection->engine->get_bytes(q, column, size);
}

size_t store_query_text_size(struct store_query *q) {
    return q->connection->engine->text_size(q);
}

char *store_query_take(struct store_query *q, int column) {
    if (store_query_is_null(q, column)) {
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
        *changed = problem->type || q.statement == NULL ? 0 : c->engine->changed(&q);
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
