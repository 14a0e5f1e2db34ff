/* Kernel rows for the solver: the same values for any cache size, and never more memory than
 * allowed. */
#include "base/layout.h"
#include "base/random.h"
#include "learners/shared/smo/smo_rows.h"
#include "unit/core/support.h"

enum { N = 300, D = 3, ROUNDS = 2000 };

/* Bytes requested: now in use, and the peak. */
struct requests {
    size_t now, most;
};

static void *allocate(void *ctx, size_t size) {
    struct requests *a = ctx;
    max_align_t *p = malloc(size + sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    memcpy(p, &size, sizeof size);
    a->now += size;
    a->most = a->now > a->most ? a->now : a->most;
    return p + 1;
}

static void release(void *ctx, void *memory) {
    size_t size;
    if (memory == NULL) {
        return;
    }
    memcpy(&size, (max_align_t *)memory - 1, sizeof size);
    ((struct requests *)ctx)->now -= size;
    free((max_align_t *)memory - 1);
}

static dni_points *points_new(void) {
    static double x[N * D];
    dni_random random;
    dni_points *points;
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 1, .n_features = D};
    dni_random_init(&random, 1, 1);
    for (size_t k = 0; k < (size_t)N * D; k++) {
        x[k] = dni_random_uniform(&random, -2, 2);
    }
    OK(dni_points_new(&kernel, N, SIZE_MAX, NULL, &points, NULL));
    dni_points_add(points, dn_matrix_dense(x, N, D));
    OK(dni_points_end(points, NULL));
    return points;
}

/* Requests rows in random order with a varying active set and compares each row with the Gram
 * matrix. */
static void walk(const dni_points *points, const float *gram, double cache_bytes,
                 struct requests *requests) {
    const dn_allocator allocator = {.allocate = allocate, .release = release, .ctx = requests};
    const dni_gram none = {.n = N};
    dn_run run = dn_run_default();
    dni_smo_rows *rows;
    uint32_t list[N], active[N];
    size_t n = N;
    dni_random random;
    dni_random_init(&random, 2, 1);
    run.allocator = &allocator;
    for (uint32_t i = 0; i < N; i++) {
        list[i] = active[i] = i;
    }
    OK(dni_smo_rows_new(points, &none, list, N, cache_bytes, &run, &rows, NULL));
    /* 65,536 bytes for the scratch of one row. */
    assert_true((double)requests->now <= dni_smo_rows_memory(N, cache_bytes) + 65536);
    for (size_t round = 0; round < ROUNDS; round++) {
        /* Shrink the active set, and restore it when few variables are left. */
        if (round % 200 == 199) {
            size_t left = 0;
            for (size_t k = 0; k < n && n > 40; k++) {
                if (k % 3 != 0) {
                    active[left++] = active[k];
                }
            }
            for (uint32_t i = 0; i < N && left == 0; i++) {
                active[i] = i;
            }
            n = left == 0 ? N : left;
            OK(dni_smo_rows_activate(rows, active, n, NULL));
        }
        const size_t at =
            (size_t)(dni_random_uniform(&random, 0, 1) * (double)(round % 2 == 0 ? n : n / 10));
        const double *row;
        OK(dni_smo_rows_get(rows, active[at], &row, NULL));
        for (size_t k = 0; k < n; k++) {
            assert_true(row[k] == (double)gram[active[at] * N + active[k]]);
        }
    }
    dni_smo_rows_free(rows);
    assert_int_equal(requests->now, 0);
}

static void what_is_kept(void **state) {
    (void)state;
    static const double sizes[] = {0,     4 * (N - 1), 4 * N,     4 * N + 600,
                                   8 * N, 40 * N,      4 * N * N, 1e9};
    dni_points *points = points_new();
    float *gram = xcalloc((size_t)N * N, sizeof *gram);
    double *work = xcalloc(dni_points_work(points), sizeof *work);
    struct requests without = {0};
    for (size_t i = 0; i < N; i++) {
        dni_points_row(points, i, 0, N, gram + i * N, work);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct requests requests = {0};
        walk(points, gram, sizes[i], &requests);
        if (i == 0) {
            without = requests;
        }
        assert_true((double)requests.most <= (double)without.most + sizes[i] + DNI_LAYOUT_ALIGN);
    }
    dni_points_free(points);
    free(gram);
    free(work);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
