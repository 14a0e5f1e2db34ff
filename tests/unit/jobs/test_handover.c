/* Tests of the bytes of a result: they give an equal result, damaged ones give an error or a result
 * that can be used, and no length in them is believed. */
#include "jobs/ranks/handover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 90 };

/* Trains a model of three machines, whose report has a part for each. */
static void fit(dn_train_result *out) {
    static double x[N], y[N];
    dn_error err;
    dn_error_clear(&err);
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(i * 7 % 31) + 10 * (double)(i % 3);
        y[i] = (double)(i % 3);
    }
    const dn_fit_data data = {
        .struct_size = sizeof data,
        .x = {.values = x, .n_rows = N, .n_cols = 1, .row_stride = 1, .col_stride = 1},
        .y = y};
    if (dn_fit_arrays(&data, "logistic", "multiclass=one_vs_rest", NULL, out, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
}

static dn_held_out rows_of(void) {
    static const size_t row[] = {3, 5};
    static const uint32_t fold[] = {0, 1}, repeat[] = {0, 0}, truth[] = {2, 1},
                          label[] = {2, DN_HELD_OUT_AMBIGUOUS};
    static const double weight[] = {1, 2.5}, values[] = {0.1, 0.2, 0.7, 0.3, 0.3, 0.4};
    return (dn_held_out){.n = 2,
                         .n_values = 3,
                         .probabilities = true,
                         .row = row,
                         .fold = fold,
                         .repeat = repeat,
                         .truth = truth,
                         .label = label,
                         .weight = weight,
                         .values = values};
}

/* Makes metrics with curves and sets, whose numbers differ. */
static dn_metrics *metrics_of(double first) {
    static const dn_conformal sets;
    const dn_metrics_options options = {.struct_size = sizeof options,
                                        .n_classes = 3,
                                        .curves = true,
                                        .sets = &sets};
    dn_metrics *m = NULL;
    assert_int_equal(dn_metrics_new(&options, &m, NULL), DN_OK);
    m->accuracy = first;
    m->macro.f1 = first + 1;
    m->roc_auc_interval[1] = first + 2;
    memcpy(m->warning, "not ranked", sizeof "not ranked");
    for (size_t k = 0; k < 3; k++) {
        dn_curve *curve = &m->curves->roc[k];
        m->confusion[4 * k] = first + 3 + (double)k;
        m->per_class[k].recall = first + 6 + (double)k;
        m->sets[k + 1].coverage = first + 9 + (double)k;
        curve->area = first + 12 + (double)k;
        curve->n_points = k + 1;
        curve->points = calloc(k + 1, sizeof *curve->points);
        assert_non_null(curve->points);
        curve->points[k].x = first + 15 + (double)k;
    }
    m->curves->calibration[9].weight = first + 18;
    return m;
}

/* Makes a result that has every member. */
static void make_whole(dn_train_result *out) {
    static const double list[] = {1.5, 2.5};
    fit(out);
    assert_true(out->report.n_parts > 0 && out->report.n_details > 0 && out->train != NULL);
    dn_metrics_free(out->validation);
    out->validation = metrics_of(100);
    out->folds = calloc(2, sizeof(dn_metrics *));
    assert_non_null(out->folds);
    out->n_folds = 2;
    out->folds[0] = metrics_of(200); /* the second fold has none */
    dn_report_warn(&out->report, DN_WARNING_NOT_CONVERGED, "a warning of %d", 7);
    dn_report_list(&out->report, "numbers", list, 2);
    out->report.parts[1].objective = 17.5;
    out->n_validation = 19;
    out->seconds_fit = 0.75;
}

static void same_metrics(const dn_metrics *a, const dn_metrics *b) {
    assert_int_equal(b->n_classes, a->n_classes);
    assert_true(b->accuracy == a->accuracy && b->macro.f1 == a->macro.f1 &&
                b->roc_auc_interval[1] == a->roc_auc_interval[1]);
    assert_string_equal(b->warning, a->warning);
    assert_memory_equal(b->confusion, a->confusion, 9 * sizeof *a->confusion);
    assert_memory_equal(b->per_class, a->per_class, 3 * sizeof *a->per_class);
    assert_memory_equal(b->sets, a->sets, 4 * sizeof *a->sets);
    assert_true(b->curves->calibration[9].weight == a->curves->calibration[9].weight);
    for (size_t k = 0; k < 3; k++) {
        const dn_curve *one = &a->curves->roc[k], *other = &b->curves->roc[k];
        assert_true(other->area == one->area);
        assert_int_equal(other->n_points, one->n_points);
        assert_memory_equal(other->points, one->points, one->n_points * sizeof *one->points);
        assert_int_equal(b->curves->precision_recall[k].n_points, 0);
    }
}

static void same_details(const dn_detail *a, const dn_detail *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(b[i].name, a[i].name);
        assert_string_equal(b[i].text, a[i].text);
        assert_memory_equal(&b[i].number, &a[i].number, sizeof a[i].number);
        assert_true((a[i].list == NULL) == (b[i].list == NULL));
        if (a[i].list != NULL) {
            assert_int_equal(b[i].n_list, a[i].n_list);
            assert_memory_equal(b[i].list, a[i].list, a[i].n_list * sizeof *a[i].list);
        }
    }
}

