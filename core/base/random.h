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

/* Different streams of one seed give independent numbers: one stream for each use in a training
 * (split, start, order). */
void dni_random_init(dni_random *random, uint64_t seed, uint64_t stream);
uint64_t dni_random_next(dni_random *random);
/* Uniform in [low, high). */
double dni_random_uniform(dni_random *random, double low, double high);
/* Uniform in 0 … n - 1, without bias; n > 0. */
size_t dni_random_below(dni_random *random, size_t n);
/* Returns true with probability left/among: whether to draw the next of `among` remaining items
 * when `left` of them must be drawn. Source: selection sampling, Knuth, TAOCP 2, section 3.4.2,
 * algorithm S. */
bool dni_random_draws(dni_random *random, size_t left, size_t among);
/* Shuffles order[n] (Fisher–Yates). */
void dni_random_shuffle(dni_random *random, size_t *order, size_t n);

#endif
