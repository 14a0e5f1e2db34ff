/* Models for the tests of ?output=, and checks of predict's answers. */
#ifndef TESTS_API_OUTPUTS_H
#define TESTS_API_OUTPUTS_H

#include "lib/api.h"

#define EVERYTHING "label,probabilities,scores,distance,contributions,ambiguous,log_density"

/* body of predict for the blobs: x and y from −3 in 41 steps of 0.25, y changes fastest */
extern char *grid;
extern char *flowers; /* body of predict: iris without its classes */
extern size_t n_grid, n_flowers;

/* Fixtures. Datasets: iris, breast_cancer, blobs (x, y, class: a, b or c), mixed (size, colour,
 * ok). Models by logistic regression: iris, cancer (of breast_cancer), mixed; of blobs softmax,
 * rest, rest_strict, rest_strict_less (K − 1 discriminants), pairs, pairs_strict. By naive Bayes:
 * mixed_bayes. */
int outputs_open(void **state);
int outputs_close(void **state);

void train_as(const char *model, const char *dataset, const char *target, const char *algorithm,
              const char *params);
const struct response *predict(const char *model, const char *outputs,
                               const char *body); /* fails the test unless the status is 200 */
const struct response *weights_of(const char *model);

double item(const json_t *array, size_t i);               /* must be a number */
const json_t *row_of(const struct response *a, size_t i); /* a prediction */
size_t class_of(const struct response *a,
                const json_t *label); /* index of a label among the classes; SIZE_MAX: null */
/* the contributions and the intercept sum up to each score */
void expect_sums(const struct response *a);

#endif
