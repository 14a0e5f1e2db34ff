/* Connects to PostgreSQL, and converts its errors to problems. */
#include "store/postgres/connection.h"
#include "base/log/log.h"
#include "store/postgres/postgres.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the state has this prefix. state: an SQLSTATE, of which the first two characters are the
 * class. */
static bool is_of(const char *state, const char *prefix) {
    return strncmp(state, prefix, strlen(prefix)) == 0;
}

/* Whether a retry may succeed: a deadlock, lock_timeout, the server lacks memory or another
 * resource, or another daemon has removed what a chunk belongs to (23503): the daemon has not
 * renewed its lease in time. */
static bool is_passing(const char *state) {
    return is_of(state, "40") || is_of(state, "53") || strcmp(state, "55P03") == 0 ||
           strcmp(state, "23503") == 0;
}

/* Whether a retry would fail too: the value or the data violate a rule, or are damaged. */
static bool is_permanent(const char *state) {
    return !is_passing(state) &&
           (is_of(state, "22") || is_of(state, "23") || is_of(state, "42") || is_of(state, "XX"));
}

/* Whether the connection is of no more use: it is closed, libpq has failed and not the server (no
 * state), the server ends or an operator ends the connection (57P), or the server has become a
 * standby (25006). */
static bool is_lost(const PGconn *conn, const char *state) {
    return conn == NULL || PQstatus(conn) != CONNECTION_OK || state[0] == '\0' ||
           is_of(state, "57P") || strcmp(state, "25006") == 0;
}

static void raise(struct store_connection *c, enum store_failure failure) {
    c->failure = c->failure > failure ? c->failure : failure;
}

bool store_postgres_failed(struct store_connection *c, const PGresult *result, const char *sql,
                           struct problem *problem) {
    const struct store_postgres *own = store_postgres_of(c);
    const char *state = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *primary =
        result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *text = primary != NULL ? primary : PQerrorMessage(own->conn);
    const int length = (int)strcspn(text, "\n");
    state = state != NULL ? state : "";
    if (!own->opening) {
        char line[500];
        (void)snprintf(line, sizeof line, "%.*s", length, text);
        log_error("store.error", log_str("state", state), log_str("message", line),
                  log_str("sql", sql));
    }
    if (is_lost(own->conn, state)) {
        const bool unknown = sql != NULL && strcmp(sql, "COMMIT") == 0;
        raise(c, STORE_FAILURE_LOST);
        return problem_set_lost(problem, "the connection to the database is lost (%.*s): %s",
                                length, text,
                                unknown ? "the change may be stored or not: see which before you "
                                          "send the request again"
                                        : "send the request again");
    }
    if (strcmp(state, "53100") == 0) {
        raise(c, STORE_FAILURE_FULL);
        return problem_set(problem, PROBLEM_STORAGE_FULL, "the disk of the database is full");
    }
    if (own->opening && strcmp(state, "42501") == 0) {
        return problem_set_permanent(problem, PROBLEM_INTERNAL,
                                     "the role \"%s\" may not use the database: %.*s",
                                     PQuser(own->conn), length, text);
    }
    if (is_permanent(state)) {
        return problem_set_permanent(problem, PROBLEM_INTERNAL, "the database failed: %.*s", length,
                                     text);
    }
    raise(c, STORE_FAILURE_WRITE);
    if (strcmp(state, "57014") == 0) {
        return problem_set_lost(problem,
                                "the database needed longer than statement_timeout allows");
    }
    if (is_passing(state)) {
        return problem_set_lost(problem, "the database failed: %.*s: send the request again",
                                length, text);
    }
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

/* Ends the transaction of a message whose second statement has failed. */
static void end_begun(struct store_connection *c) {
    PGconn *conn = store_postgres_of(c)->conn;
    if (PQtransactionStatus(conn) != PQTRANS_IDLE) {
        PQclear(PQexec(conn, "ROLLBACK"));
    }
    if (PQtransactionStatus(conn) != PQTRANS_IDLE) {
        raise(c, STORE_FAILURE_LOST);
    }
}

bool store_postgres_begin_read(struct store_connection *c, struct problem *problem) {
    static const char sql[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
                              "SELECT coalesce(max(seq), 0) FROM changes";
    PGresult *result = PQexec(store_postgres_of(c)->conn, sql);
    const bool good = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (good) {
        c->seen = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    } else {
        (void)store_postgres_failed(c, result, sql, problem);
        end_begun(c);
    }
    PQclear(result);
    return good;
}

static void ignore_notice(void *arg, const PGresult *result) {
    (void)arg;
    (void)result;
}

/* Refuses text that is no URI. The message of libpq is cut before the part of the URI that it
 * quotes, which may be a password. */
static bool check_uri(const char *uri, struct problem *problem) {
    char *why = NULL;
    if (store_postgres_is_ambiguous(uri)) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "the URI of the database has \"@\" in its host or name: in a user, "
                           "password or name, \"@\" is written %%40 and \"/\" %%2F");
    }
    PQconninfoOption *options = PQconninfoParse(uri, &why);
    if (options == NULL) {
        const char *quoted = why != NULL ? strstr(why, ": \"") : NULL;
        const int length = quoted != NULL ? (int)(quoted - why) : 0;
        problem_set(problem, PROBLEM_INTERNAL,
                    "the name of the database is no URI of PostgreSQL%s%.*s",
                    length > 0 ? ": " : "", length, why != NULL ? why : "");
    }
    PQconninfoFree(options);
    PQfreemem(why);
    return problem->type == PROBLEM_NONE;
}