static void same_report(const dn_report *a, const dn_report *b) {
    assert_int_equal(b->n_details, a->n_details);
    assert_int_equal(b->n_warnings, a->n_warnings);
    assert_int_equal(b->n_parts, a->n_parts);
    same_details(a->details, b->details, a->n_details);
    for (size_t i = 0; i < a->n_warnings; i++) {
        assert_int_equal(b->warnings[i].code, a->warnings[i].code);
        assert_string_equal(b->warnings[i].text, a->warnings[i].text);
    }
    for (size_t i = 0; i < a->n_parts; i++) {
        const dn_report_part *one = &a->parts[i], *other = &b->parts[i];
        assert_true(other->objective == one->objective && other->iterations == one->iterations);
        assert_int_equal(other->n_details, one->n_details);
        same_details(one->details, other->details, one->n_details);
    }
}

static void same_rows(const dn_held_out *a, const dn_held_out *b) {
    assert_int_equal(b->n, a->n);
    assert_int_equal(b->n_values, a->n_values);
    assert_true(b->probabilities == a->probabilities);
    assert_memory_equal(b->row, a->row, a->n * sizeof *a->row);
    assert_memory_equal(b->fold, a->fold, a->n * sizeof *a->fold);
    assert_memory_equal(b->repeat, a->repeat, a->n * sizeof *a->repeat);
    assert_memory_equal(b->truth, a->truth, a->n * sizeof *a->truth);
    assert_memory_equal(b->label, a->label, a->n * sizeof *a->label);
    assert_memory_equal(b->weight, a->weight, a->n * sizeof *a->weight);
    assert_memory_equal(b->values, a->values, a->n * a->n_values * sizeof *a->values);
}

static void an_equal_result(void **state) {
    (void)state;
    dn_train_result result, back;
    const dn_held_out held_out = rows_of();
    struct handover_rows rows;
    struct buf bytes = {0}, again = {0};
    struct problem problem = {0};
    make_whole(&result);
    assert_int_equal(handover_write(&result, &held_out, &bytes, NULL), DN_OK);
    if (!handover_read(bytes.data, bytes.size, &back, &rows, &problem)) {
        fail_msg("%s", problem.detail);
    }
    same_report(&result.report, &back.report);
    assert_memory_equal(back.train->confusion, result.train->confusion, 9 * sizeof(double));
    same_metrics(result.validation, back.validation);
    assert_int_equal(back.n_folds, 2);
    same_metrics(result.folds[0], back.folds[0]);
    assert_null(back.folds[1]);
    assert_int_equal(back.n_validation, 19);
    assert_true(back.seconds_fit == 0.75);
    same_rows(&held_out, &rows.rows);
    /* the bytes have no addresses, so that they are the same again; the model is in them */
    assert_int_equal(handover_write(&back, &rows.rows, &again, NULL), DN_OK);
    assert_int_equal(again.size, bytes.size);
    assert_memory_equal(again.data, bytes.data, bytes.size);
    dn_train_result_done(&result);
    dn_train_result_done(&back);
    handover_rows_done(&rows);
    buf_done(&bytes);
    buf_done(&again);
}

