/* Tests of creating, opening, locking and refusing database files, and of migrations. */
#include "store/sqlite/file/migrate.h"
#include "store/sqlite/sqlite.h"
#include "unit/store/fixture.h"
#include <dirent.h>
#include <glob.h>

static void test_new_file_has_its_pragmas(void **state) {
    struct fixture *f = *state;
    struct store_health health;
    assert_ok(f, fixture_open(f));
    assert_ok(f, store_healthy(f->store, &health, &f->problem));
    assert_int_equal(strlen(store_owner(f->store)), 32);
    fixture_close(f);
    assert_int_equal(sql_ask(f->path, "PRAGMA page_size"), 16384);
    assert_int_equal(sql_ask(f->path, "PRAGMA auto_vacuum"), 2);
    assert_int_equal(sql_ask(f->path, "PRAGMA application_id"), 0x4473726e);
    assert_int_equal(sql_ask(f->path,
                             "SELECT count(*) FROM migrations WHERE name = '0001_initial.sql' AND "
                             "length(checksum) = 64 AND applied_at > 0"),
                     1);
    assert_int_equal(sql_ask(f->path,
                             "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"),
                     1);
    /* all tables are STRICT, except those of SQLite */
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM pragma_table_list WHERE schema = "
                                      "'main' AND strict = 0 AND name NOT LIKE 'sqlite_%'"),
                     0);
}

static void test_reopen_keeps(void **state) {
    struct fixture *f = *state;
    assert_ok(f, fixture_open(f));
    char owner[64];
    snprintf(owner, sizeof owner, "%s", store_owner(f->store));
    publish(f, "iris", 1);
    fixture_close(f);
    assert_ok(f, fixture_open(f));
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, "iris", 0, &d, &f->problem));
    store_dataset_done(&d);
    assert_string_not_equal(owner, store_owner(f->store));
    size_t n_migrations;
    store_migrations(&n_migrations);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM migrations"), n_migrations);
}

static void test_second_store_is_locked_out(void **state) {
    struct fixture *f = *state;
    assert_ok(f, fixture_open(f));
    struct store *second = NULL;
    struct store_settings settings = {.path = f->path};
    char expected[64];
    snprintf(expected, sizeof expected, "locked by pid %ld", (long)getpid());
    assert_problem(f, store_open(&settings, &second, &f->problem), PROBLEM_UNAVAILABLE, expected);
    /* another name of the same file has the same lock file */
    char link_path[128];
    snprintf(link_path, sizeof link_path, "%s/other.db", f->directory);
    assert_int_equal(symlink(f->path, link_path), 0);
    settings.path = link_path;
    assert_problem(f, store_open(&settings, &second, &f->problem), PROBLEM_UNAVAILABLE, expected);
    assert_null(second);
    /* a hard link has another lock file */
    char other[128];
    snprintf(other, sizeof other, "%s/hard.db", f->directory);
    assert_int_equal(link(f->path, other), 0);
    settings.path = other;
    assert_problem(f, store_open(&settings, &second, &f->problem), PROBLEM_INTERNAL,
                   "has 2 hard links");
    assert_int_equal(unlink(other), 0);
    settings.path = link_path;
    publish(f, "iris", 1); /* the open store still works */
    fixture_close(f);
    assert_ok(f, store_open(&settings, &second, &f->problem));
    store_close(second);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_foreign_files_are_refused_untouched(void **state) {
    struct fixture *f = *state;
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    write_file(f->path, "short");
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "is not a Discern database");
    write_file(f->path, text);
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "it is not an SQLite file");
    char content[sizeof text] = "";
    FILE *file = fopen(f->path, "r");
    assert_non_null(file);
    assert_int_equal(fread(content, 1, sizeof content, file), sizeof text - 1);
    fclose(file);
    assert_string_equal(content, text);
    unlink(f->path);
    sql_run(f->path, "CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('a')");
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "application id is 0x00000000");
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM sqlite_schema"), 1);
    assert_int_equal(sql_ask(f->path,
                             "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"),
                     0);
}

static size_t n_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    size_t n = 0;
    while (readdir(directory)) {
        n++;
    }
    closedir(directory);
    return n;
}

