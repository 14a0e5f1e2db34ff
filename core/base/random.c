/* xoshiro256** (Blackman and Vigna, 2018) and its seeding. */
#include "base/random.h"

static uint64_t rotate_left(uint64_t x, unsigned k) {
    return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void dni_random_init(dni_random *random, uint64_t seed, uint64_t stream) {
    uint64_t mix = stream;
    uint64_t state = seed ^ splitmix(&mix); /* gives neighbouring streams very different states */
    for (size_t i = 0; i < 4; i++) {
        random->state[i] = splitmix(&state);
    }
    random->state[0] |= 1; /* an all-zero state never changes */
}

uint64_t dni_random_next(dni_random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double dni_random_uniform(dni_random *random, double low, double high) {
    double unit = (double)(dni_random_next(random) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}

size_t dni_random_below(dni_random *random, size_t n) {
    /* Values of the last, incomplete group of n are rejected, so that every remainder is equally
     * likely. */
    uint64_t bound = (uint64_t)n;
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value;
    do {
        value = dni_random_next(random);
    } while (value >= limit);
    return (size_t)(value % bound);
}

bool dni_random_draws(dni_random *random, size_t left, size_t among) {
    return left > 0 && dni_random_uniform(random, 0, 1) * (double)among < (double)left;
}

void dni_random_shuffle(dni_random *random, size_t *order, size_t n) {
    for (size_t i = n; i > 1; i--) {
        size_t j = dni_random_below(random, i);
        size_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}
