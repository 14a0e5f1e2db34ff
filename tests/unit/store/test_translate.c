/* Statements as PostgreSQL reads them. */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