/* Reads a copy of the exact size, for the address sanitizer. Returns whether it was taken; what was
 * read can be written then. */
static bool take(const char *bytes, size_t size) {
    dn_train_result back;
    struct handover_rows rows;
    struct problem problem = {0};
    struct buf again = {0};
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    const bool good = handover_read(copy, size, &back, &rows, &problem);
    free(copy);
    if (good) {
        (void)handover_write(&back, rows.bytes != NULL ? &rows.rows : NULL, &again, NULL);
        dn_train_result_done(&back);
        handover_rows_done(&rows);
    } else {
        assert_true(problem.type == PROBLEM_INTERNAL || problem.type == PROBLEM_UNAVAILABLE);
    }
    buf_done(&again);
    problem_done(&problem);
    return good;
}

static void damaged_bytes(void **state) {
    (void)state;
    dn_train_result result;
    const dn_held_out held_out = rows_of();
    struct buf bytes = {0};
    make_whole(&result);
    assert_int_equal(handover_write(&result, &held_out, &bytes, NULL), DN_OK);
    for (size_t size = 0; size < bytes.size; size += size < 64 ? 1 : 97) {
        assert_false(take(bytes.data, size));
    }
    bytes.data[0] ^= 1; /* another version */
    assert_false(take(bytes.data, bytes.size));
    dn_train_result_done(&result);
    buf_done(&bytes);
}

/* Replaces each number from 1 to 100, so also each length, by wrong ones. */
static void wrong_lengths(void **state) {
    (void)state;
    static const size_t wrong[] = {0, 1000, (size_t)1 << 29, (size_t)1 << 61, SIZE_MAX};
    dn_train_result result;
    const dn_held_out held_out = rows_of();
    struct buf bytes = {0};
    make_whole(&result);
    assert_int_equal(handover_write(&result, &held_out, &bytes, NULL), DN_OK);
    for (size_t at = 0; at + sizeof(size_t) <= bytes.size; at++) {
        size_t own;
        memcpy(&own, bytes.data + at, sizeof own);
        if (own == 0 || own > 100) {
            continue; /* no length of this result */
        }
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            memcpy(bytes.data + at, &wrong[i], sizeof own);
            (void)take(bytes.data, bytes.size);
        }
        memcpy(bytes.data + at, &own, sizeof own);
    }
    assert_true(take(bytes.data, bytes.size));
    dn_train_result_done(&result);
    buf_done(&bytes);
}

/* No values and 2^61 rows: 8 bytes for each would wrap to 0. */
static void a_product_that_wraps(void **state) {
    (void)state;
    dn_train_result result;
    const dn_held_out held_out = rows_of();
    struct buf bytes = {0}, none = {0};
    fit(&result);
    assert_int_equal(handover_write(&result, &held_out, &bytes, NULL), DN_OK);
    assert_int_equal(handover_write(&result, NULL, &none, NULL), DN_OK);
    const size_t numbers[] = {(size_t)1 << 61, 0};
    const size_t head = none.size - 24; /* n, n_values and three bytes, padded */
    assert_memory_equal(none.data, bytes.data, head);
    memcpy(bytes.data + head, numbers, sizeof numbers);
    assert_false(take(bytes.data, bytes.size));
    assert_false(take(bytes.data, none.size));
    dn_train_result_done(&result);
    buf_done(&bytes);
    buf_done(&none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_result),
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(wrong_lengths),
        cmocka_unit_test(a_product_that_wraps),
    };
    return cmocka_run_group_tests_name("handover", tests, NULL, NULL);
}
