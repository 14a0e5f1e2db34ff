/* Models of three blobs in a plane and others, and what predict answers of them: what tests of
 * ?output= share. */
#ifndef TESTS_API_OUTPUTS_H
#define TESTS_API_OUTPUTS_H

#include "lib/api.h"

#define EVERYTHING "label,probabilities,scores,distance,contributions,ambiguous,log_density"

extern char *grid; /* instances in a plane with three blobs, as a body: x and y from −3 in 41 steps
                      of 0.25, y the faster */
extern char *flowers; /* iris without its classes, as a body */
extern size_t n_grid, n_flowers;

/* Fixtures. Datasets: iris, breast_cancer, blobs (x, y, class: a, b or c), mixed (size, colour,
 * ok). Models, logistic regressions: iris, cancer (of breast_cancer), mixed; of blobs softmax,
 * rest, rest_strict, rest_strict_less (K − 1 discriminants), pairs, pairs_strict. And mixed_bayes.
 */
int outputs_open(void **state);
int outputs_close(void **state);

void train_as(const char *model, const char *dataset, const char *target, const char *algorithm,
              const char *params);
const struct response *predict(const char *model, const char *outputs,
                               const char *body); /* fails the test unless it is 200 */
const struct response *weights_of(const char *model);

double item(const json_t *array, size_t i);               /* must be a number */
const json_t *row_of(const struct response *a, size_t i); /* a prediction */
size_t class_of(const struct response *a,
                const json_t *label); /* the place of a label among the classes; SIZE_MAX: null */
void expect_sums(const struct response *a); /* contributions are, with the intercept, the scores */

#endif
