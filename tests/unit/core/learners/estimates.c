#include "unit/core/learners/estimates.h"

static void *usage_allocate(void *ctx, size_t size) {
    struct usage *u = ctx;
    max_align_t *block = malloc(sizeof *block + size);
    assert_non_null(block);
    *(size_t *)block = size;
    u->now += size;
    u->most = u->now > u->most ? u->now : u->most;
    return block + 1;
}

static void usage_release(void *ctx, void *p) {
    struct usage *u = ctx;
    if (p != NULL) {
        max_align_t *block = (max_align_t *)p - 1;
        u->now -= *(size_t *)block;
        free(block);
    }
}

void assert_estimate(const dn_rows *rows, size_t K, double n_entries, bool counted,
                     const dn_params *p, const char *what) {
    const double most = 1.5;
    struct usage usage = {0};
    dn_allocator allocator = {.allocate = usage_allocate,
                              .release = usage_release,
                              .ctx = &usage,
                              .budgeted = true};
    dn_run run = dn_run_default();
    struct fit fit;
    dn_error err = {0};
    run.allocator = &allocator;
    if (fit_rows(rows, K, p, &run, &fit, &err) != DN_OK) {
        fail_msg("%s: %s", what, err.message);
    }
    const double machine = fmax(0, dni_machine_memory(fit.out.machine) - 128); /* its arrays */
    fit_done(&fit);
    const dn_fit_shape shape = {.n_rows = rows->n_rows,
                                .n_features = rows->n_cols,
                                .n_classes = K,
                                .n_slots = 1,
                                .n_entries = n_entries,
                                .counted = counted};
    const double estimate = p->algorithm->memory(p, &shape), peak = (double)usage.most;
    if (estimate < peak || estimate > most * (peak + machine)) {
        fail_msg("%s, %zu rows, %zu columns, %zu classes: estimate %.0f, peak %.0f (%.2f times)",
                 what, rows->n_rows, rows->n_cols, K, estimate, peak, estimate / peak);
    }
    assert_int_equal(usage.now, 0);
}

dn_params *params_of_words(const char *algorithm, const char *words) {
    char text[256];
    dn_params *p;
    assert_true(strlen(words) < sizeof text);
    strcpy(text, words);
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        char *value = strchr(word, '='), *end;
        assert_non_null(value);
        *value++ = '\0';
        const double number = strtod(value, &end);
        if (*end == '\0') {
            OK(dn_params_set_number(p, word, number, NULL));
        } else {
            OK(dn_params_set_word(p, word, value, NULL));
        }
    }
    OK(dn_params_check(p, NULL));
    return p;
}

void assert_estimates(const char *algorithm, const char *const *words, size_t n_words,
                      size_t max_classes) {
    enum { N = 5000, MOST_D = 60 };
    for (size_t d = 3; d <= MOST_D; d += MOST_D - 3) {
        for (size_t K = 2; K <= max_classes; K++) {
            struct csv *t = csv_clouds(N, d, K);
            size_t *start = xcalloc(N + 1, sizeof *start), entries = 0;
            uint32_t *cols = xcalloc(N * d, sizeof *cols);
            double *values = xcalloc(N * d, sizeof *values);
            for (size_t i = 0; i < N; i++) {
                for (size_t j = i % 5; j < d; j += 5) {
                    cols[entries] = (uint32_t)j;
                    values[entries++] = t->x[i * d + j];
                }
                start[i + 1] = entries;
            }
            dn_rows *dense, *sparse;
            OK(dn_rows_from_matrix(dn_matrix_dense(t->x, N, d), t->target, NULL, &dense, NULL));
            OK(dn_rows_from_matrix(dn_matrix_csr(start, cols, values, N, d), t->target, NULL,
                                   &sparse, NULL));
            for (size_t i = 0; i < n_words; i++) {
                dn_params *p = params_of_words(algorithm, words[i]);
                assert_estimate(dense, K, (double)INFINITY, false, p, words[i]);
                assert_estimate(sparse, K, (double)entries, false, p, words[i]);
                dn_params_free(p);
            }
            dn_rows_free(dense);
            dn_rows_free(sparse);
            free(start);
            free(cols);
            free(values);
            csv_free(t);
        }
    }
}
