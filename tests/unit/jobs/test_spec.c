/* The stored specification of a job: what is written is what is read, whatever it holds; what is
 * damaged is refused. */
#include "support.h"

static const char *const class_names[] = {"no", "yes \"quoted\""};
static const double class_values[] = {0.25, 3};

static dn_status set_lambda(dn_params *params, double value) {
    return dn_params_set_number(params, "lambda", value, NULL);
}

/* Everything that a specification may hold. */
static void fill(struct jobs_request *spec, dn_basis_spec *bases) {
    static const size_t both[] = {1, 0}, first[] = {0}, snapshots[] = {1, 10};
    static const uint32_t dropped[] = {0, 7, 121};
    static const double centres[] = {0, 0, 1, 1e-300}, points[] = {-1.5, 2};
    static const struct jobs_column others[] = {{.index = 7, .name = "y", .type = DN_CATEGORICAL},
                                                {.index = 2, .name = "a", .type = DN_NUMERIC},
                                                {.index = 1, .name = "b", .type = DN_NUMERIC},
                                                {.name = "f",
                                                 .type = DN_SPARSE,
                                                 .width = 122,
                                                 .first_index = 1,
                                                 .places = {DN_INDICES_DROPPED, dropped, 3}},
                                                {.index = 9, .name = "w", .type = DN_NUMERIC}};
    bases[0] = (dn_basis_spec){.kind = DN_BASIS_POLYNOMIAL,
                               .columns = both,
                               .n_columns = 2,
                               .degree = 3,
                               .interactions = false};
    bases[1] = (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN,
                               .columns = both,
                               .n_columns = 2,
                               .keep = true,
                               .points = centres,
                               .n_points = 2,
                               .width = 0.5};
    bases[2] =
        (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN, .columns = first, .n_columns = 1, .n_points = 7};
    bases[3] = (dn_basis_spec){.kind = DN_BASIS_DISTANCE,
                               .columns = first,
                               .n_columns = 1,
                               .standardize = true,
                               .points = points,
                               .n_points = 2};
    bases[4] = (dn_basis_spec){.kind = DN_BASIS_RANDOM_FOURIER,
                               .columns = both,
                               .n_columns = 2,
                               .n_features = 33};
    bases[5] = (dn_basis_spec){.kind = DN_BASIS_FISHER, .columns = both, .n_columns = 2};
    spec->features = (struct jobs_features){.standardize = true,
                                            .missing_number = DN_MISSING_FREQUENT_NUMBER,
                                            .missing_category = DN_MISSING_FREQUENT_LEVEL,
                                            .missing_indicator = true,
                                            .categorical = DN_DROP_FIRST,
                                            .unseen = DN_UNSEEN_REFUSE,
                                            .bases = bases,
                                            .n_bases = 6};
    spec->weighted = true;
    spec->weight = (struct jobs_column){.index = 5, .name = "w", .type = DN_NUMERIC};
    spec->weights = DN_WEIGHTS_FREQUENCIES;
    spec->class_weights =
        (struct jobs_class_weights){.kind = DN_CLASS_WEIGHT_GIVEN,
                                    .names = (const char **)(uintptr_t)class_names,
                                    .values = class_values,
                                    .n = 2};
    spec->validation = (struct jobs_validation){
        .dataset = "other", .version = 3, .id = 17, .weighted = true, .columns = others};
    spec->seed = 42;
    spec->limits.seconds = 1.5;
    spec->snapshots = snapshots;
    spec->n_snapshots = 2;
    assert_int_equal(set_lambda(spec->params, 0.1), DN_OK);
}

static void same_basis(const dn_basis_spec *a, const dn_basis_spec *b, size_t width) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->n_columns, b->n_columns);
    assert_memory_equal(a->columns, b->columns, a->n_columns * sizeof *a->columns);
    assert_int_equal(a->standardize, b->standardize);
    assert_int_equal(a->degree, b->degree);
    assert_int_equal(a->interactions, b->interactions);
    assert_int_equal(a->n_points, b->n_points);
    assert_int_equal(a->n_features, b->n_features);
    assert_true(a->width == b->width);
    assert_int_equal(a->points == NULL, b->points == NULL);
    if (a->points) {
        assert_memory_equal(a->points, b->points, a->n_points * width * sizeof(double));
    }
}

