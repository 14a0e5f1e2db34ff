/* Encoding of wide rows polls the run's stop function after at most BETWEEN operations, and returns
 * DN_ERR_STOPPED if the stop function does. */
#include "encoder/basis/basis_fit.h"
#include "unit/core/table/chunked.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
    ROWS = 2000,
    COLUMNS = 20,
    FREQUENCIES = 2000,
    MANY_WAVES = DN_MAX_BASIS_FEATURES,
    CENTRES = 250
};
#define BETWEEN 2e7 /* operations between two polls, plus one row */

struct looks {
    size_t n, stop_at; /* 0: never */
};

static dn_status look(const dn_run *run) {
    struct looks *looks = run->ctx;
    return ++looks->n == looks->stop_at ? DN_ERR_STOPPED : DN_OK;
}

static double number[COLUMNS][ROWS];
static const char *text[ROWS];
static char city[ROWS][8];
static chunked_column data[COLUMNS + 1];
static const size_t borders[] = {0, ROWS};

static void make_table(chunked *source) {
    static char names[COLUMNS][8];
    for (size_t c = 0; c < COLUMNS; c++) {
        snprintf(names[c], sizeof names[c], "x%zu", c);
        for (size_t i = 0; i < ROWS; i++) {
            number[c][i] = sin((double)(i * (c + 3)) + 0.1 * (double)c);
        }
        data[c] =
            (chunked_column){.column = {.name = names[c], .type = DN_NUMERIC}, .number = number[c]};
    }
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(city[i], sizeof city[i], "c%zu", i);
        text[i] = city[i];
    }
    data[COLUMNS] =
        (chunked_column){.column = {.name = "city", .type = DN_CATEGORICAL}, .text = text};
    chunked_init(source, data, COLUMNS + 1, ROWS, borders, 1);
}

/* A computation that is to be stopped; every run does the same. */
struct work {
    const dn_table_source *source;
    dn_encoder_spec spec;
    const dn_encoder *encoder;
    dn_rows *rows; /* of the basis's columns */
};
typedef dn_status (*work_fn)(const struct work *work, const dn_run *run);

static dn_status fit_encoder(const struct work *work, const dn_run *run) {
    dn_encoder *encoder = NULL;
    dn_status status = dn_encoder_fit(work->source, &work->spec, NULL, NULL, run, &encoder, NULL);
    dn_encoder_unref(encoder);
    return status;
}

static dn_status make_rows(const struct work *work, const dn_run *run, bool in_memory) {
    dn_rows *rows = NULL;
    dn_block block;
    dn_status status = dn_rows_from_source(work->source, work->encoder, NULL, DN_ROW_TRAIN, NULL,
                                           NULL, in_memory, run, &rows, NULL);
    if (status == DN_OK) {
        status = dn_rows_block(rows, 0, 0, &block, NULL);
    }
    dn_rows_free(rows);
    return status;
}

static dn_status rows_in_memory(const struct work *work, const dn_run *run) {
    return make_rows(work, run, true);
}

static dn_status rows_streamed(const struct work *work, const dn_run *run) {
    return make_rows(work, run, false);
}

static dn_status find_centres(const struct work *work, const dn_run *run) {
    double *points = calloc(CENTRES * COLUMNS, sizeof *points);
    assert_non_null(points);
    dn_status status = dni_basis_centres(work->rows, CENTRES, run, 1, points, NULL);
    free(points);
    return status;
}

static dn_status find_width(const struct work *work, const dn_run *run) {
    double width;
    return dni_basis_width(work->rows, run, 1, &width, NULL);
}

/* Checks that there are at least as many polls as the operations require, in addition to
 * `others`. */
static void stops(const char *name, work_fn fn, const struct work *work, double operations,
                  size_t others) {
    struct looks looks = {0};
    refusing allocator;
    refusing_init(&allocator, 0);
    dn_run run = dn_run_default();
    run.stop = look;
    run.ctx = &looks;
    run.allocator = &allocator.allocator;
    assert_int_equal(fn(work, &run), DN_OK);
    const size_t all = looks.n;
    if (!((double)all >= (double)others + operations / BETWEEN)) {
        fail_msg("%s: %zu looks at stop, %g operations", name, all, operations);
    }
    const size_t at[] = {1, 2, all / 4, all / 3, all / 2, all - 1, all};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        looks = (struct looks){.stop_at = at[k] == 0 ? 1 : at[k]};
        size_t wanted = looks.stop_at;
        assert_int_equal(fn(work, &run), DN_ERR_STOPPED);
        assert_int_equal(looks.n, wanted);
        assert_int_equal(allocator.live, 0);
    }
}

