/* Edit distances against the table of Wagner and Fischer; the kernel of texts. */
#include "unit/core/kernels/plain.h"

#include "kernels/edit.h"

enum { LONGEST = 1300, SYMBOLS = 5 };

/* Returns the edit distance of the sequences a [m] and b [n]. Computes the table row by row. */
static size_t plain_edits(const uint32_t *a, size_t m, const uint32_t *b, size_t n) {
    size_t line[LONGEST + 1];
    for (size_t j = 0; j <= n; j++) {
        line[j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        size_t corner = line[0];
        line[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t changed = corner + (a[i - 1] != b[j - 1]),
                   less = line[j] < line[j - 1] ? line[j] : line[j - 1];
            corner = line[j];
            line[j] = changed < less + 1 ? changed : less + 1;
        }
    }
    return line[n];
}

/* Returns the sequence with some characters changed, omitted or added. Symbols >= SYMBOLS are not
 * in the alphabet, and differ from each other. */
static size_t mutate(dni_random *random, const uint32_t *from, size_t n, uint32_t *to) {
    size_t m = 0;
    for (size_t i = 0; i < n && m + 2 < LONGEST; i++) {
        const size_t what = dni_random_below(random, 20);
        if (what != 0) {
            to[m++] = what == 1 ? (uint32_t)dni_random_below(random, SYMBOLS) : from[i];
        }
        if (what == 2) {
            to[m++] = (uint32_t)dni_random_below(random, SYMBOLS);
        }
    }
    return m;
}

static void distances(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 63, 64, 65, 128, 130, 200, 511, 512, 513, 700, 1100};
    static uint32_t a[LONGEST], b[LONGEST];
    double *work = xcalloc(dni_edit_work(SYMBOLS, LONGEST), sizeof *work);
    dni_random random;
    dni_random_init(&random, 1, 0);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        dni_edit edit;
        for (size_t i = 0; i < lengths[l]; i++) {
            a[i] = (uint32_t)dni_random_below(&random, SYMBOLS);
        }
        dni_edit_begin(&edit, a, lengths[l], SYMBOLS, work);
        for (size_t other = 0; other < sizeof lengths / sizeof lengths[0];
             other++) { /* compares one pattern with several texts */
            size_t n = lengths[other];
            if (other % 2 == 0 && n > 0) {
                n = mutate(&random, a, lengths[l], b);
            } else {
                for (size_t i = 0; i < n; i++) {
                    b[i] = (uint32_t)dni_random_below(&random, SYMBOLS);
                }
            }
            assert_int_equal(dni_edit_distance(&edit, b, n), plain_edits(a, lengths[l], b, n));
        }
    }
    free(work);
}

/* Characters outside the alphabet equal no character, not even each other. */
static void unknown(void **state) {
    (void)state;
    const uint32_t pattern[] = {0, 9, 1, 2}, text[] = {0, 9, 1, 2};
    double *work = xcalloc(dni_edit_work(SYMBOLS, 4), sizeof *work);
    dni_edit edit;
    dni_edit_begin(&edit, pattern, 4, SYMBOLS, work);
    assert_int_equal(dni_edit_distance(&edit, text, 4), 1);
    free(work);
}

/* ---- points ---- */
static size_t characters(const struct rows *r, size_t i, uint32_t *to) {
    size_t n = 0;
    for (size_t j = 0; j < r->d; j++) {
        if (r->x[i * r->d + j] != 0) {
            to[n++] = (uint32_t)r->x[i * r->d + j];
        }
    }
    return n;
}

static double plain_text_value(const dn_kernel *kernel, const struct rows *x, size_t i,
                               const struct rows *z, size_t j) {
    uint32_t a[LONGEST], b[LONGEST];
    size_t m = characters(x, i, a), n = characters(z, j, b);
    return exp(-(double)plain_edits(a, m, b, n) / (2 * kernel->width * kernel->width));
}

