/* Tests of cross-validation and of validation with another table. The results of a fold equal those
 * of a separate training. Progress; prefixes of warnings and errors. */
#include "unit/core/support.h"

#include "base/random.h"
#include "task/split.h"

static dn_train_result train(const dn_train_request *request, const dn_run *run) {
    dn_train_result result;
    dn_error err = {0};
    if (dn_train(request, run, &result, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    return result;
}

/* Returns the rows of t that are in fold f (in == true) or in the other folds (in == false). */
static struct csv *part_of(const struct csv *t, const uint16_t *fold, size_t f, bool in) {
    struct csv *part = csv_clouds(t->n, t->d, t->K);
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if ((fold[i] == f) == in) {
            memcpy(part->x + n * t->d, t->x + i * t->d, t->d * sizeof *t->x);
            part->target[n++] = t->target[i];
        }
    }
    for (size_t i = n; i < part->n; i++) {
        free(part->labels[i]);
    }
    part->n = n;
    return part;
}

static void assert_same_metrics(const dn_metrics *a, const dn_metrics *b) {
    for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
        double x = dn_metric_value(a, i), y = dn_metric_value(b, i);
        assert_true(x == y || (isnan(x) && isnan(y)));
    }
    assert_true(a->rows == b->rows && a->weight == b->weight);
    assert_memory_equal(a->confusion, b->confusion, a->n_classes * a->n_classes * sizeof(double));
}

/* The metrics of each fold equal those of a model trained on the other rows and evaluated on the
 * fold. Cases: weights, balanced classes (within the training rows), a basis on several slots. The
 * final model equals a model trained on all rows. */
static void folds_by_hand(void **state) {
    (void)state;
    enum { FOLDS = 4, N = 331 };
    for (size_t way = 0; way < 3; way++) {
        const dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL,
                                     .degree = 2,
                                     .interactions = true};
        struct csv *t = csv_clouds(N, 4, 3);
        for (size_t i = 0; i < N; i++) {
            t->x[i * 4 + 3] = (double)(1 + i % 4) / 2;
        }
        struct table *table = table_of(t);
        dn_params *p = params_of("newton", 1e-2);
        dn_train_request request = table_request(t, table, p), whole;
        if (way == 1) {
            request.weighted = true;
            request.weight = 3;
            request.features.n_columns = 3;
            request.class_weight = DN_CLASS_WEIGHT_BALANCED;
        }
        if (way == 2) {
            request.features.bases = &basis;
            request.features.n_bases = 1;
        }
        whole = request;
        request.folds = FOLDS;
        dn_run run = dn_run_default();
        run.seed = 5;
        if (way == 2) {
            run.sum = sum_in_ranges;
            run.each = each_in_reverse;
            run.n_slots = 3;
        }
        dn_train_result r = train(&request, &run), plain = train(&whole, &run);
        assert_int_equal(r.n_folds, FOLDS);
        assert_true(r.validation == NULL && r.n_train == N && r.n_validation == 0);
        void *bytes[2];
        size_t size[2];
        OK(dn_model_write(r.model, &bytes[0], &size[0], NULL));
        OK(dn_model_write(plain.model, &bytes[1], &size[1], NULL));
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        assert_same_metrics(r.train, plain.train);
        uint16_t fold[N];
        OK(dni_split_folds(t->target, N, 3, FOLDS, DNI_STREAM_FOLDS, &run, fold, NULL));
        double rows = 0;
        for (size_t f = 0; f < FOLDS; f++) {
            struct csv *others = part_of(t, fold, f, false), *own = part_of(t, fold, f, true);
            struct table *training = table_of(others), *validation = table_of(own);
            dn_train_request by_hand = whole;
            by_hand.source = training->source;
            by_hand.validation = validation->source;
            dn_train_result hand = train(&by_hand, &run);
            assert_same_metrics(r.folds[f], hand.validation);
            assert_true(r.folds[f]->curves == NULL && hand.n_validation == own->n);
            rows += r.folds[f]->rows;
            dn_train_result_done(&hand);
            columns_table_free(training);
            columns_table_free(validation);
            csv_free(others);
            csv_free(own);
        }
        assert_true(rows == N);
        free(bytes[0]);
        free(bytes[1]);
        dn_train_result_done(&r);
        dn_train_result_done(&plain);
        dn_params_free(p);
        columns_table_free(table);
        csv_free(t);
    }
}