/* Opens and closes the store, and checks that no descriptor stays open. */
static void assert_open_leaks_nothing(struct fixture *f) {
    const size_t before = n_descriptors();
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    assert_int_equal(n_descriptors(), before);
}

static void test_no_descriptor_stays_open(void **state) {
    struct fixture *f = *state;
    assert_ok(f, fixture_open(f)); /* SQLite may open files once for the whole process */
    fixture_close(f);
    assert_open_leaks_nothing(f); /* with an existing file */
    unlink(f->path);
    assert_open_leaks_nothing(f); /* with a new file */
    const size_t before = n_descriptors();
    write_file(f->path, "short");
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "is not a Discern database");
    assert_int_equal(n_descriptors(), before);
    unlink(f->path);
    sql_run(f->path, "CREATE TABLE songs (title TEXT)");
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "application id is 0x00000000");
    assert_int_equal(n_descriptors(), before);
}

static void test_newer_database_is_refused(void **state) {
    struct fixture *f = *state;
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    sql_run(f->path, "INSERT INTO migrations (id, name, checksum, applied_at) VALUES (2000, "
                     "'9999_future.sql', 'x', 1)");
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL,
                   "newer than this binary: it has migration \"9999_future.sql\"");
    sql_run(f->path, "DELETE FROM migrations WHERE id = 2000");
    assert_ok(f, fixture_open(f));
}

static void test_changed_migration_is_refused(void **state) {
    struct fixture *f = *state;
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    sql_run(f->path,
            "UPDATE migrations SET checksum = replace(checksum, substr(checksum, 1, 1), 'z')");
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL,
                   "migration \"0001_initial.sql\" was changed");
}

static void test_places_that_cannot_be(void **state) {
    struct fixture *f = *state;
    char directory[sizeof f->directory];
    snprintf(directory, sizeof directory, "%s", f->directory);
    snprintf(f->path, sizeof f->path, "%s/missing/test.db", directory);
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "/missing\" does not exist");
    snprintf(f->path, sizeof f->path, "%s", directory);
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "is not a regular file");
    if (geteuid() != 0) { /* root may write to every file */
        snprintf(f->path, sizeof f->path, "%s/test.db", directory);
        write_file(f->path, "");
        assert_int_equal(chmod(f->path, 0400), 0);
        assert_problem(f, fixture_open(f), PROBLEM_INTERNAL, "is not writable");
    }
}

static void test_half_made_files_are_completed(void **state) {
    struct fixture *f = *state;
    /* an empty file */
    write_file(f->path, "");
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    assert_int_equal(sql_ask(f->path, "PRAGMA page_size"), 16384);
    unlink(f->path);
    /* a file with the application id, but without WAL and tables */
    sql_run(f->path, "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA "
                     "application_id = 0x4473726e");
    assert_ok(f, fixture_open(f));
    publish(f, "iris", 1);
    fixture_close(f);
    assert_int_equal(sql_ask(f->path,
                             "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"),
                     1);
    /* a lock file with other contents */
    char lock[128];
    snprintf(lock, sizeof lock, "%s.lock", f->path);
    write_file(lock, "what is this");
    assert_ok(f, fixture_open(f));
}

/* Blocks the writer thread in a transaction. */
struct gate {
    struct fixture *f;
    /* pipes. in: the thread reports that it is blocked; out: the test lets it continue */
    int in[2], out[2];
};
static void wait_at_gate(struct store_tx *tx, void *arg) {
    struct gate *gate = arg;
    char c = 'x';
    if (write(gate->in[1], &c, 1) != 1 || read(gate->out[0], &c, 1) != 1) {
        problem_set(tx->problem, PROBLEM_INTERNAL, "the gate is broken");
    }
}
static void *hold_writer(void *arg) {
    struct gate *gate = arg;
    struct problem problem = {0};
    return store_write(gate->f->store, wait_at_gate, gate, &problem) ? arg : NULL;
}

