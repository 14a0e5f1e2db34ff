/* The rows of a pair of classes: those of the table with one of the two classes, in their order,
 * over several blocks, dense and sparse, with and without weights. */
#include "training/prepared_rows.h"
#include "unit/core/support.h"

enum { N = 9001, D = 3, K = 6 };

struct rows_table {
    double x[N * D], target[N], weight[N], values[N * D];
    uint32_t cols[N * D];
    size_t start[N + 1];
};

/* Class 5 has one row, the last; entry (i, j) is 0 if i + j is divisible by 3. */
static struct rows_table *make_table(void) {
    struct rows_table *t = xcalloc(1, sizeof *t);
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        t->target[i] = i + 1 == N ? 5 : (double)((i * 7 + i / 13) % 5);
        t->weight[i] = 1 + (double)(i % 4);
        for (size_t j = 0; j < D; j++) {
            if ((i + j) % 3 == 0) {
                continue;
            }
            t->x[i * D + j] = t->values[n] = (double)(i * D + j);
            t->cols[n++] = (uint32_t)j;
        }
        t->start[i + 1] = n;
    }
    return t;
}

/* Row i of a block as a dense row. */
static void expand(const dn_block *block, size_t i, double *row) {
    memset(row, 0, D * sizeof *row);
    for (size_t j = 0; block->x.kind == DN_DENSE && j < D; j++) {
        row[j] = block->x.values[i * block->x.stride + j];
    }
    for (size_t e = block->x.kind == DN_CSR ? block->x.row_start[i] : 1;
         e < (block->x.kind == DN_CSR ? block->x.row_start[i + 1] : 1); e++) {
        row[block->x.cols[e]] = block->x.values[e];
    }
}

static void check_pair(const struct rows_table *t, const dn_rows *rows, size_t negative,
                       size_t positive, bool weighted) {
    size_t n = 0;
    dn_block block = {0};
    double row[D];
    for (size_t i = 0; i < N; i++) {
        if (t->target[i] != (double)negative && t->target[i] != (double)positive) {
            continue;
        }
        if (n % DN_BLOCK_ROWS == 0) {
            OK(dn_rows_block(rows, n / DN_BLOCK_ROWS, 0, &block, NULL));
        }
        expand(&block, n % DN_BLOCK_ROWS, row);
        assert_memory_equal(row, t->x + i * D, sizeof row);
        assert_true(block.target[n % DN_BLOCK_ROWS] == (t->target[i] == (double)positive));
        assert_true(weighted ? block.weight[n % DN_BLOCK_ROWS] == t->weight[i]
                             : block.weight == NULL);
        n++;
    }
    assert_int_equal(rows->n_rows, n);
}

static void pairs(void **state) {
    (void)state;
    struct rows_table *t = make_table();
    dn_params *params;
    dn_run run = dn_run_default();
    OK(dn_params_new(dn_algorithm_find("svm"), &params, NULL));
    for (size_t kind = 0; kind < 4; kind++) {
        const bool sparse = kind & 1, weighted = kind & 2;
        const dn_matrix x = sparse ? dn_matrix_csr(t->start, t->cols, t->values, N, D)
                                   : dn_matrix_dense(t->x, N, D);
        dni_prepared p = {.n_rows = N, .n_classes = K};
        dni_class_rows index;
        OK(dn_rows_from_matrix(x, t->target, weighted ? t->weight : NULL, &p.rows, NULL));
        OK(dni_class_rows_init(&p, &run, &index, NULL));
        assert_int_equal(index.start[K], N);
        for (size_t a = 0; a < K; a++) {
            for (size_t b = a + 1; b < K; b++) {
                dn_rows *rows;
                OK(dni_prepared_pair(&p, &index, params, a, b, &run, &rows, NULL));
                check_pair(t, rows, a, b, weighted);
                dn_rows_free(rows);
            }
        }
        dni_class_rows_done(&index, &run);
        dn_rows_free(p.rows);
    }
    dn_params_free(params);
    free(t);
}

/* Streamed rows have no index, and neither have rows without memory for it. */
static void no_index(void **state) {
    (void)state;
    struct rows_table *t = make_table();
    struct memory memory = {.fail_at = 1, .left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = dn_run_default();
    dni_prepared p = {.n_rows = N, .n_classes = K, .streamed = true};
    dni_class_rows index;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, N, D), t->target, NULL, &p.rows, NULL));
    OK(dni_class_rows_init(&p, &run, &index, NULL));
    assert_null(index.row);
    p.streamed = false;
    run.allocator = &allocator;
    OK(dni_class_rows_init(&p, &run, &index, NULL));
    assert_null(index.row);
    assert_int_equal(memory.live, 0);
    dni_class_rows_done(&index, &run);
    dn_rows_free(p.rows);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),
        cmocka_unit_test(no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
