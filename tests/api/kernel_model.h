/* A model of machines with a kernel, and all that is known of its rows without it. */
#ifndef TESTS_API_KERNEL_MODEL_H
#define TESTS_API_KERNEL_MODEL_H

#include "kernel_rows.h"
#include "lib/api.h"

struct kernel_model {
    /* the caller's */
    enum view_kind kind;
    const struct kernel_rows *rows;
    double v[TRAINED]; /* how much the rows count: weights of rows and classes */
    /* found by training */
    const struct response *job, *weights,
        *predictions; /* of all rows: label, scores, distance, contributions */
    const struct view *view;
    size_t same[TRAINED];           /* the first row of the same class that is like it */
    double K[ROWS][TRAINED];        /* of all rows and the training rows, by definition */
    size_t row_of_support[TRAINED]; /* the row that a support vector is */
    size_t n_support;
};

/* Trains model "m": `params` are further members of the parameters (",'C':1"), `more` of the job.
 * What it says of its kernel and its features must be what was asked for, and its support vectors
 * rows. */
void kernel_model_train(struct kernel_model *p, const char *dataset, const char *kernel,
                        const char *features, const char *params, const char *more);

#endif
