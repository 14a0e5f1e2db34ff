#define _GNU_SOURCE /* memmem */
#include "lib/daemon.h"

#include "lib/memory.h"
#include "lib/postgresql.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 10, WAIT_SECONDS = 60, MAX_ARGUMENTS = 64 };

const char *daemon_log(const struct daemon *d) {
    const char *log = text("%s/log", d->dir);
    return access(log, R_OK) == 0 ? read_whole(log, NULL) : "";
}

static void fail_with_log(const struct daemon *d, const char *what) {
    const char *log = daemon_log(d);
    size_t n = strlen(log);
    fail_msg("%s; the end of the daemon's log:\n%s\n", what, n > 4000 ? log + n - 4000 : log);
}

static const char *program(void) {
    const char *path = getenv("DISCERND");
    return path != NULL ? path : "build/discernd";
}

bool daemon_is_sanitized(void) {
    static int is_sanitized = -1; /* -1: not known yet */
    if (is_sanitized < 0) {
        size_t size;
        const char *bytes = read_whole(program(), &size);
        is_sanitized = memmem(bytes, size, "__asan_init", 11) != NULL ||
                       memmem(bytes, size, "__tsan_init", 11) != NULL;
    }
    return is_sanitized;
}

/* Starts the program with these arguments (ending in NULL) and appends its stdout and stderr to a
 * file. The kernel kills the process when the test program ends. */
static pid_t run(const char *const *arguments, const char *output) {
    const char *argv[MAX_ARGUMENTS] = {program()};
    for (size_t n = 1; *arguments != NULL && n < MAX_ARGUMENTS - 1; n++) {
        argv[n] = *arguments++;
    }
    int fd = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    close(fd);
    assert_true(fd >= 0 && pid > 0);
    return pid;
}

/* Whether the process has ended. *status: its exit status, or minus the number of the signal that
 * ended it. */
static bool reap(pid_t *pid, int *status) {
    int how;
    if (waitpid(*pid, &how, WNOHANG) == 0) {
        return false;
    }
    *pid = 0;
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
    return true;
}