static void what_is_written_is_read(void **state) {
    (void)state;
    struct jobs_request spec = fixture_spec("m", "newton"), back;
    dn_basis_spec bases[6];
    struct arena arena;
    struct buf text = {0}, again = {0};
    struct problem problem = {0};
    arena_init(&arena, 0);
    fill(&spec, bases);
    const char *codes[] = {"", jobs_warning_code(DN_WARNING_CALIBRATION_FOLDS)};
    spec.warning_codes = codes;
    spec.n_warnings = 2;
    jobs_request_write_stored(&spec, &text);
    assert_non_null(buf_cstr(&text));
    if (!jobs_request_read_stored(buf_cstr(&text), &arena, &back, &problem)) {
        fail_msg("%s", problem.detail);
    }
    jobs_request_write_stored(&back, &again);
    assert_string_equal(buf_cstr(&again), buf_cstr(&text));
    assert_int_equal(back.n_warnings, 2);
    assert_string_equal(back.warning_codes[0], "");
    assert_string_equal(back.warning_codes[1], "calibration_folds");
    assert_true(back.weighted);
    assert_string_equal(back.weight.name, "w");
    assert_int_equal(back.weight.index, 5);
    assert_int_equal(back.class_weights.kind, DN_CLASS_WEIGHT_GIVEN);
    assert_int_equal(back.class_weights.n, 2);
    assert_int_equal(back.weights, DN_WEIGHTS_FREQUENCIES);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(back.class_weights.names[i], class_names[i]);
        assert_true(back.class_weights.values[i] == class_values[i]);
    }
    assert_string_equal(back.validation.dataset, "other");
    assert_int_equal(back.validation.version, 3);
    assert_int_equal(back.validation.id, 17);
    assert_true(back.validation.weighted);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(back.validation.columns[i].index, spec.validation.columns[i].index);
        assert_string_equal(back.validation.columns[i].name, spec.validation.columns[i].name);
        assert_int_equal(back.validation.columns[i].type, spec.validation.columns[i].type);
        assert_int_equal(back.validation.columns[i].width, spec.validation.columns[i].width);
        assert_int_equal(back.validation.columns[i].first_index,
                         spec.validation.columns[i].first_index);
        assert_int_equal(back.validation.columns[i].places.kind,
                         spec.validation.columns[i].places.kind);
        assert_int_equal(back.validation.columns[i].places.n, i == 3 ? 3 : 0);
    }
    assert_memory_equal(back.validation.columns[3].places.index,
                        spec.validation.columns[3].places.index, 3 * sizeof(uint32_t));
    assert_int_equal(back.folds, 0);
    assert_true(back.features.standardize && back.features.missing_indicator &&
                !back.features.automatic);
    assert_int_equal(back.features.missing_number, DN_MISSING_FREQUENT_NUMBER);
    assert_int_equal(back.features.missing_category, DN_MISSING_FREQUENT_LEVEL);
    assert_int_equal(back.features.categorical, DN_DROP_FIRST);
    assert_int_equal(back.features.unseen, DN_UNSEEN_REFUSE);
    assert_int_equal(back.features.n_bases, 6);
    for (size_t i = 0; i < 6; i++) {
        same_basis(&back.features.bases[i], &bases[i], bases[i].n_columns);
    }
    assert_true(back.features.bases[1].keep && !back.features.bases[2].keep);
    assert_true(dn_params_number(back.params, "lambda") == 0.1);
    jobs_request_done(&back);
    buf_done(&text);
    buf_done(&again);
    dn_params_free(spec.params);
    arena_done(&arena);
}

/* The least, and the other ways to validate. */
static void what_is_left_out_stays_out(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct jobs_request spec = fixture_spec("m", "newton"), back;
        struct arena arena;
        struct buf text = {0};
        struct problem problem = {0};
        arena_init(&arena, 0);
        spec.holdout = way == 1 ? 0.1 : 0;
        spec.folds = way == 2 ? 5 : 0;
        spec.class_weights.kind = way == 2 ? DN_CLASS_WEIGHT_BALANCED : DN_CLASS_WEIGHT_NONE;
        jobs_request_write_stored(&spec, &text);
        if (!jobs_request_read_stored(buf_cstr(&text), &arena, &back, &problem)) {
            fail_msg("%s", problem.detail);
        }
        assert_true(back.holdout == spec.holdout);
        assert_int_equal(back.folds, spec.folds);
        assert_int_equal(back.class_weights.kind, spec.class_weights.kind);
        assert_false(back.weighted);
        assert_null(back.validation.dataset);
        assert_int_equal(back.features.n_bases, 0);
        assert_int_equal(back.features.categorical, DN_ONE_HOT);
        jobs_request_done(&back);
        buf_done(&text);
        dn_params_free(spec.params);
        arena_done(&arena);
    }
}

