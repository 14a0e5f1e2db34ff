/* A sample of numbers of bounded size, from which ranks are estimated. Private to formats.
 *
 * The numbers are divided into groups of 2^height consecutive numbers. One number of each group is
 * kept and represents the group. When `capacity` numbers are kept, one of each pair is removed and
 * the height increases by 1. The choice depends on a hash of the position in the column, so the
 * sample depends only on the sequence of the numbers. In a long column most numbers are skipped:
 * the cost is about 1/2^height steps for each number. */
#ifndef FORMATS_NUMBER_SAMPLE_H
#define FORMATS_NUMBER_SAMPLE_H

#include "formats/summary/number_tally.h"

enum { NUMBER_SAMPLE_MIN = 256, NUMBER_SAMPLE_MAX = 8192 }; /* limits of `capacity` */

struct number_sample {
    size_t capacity; /* a power of two */
    unsigned height;
    size_t n_kept;  /* number of kept numbers, one of each complete group; below capacity */
    int64_t n_open; /* number of numbers in the incomplete group so far */
    int64_t pick;   /* index in the incomplete group of the number that will be kept */
    /* picked: the number with the index `pick`, if n_open > pick; last: the number added last */
    double picked, last;
    double kept[]; /* [capacity] the kept numbers */
};

/* Bytes of a sample with this capacity. */
#define NUMBER_SAMPLE_MEMORY(capacity) (sizeof(struct number_sample) + (capacity) * sizeof(double))
/* Returns NULL if out of memory. */
struct number_sample *number_sample_new(size_t capacity);
void number_sample_free(struct number_sample *s);
size_t number_sample_memory(const struct number_sample *s); /* 0 if s is NULL */
/* Adds n numbers, none of them NaN. */
void number_sample_add(struct number_sample *s, const double *x, size_t n);
/* Adds a number `times` times. Cost: O(capacity) for each increase of the height. */
void number_sample_add_times(struct number_sample *s, double x, int64_t times);
/* Returns how many numbers were added. */
int64_t number_sample_n(const struct number_sample *s);
/* Returns the numbers of the sample in ascending order, malloc'ed; *n: their number. The sum of
 * their counts is number_sample_n. Returns NULL if out of memory. */
struct number_count *number_sample_list(const struct number_sample *s, size_t *n);
/* Returns the error of ranks computed from number_sample_list, as a fraction of the number of
 * values. The probability that one of 27 ranks has a larger error is at most 1e-6, if the numbers
 * were chosen independently of the hash (Hoeffding 1963). */
double number_sample_error(const struct number_sample *s);

#endif
