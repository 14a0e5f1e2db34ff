/* The candidates that suit a table: what "candidates": "auto" stands for. The manual
 * (jobs-and-models.md) has the same list. */
#include "jobs/request/search/job_search.h"

#include <math.h>

/* Limits within which a family is tried: rows and features, and their product. */
#define MAX_GAUSSIAN_FEATURES 1000
#define MAX_KERNEL_ROWS 10000
#define MAX_KERNEL_FEATURES 1000
#define MAX_NEIGHBOUR_ROWS 20000
#define MAX_NEIGHBOUR_FEATURES 100
#define MAX_NETWORK_ROWS 50000
#define MAX_NETWORK_FEATURES 1000
#define MAX_PAIRS_INPUTS 20 /* inputs of which all products are features */

static size_t count_numbers(const struct jobs_request *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_inputs; i++) {
        n += dn_column_type_is_real(r->inputs[i].type) || r->inputs[i].type == DN_BOOLEAN;
    }
    return n;
}

static void add(struct buf *out, const char *candidate) {
    buf_puts(out, out->size > 0 ? "," : "[");
    buf_puts(out, candidate);
}

/* Adds kernel machines with widths around the typical distance of standardised rows, the square
 * root of twice the number of features. */
static void add_kernels(double features, struct buf *out) {
    const double scale = sqrt(2 * fmax(features, 1));
    buf_puts(out, out->size > 0 ? "," : "[");
    buf_printf(out,
               "{\"algorithm\":\"svm\",\"params\":{\"kernel\":{\"type\":\"rbf\",\"width\":[%g,%g,"
               "%g]},\"C\":[0.1,1,10,100],\"calibrate\":\"platt\"}}",
               scale / 4, scale / 2, scale);
}

static void add_dense(const struct jobs_request *r, struct buf *out) {
    const double rows = (double)(r->data.n_rows - r->target_missing),
                 features = (double)r->n_features;
    const size_t numbers = count_numbers(r);
    add(out, "{\"algorithm\":\"naive_bayes\",\"params\":{\"smoothing\":1,\"variance_floor\":"
             "[0.1,0.001,1e-09]}}");
    if (features <= MAX_GAUSSIAN_FEATURES) {
        add(out, "{\"algorithm\":\"gaussian\",\"params\":{\"covariance\":[\"shared\",\"full\"],"
                 "\"shrinkage\":[0.9,0.5,0.1,0.01]}}");
    }
    if (numbers >= 2 && numbers <= MAX_PAIRS_INPUTS && rows >= 10 * (double)numbers) {
        add(out, "{\"algorithm\":\"logistic\",\"params\":{\"lambda\":{\"from\":1e-05,\"to\":1,"
                 "\"scale\":\"log\",\"n\":6}},\"features\":{\"basis\":[{\"type\":\"polynomial\","
                 "\"degree\":2}]}}");
    }
    if (rows <= MAX_NEIGHBOUR_ROWS && features <= MAX_NEIGHBOUR_FEATURES) {
        add(out, "{\"algorithm\":\"knn\",\"params\":{\"k\":[61,31,15,7]}}");
    }
    if (rows <= MAX_KERNEL_ROWS && features <= MAX_KERNEL_FEATURES) {
        add_kernels(features, out);
    }
    if (rows <= MAX_NETWORK_ROWS && features <= MAX_NETWORK_FEATURES) {
        add(out, "{\"algorithm\":\"mlp\",\"params\":{\"layers\":[[16],[64]],\"lambda\":[0.01,0.001,"
                 "0.0001]}}");
    }
}

const char *jobs_search_auto(struct jobs_request *r) {
    struct buf out = {0};
    add(&out, "{\"algorithm\":\"logistic\",\"params\":{\"lambda\":{\"from\":1e-06,\"to\":1,"
              "\"scale\":\"log\",\"n\":13}}}");
    if (r->n_entries > 0) { /* words or sparse columns */
        add(&out, "{\"algorithm\":\"naive_bayes\",\"params\":{\"numeric\":\"multinomial\","
                  "\"smoothing\":[10,1,0.1,0.01]}}");
        add(&out, "{\"algorithm\":\"svm\",\"params\":{\"C\":[0.01,0.1,1,10],\"calibrate\":"
                  "\"platt\"}}");
    } else {
        add_dense(r, &out);
    }
    buf_putc(&out, ']');
    const char *text = buf_cstr(&out) != NULL ? arena_strdup(r->arena, buf_cstr(&out)) : NULL;
    buf_done(&out);
    if (text == NULL) {
        (void)problem_no_memory(r->problem);
    }
    return text;
}
