/* Compares the estimated memory of a fit with the memory that the fit allocates. */
#ifndef TESTS_CORE_LEARNERS_ESTIMATES_H
#define TESTS_CORE_LEARNERS_ESTIMATES_H

#include "unit/core/support.h"

/* Bytes in use; each block is preceded by its size. */
struct usage {
    size_t now, most;
};

/* Fits p to the rows and asserts that the estimate is between the peak of the memory in use and
 * 1.5 times that peak and the machine, which the estimates of some methods include.
 *
 *   n_entries  stored numbers of sparse rows, INFINITY for dense ones
 *   counted    dn_fit_shape.counted */
void assert_estimate(const dn_rows *rows, size_t K, double n_entries, bool counted,
                     const dn_params *p, const char *what);

/* Parameters of a method from words "name=value", separated by spaces. */
dn_params *params_of_words(const char *algorithm, const char *words);

/* Checks the estimate for each text of parameters, with two and three classes, few and many
 * columns, dense rows and sparse rows. Sparse rows store every fifth number. */
void assert_estimates(const char *algorithm, const char *const *words, size_t n_words,
                      size_t max_classes);

#endif
