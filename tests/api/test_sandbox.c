/* The sandbox of the daemon: in force in each thread, off with --no-sandbox, and no obstacle to what
 * the daemon does with its own files. */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the environment turns the sandbox off, as runs with sanitizers do. */
static bool turned_off(void) {
    return getenv("DISCERN_NO_SANDBOX") != NULL;
}

/* Returns the number after this word in a status file of /proc. */
static int status_number(const char *file, const char *word) {
    const char *at = strstr(read_whole(file, NULL), word);
    assert_non_null(at);
    return (int)strtol(at + strlen(word), NULL, 10);
}

/* Checks Seccomp and NoNewPrivs of each thread of the daemon. Returns the number of threads. */
static size_t check_threads(int seccomp, int no_new_privs) {
    size_t n = 0;
    DIR *tasks = opendir(text("/proc/%ld/task", (long)the_daemon.pid));
    assert_non_null(tasks);
    for (const struct dirent *e; (e = readdir(tasks)) != NULL;) {
        if (e->d_name[0] != '.') {
            const char *file = text("/proc/%ld/task/%s/status", (long)the_daemon.pid, e->d_name);
            assert_int_equal(status_number(file, "\nSeccomp:"), seccomp);
            n += 1;
        }
    }
    closedir(tasks);
    /* given up by the thread that enters the sandbox and those that it starts */
    assert_int_equal(status_number(text("/proc/%ld/status", (long)the_daemon.pid), "\nNoNewPrivs:"),
                     no_new_privs);
    return n;
}

static void test_in_force(void **state) {
    (void)state;
    if (turned_off()) {
        skip();
    }
    service_start(NULL);
    if (strstr(daemon_log(&the_daemon), "sandbox.incomplete") != NULL) {
        service_end();
        skip(); /* the kernel lacks a part */
    }
    assert_true(check_threads(2, 1) > 4);
    service_start(FLAGS("--no-sandbox"));
    assert_true(check_threads(0, 0) > 4);
    service_end();
}

static const struct response *predict(const char *lines) {
    return call_typed("/v1/models/m/predict", "application/x-ndjson", "application/x-ndjson",
                      lines);
}

/* The spool folder is a symbolic link. The files below the folder that it named at the start may be
 * written, those below another folder may not. */
static void test_files_elsewhere(void **state) {
    (void)state;
    char folder[] = "/tmp/discern-sandbox-api-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *first = text("%s/first", folder), *second = text("%s/second", folder),
               *link = text("%s/link", folder);
    assert_int_equal(mkdir(first, 0700), 0);
    assert_int_equal(mkdir(second, 0700), 0);
    static const char *const flags[][2] = {{"--spool-dir", NULL}, {"--no-sandbox", "--spool-dir"}};
    for (size_t off = 0; off < 2; off++) {
        assert_int_equal(symlink(first, link), 0);
        service_start(off ? FLAGS(flags[1][0], flags[1][1], link) : FLAGS(flags[0][0], link));
        upload_file("iris", "iris.csv");
        job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'gaussian'}");
        const char *rows = repeat("[5.1,3.5,1.4,0.2]\n", 20000);
        status_check(predict(rows), 200);
        assert_int_equal(unlink(link), 0);
        assert_int_equal(symlink(second, link), 0);
        const bool confined =
            !off && !turned_off() && !strstr(daemon_log(&the_daemon), "sandbox.incomplete");
        status_check(predict(rows), confined ? 500 : 200);
        assert_int_equal(unlink(link), 0);
        service_end();
    }
    assert_int_equal(rmdir(first), 0);
    assert_int_equal(rmdir(second), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* A database behind a symbolic link, the name of a host, a socket for health checks in another
 * folder, and an encoding whose converter is loaded when it is needed. */
static void test_own_files(void **state) {
    (void)state;
    postgresql_skip("there is no file");
    char folder[] = "/tmp/discern-sandbox-api-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *real = text("%s/real.db", folder);
    service_start(FLAGS("--listen", "localhost:0"));
    service_stop();
    assert_int_equal(rename(the_daemon.database, real), 0);
    assert_int_equal(symlink(real, the_daemon.database), 0);
    service_restart(
        FLAGS("--listen", "localhost:0", "--health-listen", text("unix:%s/health", folder)));
    const char *type = "Content-Type: text/csv; charset=windows-1252";
    status_check(call_text("PUT", "/v1/datasets/w", type, "n;w\n1;\xe9\n2;x\n"), 201);
    assert_int_equal(access(text("%s-wal", real), F_OK), 0);
    assert_int_equal(access(text("%s/health", folder), F_OK), 0);
    service_end();
    (void)unlink(text("%s/health", folder)); /* unless the daemon has removed it */
    assert_int_equal(unlink(real), 0);
    assert_int_equal(unlink(text("%s.lock", real)), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_in_force, test_end),
        cmocka_unit_test_teardown(test_files_elsewhere, test_end),
        cmocka_unit_test_teardown(test_own_files, test_end),
    };
    return cmocka_run_group_tests_name("sandbox", tests, NULL, group_end);
}