/* Jobs of releases without the parameter `decision` keep the labels of the scores. */
static void no_decision(void **state) {
    (void)state;
    static const char member[] = ",\"decision\":\"probabilities\"";
    struct jobs_request spec = fixture_spec("m", "newton"), back;
    struct arena arena;
    struct buf text = {0};
    struct problem problem = {0};
    arena_init(&arena, 0);
    jobs_request_write_stored(&spec, &text);
    char *at = strstr((char *)(uintptr_t)buf_cstr(&text), member);
    assert_non_null(at);
    memmove(at, at + sizeof member - 1, strlen(at + sizeof member - 1) + 1);
    if (!jobs_request_read_stored(text.data, &arena, &back, &problem)) {
        fail_msg("%s", problem.detail);
    }
    assert_string_equal(dn_params_word(back.params, "decision"), "scores");
    jobs_request_done(&back);
    buf_done(&text);
    dn_params_free(spec.params);
    arena_done(&arena);
}

/* An algorithm without a target: the inputs come first, in the validation's columns too; and with
 * members of an object and a word for null, all of them flat. */
static void what_has_no_target(void **state) {
    (void)state;
    static const struct jobs_column others[] = {{.index = 4, .name = "x2", .type = DN_NUMERIC},
                                                {.index = 2, .name = "x1", .type = DN_NUMERIC},
                                                {.index = 1,
                                                 .name = "color",
                                                 .type = DN_CATEGORICAL},
                                                {.index = 9, .name = "w", .type = DN_NUMERIC}};
    for (int weighted = 0; weighted < 2; weighted++) {
        struct jobs_request spec = fixture_spec("m", "newton"), back;
        struct arena arena;
        struct buf text = {0}, bad = {0};
        struct problem problem = {0};
        arena_init(&arena, 0);
        dn_params_free(spec.params);
        spec.algorithm = dn_algorithm_find("one_class_svm");
        spec.target = (struct jobs_column){0};
        spec.validation = (struct jobs_validation){
            .dataset = "other", .version = 1, .id = 2, .weighted = weighted, .columns = others};
        assert_int_equal(dn_params_new(spec.algorithm, &spec.params, NULL), DN_OK);
        assert_int_equal(dn_params_set_number(spec.params, "kernel.width", 0.5, NULL), DN_OK);
        jobs_request_write_stored(&spec, &text);
        if (!jobs_request_read_stored(buf_cstr(&text), &arena, &back, &problem)) {
            fail_msg("%s", problem.detail);
        }
        assert_null(back.target.name);
        assert_int_equal(jobs_request_first_input(&back), 0);
        assert_int_equal(back.validation.weighted, weighted);
        for (size_t i = 0; i < 3 + (size_t)weighted; i++) {
            assert_string_equal(back.validation.columns[i].name, others[i].name);
        }
        assert_true(dn_params_number(back.params, "kernel.width") == 0.5);
        jobs_request_done(&back);

        const char *whole = buf_cstr(&text),
                   *at = strstr(whole, "\"one_class_svm\""); /* of an algorithm that has one */
        buf_append(&bad, whole, (size_t)(at - whole));
        buf_puts(&bad, "\"svm\"");
        buf_puts(&bad, at + strlen("\"one_class_svm\""));
        assert_false(jobs_request_read_stored(buf_cstr(&bad), &arena, &back, &problem));
        problem_done(&problem);
        buf_done(&bad);
        buf_done(&text);
        dn_params_free(spec.params);
        arena_done(&arena);
    }
}

/* Version 0.1.0 stored parameters in three groups by full names, with booleans as 0 and 1 and with
 * parameters that have no effect. */
static void groups_of_parameters_are_read(void **state) {
    (void)state;
    struct jobs_request spec = fixture_spec("m", "newton"), back;
    struct problem problem = {0};
    struct arena arena;
    struct buf text = {0}, old = {0};
    arena_init(&arena, 0);
    jobs_request_write_stored(&spec, &text);
    const char *whole = buf_cstr(&text), *at = strstr(whole, "\"algorithm\":"),
               *end = strstr(at, ",\"target\":");
    assert_true(at != NULL && end != NULL);
    buf_append(&old, whole, (size_t)(at - whole));
    buf_puts(
        &old,
        "\"algorithm\":\"svm\",\"numbers\":{\"C\":0.25,\"kernel.degree\":3,\"kernel.length\":3,"
        "\"kernel.normalize\":1},\"words\":{\"kernel\":\"polynomial\",\"kernel.width\":\"auto\"},"
        "\"lists\":{}");
    buf_puts(&old, end);
    if (!jobs_request_read_stored(buf_cstr(&old), &arena, &back, &problem)) {
        fail_msg("%s", problem.detail);
    }
    assert_true(dn_params_number(back.params, "C") == 0.25);
    assert_true(dn_params_number(back.params, "kernel.degree") == 3);
    assert_string_equal(dn_params_word(back.params, "kernel"), "polynomial");
    assert_true(dn_params_boolean(back.params, "kernel.normalize"));
    jobs_request_done(&back);
    dn_params_free(spec.params);
    buf_done(&text);
    buf_done(&old);
    arena_done(&arena);
}

