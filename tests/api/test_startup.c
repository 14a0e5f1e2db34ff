/* Start: each refusal is one line and exit status 2, and leaves the file unchanged. Addresses,
 * environment variables, --help, --healthcheck. */
#include "lib/api.h"
#include "lib/postgresql.h"
#include "store/sqlite/row_crc.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state) {
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/discern-start.XXXXXX");
    return mkdtemp(dir) == NULL ? -1 : 0;
}

static const char *in_dir(const char *name);

static int clear(void **state) {
    static const char *const names[] = {"x.db", "x.db-wal", "x.db-shm", "x.db.lock", "socket"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unlink(in_dir(names[i]));
    }
    return test_end(state);
}

static int remove_dir(void **state) {
    int bad = rmdir(dir);
    return group_end(state) != 0 ? -1 : bad;
}

static const char *in_dir(const char *name) {
    return text("%s/%s", dir, name);
}

/* Exit status 2 and one line outside the log that contains these words. strict: the log is empty,
 * because nothing was started. */
#define refused(words, ...)                                                                        \
    refused_at(words, true, __LINE__, (const char *const[]){__VA_ARGS__, NULL})
#define refused_late(words, ...)                                                                   \
    refused_at(words, false, __LINE__, (const char *const[]){__VA_ARGS__, NULL})
