/* Connects to PostgreSQL, and converts its errors to problems. */
#include "store/postgres/connection.h"
#include "base/log/log.h"
#include "store/postgres/postgres.h"
#include <stdlib.h>
#include <string.h>

/* Whether a retry would fail too: the value or the data violate a rule, or are damaged. state: an
 * SQLSTATE, of which the first two characters are the class. */
static bool is_permanent(const char *state) {
    return strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0 ||
           strncmp(state, "42", 2) == 0 || strncmp(state, "XX", 2) == 0;
}

static void raise(struct store_connection *c, enum store_failure failure) {
    c->failure = c->failure > failure ? c->failure : failure;
}

bool store_postgres_failed(struct store_connection *c, const PGresult *result, const char *sql,
                           struct problem *problem) {
    PGconn *conn = store_postgres_of(c)->conn;
    const char *state = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *primary =
        result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *text = primary != NULL ? primary : conn != NULL ? PQerrorMessage(conn) : "";
    const int length = (int)strcspn(text, "\n");
    state = state != NULL ? state : "";
    log_error("store.error", log_str("state", state), log_str("message", text),
              log_str("sql", sql));
    /* 57P: the server ends, or an operator ends the connection */
    if (conn == NULL || PQstatus(conn) != CONNECTION_OK || strncmp(state, "57P", 3) == 0) {
        raise(c, STORE_FAILURE_LOST);
        return problem_set(problem, PROBLEM_UNAVAILABLE,
                           "the connection to the database is lost: send the request again");
    }
    if (strcmp(state, "53100") == 0) {
        raise(c, STORE_FAILURE_FULL);
        return problem_set(problem, PROBLEM_STORAGE_FULL, "the disk of the database is full");
    }
    if (is_permanent(state)) {
        return problem_set_permanent(problem, PROBLEM_INTERNAL, "the database failed: %.*s", length,
                                     text);
    }
    raise(c, STORE_FAILURE_WRITE);
    return problem_set(problem, PROBLEM_INTERNAL, "the database failed: %.*s", length, text);
}

bool store_postgres_exec(struct store_connection *c, const char *sql, struct problem *problem) {
    if (problem->type != PROBLEM_NONE) {
        return false;
    }
    PGresult *result = PQexec(store_postgres_of(c)->conn, sql);
    const ExecStatusType status = PQresultStatus(result);
    const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good) {
        (void)store_postgres_failed(c, result, sql, problem);
    }
    PQclear(result);
    return good;
}

static void ignore_notice(void *arg, const PGresult *result) {
    (void)arg;
    (void)result;
}

struct store_connection *store_postgres_connect(const char *uri, struct problem *problem) {
    struct store_postgres *own = calloc(1, sizeof *own);
    if (own == NULL) {
        problem_no_memory(problem);
        return NULL;
    }
    own->base.engine = &store_postgres_engine;
    own->durable = true; /* the default of PostgreSQL */
    const char *const keywords[] = {"dbname", "application_name", "client_encoding",
                                    "connect_timeout", NULL};
    const char *const values[] = {uri, "discernd", "UTF8", "5", NULL};
    own->conn = PQconnectdbParams(keywords, values, 1);
    if (PQstatus(own->conn) != CONNECTION_OK) {
        const char *text = PQerrorMessage(own->conn);
        problem_set(problem, PROBLEM_UNAVAILABLE, "the database cannot be reached: %.*s",
                    (int)strcspn(text, "\n"), text);
        store_postgres_disconnect(&own->base);
        return NULL;
    }
    PQsetNoticeReceiver(own->conn, ignore_notice, NULL);
    return &own->base;
}

void store_postgres_disconnect(struct store_connection *c) {
    if (c == NULL) {
        return;
    }
    struct store_postgres *own = store_postgres_of(c);
    for (size_t i = 0; i < STORE_POSTGRES_STATEMENTS; i++) {
        PQclear(own->statements[i].result);
    }
    PQfinish(own->conn);
    free(own);
}
