/* The one daemon of a test program, the fixtures around it, and its database looked at with SQLite
 * once it has ended. */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 64, RUN_SECONDS = 60 };

struct daemon the_daemon;
static bool opened; /* the_daemon has a folder */

void service_start(const char *const *flags) {
    service_end();
    daemon_open(&the_daemon, flags);
    opened = true;
}

void service_restart(const char *const *flags) {
    assert_int_equal(the_daemon.pid, 0);
    the_daemon.flags = flags;
    daemon_start(&the_daemon);
}

const char *service_log(void) {
    char *log = daemon_log(&the_daemon);
    return log != NULL ? keep(log, free) : "";
}

static void show_log(void) {
    const char *log = service_log();
    size_t n = strlen(log);
    print_error("the daemon's log:\n%s\n", n > 4000 ? log + n - 4000 : log);
}

void service_stop(void) {
    int code = daemon_stop(&the_daemon);
    if (code != 0) {
        show_log();
        fail_msg("the daemon ended with %d on SIGTERM, expected exit 0", code);
    }
}

void service_end(void) {
    if (!opened) {
        return;
    }
    opened = false;
    if (the_daemon.pid > 0) {
        service_stop();
    }
    database_check();
    daemon_close(&the_daemon);
}

/* ---- the database ---- */

static void expect_answer(sqlite3 *db, const char *sql, const char *expected) {
    sqlite3_stmt *statement = NULL;
    char got[1000] = "";
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        (void)snprintf(got, sizeof got, "%s", (const char *)sqlite3_column_text(statement, 0));
    } else if (rc != SQLITE_DONE) {
        (void)snprintf(got, sizeof got, "%s", sqlite3_errmsg(db));
    }
    sqlite3_finalize(statement);
    if (strcmp(got, expected) != 0) {
        fail_msg("%s: \"%s\", expected \"%s\"", sql, got, expected);
    }
}

static void close_database(void *db) {
    (void)sqlite3_close(db);
}

void database_check(void) {
    sqlite3 *db = NULL;
    assert_int_equal(the_daemon.pid, 0);
    assert_int_equal(sqlite3_open_v2(the_daemon.database, &db, SQLITE_OPEN_READWRITE, NULL),
                     SQLITE_OK);
    keep(db, close_database);
    expect_answer(db, "PRAGMA integrity_check", "ok");
    expect_answer(db, "PRAGMA foreign_key_check", "");
    expect_answer(
        db, "SELECT count(*) FROM dataset_parts JOIN parts ON parts.id = part WHERE state <> 1",
        "0");
    expect_answer(
        db, "SELECT count(*) FROM model_versions JOIN parts ON parts.id = part WHERE state <> 1",
        "0");
    expect_answer(db,
                  "SELECT count(*) FROM dataset_versions v WHERE hidden = 0 AND n_rows <> (SELECT "
                  "coalesce(sum(c.n_rows), 0)"
                  " FROM dataset_parts p JOIN chunks c ON c.part = p.part WHERE p.version = v.id)",
                  "0");
    expect_answer(db,
                  "SELECT count(*) FROM chunks c WHERE n_blobs <> (SELECT count(*) FROM blobs b "
                  "WHERE b.id >= c.first_blob AND"
                  " b.id < c.first_blob + c.n_blobs)",
                  "0");
}

/* ---- running to the end ---- */

static void become(const char *const *arguments, int output) {
    const char *argv[MAX_ARGUMENTS];
    size_t n = 0;
    const char *program = getenv("DISCERND");
    argv[n++] = program != NULL ? program : "build/discernd";
    for (; *arguments != NULL && n < MAX_ARGUMENTS - 1; arguments++) {
        argv[n++] = *arguments;
    }
    argv[n] = NULL;
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

int discernd_run(const char *const *arguments, const char **out) {
    char output[] = "/tmp/discern-run.XXXXXX";
    int fd = mkstemp(output), status = 0;
    assert_true(fd >= 0);
    pid_t pid = fork();
    if (pid == 0) {
        become(arguments, fd);
    }
    close(fd);
    assert_true(pid > 0);
    bool ended = false;
    for (double end = now() + RUN_SECONDS; !ended && now() < end; pause_ms(5)) {
        ended = waitpid(pid, &status, WNOHANG) == pid;
    }
    if (!ended) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    *out = read_whole(output, NULL);
    unlink(output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- fixtures ---- */

int group_start(void **state) {
    (void)state;
    service_start(NULL);
    keep_free();
    return 0;
}

int group_end(void **state) {
    (void)state;
    service_end();
    keep_free();
    return 0;
}

int test_end(void **state) {
    (void)state;
    const struct response *r =
        the_daemon.pid > 0 ? call(&(struct request){.method = "GET", .path = "/healthz"}) : NULL;
    bool bad = r != NULL && r->status != 200;
    if (bad) {
        show_log();
        print_error("the daemon is not alive after the test: /healthz answers %d %s (%s)\n",
                    r->status, r->body, curl_easy_strerror(r->code));
    }
    keep_free();
    return bad;
}