/* Rows in memory, streamed rows and another order of partial sums give the same metrics for every
 * fold. */
static void metrics_are_independent_of_memory(void **state) {
    (void)state;
    struct csv *t = csv_clouds(21000, 8, 3);
    struct table *table = table_of(t);
    dn_params *p = params_of("newton", 1e-2);
    dn_train_request request = table_request(t, table, p);
    request.folds = 3;
    request.class_weight = DN_CLASS_WEIGHT_BALANCED;
    dn_run run = dn_run_default(), tight = dn_run_default(), grouped = dn_run_default();
    struct memory memory = {.left = 1300000}; /* 21,000 × 8 doubles are 1,344,000 bytes */
    dn_allocator allocator = memory_allocator(&memory, true);
    tight.allocator = &allocator;
    grouped.sum = sum_in_ranges;
    grouped.each = each_in_reverse;
    dn_train_result a = train(&request, &run), b = train(&request, &tight),
                    c = train(&request, &grouped);
    bool streamed = false;
    for (size_t i = 0; i < b.report.n_details; i++) {
        streamed = streamed || strcmp(b.report.details[i].text, "streamed") == 0;
    }
    assert_true(streamed);
    for (size_t f = 0; f < 3; f++) {
        assert_same_metrics(a.folds[f], b.folds[f]);
        assert_same_metrics(a.folds[f], c.folds[f]);
        assert_true(a.folds[f]->rows == 7000 && !isnan(a.folds[f]->roc_auc));
    }
    dn_train_result_done(&a);
    dn_train_result_done(&b);
    dn_train_result_done(&c);
    assert_int_equal(memory.live, 0);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* ---- progress ---- */
struct heard {
    size_t fold, calls, own;
    double fraction;
    bool snapshot;
};

static void listen(const dn_run *run, const dn_progress *progress) {
    struct heard *heard = run->ctx;
    assert_true(progress->fraction >= heard->fraction && progress->fraction <= 1);
    assert_true(progress->fold == heard->fold || progress->fold == heard->fold + 1);
    assert_true(progress->fraction <= (double)(progress->fold + 1) / 6 + 1e-12 &&
                progress->fraction >= (double)progress->fold / 6 - 1e-12);
    assert_true(progress->fold == 0 || progress->w == NULL);
    heard->snapshot = heard->snapshot || progress->w != NULL;
    heard->own += progress->fold == 0;
    heard->fold = progress->fold;
    heard->fraction = progress->fraction;
    heard->calls++;
}

static void progress_of_all(void **state) {
    (void)state;
    const char *const ways[] = {"softmax", "one_vs_one"};
    const size_t snapshots[] = {1, 2};
    struct csv *t = csv_clouds(200, 3, 3);
    struct table *table = table_of(t);
    for (size_t way = 0; way < 2; way++) {
        dn_params *p = params_of("lbfgs", 1e-2);
        OK(dn_params_set_word(p, "multiclass", ways[way], NULL));
        dn_train_request request = table_request(t, table, p);
        request.folds = 5;
        struct heard heard = {0};
        dn_run run = dn_run_default();
        run.progress = listen;
        run.ctx = &heard;
        run.snapshots = snapshots;
        run.n_snapshots = 2;
        dn_train_result r = train(&request, &run);
        assert_true(heard.fold == 5 && heard.own >= r.report.iterations &&
                    heard.calls > 5 * heard.own / 2);
        assert_true(heard.snapshot == (way == 0));
        dn_train_result_done(&r);
        dn_params_free(p);
    }
    columns_table_free(table);
    csv_free(t);
}

/* ---- warnings and errors ---- */
static void refuses(const dn_train_request *request, dn_status code, const char *field,
                    const char *words) {
    dn_run run = dn_run_default();
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, false);
    run.allocator = &allocator;
    dn_train_result result;
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_train(request, &run, &result, &err), code);
    assert_string_equal(err.field, field);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
    assert_int_equal(memory.live, 0);
}