static void refused_at(const char *words, bool strict, int line, const char *const *arguments) {
    const char *out, *at;
    int code = discernd_run(arguments, &out);
    size_t lines = 0;
    for (const char *c = out; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    at = strncmp(out, "discernd: ", 10) == 0 ? out : strstr(out, "\ndiscernd: ");
    bool good = code == 2 && at != NULL && strstr(at, words) != NULL && (!strict || lines == 1);
    if (!good) {
        print_error("exit %d, expected 2 and %s line with \"%s\", got:\n%s\n", code,
                    strict ? "nothing but one" : "a", words, out);
        _fail(__FILE__, line);
    }
}

static void test_wrong_options(void **state) {
    (void)state;
    const char *db = in_dir("x.db");
    refused("--frobnicate", "--frobnicate");
    refused("--workers", "--worker", "2"); /* did you mean */
    refused("--workers", "--workers", "0");
    refused("--workers", "--workers", "two");
    refused("--workers", "--workers", "");
    refused("--workers", "--workers", "2", "--workers");
    refused("--workers", "--workers", "99999999999999999999");
    refused("--max-body", "--max-body", "10X");
    refused("--header-timeout", "--header-timeout", "-1");
    refused("--header-timeout", "--header-timeout", "nan");
    refused("--log-level", "--log-level", "loud");
    refused("--log-format", "--log-format", "xml");
    refused("--base-path", "--base-path", "no-slash", "--database", db);
    refused("--base-path", "--base-path", "/slash/", "--database", db);
    refused("no //, space", "--base-path", "/a b", "--database", db);
    refused("segment \".\" or \"..\"", "--base-path", "/a/../b", "--database", db);
    refused("--allow-origin must be an origin", "--allow-origin", "foo", "--database", db);
    refused("--allow-origin must be an origin", "--allow-origin", "https://a.example/path",
            "--database", db);
    refused("--allowed-host must be a host name", "--allowed-host", "a b", "--database", db);
    refused("--allowed-host must be a host name", "--allowed-host", "http://a.example",
            "--database", db);
    refused("--trusted-proxy must be an address", "--trusted-proxy", "foo", "--database", db);
    refused("a size from 1 to 931322G", "--max-upload", "0", "--database", db);
    refused("a size from 64M to 931322G, like 64M or 1G", "--body-memory", "16M", "--database", db);
    refused("--database must be the name of a file or a URI of PostgreSQL, got \"\"", "--database",
            "");
    refused("--port-file must be the name of a file, got \"\"", "--port-file", "", "--database",
            db);
    refused("leftover", "leftover");
    refused_late("nowhere.invalid", "--listen", "nowhere.invalid:80", "--insecure", "--database",
                 db);
    assert_int_not_equal(access(db, F_OK), 0); /* these faults are found before a file is created */
    refused_late("port-file", "--listen", "127.0.0.1:0", "--database", db, "--port-file",
                 "/nowhere/at/all");
}

/* Each number of the HTTP options has a range; a number outside is refused. */
static void test_ranges(void **state) {
    (void)state;
    static const char *const wrong[][2] = {{"--http-threads", "65"},
                                           {"--http-threads", "-1"},
                                           {"--call-threads", "0"},
                                           {"--call-threads", "257"},
                                           {"--max-connections", "0"},
                                           {"--max-connections", "1000001"},
                                           {"--max-connections-per-address", "-1"},
                                           {"--max-upload", "0"},
                                           {"--max-body", "1023"},
                                           {"--body-memory", "63M"},
                                           {"--discard-limit", "-1"},
                                           {"--discard-time", "3601"},
                                           {"--header-timeout", "0"},
                                           {"--idle-timeout", "0"},
                                           {"--keep-alive-timeout", "0"},
                                           {"--minimum-rate", "-1"},
                                           {"--drain-delay", "3601"},
                                           {"--drain-timeout", "-1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        refused(wrong[i][0], wrong[i][0], wrong[i][1], "--database", in_dir("x.db"));
    }
    refused("--body-memory", "--body-memory", "100M", "--max-body", "101M", "--database",
            in_dir("x.db"));
    assert_int_not_equal(access(in_dir("x.db"), F_OK), 0);
    /* the ends of the ranges are accepted */
    service_start(FLAGS("--http-threads", "64", "--call-threads", "1", "--body-memory", "64M",
                        "--discard-limit", "0", "--drain-timeout", "0"));
    const struct response *r =
        raw_text("PUT /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
    problem_check(r, 404, "not-found");
    assert_true(r->closed && !r->reset);
    assert_string_equal(header_of(r, "Connection"), "close");
    status_check(call_get("/readyz"), 200);
    service_end();
}

/* An invalid address is a faulty option: it is refused before anything is started. */
static void test_wrong_addresses(void **state) {
    (void)state;
    static const char *const addresses[] = {
        "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:http", "[::1", "", "unix:"};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        refused("--listen", "--listen", addresses[i], "--database", in_dir("x.db"));
        assert_int_not_equal(access(in_dir("x.db"), F_OK), 0);
    }
}

/* The log line names the address; with a port in use no database is created. */
static void test_taken_port(void **state) {
    (void)state;
    service_start(NULL);
    const char *line = strstr(daemon_log(&the_daemon), "listening on http://127.0.0.1:");
    assert_non_null(line);
    char address[64];
    assert_int_equal(sscanf(line, "listening on http://%63s", address), 1);
    refused_late("in use", "--listen", address, "--database", in_dir("x.db"));
    assert_int_not_equal(access(in_dir("x.db"), F_OK), 0);
    service_start(FLAGS("--log-format", "json"));
    assert_non_null(strstr(daemon_log(&the_daemon), "\"event\":\"listening on http://127.0.0.1:"));
    service_end();
}

/* Anyone who can reach the address can do anything: the message says so, and the start needs an
 * explicit flag. */
static void test_beyond_loopback(void **state) {
    (void)state;
    refused("--insecure", "--listen", "0.0.0.0:0", "--database", in_dir("x.db"));
    refused("--insecure", "--listen", "[::]:0", "--database", in_dir("x.db"));
    refused("--insecure", "--listen", "10.1.2.3:0", "--database", in_dir("x.db"));
    refused("--tokens", "--tokens", "", "--database", in_dir("x.db"));
    refused_late("cannot be read", "--tokens", in_dir("none"), "--database", in_dir("x.db"));
    assert_int_not_equal(access(in_dir("x.db"), F_OK), 0); /* no file was created */
}

static void test_environment(void **state) {
    (void)state;
    setenv("DISCERN_WORKERS", "none", 1);
    refused("DISCERN_WORKERS", "--database", in_dir("x.db"));
    unsetenv("DISCERN_WORKERS");
    setenv("DISCERN_WORKER", "2", 1);
    refused("DISCERN_WORKER", "--database", in_dir("x.db"));
    unsetenv("DISCERN_WORKER");
    /* the variable is used, and a flag has priority */
    setenv("DISCERN_BASE_PATH", "/environment", 1);
    service_start(NULL);
    const struct response *r = status_check(call_upload("/v1/datasets/a", "a\n1\n2\n"), 201);
    assert_string_equal(header_of(r, "Location"), "/environment/v1/datasets/a?version=1");
    service_start(FLAGS("--base-path", "/flag"));
    unsetenv("DISCERN_BASE_PATH");
    r = status_check(call_upload("/flag/v1/datasets/a", "a\n1\n2\n"), 201);
    assert_string_equal(header_of(r, "Location"), "/flag/v1/datasets/a?version=1");
    service_end();
}

static void test_help_and_version(void **state) {
    (void)state;
    static const char *const options[] = {
        "--listen",         "--port-file",         "--database",
        "--workers",        "--http-threads",      "--train-threads",
        "--job-attempts",   "--keep-jobs",         "--keep-versions",
        "--max-body",       "--discard-limit",     "--max-connections",
        "--drain-delay",    "--drain-timeout",     "--log-format",
        "--log-level",      "--base-path",         "--allowed-host",
        "--allow-origin",   "--trusted-proxy",     "--insecure",
        "--tokens",         "discernd token",      "--healthcheck",
        "--header-timeout", "--no-upgrade-backup", "DISCERN_"};
    const char *out;
    assert_int_equal(discernd_run(FLAGS("--help"), &out), 0);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strstr(out, options[i]) == NULL) {
            fail_msg("--help says nothing of %s", options[i]);
        }
    }
    assert_non_null(strstr(out, "debug|info|warn|error"));
    assert_non_null(strstr(out, "text|json"));
    assert_int_equal(discernd_run(FLAGS("-h"), &out), 0);
    assert_non_null(strstr(out, "--listen"));
    assert_int_equal(discernd_run(FLAGS("--version"), &out), 0);
    assert_non_null(strstr(out, "discernd"));
}

