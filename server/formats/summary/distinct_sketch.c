/* HyperLogLog: registers, the hash of a text, the estimate. */
#include "formats/summary/distinct_sketch.h"

#include <math.h>
#include <stdlib.h>

bool distinct_sketch_init(struct distinct_sketch *s, unsigned bits) {
    uint8_t *rank = calloc((size_t)1 << bits, 1);
    if (rank == NULL) {
        return false;
    }
    *s = (struct distinct_sketch){.rank = rank, .bits = bits, .n_least = UINT32_C(1) << bits};
    return true;
}

void distinct_sketch_done(struct distinct_sketch *s) {
    free(s->rank);
    *s = (struct distinct_sketch){0};
}

size_t distinct_sketch_memory(const struct distinct_sketch *s) {
    return s->rank != NULL ? (size_t)1 << s->bits : 0;
}

/* Recomputes `least` and `n_least` after the last register with the value `least` has changed. Sets
 * `idle`. */
static void find_least(struct distinct_sketch *s) {
    const size_t n = distinct_sketch_memory(s);
    while (s->n_least == 0) {
        s->least++;
        for (size_t i = 0; i < n; i++) {
            s->n_least += s->rank[i] == s->least;
        }
    }
    /* The rank of a hash is 1 + the number of leading zeros of the bits after the index. It is
     * above `least` only if the first `least` of these bits are 0. */
    const unsigned others = 64 - s->bits;
    s->idle =
        s->least <= others ? ((UINT64_C(1) << s->least) - 1) << (others - s->least) : UINT64_MAX;
}

void distinct_sketch_raise(struct distinct_sketch *s, uint64_t hash) {
    const size_t at = (size_t)(hash >> (64 - s->bits));
    /* 1 + the number of leading zeros of the bits after the index; the bit that is set after these
     * bits limits the count */
    const uint8_t rank =
        (uint8_t)(scan_leading_zeros(hash << s->bits | UINT64_C(1) << (s->bits - 1)) + 1);
    if (rank <= s->rank[at]) {
        return;
    }
    const bool was_least = s->rank[at] == s->least;
    s->rank[at] = rank;
    if (was_least && --s->n_least == 0) {
        find_least(s);
    }
}

bool distinct_sketch_load(struct distinct_sketch *s, unsigned bits, const uint8_t *rank) {
    if (!distinct_sketch_init(s, bits)) {
        return false;
    }
    const size_t n = distinct_sketch_memory(s);
    memcpy(s->rank, rank, n);
    s->n_least = 0;
    for (size_t i = 0; i < n; i++) {
        s->n_least += rank[i] == 0;
    }
    find_least(s);
    return true;
}

/* Mixes 8 bytes at a time. The length is part of the hash, so that trailing zero bytes change the
 * hash. */
uint64_t distinct_hash_bytes(const char *bytes, size_t n) {
    uint64_t hash = distinct_hash_length(n), word = 0;
    for (; n >= sizeof word; bytes += sizeof word, n -= sizeof word) {
        hash = (hash ^ scan_load(bytes)) * UINT64_C(0x9fb21c651e98df25);
        hash ^= hash >> 32;
    }
    for (size_t i = 0; i < n; i++) {
        word |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    }
    return distinct_mix(hash ^ word);
}

/* σ(x) = x + Σ_{k ≥ 1} x^(2^k)·2^(k−1), the correction for registers that are 0; infinite
 * for x = 1. */
static double sigma(double x) {
    double power = 1, sum = x, before = -1;
    while (sum != before) {
        before = sum;
        x *= x;
        sum += x * power;
        power *= 2;
    }
    return sum;
}

/* τ(x) = (1 − x − Σ_{k ≥ 1} (1 − x^(2^−k))²·2^−k)/3, the correction for registers
 * with the largest value. */
static double tau(double x) {
    double power = 1, sum = 1 - x, before = -1;
    if (x == 0 || x == 1) {
        return 0;
    }
    while (sum != before) {
        before = sum;
        x = sqrt(x);
        power /= 2;
        sum -= (1 - x) * (1 - x) * power;
    }
    return sum / 3;
}

int64_t distinct_sketch_estimate(const struct distinct_sketch *s) {
    size_t count[66] = {0};
    const size_t n = distinct_sketch_memory(s), top = 64 - s->bits;
    for (size_t i = 0; i < n; i++) {
        count[s->rank[i]]++;
    }
    const double registers = (double)n;
    if (n == 0 || count[0] == n) {
        return 0;
    }
    double z = registers * tau(1 - (double)count[top + 1] / registers);
    for (size_t k = top; k >= 1; k--) {
        z = 0.5 * (z + (double)count[k]);
    }
    z += registers * sigma((double)count[0] / registers);
    const double estimate = registers * registers / (2 * log(2) * z);
    return estimate < 9e15 ? (int64_t)(estimate + 0.5) : INT64_C(9000000000000000);
}

double distinct_sketch_error(const struct distinct_sketch *s) {
    return s->rank != NULL ? 1.04 / sqrt((double)distinct_sketch_memory(s)) : 0;
}