static void bad_requests(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 3);
    for (size_t i = 0, n = 0; i < t->n; i++) {
        if (t->target[i] == 1 && n++ >= 4) {
            t->target[i] = 2; /* four rows of class c01 remain */
        }
    }
    struct table *table = table_of(t);
    dn_params *p = params_of("auto", 1e-2);
    const dn_train_request good = table_request(t, table, p);
    dn_train_request bad = good;
    bad.folds = 1;
    refuses(&bad, DN_ERR_ARGUMENT, "", "folds must be an integer >= 2 and <= 1000");
    bad.folds = DN_MAX_FOLDS + 1;
    refuses(&bad, DN_ERR_ARGUMENT, "", "(got 1001)");
    bad.folds = 5;
    dn_run plain_run = dn_run_default();
    dn_train_result five = train(&bad, &plain_run); /* class c01 has four rows */
    assert_int_equal(five.n_folds, 5);
    assert_int_equal(five.report.n_warnings, 1);
    assert_int_equal(five.report.warnings[0].code, DN_WARNING_FOLD_CLASSES);
    assert_non_null(strstr(five.report.warnings[0].text, "has no row of \"c01\""));
    dn_train_result_done(&five);
    bad.folds = 61;
    refuses(&bad, DN_ERR_DATA, "",
            "61 folds need at least 61 rows in classes with 2 rows or more (got 60)");
    bad.folds = 3, bad.holdout = 0.5;
    refuses(&bad, DN_ERR_ARGUMENT, "", "only one of them");
    bad.folds = 0, bad.validation = table->source;
    refuses(&bad, DN_ERR_ARGUMENT, "", "only one of them");
    bad = good, bad.folds = 4;
    dn_run run = dn_run_default();
    dn_train_result r = train(&bad, &run);
    for (size_t f = 0; f < 4; f++) {
        assert_true(r.folds[f]->per_class[1].support == 1);
    }
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* DN_LEAVE_ONE_OUT has the metrics of all rows, each scored by the fit without it, as a
 * cross-validation with as many folds as rows: the mean of their accuracies and losses is that of
 * the rows. A class of one row is in every fit and in no fold. */
static void one_row_is_left_out(void **state) {
    (void)state;
    enum { N = 61 };
    for (size_t single = 0; single < 2; single++) {
        const size_t rows = N - single;
        struct csv *t = csv_clouds(N, 3, 3);
        for (size_t i = 0, n = 0; i < N && single == 1; i++) {
            if (t->target[i] == 1 && n++ >= 1) {
                t->target[i] = 2;
            }
        }
        struct table *table = table_of(t);
        dn_params *p = params_of("newton", 1e-2);
        dn_train_request request = table_request(t, table, p), many;
        many = request;
        many.folds = rows;
        request.folds = DN_LEAVE_ONE_OUT;
        request.curves = true;
        dn_run run = dn_run_default();
        dn_train_result r = train(&request, &run), f = train(&many, &run);
        assert_true(r.n_folds == 0 && r.folds == NULL && f.n_folds == rows);
        assert_true(r.validation->rows == (double)rows && !isnan(r.validation->roc_auc));
        assert_non_null(r.validation->curves);
        double accuracy = 0, log_loss = 0;
        for (size_t i = 0; i < rows; i++) {
            assert_true(f.folds[i]->rows == 1);
            accuracy += f.folds[i]->accuracy / (double)rows;
            log_loss += f.folds[i]->log_loss / (double)rows;
        }
        assert_near(r.validation->accuracy, accuracy, 1e-12);
        assert_near(r.validation->log_loss, log_loss, 1e-12);
        assert_true(r.report.n_warnings == single);
        if (single == 1) {
            assert_non_null(strstr(r.report.warnings[0].text, "of every fold: \"c01\""));
        }
        dn_train_result_done(&r);
        dn_train_result_done(&f);
        dn_params_free(p);
        columns_table_free(table);
        csv_free(t);
    }
}

static void leaving_one_out_has_limits(void **state) {
    (void)state;
    struct csv *t = csv_clouds(DN_MAX_LEAVE_ONE_OUT + 1, 2, 2);
    struct table *table = table_of(t);
    dn_params *p = params_of("auto", 1e-2), *svm;
    dn_train_request request = table_request(t, table, p);
    request.folds = DN_LEAVE_ONE_OUT;
    refuses(&request, DN_ERR_DATA, "", "there are 5001 rows to leave out one by one");
    OK(dn_params_new(dn_algorithm_find("svm"), &svm, NULL));
    assert_true(dn_params_is_linear(svm));
    OK(dn_params_set_word(svm, "kernel", "rbf", NULL));
    assert_false(dn_params_is_linear(svm));
    request.params = svm;
    refuses(&request, DN_ERR_ARGUMENT, "folds", "linear methods only");
    dn_params_free(p);
    dn_params_free(svm);
    columns_table_free(table);
    csv_free(t);
}