static void kernel_of_texts(void **state) {
    (void)state;
    enum { N = 70, D = 150 };
    struct rows r = rows_make(ROWS_TEXT, N, D, 1), q = rows_make(ROWS_TEXT, 17, D, 2);
    const dn_kernel kernel = {.type = DN_KERNEL_DISTANCE,
                              .metric = DN_METRIC_EDIT,
                              .width = 5,
                              .n_features = D};
    float gram[N * N];
    double exact[N], queried[17 * N], distance[N];
    q.x[3] = 0x1F643; /* no point has it */
    q.row_start[0] = 0;
    q.n_entries = 0;
    free(q.row_start);
    free(q.cols);
    free(q.values);
    rows_index(&q);
    for (int sparse = 0; sparse < 2; sparse++) {
        dni_points *points = points_of(&kernel, sparse ? rows_csr(&r) : rows_dense(&r), NULL),
                   *some;
        double *work = xcalloc(dni_points_query_work(points), sizeof *work);
        const uint32_t list[] = {7, 4, 1};
        OK(dni_points_gram(points, NULL, gram, NULL, NULL));
        OK(dni_points_select(points, list, 3, NULL, &some, NULL));
        for (size_t i = 0; i < N; i++) {
            dni_points_row_exact(points, i, 0, N, exact, work);
            dni_points_distances(points, i, 0, N, distance, work);
            assert_true(dni_points_self(points, i) == 1 && exact[i] == 1);
            for (size_t j = 0; j < N; j++) {
                assert_value(exact[j], plain_text_value(&kernel, &r, i, &r, j), 1, 1e-15);
                assert_value(exp(-distance[j] / 50), exact[j], 1, 1e-15);
                assert_true(gram[i * N + j] == gram[j * N + i] &&
                            fabs((double)gram[i * N + j] - exact[j]) < 1e-6);
            }
        }
        dni_points_row_exact(points, 4, 7, 1, exact, work);
        dni_points_row_exact(some, 1, 0, 1, exact + 1, work);
        assert_true(exact[0] == exact[1]);
        for (int as = 0; as < 2; as++) {
            OK(dni_points_query(points, as ? rows_csr(&q) : rows_dense(&q), true, NULL, queried,
                                work, NULL));
            for (size_t i = 0; i < 17; i++) {
                for (size_t j = 0; j < N; j++) {
                    assert_value(queried[i * N + j], plain_text_value(&kernel, &q, i, &r, j), 1,
                                 1e-15);
                }
            }
        }
        dni_points_free(some);
        dni_points_free(points);
        free(work);
    }
    rows_free(&r);
    rows_free(&q);
}

/* Long texts: the stop is polled after a few pairs. */
static void long_texts(void **state) {
    (void)state;
    enum { N = 40, D = 3000 };
    struct rows r = rows_make(ROWS_TEXT, N, D, 1);
    const dn_kernel kernel = {.type = DN_KERNEL_DISTANCE,
                              .metric = DN_METRIC_EDIT,
                              .width = 50,
                              .n_features = D};
    dni_points *points = points_of(&kernel, rows_csr(&r), NULL);
    struct polls polls = {0};
    const dn_run run = polls_run(&polls);
    float gram[N * N];
    double row[N], queried[N], *work = xcalloc(dni_points_work(points), sizeof *work);
    assert_true(dni_points_step(points) < 40);
    OK(dni_points_gram(points, &run, gram, NULL, NULL));
    assert_true(polls.n > N / 8);
    dni_points_row_exact(points, 7, 0, N, row, work);
    for (size_t j = 0; j < N; j++) {
        assert_true(fabs((double)gram[7 * N + j] - row[j]) < 1e-6);
    }
    free(work);
    work = xcalloc(dni_points_query_work(points), sizeof *work);
    polls.n = 0;
    OK(dni_points_query(points, dn_matrix_rows(rows_csr(&r), 7, 1), true, &run, queried, work,
                        NULL));
    assert_true(polls.n == (N + dni_points_step(points) - 1) / dni_points_step(points) &&
                memcmp(queried, row, sizeof row) == 0);
    polls = (struct polls){.stop_at = 2};
    assert_int_equal(dni_points_query(points, dn_matrix_rows(rows_csr(&r), 9, 1), true, &run,
                                      queried, work, NULL),
                     DN_ERR_STOPPED);
    assert_int_equal(polls.n, 2);
    dni_points_free(points);
    free(work);
    rows_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(unknown),
        cmocka_unit_test(kernel_of_texts),
        cmocka_unit_test(long_texts),
    };
    return cmocka_run_group_tests_name("texts", tests, NULL, NULL);
}
