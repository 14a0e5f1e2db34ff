#include "unit/core/learners/svm/kernel/kernel_machines.h"

dn_params *kernel_params(const char *algorithm, const char *kernel) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_word(p, "kernel", kernel, NULL));
    return p;
}

void fit_matrix(dn_matrix x, const double *target, const double *weight, const dn_params *p,
                struct fit *fit) {
    dn_rows *rows;
    dn_error err;
    const dn_run run = dn_run_default();
    dn_error_clear(&err);
    OK(dn_rows_from_matrix(x, target, weight, &rows, NULL));
    if (fit_rows(rows, 2, p, &run, fit, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    dn_rows_free(rows);
}

struct problem clouds(size_t n, size_t d) {
    struct csv *t = csv_clouds(n, d, 2);
    double *z = standardised(t->x, n, d, NULL, NULL);
    struct problem p = problem_of(z, t->target, NULL, n, d, false);
    free(z);
    csv_free(t);
    return p;
}
