/* Damaged rows of the database: a 500 that names the table and the row, all else as before. What is
 * damaged can be deleted, and its name can be used again. tests/soak/corrupt damages every column. */
#include "lib/api.h"
#include "lib/database.h"

#include <string.h>

static int prepare(void **state) {
    (void)state;
    service_start(NULL);
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "a" : "b";
        status_check(call_upload(text("/v1/datasets/%s", name), "x,y\n0,u\n1,u\n2,v\n3,v\n"), 201);
        job_train("{'model':'%s','dataset':'%s','target':'y','algorithm':'least_squares'}", name,
                  name);
    }
    return 0;
}

/* The answer is a 500 that names the table and the row. */
static void named(const struct response *a, const char *row) {
    problem_check(a, 500, "internal");
    const char *detail = string_at(a, "/detail");
    if (strstr(detail, text("stored data is damaged: %s", row)) == NULL) {
        answer_fail(a, __FILE__, __LINE__, "the detail lacks \"%s\"", row);
    }
}

static void listed(const char *path, int n) {
    const struct response *a = call_get("%s", path);
    status_check(a, 200);
    assert_int_equal(json_array_size(value_at(a, "/items")), n);
}

static void b_is_served(void) {
    status_check(call_get("/v1/datasets/b"), 200);
    status_check(call_get("/v1/datasets/b/rows"), 200);
    status_check(call_post("/v1/models/b/predict", "{'instances':[[3]]}"), 200);
}

static void a_damaged_dataset(void **state) {
    (void)state;
    /* more rows than the chunks have */
    assert_int_equal(database_damage("UPDATE dataset_versions SET n_rows = 40 WHERE name = 'a'"),
                     1);
    named(call_get("/v1/datasets/a"), "dataset_versions, row 1 does not match its checksum");
    named(call_get("/v1/datasets/a/rows"), "dataset_versions, row 1");
    named(call_post("/v1/jobs",
                    "{'model':'c','dataset':'a','target':'y','algorithm':'least_squares'}"),
          "dataset_versions, row 1");
    listed("/v1/datasets", 1);
    b_is_served();
    assert_int_equal(database_damage("UPDATE datasets SET last_version = 0 WHERE name = 'a'"), 1);
    named(call_upload("/v1/datasets/a", "x,y\n0,u\n"), "datasets, row 'a'");
    status_check(call_delete("/v1/datasets/a"), 204);
    problem_check(call_get("/v1/datasets/a"), 404, "unknown-dataset");
    const struct response *a = call_upload("/v1/datasets/a", "x,y\n0,u\n1,v\n");
    status_check(a, 201);
    assert_int_equal(whole_at(a, "/version"), 2); /* no number is used twice */
    listed("/v1/datasets", 2);
}

static void a_damaged_blob(void **state) {
    (void)state;
    assert_int_equal(database_damage(
                         "UPDATE blobs SET crc = 7 WHERE id = (SELECT max(id) FROM blobs)"),
                     1);
    named(call_get("/v1/datasets/a/rows"), "blobs, part ");
    status_check(call_get("/v1/datasets/a"), 200);
    b_is_served();
}

static void a_damaged_model(void **state) {
    (void)state;
    assert_int_equal(database_damage("UPDATE model_versions SET info = 'x' WHERE name = 'a'"), 1);
    service_stop();
    service_restart(NULL); /* the model is not in memory */
    named(call_get("/v1/models/a"), "model_versions, row 1");
    named(call_post("/v1/models/a/predict", "{'instances':[[3]]}"), "model_versions, row 1");
    listed("/v1/models", 1);
    b_is_served();
    status_check(call_delete("/v1/models/a"), 204);
    problem_check(call_get("/v1/models/a"), 404, "unknown-model");
}

static void a_damaged_job(void **state) {
    (void)state;
    assert_int_equal(database_damage("UPDATE jobs SET state = 0, progress = 'x' WHERE id = 1"), 1);
    named(call_get("/v1/jobs/1"), "jobs, row 1");
    named(call_get("/v1/jobs/1?wait=1"), "jobs, row 1");
    named(call_empty("POST", "/v1/jobs/1/cancel"), "jobs, row 1");
    listed("/v1/jobs", 1);
    status_check(call_delete("/v1/jobs/1"), 204);
    assert_int_equal(database_damage("UPDATE job_requests SET request = '{}' WHERE job = 2"), 1);
    named(call_get("/v1/jobs/2"), "job_requests, row 2");
    listed("/v1/jobs", 1);
    b_is_served();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_damaged_dataset, test_end),
        cmocka_unit_test_teardown(a_damaged_blob, test_end),
        cmocka_unit_test_teardown(a_damaged_model, test_end),
        cmocka_unit_test_teardown(a_damaged_job, test_end),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