/* ---- files that are not a database of discernd ---- */

static void write_file(const char *name, const char *bytes, size_t size) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void sql(const char *file, const char *statements) {
    sqlite3 *db = NULL;
    char *why = NULL;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(store_row_crc_add(db), SQLITE_OK);
    int rc = sqlite3_exec(db, statements, NULL, NULL, &why);
    if (rc != SQLITE_OK) {
        print_error("%s: %s\n", statements, why);
    }
    sqlite3_free(why);
    sqlite3_close(db);
    assert_int_equal(rc, SQLITE_OK);
}

/* The file is refused, and no byte of it changes. */
static void refused_file(const char *words) {
    size_t before, after;
    const char *file = in_dir("x.db"), *old = read_whole(file, &before);
    refused(words, "--listen", "127.0.0.1:0", "--database", file);
    const char *new = read_whole(file, &after);
    assert_int_equal(before, after);
    assert_memory_equal(old, new, before);
    unlink(file);
    unlink(in_dir("x.db-wal"));
    unlink(in_dir("x.db-shm"));
}

static void test_files_that_are_no_database(void **state) {
    (void)state;
    const char *file = in_dir("x.db");
    write_file(file, "a,b\n1,2\n", 8);
    refused_file(file);
    write_file(file, repeat("precious text\n", 1000), 14000);
    refused_file(file);
    sql(file, "CREATE TABLE somebody_elses (a); INSERT INTO somebody_elses VALUES (1)");
    refused_file(file);
    refused(dir, "--listen", "127.0.0.1:0", "--database", dir);
    refused("/nowhere", "--listen", "127.0.0.1:0", "--database", "/nowhere/at/all.db");
}

/* A database with a newer migration, or with a migration of another content: the file is not
 * changed. */
static void test_other_migrations(void **state) {
    (void)state;
    postgresql_skip("there is no file to change");
    size_t size;
    const char *copy = in_dir("x.db");
    service_start(NULL);
    status_check(call_upload("/v1/datasets/a", "a,b\n1,x\n2,y\n3,x\n4,y\n"), 201);
    job_train("{'model':'m','dataset':'a','target':'b','algorithm':'logistic'}");
    service_stop();
    const char *good = read_whole(the_daemon.database, &size);
    write_file(copy, good, size);
    sql(copy, "UPDATE migrations SET checksum = 'changed' WHERE id = 1");
    refused_file("0001_initial");
    write_file(copy, good, size);
    sql(copy, "INSERT INTO migrations (id, name, checksum, applied_at) VALUES (9999, "
              "'9999_from_the_future.sql', 'x', 1)");
    refused_file("9999_from_the_future");
    static const char *const formats[] = {"dataset_versions SET format",
                                          "model_versions SET format", "jobs SET spec_format",
                                          "jobs SET result_format"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        write_file(copy, good, size);
        sql(copy, text("UPDATE %s = 1000", formats[i]));
        refused_file("documents of format 1000");
    }
    service_restart(NULL);
    status_check(call_get("/v1/datasets/a"), 200);
    service_end();
}

/* Changes one byte of a stored blob: the damage is found when the blob is read, and the data are
 * not sent. */
static void damage(const char *which) {
    sql(the_daemon.database, text("UPDATE blobs SET bytes = CAST(substr(bytes, 1, length(bytes) / "
                                  "2) || x'FF' || substr(bytes, "
                                  "length(bytes) / 2 + 2) AS BLOB) WHERE id = (%s)",
                                  which));
}

