/* The pairs of limited-memory BFGS. */
#ifndef DNI_LBFGS_H
#define DNI_LBFGS_H

#include "optimize/descent.h"

#define DNI_LBFGS_PAIRS 20 /* most pairs */

/* The last pairs s = x_new − x, y = ∇f(x_new) − ∇f(x), in a ring. */
typedef struct dni_pairs {
    double *s, *y;      /* [capacity × n] */
    size_t capacity;    /* 20; fewer if s or y would exceed 16 million numbers, at least 5 */
    size_t count, next; /* number of pairs, position of the next */
} dni_pairs;

/* Reserves the pairs and sets their capacity. */
void dni_pairs_layout(dni_layout *layout, size_t n, dni_pairs *pairs);
/* Position of a pair; age 0 is the newest. */
static inline size_t dni_pairs_at(const dni_pairs *pairs, size_t age) {
    return (pairs->next + pairs->capacity - 1 - age) % pairs->capacity;
}
/* Writes the pair of the step to x_new to position `next`; returns sᵀy. */
double dni_pairs_write(dni_pairs *pairs, const dni_descent *d);
/* Keeps the pair that was written. */
void dni_pairs_keep(dni_pairs *pairs);

#endif
