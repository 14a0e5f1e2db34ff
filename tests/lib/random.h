/* Random numbers that are the same at every run. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* Returns a number from 0 to below 1, and moves the state on: a linear congruential generator. */
static inline double random_unit(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

#endif
