/* The plan of a model: equal results with and without it, and each allocation that can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/api.h"
#include "api/predictions/outputs.h"
#include "api/predictions/plan.h"
#include "unit/base/alloc_fail.h"
#include "unit/formats/model_helper.h"

#include <string.h>

static void test_contents(void **state) {
    (void)state;
    dn_model *model = model_numeric();
    struct predict_plan *plan = api_predict_plans.make(model, "m\"", 3, NULL);
    struct outputs_room room;
    struct problem problem = {0};
    assert_non_null(plan);
    const struct serving_model lent = {.model = model, .plan = plan};
    assert_ptr_equal(predict_plan_of(&lent), plan);
    assert_int_equal(plan->n_workspace, dn_model_workspace(model));
    assert_int_equal(plan->outputs, api_outputs_of(model, API_OUTPUTS_USUAL));
    assert_true(plan->cost == api_outputs_cost(model, plan->outputs));
    assert_true(outputs_room_init(&room, &lent, plan->outputs, 4, &problem));
    assert_int_equal(room.n, 4);
    outputs_room_done(&room);
    api_predict_plans.free(plan);
    api_predict_plans.free(NULL);
    dn_model_unref(model);
}

/* The bytes of an answer for three rows of a body. */
static void answer(const dn_model *model, const struct predict_plan *plan, const char *body,
                   struct buf *out) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct predictions_writer writer;
    size_t label[3] = {0};
    const struct instances_options how = {.schema = plan != NULL ? plan->schema : NULL};
    const dn_prediction rows = {.label = label};
    const struct answer_head head = {.name = "m\"",
                                     .version = 3,
                                     .texts = plan != NULL ? &plan->texts : NULL,
                                     .outputs = ANSWER_LABEL,
                                     .format = &format_json};
    assert_true(instances_read(body, strlen(body), &how, model, &in, &problem));
    assert_int_equal(in.n, 3);
    for (size_t i = 0; i < in.n * in.n_inputs; i++) {
        buf_printf(out, "%.17g ", in.raw[i]);
    }
    predictions_writer_begin(&writer, &head, model, &rows, out);
    predictions_writer_rows(&writer, in.n, &rows);
    predictions_writer_end(&writer, NULL, NULL);
    predictions_writer_done(&writer);
    assert_false(out->failed);
    instance_rows_done(&in);
}

static void test_same_answer(void **state) {
    (void)state;
    dn_model *model = model_wide();
    static const char *const body =
        "[{\"f5\":1,\"words\":\"sun red sea\",\"f1\":2,\"x\":1},[1,2,3,4,5,6,\"red red hills\"],"
        "{\"x\":null}]";
    struct predict_plan *plan = api_predict_plans.make(model, "m\"", 3, NULL);
    struct buf with = {0}, without = {0};
    assert_non_null(plan);
    answer(model, plan, body, &with);
    answer(model, NULL, body, &without);
    assert_string_equal(buf_cstr(&with), buf_cstr(&without));
    buf_done(&with);
    buf_done(&without);
    api_predict_plans.free(plan);
    dn_model_unref(model);
}

static void test_allocations(void **state) {
    (void)state;
    if (!alloc_fail_works()) {
        skip(); /* before anything is allocated that would stay */
    }
    dn_model *model = model_wide();
    struct predict_plan *plan = NULL;
    const char *document = "{\"reading\":{\"delimiter\":\";\",\"missing\":[\"-\",\"none\"]}}";
    ALLOC_FAIL_EACH(api_predict_plans.free(plan);
                    plan = api_predict_plans.make(model, "m", 1, document));
    assert_non_null(plan);
    const struct serving_model lent = {.model = model, .plan = plan};
    struct outputs_room room = {0};
    struct problem problem = {0};
    bool good = false;
    ALLOC_FAIL_EACH({
        outputs_room_done(&room);
        problem_done(&problem);
        problem = (struct problem){0};
        good = outputs_room_init(&room, &lent, plan->outputs, 2, &problem);
        assert_true(good || problem.type == PROBLEM_UNAVAILABLE);
    });
    assert_true(good);
    outputs_room_done(&room);
    problem_done(&problem);
    api_predict_plans.free(plan);
    dn_model_unref(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_same_answer),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