/* The classes of some folds are separable: the warnings name these folds. */
static void warnings_name_folds(void **state) {
    (void)state;
    struct csv *t = csv_clouds(120, 2, 2);
    for (size_t i = 0; i < t->n; i++) { /* x0 separates all rows except one */
        t->x[2 * i] = (t->target[i] > 0) == (i != 40) ? 5 + (double)(i % 7) : -5 - (double)(i % 7);
    }
    struct table *table = table_of(t);
    dn_params *p = params_of("newton", 0);
    dn_train_request request = table_request(t, table, p);
    request.folds = 3;
    dn_run run = dn_run_default();
    dn_train_result r = train(&request, &run);
    size_t marked = 0;
    for (size_t i = 0; i < r.report.n_warnings; i++) {
        assert_null(strstr(r.report.warnings[i].text, "fold 0"));
        marked += strncmp(r.report.warnings[i].text, "fold ", 5) == 0 &&
                  strstr(r.report.warnings[i].text, "separable") != NULL;
    }
    assert_true(marked >= 1);
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* Another table has its own metrics. A class that the model does not have is refused with its
 * row. */
static void another_table(void **state) {
    (void)state;
    struct csv *t = csv_clouds(200, 3, 3), *other = csv_clouds(77, 3, 3),
               *more = csv_clouds(50, 3, 4);
    struct table *table = table_of(t), *second = table_of(other), *unknown = table_of(more);
    dn_params *p = params_of("auto", 1e-2);
    dn_train_request request = table_request(t, table, p);
    request.validation = second->source;
    request.curves = true;
    dn_run run = dn_run_default();
    dn_train_result r = train(&request, &run);
    dn_metrics *m;
    OK(dn_model_evaluate(r.model, second->source, NULL, &run, &m, NULL));
    assert_same_metrics(m, r.validation);
    assert_true(m->curves == NULL && r.validation->curves != NULL && r.train->curves != NULL);
    assert_true(r.n_validation == 77 && r.n_train == 200 && r.report.n_warnings == 0);
    dn_metrics_free(m);
    dn_train_result_done(&r);
    request.weighted = true; /* the other table has no column with the name of the weight column */
    request.weight = 2;
    request.features.n_columns = 2;
    for (size_t i = 0; i < t->n; i++) {
        table->numbers[2 * t->n + i] = 1;
    }
    second->columns[2].name = "something else";
    r = train(&request, &run);
    assert_int_equal(r.report.n_warnings, 1);
    assert_non_null(strstr(r.report.warnings[0].text, "no column \"x2\": all their weights are 1"));
    assert_true(r.validation->weight == 77);
    dn_train_result_done(&r);
    request.weighted = false;
    request.validation = unknown->source;
    refuses(&request, DN_ERR_DATA, "class",
            "validation: column \"class\", row 1: \"c03\" is not one of the model's classes");
    dn_params_free(p);
    columns_table_free(table);
    columns_table_free(second);
    columns_table_free(unknown);
    csv_free(t);
    csv_free(other);
    csv_free(more);
}

/* More classes than half of the rows cause a warning. */
static void too_many_classes(void **state) {
    (void)state;
    struct csv *t = csv_clouds(40, 2, 39);
    struct table *table = table_of(t);
    dn_params *p = params_of("lbfgs", 1e-1);
    dn_train_request request = table_request(t, table, p);
    dn_run run = dn_run_default();
    dn_train_result r = train(&request, &run);
    bool warned = false;
    for (size_t i = 0; i < r.report.n_warnings; i++) {
        warned = warned || strstr(r.report.warnings[i].text, "39 classes in 40 rows") != NULL;
    }
    assert_true(warned);
    dn_train_result_done(&r);
    request.max_classes = 38;
    refuses(&request, DN_ERR_DATA, "class",
            "more than 38 classes: choose a column with few different values");
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_by_hand),       cmocka_unit_test(metrics_are_independent_of_memory),
        cmocka_unit_test(progress_of_all),     cmocka_unit_test(bad_requests),
        cmocka_unit_test(one_row_is_left_out), cmocka_unit_test(leaving_one_out_has_limits),
        cmocka_unit_test(warnings_name_folds), cmocka_unit_test(another_table),
        cmocka_unit_test(too_many_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
