/* Starting, watching and ending a daemon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon.h"

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
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 10, TICKS = 6000, MAX_ARGUMENTS = 40 };

static void pause_tick(void) {
    nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000L}, NULL);
}

static void in_dir(const struct daemon *d, const char *name, char out[160]) {
    (void)snprintf(out, 160, "%s/%s", d->dir, name);
}

/* The whole file, NUL-terminated, the caller frees; NULL: it is not there. */
static char *read_file(const char *name) {
    FILE *f = fopen(name, "re");
    size_t size = 0, room = 0, n = 1;
    char *text = NULL;
    if (!f) {
        return NULL;
    }
    while (n > 0) {
        if (room < size + 4097) {
            room = 2 * room + 8192;
            text = realloc(text, room);
            assert_non_null(text);
        }
        n = fread(text + size, 1, 4096, f);
        size += n;
    }
    text[size] = '\0';
    fclose(f);
    return text;
}

char *daemon_log(const struct daemon *d) {
    char name[160];
    in_dir(d, "log", name);
    return read_file(name);
}

static void complain(const struct daemon *d, const char *what) {
    char *log = daemon_log(d);
    print_error("%s; the daemon's log:\n%s\n", what, log ? log : "(none)");
    free(log);
    fail();
}

/* In the child: becomes the daemon, which ends when the test does. */
static void become(const struct daemon *d, const char *port_file) {
    const char *program = getenv("DISCERND");
    const char *arguments[MAX_ARGUMENTS];
    size_t n = 0;
    char log[160];
    program = program ? program : "build/discernd";
    arguments[n++] = program;
    arguments[n++] = "--listen";
    arguments[n++] = "127.0.0.1:0";
    arguments[n++] = "--port-file";
    arguments[n++] = port_file;
    arguments[n++] = "--database";
    arguments[n++] = d->database;
    for (const char *const *flag = d->flags; flag && *flag && n < MAX_ARGUMENTS - 1; flag++) {
        arguments[n++] = *flag;
    }
    arguments[n] = NULL;
    in_dir(d, "log", log);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(program, (char *const *)(uintptr_t)arguments);
    fprintf(stderr, "cannot run %s: %s\n", program, strerror(errno));
    _exit(127);
}

/* Has it ended? *status: the exit status, −1: by a signal. */
static bool reap(struct daemon *d, int *status) {
    int how;
    if (waitpid(d->pid, &how, WNOHANG) == 0) {
        return false;
    }
    d->pid = 0;
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    return true;
}

bool daemon_try(struct daemon *d, int *status) {
    char port_file[160];
    in_dir(d, "port", port_file);
    unlink(port_file);
    d->pid = fork();
    assert_true(d->pid >= 0);
    if (d->pid == 0) {
        become(d, port_file);
    }
    for (int i = 0; i < TICKS; i++) {
        char *text = read_file(port_file);
        if (text) {
            d->port = (int)strtol(text, NULL, 10);
            free(text);
            (void)snprintf(d->url, sizeof d->url, "http://127.0.0.1:%d", d->port);
            return true;
        }
        if (reap(d, status)) {
            return false;
        }
        pause_tick();
    }
    daemon_kill(d);
    complain(d, "the daemon did not listen in time");
    return false;
}

void daemon_start(struct daemon *d) {
    int status;
    if (!daemon_try(d, &status)) {
        complain(d, "the daemon did not start");
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
    (void)snprintf(d->database, sizeof d->database, "%s/discern.db", d->dir);
    daemon_start(d);
}

int daemon_wait(struct daemon *d) {
    int status;
    for (int i = 0; !reap(d, &status); i++) {
        if (i == TICKS) {
            daemon_kill(d);
            complain(d, "the daemon did not end in time");
        }
        pause_tick();
    }
    return status;
}

int daemon_stop(struct daemon *d) {
    kill(d->pid, SIGTERM);
    return daemon_wait(d);
}

void daemon_kill(struct daemon *d) {
    int how;
    kill(d->pid, SIGKILL);
    waitpid(d->pid, &how, 0);
    d->pid = 0;
}

bool daemon_alive(const struct daemon *d) {
    return d->pid > 0 && kill(d->pid, 0) == 0;
}

/* What SQLite says about the file. */
static void check_integrity(const struct daemon *d) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open_v2(d->database, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Everything that a daemon has left in its folder; one that died in between leaves a port file
 * under its temporary name too. */
static void remove_files(const struct daemon *d) {
    DIR *dir = opendir(d->dir);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char name[400];
        (void)snprintf(name, sizeof name, "%s/%s", d->dir, entry->d_name);
        if (strncmp(entry->d_name, "discern.db", 10) == 0 ||
            strncmp(entry->d_name, "port", 4) == 0 || strcmp(entry->d_name, "log") == 0) {
            unlink(name);
        }
    }
    closedir(dir);
}

void daemon_close(struct daemon *d) {
    if (d->pid > 0 && daemon_stop(d) != 0) {
        complain(d, "the daemon did not end with exit status 0");
    }
    check_integrity(d);
    remove_files(d);
    if (rmdir(d->dir) != 0) {
        fail_msg("%s holds files that nobody knows: %s", d->dir, strerror(errno));
    }
}