static void test_damaged_blobs(void **state) {
    (void)state;
    postgresql_skip("there is no file to change");
    service_start(NULL);
    const struct response *r =
        call_upload("/v1/datasets/damaged",
                    text("a,b\n%s", repeat("12345.678,x\n23456.789,y\n", 20000)));
    status_check(r, 201);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic','params':{'"
              "lambda':1}}");
    service_stop();
    damage("SELECT min(id) FROM blobs"); /* column a of the first dataset */
    damage("SELECT first_blob FROM chunks JOIN model_versions m ON m.part = chunks.part AND "
           "m.version = 2"); /* the live model */
    service_restart(NULL);
    r = call(&(struct request){.method = "GET", .path = "/v1/datasets/damaged/rows?limit=100000"});
    assert_true(r->status == 500 ||
                r->code != CURLE_OK); /* refused, or a stream that ends without its last chunk */
    status_check(call_get("/v1/datasets/damaged/rows?columns=b"), 200);
    r = job_wait(job_post("{'model':'n','dataset':'damaged','target':'b','algorithm':'logistic'}"));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_string_equal(string_at(r, "/error/type"), "/problems/internal");
    const char *row = "{'instances':[[5.1,3.5,1.4,0.2]]}";
    problem_check(call_post("/v1/models/m/predict", "%s", row), 500, "internal");
    problem_check(call_get("/v1/models/m/weights"), 500, "internal");
    status_check(call_post("/v1/models/m/versions/1/predict", "%s", row), 200);
    status_check(call_put("/v1/models/m/live", "{'version':1}"), 200); /* the way out */
    status_check(call_post("/v1/models/m/predict", "%s", row), 200);
    service_end();
}

/* ---- addresses ---- */

static void test_a_unix_socket_and_the_health_check(void **state) {
    (void)state;
    const char *out, *address = text("unix:%s", in_dir("socket"));
    assert_int_equal(discernd_run(FLAGS("--healthcheck", "--listen", address), &out), 1);
    pid_t pid = fork();
    if (pid == 0) {
        const char *program = getenv("DISCERND");
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(program != NULL ? program : "build/discernd", "discernd", "--listen", address,
              "--database", in_dir("x.db"), (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, in_dir("socket"));
    curl_easy_setopt(curl, CURLOPT_URL, "http://localhost/readyz");
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    CURLcode code = CURLE_COULDNT_CONNECT;
    for (double end = now() + 60; now() < end && code != CURLE_OK; pause_ms(20)) {
        code = curl_easy_perform(curl);
    }
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    int health = discernd_run(FLAGS("--healthcheck", "--listen", address), &out);
    kill(pid, SIGTERM);
    int how = 0;
    waitpid(pid, &how, 0);
    assert_int_equal(code, CURLE_OK);
    assert_int_equal(status, 200);
    assert_int_equal(health, 0);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static void test_the_port_is_taken(void **state) {
    (void)state;
    service_start(NULL);
    const char *out, *address = text("127.0.0.1:%d", the_daemon.port);
    assert_int_equal(discernd_run(FLAGS("--healthcheck", "--listen", address), &out), 0);
    refused_late("127.0.0.1", "--listen", address, "--database", in_dir("x.db"));
    if (postgresql_is_used()) { /* daemons share it */
        service_end();
        return;
    }
    refused(text("%d", (int)the_daemon.pid), "--listen", "127.0.0.1:0", "--database",
            the_daemon.database); /* locked by this process */
    /* the lock on the file itself holds without the lock file */
    assert_int_equal(unlink(text("%s.lock", the_daemon.database)), 0);
    refused("in use by another process", "--listen", "127.0.0.1:0", "--database",
            the_daemon.database);
    /* by another name the lock file would be another one */
    const char *other = text("%s.other", the_daemon.database);
    assert_int_equal(link(the_daemon.database, other), 0);
    refused("has 2 hard links", "--listen", "127.0.0.1:0", "--database", other);
    assert_int_equal(unlink(other), 0);
    status_check(call_get("/readyz"), 200);
    service_end();
    assert_int_equal(discernd_run(FLAGS("--healthcheck", "--listen", address), &out), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_wrong_options, clear),
        cmocka_unit_test_teardown(test_ranges, clear),
        cmocka_unit_test_teardown(test_wrong_addresses, clear),
        cmocka_unit_test_teardown(test_taken_port, clear),
        cmocka_unit_test_teardown(test_beyond_loopback, clear),
        cmocka_unit_test_teardown(test_environment, clear),
        cmocka_unit_test_teardown(test_help_and_version, clear),
        cmocka_unit_test_teardown(test_files_that_are_no_database, clear),
        cmocka_unit_test_teardown(test_other_migrations, clear),
        cmocka_unit_test_teardown(test_damaged_blobs, clear),
        cmocka_unit_test_teardown(test_a_unix_socket_and_the_health_check, clear),
        cmocka_unit_test_teardown(test_the_port_is_taken, clear),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