static void test_health_sees_a_stuck_writer(void **state) {
    struct fixture *f = *state;
    struct gate gate = {.f = f};
    struct store_health health;
    const int64_t before = (int64_t)time(NULL) * 1000;
    pthread_t thread;
    char c = 'x';
    assert_ok(f, fixture_open(f));
    assert_int_equal(pipe(gate.in), 0);
    assert_int_equal(pipe(gate.out), 0);
    assert_int_equal(pthread_create(&thread, NULL, hold_writer, &gate), 0);
    assert_int_equal(read(gate.in[0], &c, 1), 1);
    assert_problem(f, store_healthy(f->store, &health, &f->problem), PROBLEM_UNAVAILABLE,
                   "writer has not answered");
    assert_true(health.reads);
    assert_int_equal(health.writes, STORE_WRITES_STUCK);
    assert_in_range(health.since, before, before + 100000);
    assert_int_equal(write(gate.out[1], &c, 1), 1);
    void *ended = NULL;
    pthread_join(thread, &ended);
    assert_ptr_equal(ended, &gate);
    memset(&health, 0xff, sizeof health);
    assert_ok(f, store_healthy(f->store, &health, &f->problem));
    assert_int_equal(health.writes, STORE_WRITES_OK);
    assert_int_equal(health.since, 0);
    for (int i = 0; i < 2; i++) {
        close(gate.in[i]);
        close(gate.out[i]);
    }
}

/* A failing migration changes nothing; the migrations are applied in the order of the list. */
static void test_migrations_are_all_or_nothing(void **state) {
    struct fixture *f = *state;
    write_file(f->path, "");
    struct store_connection *c = store_sqlite_connect(f->path, STORE_WRITE, &f->problem);
    assert_non_null(c);
    struct store_migration list[] = {{"1.sql", "CREATE TABLE a (x)", 18},
                                     {"2.sql", "CREATE TABLE b (x); CREATE TABLE a (x)", 38}};
    assert_problem(f, store_migrate(c, list, 2, true, &f->problem), PROBLEM_INTERNAL,
                   "already exists");
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM migrations"), 1);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
    list[1] = (struct store_migration){"2.sql", "CREATE TABLE b (x)", 18};
    assert_ok(f, store_migrate(c, list, 2, true, &f->problem));
    assert_ok(f, store_migrate(c, list, 2, true, &f->problem));
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM migrations"), 2);
    assert_problem(f, store_migrate(c, list, 1, true, &f->problem), PROBLEM_INTERNAL,
                   "newer than this binary: it has migration \"2.sql\"");
    store_sqlite_disconnect(c);
}

#define MIGRATION(name, text) ((struct store_migration){(name), (text), sizeof(text) - 1})

/* Returns the number of backups beside the database, including unfinished ones. */
static size_t n_backups(const struct fixture *f) {
    char pattern[128];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s.before-*", f->path);
    const size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n;
}

static struct store_connection *connect_new(struct fixture *f) {
    write_file(f->path, "");
    struct store_connection *c = store_sqlite_connect(f->path, STORE_WRITE, &f->problem);
    assert_non_null(c);
    return c;
}

static const char family[] =
    "CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (parent INTEGER NOT NULL "
    "REFERENCES parent (id) ON DELETE CASCADE); INSERT INTO parent VALUES (1), (2); INSERT INTO "
    "child VALUES (1), (2), (2)";

/* A migration can create a table again to which other tables refer; no row is deleted by a
 * cascade. */
static void test_a_migration_may_rebuild_a_table(void **state) {
    struct fixture *f = *state;
    struct store_connection *c = connect_new(f);
    const struct store_migration list[] = {
        MIGRATION("0001_family.sql", family),
        MIGRATION("0002_rebuild.sql",
                  "CREATE TABLE new_parent (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO "
                  "new_parent (id) SELECT id FROM parent; DROP TABLE parent; ALTER TABLE "
                  "new_parent RENAME TO parent")};
    assert_ok(f, store_migrate(c, list, 1, true, &f->problem));
    assert_ok(f, store_migrate(c, list, 2, true, &f->problem));
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM child"), 3);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM pragma_foreign_key_list('child') WHERE "
                                      "\"table\" = 'parent'"),
                     1);
    assert_int_equal(STORE_ASK(c, &f->problem, 0, "PRAGMA foreign_keys", STORE_NO_VALUES), 1);
    store_sqlite_disconnect(c);
}