/* Connects. What stands before dbname in the lists are defaults, which the URI may change: a server
 * that has vanished is noticed after half a minute. */
static PGconn *connect_uri(const char *uri) {
    const char *const keywords[] = {"application_name",     "connect_timeout",
                                    "keepalives_idle",      "keepalives_interval",
                                    "keepalives_count",     "tcp_user_timeout",
                                    "target_session_attrs", "dbname",
                                    "client_encoding",      NULL};
    const char *const values[] = {"discernd", "5",          "10", "5",    "4",
                                  "30000",    "read-write", uri,  "UTF8", NULL};
    return PQconnectdbParams(keywords, values, 1);
}

static bool check_server(const PGconn *conn, struct problem *problem) {
    enum { OLDEST = 150000 };
    const char *encoding = PQparameterStatus(conn, "server_encoding");
    if (PQserverVersion(conn) < OLDEST) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "the database is PostgreSQL %d: version 15 or newer is needed",
                           PQserverVersion(conn) / 10000);
    }
    return (encoding != NULL && strcmp(encoding, "UTF8") == 0) ||
           problem_set(problem, PROBLEM_INTERNAL,
                       "the database has the encoding %s: UTF8 is needed",
                       encoding != NULL ? encoding : "");
}

/* The server notices after half a minute, too, that the daemon's machine has vanished: until then
 * the lock of postgres.c is held. Limits of the URI (options=-c...) and of the role stay.
 * Backslashes of the migrations are no escapes. */
static const char session_sql[] =
    "SELECT set_config('statement_timeout', '60s', false) WHERE "
    "current_setting('statement_timeout') = '0';"
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4;"
    "SET tcp_user_timeout = 30000; SET idle_in_transaction_session_timeout = 0;"
    "SET idle_session_timeout = 0; SET standard_conforming_strings = on";

struct store_connection *store_postgres_connect(const char *uri, struct problem *problem) {
    if (!check_uri(uri, problem)) {
        return NULL;
    }
    struct store_postgres *own = calloc(1, sizeof *own);
    if (own == NULL) {
        problem_no_memory(problem);
        return NULL;
    }
    own->base.engine = &store_postgres_engine;
    own->opening = true;
    own->conn = connect_uri(uri);
    if (PQstatus(own->conn) != CONNECTION_OK) {
        const char *text = PQerrorMessage(own->conn);
        problem_set_lost(problem, "the database cannot be reached: %.*s", (int)strcspn(text, "\n"),
                         text);
        store_postgres_disconnect(&own->base);
        return NULL;
    }
    PQsetNoticeReceiver(own->conn, ignore_notice, NULL);
    if (!check_server(own->conn, problem) ||
        !store_postgres_exec(&own->base, session_sql, problem)) {
        store_postgres_disconnect(&own->base);
        return NULL;
    }
    own->opening = false;
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

bool store_postgres_alive(struct store_connection *c) {
    PGconn *conn = store_postgres_of(c)->conn;
    /* the first call may read the last message of the server, the second one the end */
    if (PQconsumeInput(conn) != 0 && PQconsumeInput(conn) != 0 && PQstatus(conn) == CONNECTION_OK) {
        return true;
    }
    raise(c, STORE_FAILURE_LOST);
    return false;
}
