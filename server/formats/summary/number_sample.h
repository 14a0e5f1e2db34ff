/* A sample of numbers of bounded size, for their ranks. Private to formats.
 *
 * The numbers are divided into groups of 2^height neighbours, and one number of each group is kept
 * and represents it. When `capacity` numbers are kept, one of each pair of them is removed and the
 * height rises by 1. Choices are made by a hash of the position in the column, so the sample
 * depends on the sequence of the numbers only. The cost of a number in a long column is about
 * 1/2^height steps. */
#ifndef FORMATS_NUMBER_SAMPLE_H
#define FORMATS_NUMBER_SAMPLE_H

#include "formats/summary/number_tally.h"

enum { NUMBER_SAMPLE_MIN = 256, NUMBER_SAMPLE_MAX = 8192 }; /* limits of capacity */

struct number_sample {
    size_t capacity; /* a power of two */
    unsigned height;
    size_t n_kept;       /* kept numbers, one of each complete group; below capacity */
    int64_t n_open;      /* numbers of the incomplete group so far */
    int64_t pick;        /* index of the number of that group that is kept */
    double picked, last; /* picked: that number, if n_open > pick; last: the number added last */
    double kept[];       /* [capacity] */
};

/* The memory of a sample with this capacity. */
#define NUMBER_SAMPLE_MEMORY(capacity) (sizeof(struct number_sample) + (capacity) * sizeof(double))
/* NULL: no memory. */
struct number_sample *number_sample_new(size_t capacity);
void number_sample_free(struct number_sample *s);
size_t number_sample_memory(const struct number_sample *s); /* of NULL: 0 */
/* n further numbers, none of them NaN. */
void number_sample_add(struct number_sample *s, const double *x, size_t n);
/* A number `times` times. Cost: O(capacity) for each time that the height rises. */
void number_sample_add_times(struct number_sample *s, double x, int64_t times);
/* How many numbers were added. */
int64_t number_sample_n(const struct number_sample *s);
/* The sample, ascending, malloc'ed, *n of them, their counts add up to number_sample_n; NULL: no
 * memory. */
struct number_count *number_sample_list(const struct number_sample *s, size_t *n);
/* The error of a rank that is read off that list, as a share of all numbers: the probability that
 * any of 27 ranks is farther off is at most 1e-6, for numbers that do not depend on the hash
 * (Hoeffding 1963). */
double number_sample_error(const struct number_sample *s);

#endif