static void test_a_migration_that_breaks_a_reference_is_undone(void **state) {
    struct fixture *f = *state;
    struct store_connection *c = connect_new(f);
    const struct store_migration list[] = {MIGRATION("0001_family.sql", family),
                                           MIGRATION("0002_orphans.sql",
                                                     "DELETE FROM parent WHERE id = 2")};
    assert_ok(f, store_migrate(c, list, 1, true, &f->problem));
    assert_problem(
        f, store_migrate(c, list, 2, true, &f->problem), PROBLEM_INTERNAL,
        "\"0002_orphans.sql\" was not applied: rows of table \"child\" would refer to rows "
        "of table \"parent\"");
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM parent"), 2);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM migrations"), 1);
    assert_int_equal(STORE_ASK(c, &f->problem, 0, "PRAGMA foreign_keys", STORE_NO_VALUES), 1);
    store_sqlite_disconnect(c);
}

static void test_a_backup_precedes_a_migration(void **state) {
    struct fixture *f = *state;
    struct store_connection *c = connect_new(f);
    char copy[128], part[128];
    struct stat before, after;
    const struct store_migration list[] = {
        MIGRATION("0001_a.sql", "CREATE TABLE a (x); INSERT INTO a VALUES (7)"),
        MIGRATION("0002_b.sql", "DELETE FROM a"),
        MIGRATION("0003_c.sql", "this is no SQL"),
        MIGRATION("0003_c.sql", "CREATE TABLE c (x)"),
    };
    snprintf(copy, sizeof copy, "%s.before-0002", f->path);
    snprintf(part, sizeof part, "%s.before-0002.part", f->path);
    store_sqlite_exec(c, "PRAGMA application_id = 77; PRAGMA journal_mode = WAL", &f->problem);
    assert_int_equal(chmod(f->path, 0600), 0);
    assert_ok(f, store_migrate(c, list, 1, true, &f->problem));
    assert_int_equal(n_backups(f), 0); /* none, since the database is new */
    assert_ok(f, store_migrate(c, list, 1, true, &f->problem));
    assert_int_equal(n_backups(f), 0); /* none, since there is no migration to apply */
    write_file(part, "of a start that crashed");
    assert_ok(f, store_migrate(c, list, 2, true, &f->problem));
    assert_int_equal(n_backups(f), 1);
    assert_int_equal(stat(f->path, &before), 0);
    assert_int_equal(stat(copy, &after), 0);
    assert_int_equal(before.st_mode, after.st_mode);
    assert_int_equal(sql_ask(copy, "SELECT x FROM a"), 7);
    assert_int_equal(sql_ask(copy, "SELECT count(*) FROM migrations"), 1);
    assert_int_equal(sql_ask(copy, "PRAGMA application_id"), 77);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM a"), 0);
    for (int i = 0; i < 2; i++) { /* a second attempt keeps the backup of the first */
        assert_problem(f, store_migrate(c, list, 3, true, &f->problem), PROBLEM_INTERNAL, "syntax");
        assert_int_equal(n_backups(f), 2);
    }
    /* the backup of another state does not replace the earlier ones */
    store_sqlite_exec(c, "INSERT INTO a VALUES (8)", &f->problem);
    for (int i = 0; i < 2; i++) {
        assert_problem(f, store_migrate(c, list, 3, true, &f->problem), PROBLEM_INTERNAL, "syntax");
        assert_int_equal(n_backups(f), 3);
    }
    snprintf(copy, sizeof copy, "%s.before-0003", f->path);
    assert_int_equal(sql_ask(copy, "SELECT count(*) FROM a"), 0);
    snprintf(copy, sizeof copy, "%s.before-0003.2", f->path);
    assert_int_equal(sql_ask(copy, "SELECT x FROM a"), 8);
    const struct store_migration mended[] = {list[0], list[1], list[3]};
    assert_ok(f, store_migrate(c, mended, 3, false, &f->problem));
    assert_int_equal(n_backups(f), 3);
    store_sqlite_disconnect(c);
}

