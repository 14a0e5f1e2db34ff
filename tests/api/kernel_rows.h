/* Generated rows and their features for every kernel: numbers, words and characters of texts, paths
 * of graphs, sparse entries, a matrix of kernel values. All features are computed from the values
 * that the rows were made of; nothing is taken from the daemon. */
#ifndef TESTS_API_KERNEL_ROWS_H
#define TESTS_API_KERNEL_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* DIFFERENT different rows, TRAINED − DIFFERENT copies of some of them, then rows that are not used
 * for training. */
enum { DIFFERENT = 60, TRAINED = 66, ROWS = 86 };

/* Uploads the datasets "table" (x1 … x4, note, edges, v, class: a, b or c), "entries" and "bits"
 * (svmlight, classes −1 and 1) and "gram" (k0 …, v, class: a or b). */
void kernel_rows_upload(void);

struct kernel_rows {
    size_t class_[ROWS]; /* classes in ascending order, as in the dataset */
    double v[TRAINED];   /* weights, column "v"; some are 0 */
    size_t n_classes;
};
const struct kernel_rows *kernel_rows_of(const char *dataset);

enum view_kind {
    VIEW_NUMBERS,
    VIEW_COUNTS, /* of words */
    VIEW_BINARY,
    VIEW_TFIDF,
    VIEW_SET,
    VIEW_HASHED, /* word counts hashed into 64 buckets */
    VIEW_HASHED_TFIDF,
    VIEW_MIXED, /* numbers and word counts */
    VIEW_CHARACTERS,
    VIEW_PATHS_1, /* paths of at most 1 label */
    VIEW_PATHS_2,
    VIEW_PATHS_3,
    VIEW_ENTRIES,
    VIEW_BITS,
    VIEW_PLACES /* of kernel_gram */
};

/* The features of all rows. */
struct view {
    size_t d;
    const char **names; /* [d] */
    /* [ROWS × d] features in the columns' units, and with the numbers standardised */
    double *raw, *x;
    /* [d] mean and scale of each feature: 0 and 1 if it is not standardised */
    double *mean, *scale;
};
/* v [TRAINED]: weights of the training rows. */
const struct view *view_of(enum view_kind kind, const double *v);

/* A body for predict and its content type: all ROWS, with the columns that the view uses. */
const char *kernel_rows_body(enum view_kind kind, const char **type);

/* Kernel value of `row` and training row `trained`, as stored in dataset "gram". */
double kernel_gram(size_t row, size_t trained);

#endif
