#include "lib/postgresql.h"

#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

bool postgresql_is_used(void) {
    return getenv("POSTGRESQL") != NULL;
}

void postgresql_skip(const char *reason) {
    if (postgresql_is_used()) {
        print_message("# skip: on PostgreSQL %s\n", reason);
        skip();
    }
}

static void ignore_notice(void *arg, const char *message) {
    (void)arg;
    (void)message;
}

/* Runs a statement and copies the first value of its result; "" if there is none. */
static void run(const char *uri, const char *sql, char *out, size_t size) {
    PGconn *conn = PQconnectdb(uri);
    PQsetNoticeProcessor(conn, ignore_notice, NULL);
    PGresult *result = PQexec(conn, sql);
    const ExecStatusType status = PQresultStatus(result);
    out[0] = '\0';
    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0) {
        (void)snprintf(out, size, "%s", PQgetvalue(result, 0, 0));
    } else if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        (void)snprintf(out, size, "%s", PQerrorMessage(conn));
    }
    PQclear(result);
    PQfinish(conn);
}

void postgresql_create(char *uri, size_t size) {
    static int n;
    char name[64], sql[128], why[1000];
    const char *server = getenv("POSTGRESQL"), *path = strstr(server, "/discern?");
    assert_non_null(path);
    (void)snprintf(name, sizeof name, "test_%ld_%d", (long)getpid(), n++);
    (void)snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    run(server, sql, why, sizeof why);
    assert_string_equal(why, "");
    (void)snprintf(uri, size, "%.*s/%s%s", (int)(path - server), server, name,
                   path + strlen("/discern"));
}

void postgresql_drop(const char *uri) {
    char sql[200], why[1000];
    const char *name = strstr(uri, "/test_");
    assert_non_null(name);
    (void)snprintf(sql, sizeof sql, "DROP DATABASE %.*s WITH (FORCE)", (int)strcspn(name + 1, "?"),
                   name + 1);
    run(getenv("POSTGRESQL"), sql, why, sizeof why);
    assert_string_equal(why, "");
}

int postgresql_run(const char *uri, const char *sql) {
    PGconn *conn = PQconnectdb(uri);
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    }
    const int changed = (int)strtol(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    PQfinish(conn);
    return changed;
}

void postgresql_expect(const char *uri, const char *sql, const char *expected) {
    char got[1000];
    run(uri, sql, got, sizeof got);
    if (strcmp(got, expected) != 0) {
        fail_msg("%s: \"%s\", expected \"%s\"", sql, got, expected);
    }
}