/* If the backup fails, the database is not changed. */
static void test_no_migration_without_its_backup(void **state) {
    struct fixture *f = *state;
    struct store_connection *c = connect_new(f);
    char copy[128];
    const struct store_migration list[] = {MIGRATION("0001_a.sql", "CREATE TABLE a (x)"),
                                           MIGRATION("0002_b.sql", "DROP TABLE a")};
    assert_ok(f, store_migrate(c, list, 1, true, &f->problem));
    snprintf(copy, sizeof copy, "%s.before-0002.part", f->path);
    assert_int_equal(mkdir(copy, 0700), 0);
    assert_problem(f, store_migrate(c, list, 2, true, &f->problem), PROBLEM_INTERNAL,
                   "the backup before the upgrade of the database cannot be written");
    assert_int_equal(n_backups(f), 1); /* counts the folder that has the name of the backup */
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM a"), 0);
    assert_ok(f, store_migrate(c, list, 2, false, &f->problem));
    assert_int_equal(rmdir(copy), 0);
    store_sqlite_disconnect(c);
}

static bool same_checksum(struct fixture *f, const char *a, const char *b) {
    char sums[2][HASH_BLAKE2B_TEXT];
    assert_ok(f, store_migration_checksum(&(struct store_migration){"a", a, strlen(a)}, sums[0],
                                          &f->problem));
    assert_ok(f, store_migration_checksum(&(struct store_migration){"a", b, strlen(b)}, sums[1],
                                          &f->problem));
    return strcmp(sums[0], sums[1]) == 0;
}

static void test_checksums_are_of_the_bare_sql(void **state) {
    struct fixture *f = *state;
    static const char sql[] = "CREATE TABLE a (x, y TEXT DEFAULT 'b -- c');";
    static const char *const same[] = {
        "-- comment\nCREATE TABLE a (x, y TEXT DEFAULT 'b -- c'); -- end",
        "/* CREATE -- */CREATE/**/TABLE\n\ta(x,\r\ny /* 'y' */ TEXT DEFAULT 'b -- c') ;\n"};
    static const char *const other[] = {"CREATE TABLE a (x, y TEXT DEFAULT 'b  -- c');",
                                        "CREATE TABLE a (x, y TEXT DEFAULT 'b');",
                                        "CREATE TABLE a (x, yTEXT DEFAULT 'b -- c');",
                                        "CREATE TABLE a (x, y TEXT DEFAULT 'b -- c'",
                                        "-- CREATE TABLE a (x, y TEXT DEFAULT 'b -- c');"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_true(same_checksum(f, sql, same[i]));
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        assert_false(same_checksum(f, sql, other[i]));
    }
    assert_false(same_checksum(f, "SELECT 'it''s  a'", "SELECT 'it''s a'"));
    assert_false(same_checksum(f, "SELECT [a  b]", "SELECT [a b]"));
}

/* Databases of earlier programs contain checksums of whole migration files. */
static void test_earlier_checksums_are_accepted(void **state) {
    struct fixture *f = *state;
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    sql_run(f->path,
            "UPDATE migrations SET checksum = "
            "'1fba471bbaa2bdb6b3b25034a8e8eb684aca3005837dc7d1033dfab90761ba12' WHERE id = 1; "
            "UPDATE migrations SET checksum = "
            "'8427059390e937ba58ac53ecf11cedb8d4bc44c318e238bb354ed0a9da973acc' WHERE id = 2");
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    assert_int_equal(n_backups(f), 0);
    sql_run(f->path, "UPDATE migrations SET checksum = (SELECT checksum FROM migrations WHERE id = "
                     "1) WHERE id = 2"); /* the checksum of another migration */
    assert_problem(f, fixture_open(f), PROBLEM_INTERNAL,
                   "migration \"0002_job_pins.sql\" was changed");
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_directory, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_new_file_has_its_pragmas),
                                       T(test_reopen_keeps),
                                       T(test_second_store_is_locked_out),
                                       T(test_foreign_files_are_refused_untouched),
                                       T(test_no_descriptor_stays_open),
                                       T(test_newer_database_is_refused),
                                       T(test_changed_migration_is_refused),
                                       T(test_places_that_cannot_be),
                                       T(test_half_made_files_are_completed),
                                       T(test_a_migration_may_rebuild_a_table),
                                       T(test_a_migration_that_breaks_a_reference_is_undone),
                                       T(test_a_backup_precedes_a_migration),
                                       T(test_no_migration_without_its_backup),
                                       T(test_checksums_are_of_the_bare_sql),
                                       T(test_earlier_checksums_are_accepted),
                                       T(test_migrations_are_all_or_nothing),
                                       T(test_health_sees_a_stuck_writer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