static void wide_bases(void **state) {
    (void)state;
    chunked source;
    make_table(&source);
    size_t columns[COLUMNS + 1];
    for (size_t c = 0; c <= COLUMNS; c++) {
        columns[c] = c;
    }
    const double row = FREQUENCIES * (2.0 * COLUMNS + 32), pass = ROWS * row;
    dn_basis_spec basis = {.kind = DN_BASIS_RANDOM_FOURIER, .n_features = MANY_WAVES, .width = 1};
    struct work work = {
        .source = &source.source,
        .spec = {.columns = columns, .n_columns = COLUMNS, .bases = &basis, .n_bases = 1}};
    dn_encoder *encoder = NULL;
    stops("waves", fit_encoder, &work, 64.0 * MANY_WAVES * COLUMNS, 1);
    basis.n_features = FREQUENCIES;
    work.spec.standardize = true;
    stops("moments", fit_encoder, &work, 2 * pass, 4);
    work.spec.standardize = false;
    assert_int_equal(dn_encoder_fit(&source.source, &work.spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_OK);
    work.encoder = encoder;
    stops("rows in memory", rows_in_memory, &work, pass, 1);
    stops("streamed rows", rows_streamed, &work, pass, 0);
    dn_encoder_unref(encoder);
    chunked_done(&source);
}

/* A categorical input with many levels makes the rows sparse. */
static void sparse_rows(void **state) {
    (void)state;
    enum { POINTS = 400 };
    chunked source;
    make_table(&source);
    static double points[POINTS * COLUMNS];
    size_t columns[COLUMNS + 1], numbers[COLUMNS];
    for (size_t c = 0; c <= COLUMNS; c++) {
        columns[c] = c;
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        numbers[c] = c;
    }
    dn_basis_spec basis = {.kind = DN_BASIS_DISTANCE,
                           .columns = numbers,
                           .n_columns = COLUMNS,
                           .points = points,
                           .n_points = POINTS};
    struct work work = {
        .source = &source.source,
        .spec = {.columns = columns, .n_columns = COLUMNS + 1, .bases = &basis, .n_bases = 1}};
    dn_encoder *encoder = NULL;
    assert_int_equal(dn_encoder_fit(&source.source, &work.spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_OK);
    assert_true(dn_encoder_n_features(encoder) > 4 * (POINTS + 1)); /* makes the rows sparse */
    work.encoder = encoder;
    stops("sparse rows", rows_in_memory, &work, ROWS * POINTS * (3.0 * COLUMNS + 32), 1);
    stops("streamed sparse rows", rows_streamed, &work, ROWS * POINTS * (3.0 * COLUMNS + 32), 0);
    dn_encoder_unref(encoder);
    chunked_done(&source);
}

static void centres_and_widths(void **state) {
    (void)state;
    enum { MANY = 4000 };
    double *x = calloc(MANY * COLUMNS, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < MANY * COLUMNS; i++) {
        x[i] = sin((double)i * 1.7) * cos((double)i * 0.3);
    }
    struct work work = {0};
    assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(x, MANY, COLUMNS), NULL, NULL, &work.rows,
                                         NULL),
                     DN_OK);
    const double row = 3.0 * COLUMNS;
    /* two polls for each centre and one for each round, of which there is at least one */
    stops("centres", find_centres, &work, MANY * row * CENTRES, 2 * CENTRES + 1);
    stops("width", find_width, &work, DNI_WIDTH_ROWS * DNI_WIDTH_ROWS / 2 * row, 2);
    dn_rows_free(work.rows);
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(wide_bases), cmocka_unit_test(sparse_rows),
                                       cmocka_unit_test(centres_and_widths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
