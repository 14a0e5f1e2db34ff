/* Made-up rows that a test knows as every kernel sees them: numbers, texts by their words and
 * characters, graphs by their paths, sparse entries, a matrix of kernel values. All by definition,
 * from what the rows were made of: nothing is taken from the daemon. */
#ifndef TESTS_API_KERNEL_ROWS_H
#define TESTS_API_KERNEL_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* DIFFERENT rows, some of them once more, then rows that no training sees. */
enum { DIFFERENT = 60, TRAINED = 66, ROWS = 86 };

/* Uploads the datasets "table" (x1 … x4, note, edges, v, class: a, b or c), "entries" and "bits"
 * (svmlight, classes −1 and 1) and "gram" (k0 …, v, class: a or b). */
void kernel_rows_upload(void);

struct kernel_rows {
    size_t class_[ROWS]; /* ascending, as the dataset has them */
    double v[TRAINED];   /* column "v"; some are 0 */
    size_t n_classes;
};
const struct kernel_rows *kernel_rows_of(const char *dataset);

enum view_kind {
    VIEW_NUMBERS,
    VIEW_COUNTS, /* of words */
    VIEW_BINARY,
    VIEW_TFIDF,
    VIEW_SET,
    VIEW_HASHED, /* counts in 64 buckets */
    VIEW_HASHED_TFIDF,
    VIEW_MIXED, /* numbers and counts */
    VIEW_CHARACTERS,
    VIEW_PATHS_1, /* of so many labels at most */
    VIEW_PATHS_2,
    VIEW_PATHS_3,
    VIEW_ENTRIES,
    VIEW_BITS,
    VIEW_PLACES /* of kernel_gram */
};

/* The rows' features. */
struct view {
    size_t d;
    const char **names;   /* [d] */
    double *raw, *x;      /* [ROWS × d] in the columns' units, and with numbers standardised */
    double *mean, *scale; /* [d] of the latter: 0 and 1 of features that are not standardised */
};
/* v [TRAINED]: how much each of the training rows counts. */
const struct view *view_of(enum view_kind kind, const double *v);

/* A body for predict, with its content type: the columns that a view is of, all ROWS. */
const char *kernel_rows_body(enum view_kind kind, const char **type);

/* K of a row and a training row in dataset "gram". */
double kernel_gram(size_t row, size_t trained);

#endif
