/* Statements as PostgreSQL reads them, and URIs of its databases. */
#include "store/engine/rows.h"
#include "store/postgres/translate.h"
#include "unit/store/fixture.h"

static void check(const char *sql, const char *expected) {
    struct buf out = {0};
    store_translate(sql, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
}

static void test_parameters(void **state) {
    (void)state;
    check("SELECT 1", "SELECT 1");
    check("SELECT ? WHERE a = ? AND b = ?", "SELECT $1 WHERE a = $2 AND b = $3");
    check("SELECT ?2, ?1, ?12", "SELECT $2, $1, $12");
    check("SELECT '?', \"a?\", 'it''s ?' || ?", "SELECT '?', \"a?\", 'it''s ?' || $1");
}

static void test_places(void **state) {
    (void)state;
    check("a " STORE_EITHER("sqlite(?1)", "pg(?1)") " b", "a pg($1) b");
    check(STORE_EITHER("x " STORE_EITHER("y", "z") " x", "one") " ?", "one $1");
    check(STORE_EITHER("'/*}*/'", "it") "!", "it!");
    check(STORE_ONLY("m.name", "?3"), "($3 IS NULL OR glob_any(m.name, $3))");
    check("WHERE " STORE_INTACT_PARTS("p") " AND " STORE_LISTED(STORE_DAMAGE_JOBS("j")),
          "WHERE true AND true");
}

static void check_name(const char *database, const char *expected) {
    char *name = store_database_name(database);
    assert_string_equal(name, expected);
    free(name);
}

/* Names for messages have no password. */
static void test_names(void **state) {
    (void)state;
    check_name("folder/my@file?.db", "folder/my@file?.db");
    check_name("postgresql://db.example:5433/discern", "postgresql://db.example:5433/discern");
    check_name("postgres://user:secret@host/d?password=other@x", "postgresql://host/d");
    check_name("postgresql://user:se?cret@host/d?user=a@b", "postgresql://host/d");
    check_name("postgresql://host/d?user=a@b", "postgresql://host/d");
    check_name("postgresql://user@/d?host=/run/postgresql", "postgresql:///d");
    assert_string_equal(store_database_file("my.db"), "my.db");
    assert_null(store_database_file("postgresql://host/d"));
}

static void put_path(void *paths, const char *path) {
    buf_printf(paths, "%s\n", path);
}

/* The folders of files that a URI names. */
static void test_files(void **state) {
    (void)state;
    struct buf paths = {0};
    store_database_reads("my.db", put_path, &paths);
    assert_int_equal(paths.size, 0);
    store_database_reads("postgresql://h/d?sslrootcert=/one/ca.pem&sslkey=/two/key", put_path,
                         &paths);
    assert_non_null(strstr(buf_cstr(&paths), "/one\n"));
    assert_non_null(strstr(buf_cstr(&paths), "/two\n"));
    assert_null(strstr(buf_cstr(&paths), "ca.pem"));
    buf_done(&paths);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_places), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
