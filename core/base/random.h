/* Seeded random numbers: xoshiro256**, seeded by splitmix64. The same seed and stream give the same
 * numbers on every machine. */
#ifndef DNI_RANDOM_H
#define DNI_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dni_random {
    uint64_t state[4]; /* never all zero */
} dni_random;

/* Streams of the run's seed. Different streams of one seed give independent numbers, so each use
 * of random numbers in a training has its own stream. Results depend on the numbers of the
 * streams: never change one. A new use gets a new number below DNI_STREAM_BASES. Methods may share
 * a stream, because a training fits one method. */
enum {
    DNI_STREAM_PIVOTS = 0,        /* pivots in the selection of a quantile; results do not depend on
                                   * them */
    DNI_STREAM_START = 1,         /* start weights: logistic, least squares, perceptron */
    DNI_STREAM_ORDER = 2,         /* order of the rows: stochastic descent, perceptron */
    DNI_STREAM_EIGENVECTOR = 3,   /* start of the power iteration of a linear problem */
    DNI_STREAM_HOLDOUT = 4,       /* held-out rows */
    DNI_STREAM_HOLDOUT_TIES = 5,  /* order of classes with equal remainders (task/split.h) */
    DNI_STREAM_FOLDS = 8,         /* folds of the cross-validation */
    DNI_STREAM_WIDTH = 9,         /* rows that determine the width of a kernel */
    DNI_STREAM_DEFINITE = 10,     /* rows that test whether a kernel is positive semidefinite */
    DNI_STREAM_SHARES = 12,       /* rows of a share of the training rows of a search */
    DNI_STREAM_COORDINATES = 31,  /* order of the rows: coordinate descent of the linear SVM */
    DNI_STREAM_VALIDATION = 40,   /* validation rows of a network */
    DNI_STREAM_NETWORK = 41,      /* start i of a network: 41 + 2i weights, 42 + 2i order of rows */
    DNI_STREAM_REPEATS = 256,     /* repeat i of a cross-validation: 256 + i */
    DNI_STREAM_PERMUTATION = 512, /* orders of the cells of a column: importance.c */
    DNI_STREAM_BOOTSTRAP = 520,   /* sample i: plus i << 16 (compare.c) */
    DNI_STREAM_BASES = 1024,      /* first of four streams for each basis of the encoder
                                  * (basis_fit.c) */
};

/* stream: one of DNI_STREAM_… */
void dni_random_init(dni_random *random, uint64_t seed, uint64_t stream);
uint64_t dni_random_next(dni_random *random);
/* Returns a random number uniformly distributed in [low, high). */
double dni_random_uniform(dni_random *random, double low, double high);
/* Returns a random integer uniformly distributed in 0 … n - 1, without bias; n > 0. */
size_t dni_random_below(dni_random *random, size_t n);
/* Selection sampling: returns true with probability left/among. Call it for each of `among`
 * remaining items, of which `left` must still be selected; true: select the item. Source: Knuth,
 * TAOCP 2, section 3.4.2, algorithm S. */
bool dni_random_draws(dni_random *random, size_t left, size_t among);
/* Shuffles order[n] (Fisher–Yates). */
void dni_random_shuffle(dni_random *random, size_t *order, size_t n);

#endif
