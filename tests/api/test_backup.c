/* Backups: GET /v1/admin/backup and the commands backup, check and restore, under load, with
 * damaged files, with clients that leave, and killed at any time. */
#include "lib/api.h"
#include "lib/database.h"
#include "lib/postgresql.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file beside the database; the folder of the daemon may have files of this prefix. */
static const char *beside(const char *suffix) {
    return text("%s%s", the_daemon.database, suffix);
}

static const char *command(int status, const char *const *arguments) {
    const char *out;
    const int got = discernd_run(arguments, &out);
    if (got != status) {
        fail_msg("discernd %s: status %d, expected %d: %s", arguments[0], got, status, out);
    }
    return out;
}
#define COMMAND(status, ...) command(status, FLAGS(__VA_ARGS__))

static const char *check(int status, const char *path) {
    return COMMAND(status, "check", "--database", path);
}

static void contains(const char *out, const char *words) {
    if (strstr(out, words) == NULL) {
        fail_msg("\"%s\" is not in: %s", words, out);
    }
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static int64_t count(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

static const struct response *backup_get(void) {
    return call_get("/v1/admin/backup");
}

static const char *predictions(void) {
    return status_check(call_post("/v1/models/m/predict",
                                  "{'instances':[[5.1,3.5,1.4,0.2],[6.3,3.3,6,2.5]]}"),
                        200)
        ->body;
}

static void start_with_model(void) {
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
}

/* ---- backups under load ---- */

static atomic_bool loading;

static void *load_main(void *arg) {
    char path[40];
    (void)arg;
    for (int i = 0; atomic_load(&loading); i++) {
        (void)snprintf(path, sizeof path, "/v1/datasets/d%d", i % 7);
        const struct request q = {.method = "PUT",
                                  .path = path,
                                  .body = "a,b\n1,x\n2,y\n",
                                  .upload = true};
        (void)call(&q);
    }
    return NULL;
}

static void test_backups_under_load(void **state) {
    (void)state;
    pthread_t loader;
    start_with_model();
    const char *before = predictions(), *copy = beside(".copy"), *sent = beside(".sent");
    atomic_store(&loading, true);
    assert_int_equal(pthread_create(&loader, NULL, load_main, NULL), 0);
    COMMAND(0, "backup", copy, "--database", the_daemon.database);
    const struct response *r = status_check(backup_get(), 200);
    contains(check(0, the_daemon.database), "no fault");
    atomic_store(&loading, false);
    pthread_join(loader, NULL);
    assert_string_equal(header_of(r, "Content-Type"), "application/vnd.sqlite3");
    contains(header_of(r, "Content-Disposition"), "attachment; filename=\"discern-2");
    assert_null(header_of(r, "ETag"));
    write_file(sent, r->body, r->size);
    for (int i = 0; i < 2; i++) {
        const char *file = i == 0 ? copy : sent;
        contains(check(0, file), "no fault");
        service_stop();
        database_change("DELETE FROM job_requests"); /* the restored database has the row again */
        COMMAND(0, "restore", file, "--database", the_daemon.database, "--force");
        assert_int_equal(access(beside("-wal"), F_OK), -1);
        service_restart(NULL);
        assert_string_equal(predictions(), before);
        status_check(call_get("/v1/datasets/iris/rows"), 200);
        assert_false(json_is_null(value_at(call_get("/v1/jobs/1"), "/request")));
    }
    service_end();
}

/* A backup is readable for those only who may read the database, and for no others. */
static void test_permissions(void **state) {
    (void)state;
    struct stat st;
    start_with_model();
    assert_int_equal(chmod(the_daemon.database, 0644), 0);
    COMMAND(0, "backup", beside(".copy"), "--database", the_daemon.database);
    assert_int_equal(stat(beside(".copy"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    service_stop();
    assert_int_equal(chmod(the_daemon.database, 0600), 0);
    COMMAND(0, "restore", beside(".copy"), "--database", the_daemon.database, "--force");
    assert_int_equal(stat(the_daemon.database, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    COMMAND(0, "restore", beside(".copy"), "--database", beside(".new"));
    assert_int_equal(stat(beside(".new"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    service_end();
}

/* ---- one backup at a time, and clients that leave ---- */

/* Some MiB, more than the sockets of a connection hold. */
static void upload_much(void) {
    struct buf_of {
        char *bytes;
        size_t size;
    } body = {malloc(24u << 20), 0};
    uint64_t x = 1;
    assert_non_null(body.bytes);
    keep(body.bytes, free);
    body.size = (size_t)sprintf(body.bytes, "a,b\n");
    while (body.size < (23u << 20)) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        body.size += (size_t)sprintf(body.bytes + body.size, "%.15g,%.15g\n", (double)(x >> 11),
                                     (double)(x >> 12) / 3);
    }
    status_check(call_upload_bytes("/v1/datasets/much", body.bytes, body.size, NULL), 201);
}

static size_t n_files_left(void) {
    const char *list = beside(".list");
    assert_int_equal(system(text("ls -A '%s' | grep -c '^[.]discern-backup' >'%s'; true",
                                 the_daemon.dir, list)),
                     0);
    return (size_t)strtol(read_whole(list, NULL), NULL, 10);
}

/* Asks for a backup until it is sent, and reads its header only. An earlier backup may end a little
 * after its last byte arrived. Returns the socket. */
static int backup_begin(void) {
    for (double end = now() + 60; now() < end; pause_ms(20)) {
        const int fd = raw_open();
        assert_true(raw_send_text(fd, "GET /v1/admin/backup HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        if (strncmp(raw_until(fd, "", "\r\n\r\n"), "HTTP/1.1 200", 12) == 0) {
            return fd;
        }
        close(fd);
    }
    fail_msg("no backup is sent");
    return -1;
}

static void test_one_at_a_time(void **state) {
    (void)state;
    service_start(NULL);
    upload_much();
    for (int i = 0; i < 2; i++) {
        const int fd = backup_begin();
        const struct response *r = problem_check(backup_get(), 503, "unavailable");
        contains(string_at(r, "/detail"), "there is one at a time");
        assert_non_null(header_of(r, "Retry-After"));
        status_check(call_upload("/v1/datasets/small", i == 0 ? "a\n1\n" : "a\n2\n"),
                     i == 0 ? 201 : 200);
        assert_int_equal(n_files_left(), 0);
        close(fd); /* frees the backup */
        for (double end = now() + 60; (r = backup_get())->status != 200 && now() < end;) {
            pause_ms(20);
        }
        status_check(r, 200);
        keep_free();
    }
    const struct request head = {.method = "HEAD", .path = "/v1/admin/backup"};
    assert_int_equal(call(&head)->status, 200);
    /* a client that leaves while the copy is made */
    for (int i = 0; i < 10; i++) {
        const int fd = raw_open();
        assert_true(raw_send_text(fd, "GET /v1/admin/backup HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        pause_ms(10 * i);
        close(fd);
    }
    for (double end = now() + 60; n_files_left() > 0 && now() < end;) {
        pause_ms(20);
    }
    assert_int_equal(n_files_left(), 0);
    problem_check(call_get("/v1/admin/backup?path=/tmp/x"), 400, NULL);
    service_end();
}

/* Copies that a crash left are removed at the next start, with their journals; others are not. */
static void test_left_files(void **state) {
    (void)state;
    service_start(NULL);
    service_stop();
    const char *const left[] = {text("%s/.discern-backup-a1B2c3", the_daemon.dir),
                                text("%s/.discern-backup-a1B2c3-journal", the_daemon.dir),
                                text("%s/.discern-backup-d4E5f6-journal", the_daemon.dir)};
    const char *used = text("%s/.discern-backup-g7H8i9", the_daemon.dir),
               *journal = text("%s-journal", used), *other = beside(".discern-backup");
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        write_file(left[i], "x", 1);
    }
    write_file(other, "x", 1);
    write_file(used, "x", 1);
    write_file(journal, "x", 1);
    const int fd = open(used, O_RDWR | O_CLOEXEC); /* as a daemon that writes the copy */
    assert_int_equal(flock(fd, LOCK_EX), 0);
    service_restart(NULL);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        assert_int_equal(access(left[i], F_OK), -1);
    }
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(access(used, F_OK), 0);
    assert_int_equal(access(journal, F_OK), 0);
    close(fd);
    service_stop();
    service_restart(NULL);
    assert_int_equal(access(used, F_OK), -1);
    assert_int_equal(access(journal, F_OK), -1);
    service_end();
}

/* A limit on the size of files ends the copy in the middle, as a full disk does. Nothing of it is
 * left, and the database is as before. */
static void test_no_room(void **state) {
    (void)state;
    struct rlimit limit;
    service_start(NULL);
    upload_much();
    const char *copy = beside(".copy"), *small = beside(".small"), *out;
    COMMAND(0, "backup", copy, "--database", the_daemon.database);
    service_stop();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit low = {4 << 20, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    const int backup =
        discernd_run(FLAGS("backup", small, "--database", the_daemon.database), &out);
    const char *why = out;
    const int restore =
        discernd_run(FLAGS("restore", copy, "--database", the_daemon.database, "--force"), &out);
    service_restart(NULL);
    const struct response *r = backup_get();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(backup, 2);
    contains(why, "the disk is full");
    assert_int_equal(restore, 2);
    contains(out, "the disk is full");
    problem_check(r, 507, "storage-full");
    assert_int_equal(n_files_left(), 0);
    static const char *const gone[] = {".small", ".small.part", ".small.part-journal", ".restore",
                                       ".restore-journal"};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        if (access(beside(gone[i]), F_OK) == 0) {
            fail_msg("%s is left", gone[i]);
        }
    }
    status_check(call_get("/v1/datasets/much"), 200);
    service_stop();
    contains(check(0, the_daemon.database), "no fault");
    service_end();
}

/* ---- damage ---- */

/* For each table a change of one row, and the row that a check must name. */
static const struct {
    const char *change, *named;
} damages[] = {
    {"UPDATE chunks SET n_rows = n_rows + 1 WHERE n_rows > 0", "chunks, row "},
    {"UPDATE dataset_parts SET crc = crc + 1", "dataset_parts, row 1/0 "},
    {"UPDATE dataset_summaries SET state = zeroblob(10) WHERE column = 2",
     "dataset_summaries, row 1/2 "},
    {"UPDATE dataset_versions SET notes = '{}'", "dataset_versions, row 1 "},
    {"UPDATE datasets SET tags = '[1]'", "datasets, row 'iris' "},
    {"UPDATE job_events SET attempts = 9 WHERE seq = 2", "job_events, row 1/2 "},
    {"UPDATE job_history SET doc = '{}' WHERE id = 1", "job_history, row 1 "},
    {"UPDATE job_requests SET request = '{}'", "job_requests, row 1 "},
    {"UPDATE jobs SET result = NULL", "jobs, row 1 "},
    {"UPDATE model_versions SET info = '{}'", "model_versions, row 1 "},
    {"UPDATE models SET live = 7", "models, row 'm' "},
    {"UPDATE parts SET created_at = 1", "parts, row "},
    {"UPDATE blobs SET bytes = zeroblob(length(bytes)) WHERE id = 3",
     "column 2) does not match its checksum"},
    {"UPDATE migrations SET checksum = 'x' WHERE id = 2", "migration \"0002_job_pins.sql\""},
    {"UPDATE idempotency_keys SET answer = '{}'", "idempotency_keys, row 1 "},
    {"DROP TRIGGER audit_updated; UPDATE audit SET name = 'x' WHERE seq = 1",
     "audit: entry 1 does not match its hash"},
    {"DROP TRIGGER audit_updated; UPDATE audit SET name = 'x' WHERE seq IN (1, 2, 3)",
     "audit: entry 3 does not match its hash"},
    /* with their checksums: counts and references */
    {"DELETE FROM blobs WHERE id = 2", " has 4 blobs"},
    {"DELETE FROM model_versions", "models, row 'm': version 1, the live one, is missing"},
    {"PRAGMA foreign_keys = OFF; DELETE FROM models", "model_versions, row 1 refers to a row of "
                                                      "models"},
};

/* Changes the database, not the write-ahead log. */
static void damage(const char *sql) {
    (void)database_damage("%s; PRAGMA wal_checkpoint(TRUNCATE)", sql);
}

static void test_damage_is_named(void **state) {
    (void)state;
    start_with_model();
    upload_file("more", "iris.csv");
    status_check(call_bytes("POST", "/v1/datasets/more/rows",
                            HEADERS("Content-Type: text/csv", "Idempotency-Key: k"),
                            read_whole("tests/data/iris.csv", NULL), 0),
                 201);
    service_stop();
    const char *good = beside(".good"), *bad = beside(".bad");
    COMMAND(0, "backup", good, "--database", the_daemon.database);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        COMMAND(0, "restore", good, "--database", the_daemon.database, "--force");
        damage(damages[i].change);
        const char *out = check(1, the_daemon.database);
        contains(out, "FAULT  ");
        contains(out, damages[i].named);
        COMMAND(0, "backup", bad, "--database", the_daemon.database);
        COMMAND(0, "restore", good, "--database", the_daemon.database, "--force");
        out = COMMAND(1, "restore", bad, "--database", the_daemon.database, "--force");
        contains(out, damages[i].named);
        contains(out, "nothing was changed");
        check(0, the_daemon.database);
        assert_int_equal(unlink(bad), 0);
    }
    service_end();
}

/* One byte of the file is changed: in a blob, in a row, and in the structure of pages. */
static void test_changed_bytes(void **state) {
    (void)state;
    static const char *const places[] = {"setosa", "\"algorithm\"", "CREATE TRIGGER jobs_updated"};
    start_with_model();
    service_stop();
    const char *bad = beside(".bad");
    size_t size;
    COMMAND(0, "backup", beside(".good"), "--database", the_daemon.database);
    const char *bytes = read_whole(beside(".good"), &size);
    char *changed = malloc(size);
    assert_non_null(changed);
    keep(changed, free);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t n = 0;
        memcpy(changed, bytes, size);
        for (size_t at = 0; at + 40 < size; at++) {
            if (memcmp(bytes + at, places[i], strlen(places[i])) == 0) {
                changed[at + 3] ^= 0x21;
                n++;
            }
        }
        assert_true(n > 0);
        write_file(bad, changed, size);
        contains(check(1, bad), "FAULT  ");
        COMMAND(1, "restore", bad, "--database", the_daemon.database, "--force");
    }
    /* the header of each page; with TEST_SLOW of every eighth */
    const size_t step = getenv("TEST_SLOW") == NULL ? 16384 : 8 * 16384;
    for (size_t at = 16384; at < size; at += step) {
        memcpy(changed, bytes, size);
        changed[at] ^= 0x40;
        write_file(bad, changed, size);
        const char *out;
        assert_int_not_equal(discernd_run(FLAGS("check", "--database", bad), &out), 0);
    }
    memcpy(changed, bytes, size);
    write_file(bad, changed, size - 16384); /* a file that was cut */
    COMMAND(1, "restore", bad, "--database", the_daemon.database, "--force");
    check(0, the_daemon.database);
    service_end();
}

/* ---- refusals ---- */

static void test_refusals(void **state) {
    (void)state;
    start_with_model();
    const char *database = the_daemon.database, *copy = beside(".copy"), *other = beside(".other");
    COMMAND(0, "backup", copy, "--database", database);
    contains(COMMAND(2, "backup", copy, "--database", database), "does not replace a file");
    contains(COMMAND(2, "chekc", "--database", database), "did you mean \"check\"?");
    contains(COMMAND(2, "file.csv"), "unknown command \"file.csv\"; discernd --help");
    contains(COMMAND(2, "restore", copy, "--database", database, "--force"), "is in use");
    assert_string_equal(predictions(), predictions());
    service_stop();
    contains(COMMAND(2, "restore", copy, "--database", database), "with --force it is replaced");
    contains(COMMAND(2, "restore", database, "--database", database, "--force"),
             "is the database itself");
    contains(COMMAND(2, "restore", beside(".none"), "--database", database, "--force"),
             "cannot be read");
    sqlite3 *db = NULL; /* another program */
    assert_int_equal(sqlite3_open_v2(database, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "SELECT * FROM jobs", NULL, NULL, NULL), SQLITE_OK);
    contains(COMMAND(2, "restore", copy, "--database", database, "--force"),
             "another program has the database");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(link(database, other), 0);
    contains(COMMAND(2, "restore", copy, "--database", database, "--force"), "hard links");
    assert_int_equal(unlink(other), 0);
    write_file(other,
               "no database, but a text of more than 100 bytes, which has to be longer than "
               "the header of an SQLite file is",
               104);
    contains(COMMAND(2, "check", "--database", other), "is not a Discern database");
    contains(COMMAND(2, "backup", beside(".x"), "--database", other), "is not a Discern database");
    contains(COMMAND(2, "restore", other, "--database", database, "--force"),
             "is not a Discern database");
    contains(COMMAND(2, "restore", copy, "--database", other, "--force"),
             "is not a Discern database"); /* another file is never replaced */
    write_file(beside(".gone-wal"), "log", 3);
    contains(COMMAND(2, "restore", copy, "--database", beside(".gone")), "is not there");
    COMMAND(0, "restore", copy, "--database", beside(".gone"), "--force");
    assert_int_equal(access(beside(".gone-wal"), F_OK), -1);
    check(0, beside(".gone"));
    contains(COMMAND(2, "check", "--database", beside(".none")), "cannot be read");
    contains(COMMAND(2, "backup", text("%s/none/x", the_daemon.dir), "--database", database),
             "cannot be written");
    contains(COMMAND(2, "backup"), "name of the backup is missing");
    contains(COMMAND(2, "check", "--force"), "--force is an option of restore");
    contains(COMMAND(2, "restore", copy, "--wrong"), "--wrong");
    contains(COMMAND(0, "backup", "--help"), "discernd backup FILE");
    contains(COMMAND(0, "check", "--help"), "Exits with 0");
    contains(COMMAND(0, "restore", "--help"), "--force");
    contains(COMMAND(0, "--help"), "discernd restore BACKUP");
    service_end();
}

/* The database is read while its file cannot be written, and a backup in a folder that cannot be
 * written. */
static void test_read_only(void **state) {
    (void)state;
    start_with_model();
    service_stop();
    const char *folder = text("%s/discern.db.d", the_daemon.dir), *file = text("%s/b", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    COMMAND(0, "backup", file, "--database", the_daemon.database);
    assert_int_equal(chmod(file, 0400), 0);
    assert_int_equal(chmod(folder, 0500), 0);
    contains(check(0, file), "no fault");
    COMMAND(0, "restore", file, "--database", the_daemon.database, "--force");
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
    service_end();
}

/* ---- commands that are killed ---- */

/* Runs a command and kills it after this time, unless it has ended. */
static void run_killed(const char *const *arguments, int us) {
    const char *program = getenv("DISCERND");
    const char *argv[10] = {program != NULL ? program : "build/discernd"};
    for (size_t n = 1; n < 9 && *arguments != NULL; n++) {
        argv[n] = *arguments++;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_true(pid > 0);
    usleep((useconds_t)us);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void test_kills(void **state) {
    (void)state;
    enum { ROUNDS = 12 };
    const char *copy, *killed;
    service_start(NULL);
    upload_much();
    copy = beside(".copy");
    killed = beside(".killed");
    COMMAND(0, "backup", copy, "--database", the_daemon.database);
    int n_old = 0;
    for (int i = 0; i < ROUNDS; i++) {
        /* the old database has one more dataset, in its log: the daemon was killed */
        status_check(call_upload(text("/v1/datasets/last%d", i), "a\n1\n"), 201);
        daemon_kill(&the_daemon);
        run_killed(FLAGS("backup", killed, "--database", the_daemon.database), 12000 * i);
        if (access(killed, F_OK) == 0) { /* a backup that has its name is complete */
            check(0, killed);
            assert_int_equal(unlink(killed), 0);
        }
        run_killed(FLAGS("restore", copy, "--database", the_daemon.database, "--force"), 24000 * i);
        check(0, the_daemon.database);
        const bool old = count(the_daemon.database, "SELECT count(*) FROM datasets") > 1;
        n_old += old;
        service_restart(NULL);
        status_check(call_get("/v1/datasets/much"), 200);
        status_check(call_get("/v1/datasets/last%d", i), old ? 200 : 404);
        keep_free();
        copy = beside(".copy");
        killed = beside(".killed");
    }
    assert_true(n_old > 0);
    service_stop();
    COMMAND(0, "backup", killed, "--database", the_daemon.database); /* takes over KILLED.part */
    COMMAND(0, "restore", killed, "--database", the_daemon.database, "--force");
    assert_int_equal(access(beside(".restore"), F_OK), -1);
    assert_int_equal(access(beside(".killed.part"), F_OK), -1);
    service_end();
}

int main(void) {
    if (postgresql_skips("discernd makes no backup")) {
        return POSTGRESQL_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        TEST(test_backups_under_load),
        TEST(test_permissions),
        TEST(test_one_at_a_time),
        TEST(test_left_files),
        TEST(test_no_room),
        TEST(test_damage_is_named),
        TEST(test_changed_bytes),
        TEST(test_refusals),
        TEST(test_read_only),
        TEST(test_kills),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
