/* Pairwise summation: a binary counter of vectors. */
#include <discern/run.h>

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* The stack has one vector for each one bit of the number of leaves pushed so far (at most
 * n_leaves), plus the vector that is being filled. */
size_t dn_pairwise_capacity(size_t n_leaves, size_t n) {
    size_t vectors = 1;
    for (size_t left = n_leaves; left > 0; left >>= 1) {
        vectors++;
    }
    if (n > 0 && vectors > SIZE_MAX / sizeof(double) / n) {
        return SIZE_MAX;
    }
    return vectors * n;
}

void dn_pairwise_init(dn_pairwise *sum, size_t n, double *partials) {
    sum->n = n;
    sum->partials = partials;
    sum->depth = 0;
}

double *dn_pairwise_next(dn_pairwise *sum) {
    double *vector = sum->partials + sum->depth * sum->n;
    if (sum->n > 0) {
        memset(vector, 0, sum->n * sizeof *vector);
    }
    return vector;
}

/* Adds the top vector to the vector below it: left += right. */
static void merge_top(dn_pairwise *sum) {
    double *left = sum->partials + (sum->depth - 2) * sum->n;
    const double *right = left + sum->n;
    for (size_t i = 0; i < sum->n; i++) {
        left[i] += right[i];
    }
    sum->depth--;
}

void dn_pairwise_push(dn_pairwise *sum, unsigned level) {
    assert(sum->depth < DN_PAIRWISE_LEVELS);
    assert(sum->depth == 0 || sum->level[sum->depth - 1] >= level);
    sum->level[sum->depth++] = level;
    while (sum->depth > 1 && sum->level[sum->depth - 1] == sum->level[sum->depth - 2]) {
        merge_top(sum);
        sum->level[sum->depth - 1]++;
    }
}

void dn_pairwise_total(dn_pairwise *sum, double *out) {
    if (sum->n == 0) {
        return;
    }
    if (sum->depth == 0) {
        memset(out, 0, sum->n * sizeof *out);
        return;
    }
    while (sum->depth > 1) {
        merge_top(sum);
    }
    memcpy(out, sum->partials, sum->n * sizeof *out);
}
