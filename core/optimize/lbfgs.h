/* The pairs (s, y) of limited-memory BFGS. */
#ifndef DNI_LBFGS_H
#define DNI_LBFGS_H

#include "optimize/descent.h"

#define DNI_LBFGS_PAIRS 100 /* maximum number of pairs */

/* The last pairs s = x_new − x, y = ∇f(x_new) − ∇f(x), in a ring buffer. */
typedef struct dni_pairs {
    double *s, *y;      /* [capacity × n] */
    size_t capacity;    /* number of pairs that are kept (dni_pairs_layout) */
    size_t count, next; /* number of pairs; ring position of the next pair */
} dni_pairs;

/* Adds s and y to the layout and sets `capacity`: max_pairs, at most DNI_LBFGS_PAIRS; fewer if n is
 * large, but at least 5. */
void dni_pairs_layout(dni_layout *layout, size_t n, size_t max_pairs, dni_pairs *pairs);
/* Returns the position of a pair in the ring; age 0 is the newest pair. */
static inline size_t dni_pairs_at(const dni_pairs *pairs, size_t age) {
    return (pairs->next + pairs->capacity - 1 - age) % pairs->capacity;
}
/* Writes the pair of the step from x to x_new to position `next`, without storing it yet. Returns
 * sᵀy. */
double dni_pairs_write(dni_pairs *pairs, const dni_descent *d);
/* Stores the pair that dni_pairs_write has written. */
void dni_pairs_keep(dni_pairs *pairs);

#endif
