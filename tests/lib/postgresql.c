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

bool postgresql_skips(const char *reason) {
    if (postgresql_is_used()) {
        printf("skip: on PostgreSQL %s\n", reason);
    }
    return postgresql_is_used();
}

void postgresql_only(void) {
    if (!postgresql_is_used()) {
        print_message("# skip: it needs PostgreSQL: tests/tools/test_postgresql runs it\n");
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

/* Runs a statement about the database of the URI, whose name is put in place of %s. */
static void run_about(const char *uri, const char *before, const char *after) {
    char sql[300], why[1000];
    const char *name = strstr(uri, "/test_");
    assert_non_null(name);
    (void)snprintf(sql, sizeof sql, "%s%.*s%s", before, (int)strcspn(name + 1, "?"), name + 1,
                   after);
    run(getenv("POSTGRESQL"), sql, why, sizeof why);
    if (strncmp(why, "ERROR", 5) == 0) {
        fail_msg("%s: %s", sql, why);
    }
}

void postgresql_drop(const char *uri) {
    run_about(uri, "DROP DATABASE ", " WITH (FORCE)");
}

void postgresql_admit(const char *uri) {
    run_about(uri, "ALTER DATABASE ", " ALLOW_CONNECTIONS true");
}

/* Ends the connections to the database but those of the backend with this pid. */
static void block(const char *uri, int but) {
    char end[100];
    (void)snprintf(end, sizeof end, "' AND pid <> %d", but);
    run_about(uri, "ALTER DATABASE ", " ALLOW_CONNECTIONS false");
    run_about(uri, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '", end);
}

void postgresql_block(const char *uri) {
    block(uri, 0);
}

void *postgresql_take_over(const char *uri) {
    PGconn *conn = PQconnectdb(uri);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    block(uri, PQbackendPID(conn));
    /* waits until the connection of the daemon has ended */
    PGresult *result = PQexec(conn, "SELECT pg_advisory_lock(19256242726072942)");
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    postgresql_admit(uri);
    return conn;
}

void postgresql_release(void *taken) {
    PQfinish(taken);
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
