/* Copies of whole databases, of files here: tests/tools/test_postgresql copies to PostgreSQL and
 * back. */
#include "store/copies.h"
#include "unit/store/fixture.h"

/* Counts the tables of a copy. */
static void count_table(void *arg, const char *name, int64_t n_rows) {
    int *n = arg;
    assert_true(name[0] != '\0' && n_rows >= 0);
    ++*n;
}

static void test_copies(void **state) {
    struct fixture *f = *state;
    char first[128], second[128];
    int n_tables = 0;
    struct store_copied one = {.table = count_table, .arg = &n_tables}, two = one;
    (void)snprintf(first, sizeof first, "%s/first.db", f->directory);
    (void)snprintf(second, sizeof second, "%s/second.db", f->directory);
    const struct store_dataset_published d = publish(f, "d", 1);
    (void)publish(f, "d", 2);
    const int64_t job = insert_job(f, "m", d.id);
    assert_int_equal(claim_job(f, 3), job);
    assert_int_equal(succeed_job(f, job, 3, 2, 1000, 0), 1);
    (void)insert_job(f, "m", d.id);
    /* the daemon has the database open */
    assert_ok(f, store_copy(f->path, first, &one, &f->problem));
    /* all tables, but those of migrations, SQLite and the anchor of the audit */
    assert_int_equal(n_tables,
                     sql_ask(first, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                                    "name NOT LIKE 'sqlite_%' AND name NOT IN ('migrations', "
                                    "'audit_anchor')"));
    assert_ok(f, store_copy(first, second, &two, &f->problem));
    assert_string_equal(one.digest, two.digest);
    assert_int_equal(one.n_rows, two.n_rows);
    assert_intact(second);
    assert_int_equal(sql_ask(second, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'"), 2);
    assert_int_equal(sql_ask(second, "SELECT count(*) FROM blobs"),
                     sql_ask(f->path, "SELECT count(*) FROM blobs"));
    assert_problem(f, store_copy(f->path, second, &one, &f->problem), PROBLEM_CONFLICT,
                   "is not empty: it has rows in \"parts\"");
    sql_run(first, "UPDATE datasets SET last_version = 9");
    assert_true(remove(second) == 0);
    two = (struct store_copied){.table = count_table, .arg = &n_tables};
    assert_ok(f, store_copy(first, second, &two, &f->problem));
    assert_string_not_equal(one.digest, two.digest);
    (void)remove(first);
    (void)remove(second);
}

int main(void) {
    fixture_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_copies, fixture_setup, fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