/* Every text that is cut short, and some that were changed. */
static void what_is_damaged_is_refused(void **state) {
    (void)state;
    struct jobs_request spec = fixture_spec("m", "newton"), back;
    dn_basis_spec bases[6];
    struct buf text = {0};
    fill(&spec, bases);
    jobs_request_write_stored(&spec, &text);
    static const char *const changes[][2] = {
        {"\"basis\":[", "\"basis\":7,\"x\":["},
        {"\"polynomial\"", "\"polynomiol\""},
        {"\"x1\"", "\"x9\""},
        {"\"indexes\":[7,2,1", "\"indexes\":[7"},
        {"\"widths\":[0,0,0,122,0]", "\"widths\":[0,0,0,122]"},
        {"\"id\":17", "\"id\":0"},
        {"\"places_counts\":[0,0,0,3,0]", "\"places_counts\":[0,0,0,4,0]"},
        {"\"places_counts\":[0,0,0,3,0]", "\"places_counts\":[0,0,0,2,0]"},
        {"\"places_kinds\":[0,0,0,2,0]", "\"places_kinds\":[0,0,0,3,0]"},
        {"\"places_kinds\":[0,0,0,2,0]", "\"places_kinds\":[0,0,0,2]"},
        {"\"drop_first\"", "\"drop_last\""},
        {"\"tolerance\":", "\"tolerence\":"},
        {"\"solver\":", "\"solvers\":"},
        {"\"params\":{", "\"parameters\":7,\"words\":{\"solvers\":\"newton\"},\"params_\":{"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0] + text.size; i++) {
        struct problem problem = {0};
        struct arena arena;
        struct buf bad = {0};
        const size_t n = sizeof changes / sizeof changes[0];
        arena_init(&arena, 0);
        if (i < n) {
            const char *whole = buf_cstr(&text), *at = strstr(whole, changes[i][0]);
            assert_non_null(at);
            buf_append(&bad, whole, (size_t)(at - whole));
            buf_puts(&bad, changes[i][1]);
            buf_puts(&bad, at + strlen(changes[i][0]));
        } else {
            buf_append(&bad, text.data, i - n);
        }
        if (jobs_request_read_stored(buf_cstr(&bad), &arena, &back, &problem)) {
            fail_msg("change %zu is not noticed", i);
        }
        assert_int_equal(problem.type, PROBLEM_INTERNAL);
        problem_done(&problem);
        buf_done(&bad);
        arena_done(&arena);
    }
    buf_done(&text);
    dn_params_free(spec.params);
}

/* A job of a release without "weights" has frequencies; a new job has relative weights. */
static void weights_of_old_jobs(void **state) {
    (void)state;
    struct jobs_request spec = fixture_spec("m", "newton"), back = {0};
    dn_basis_spec bases[6];
    struct arena arena;
    struct buf text = {0};
    struct problem problem = {0};
    const char member[] = "\"weights\":\"relative\",";
    arena_init(&arena, 0);
    fill(&spec, bases);
    spec.weights = DN_WEIGHTS_RELATIVE;
    jobs_request_write_stored(&spec, &text);
    assert_true(jobs_request_read_stored(buf_cstr(&text), &arena, &back, &problem));
    assert_int_equal(back.weights, DN_WEIGHTS_RELATIVE);
    jobs_request_done(&back);
    char *old = strdup(buf_cstr(&text)), *at = strstr(old, member);
    assert_non_null(at);
    memmove(at, at + sizeof member - 1, strlen(at + sizeof member - 1) + 1);
    assert_true(jobs_request_read_stored(old, &arena, &back, &problem));
    assert_int_equal(back.weights, DN_WEIGHTS_FREQUENCIES);
    jobs_request_done(&back);
    free(old);
    jobs_request_done(&spec);
    buf_done(&text);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_is_left_out_stays_out),
        cmocka_unit_test(no_decision),
        cmocka_unit_test(what_has_no_target),
        cmocka_unit_test(groups_of_parameters_are_read),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(weights_of_old_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