static void kill_now(pid_t *pid) {
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

bool daemon_try(struct daemon *d, int *status) {
    const char *port_file = text("%s/port", d->dir);
    const char *arguments[MAX_ARGUMENTS] = {"--listen", "127.0.0.1:0", "--port-file",
                                            port_file,  "--database",  d->database};
    size_t n = 6;
    for (size_t i = 0; d->flags != NULL && d->flags[i] != NULL && n < MAX_ARGUMENTS - 1; i++) {
        arguments[n++] = d->flags[i];
    }
    const char *scheme = "http";
    for (size_t i = 0; i < n; i++) {
        scheme = strcmp(arguments[i], "--tls-cert") == 0 ? "https" : scheme;
    }
    unlink(port_file);
    d->pid = run(arguments, text("%s/log", d->dir));
    for (double end = now() + WAIT_SECONDS; now() < end; pause_ms(TICK_MS)) {
        if (access(port_file, R_OK) == 0) {
            d->port = (int)strtol(read_whole(port_file, NULL), NULL, 10);
            (void)snprintf(d->url, sizeof d->url, "%s://127.0.0.1:%d", scheme, d->port);
            return true;
        }
        if (reap(&d->pid, status)) {
            return false;
        }
    }
    kill_now(&d->pid);
    fail_with_log(d, "the daemon did not listen in time");
    return false;
}

void daemon_start(struct daemon *d) {
    int status;
    if (!daemon_try(d, &status)) {
        fail_with_log(d, "the daemon did not start");
    }
}

void daemon_open(struct daemon *d, const char *const *flags) {
    const char *tmp = getenv("TMPDIR");
    *d = (struct daemon){.flags = flags};
    if ((size_t)snprintf(d->dir, sizeof d->dir, "%s/discern-api.XXXXXX", tmp ? tmp : "/tmp") >=
        sizeof d->dir) {
        fail_msg("TMPDIR is too long");
    }
    assert_non_null(mkdtemp(d->dir));
    if (postgresql_is_used()) {
        postgresql_create(d->database, sizeof d->database);
    } else {
        (void)snprintf(d->database, sizeof d->database, "%s/discern.db", d->dir);
    }
    daemon_start(d);
}

int daemon_wait(struct daemon *d) {
    int status = 0;
    for (double end = now() + WAIT_SECONDS; !reap(&d->pid, &status); pause_ms(TICK_MS)) {
        if (now() > end) {
            kill_now(&d->pid);
            fail_with_log(d, "the daemon did not end in time");
        }
    }
    return status;
}

int daemon_stop(struct daemon *d) {
    kill(d->pid, SIGTERM);
    return daemon_wait(d);
}

void daemon_kill(struct daemon *d) {
    kill_now(&d->pid);
}

int discernd_run(const char *const *arguments, const char **out) {
    char output[] = "/tmp/discern-run.XXXXXX";
    int fd = mkstemp(output), status = 0;
    assert_true(fd >= 0);
    close(fd);
    pid_t pid = run(arguments, output);
    for (double end = now() + WAIT_SECONDS; !reap(&pid, &status); pause_ms(TICK_MS)) {
        if (now() > end) {
            kill_now(&pid);
            status = -SIGKILL;
            break;
        }
    }
    *out = read_whole(output, NULL);
    unlink(output);
    return status;
}

/* ---- the database and the folder ---- */

/* Fails the test unless the first value of the statement's result is the expected one. */
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

/* What is true of each database: a statement and its answer. */
static const char *const answers[][2] = {
    {"SELECT count(*) FROM dataset_parts JOIN parts ON parts.id = part WHERE state <> 1", "0"},
    {"SELECT count(*) FROM model_versions JOIN parts ON parts.id = part WHERE state <> 1", "0"},
    {"SELECT count(*) FROM dataset_versions v WHERE hidden = 0 AND n_rows <> (SELECT "
     "coalesce(sum(c.n_rows), 0) FROM dataset_parts p JOIN chunks c ON c.part = p.part WHERE "
     "p.version = v.id)",
     "0"},
    {"SELECT count(*) FROM chunks c WHERE n_blobs <> (SELECT count(*) FROM blobs b WHERE b.id >= "
     "c.first_blob AND b.id < c.first_blob + c.n_blobs)",
     "0"},
};
enum { N_ANSWERS = sizeof answers / sizeof answers[0] };

void daemon_check_database(const struct daemon *d) {
    sqlite3 *db = NULL;
    assert_int_equal(d->pid, 0);
    if (postgresql_is_used()) {
        for (size_t i = 0; i < N_ANSWERS; i++) {
            postgresql_expect(d->database, answers[i][0], answers[i][1]);
        }
        return;
    }
    assert_int_equal(sqlite3_open_v2(d->database, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    expect_answer(db, "PRAGMA integrity_check", "ok");
    expect_answer(db, "PRAGMA foreign_key_check", "");
    for (size_t i = 0; i < N_ANSWERS; i++) {
        expect_answer(db, answers[i][0], answers[i][1]);
    }
    sqlite3_close(db);
}

/* Removes the files that a daemon leaves in its folder, including the temporary port file that a
 * killed daemon can leave. */
static void remove_files(const struct daemon *d) {
    DIR *dir = opendir(d->dir);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "discern.db", 10) == 0 ||
            strncmp(entry->d_name, "port", 4) == 0 || strcmp(entry->d_name, "log") == 0) {
            unlink(text("%s/%s", d->dir, entry->d_name));
        }
    }
    closedir(dir);
}

void daemon_close(struct daemon *d) {
    if (d->pid > 0 && daemon_stop(d) != 0) {
        fail_with_log(d, "the daemon did not end with exit status 0");
    }
    daemon_check_database(d);
    if (postgresql_is_used()) {
        postgresql_drop(d->database);
    }
    remove_files(d);
    if (rmdir(d->dir) != 0) {
        fail_msg("%s holds unknown files: %s", d->dir, strerror(errno));
    }
}
