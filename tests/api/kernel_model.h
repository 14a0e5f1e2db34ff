/* A kernel model trained by the daemon, with kernel values and weights of its rows that the test
 * computes by itself. */
#ifndef TESTS_API_KERNEL_MODEL_H
#define TESTS_API_KERNEL_MODEL_H

#include "kernel_rows.h"
#include "lib/api.h"

struct kernel_model {
    /* the caller's */
    enum view_kind kind;
    const struct kernel_rows *rows;
    double v[TRAINED]; /* weights of the rows, with class weights */
    /* answers of the daemon */
    const struct response *job, *weights,
        *predictions; /* answer of predict for all rows: label, scores, distance, contributions */
    const struct view *view;
    size_t same[TRAINED]; /* first training row of the same class with equal features */
    /* kernel values of all rows and the training rows, computed by definition */
    double K[ROWS][TRAINED];
    size_t row_of_support[TRAINED]; /* number of the training row that a support vector equals */
    size_t n_support;
};

/* Trains model "m": `params` are further members of the parameters (",'C':1"), `more` further
 * members of the job. Checks that the kernel and features in the answers are those of the request,
 * and that each support vector is a training row. */
void kernel_model_train(struct kernel_model *p, const char *dataset, const char *kernel,
                        const char *features, const char *params, const char *more);

#endif
