/* The term Σ l1_i |x_i| of an objective: value, subgradient, proximal step. A NULL l1 is 0. */
#ifndef DNI_L1_H
#define DNI_L1_H

#include <stddef.h>

/* Returns Σ l1_i |x_i|. */
double dni_l1_value(const double *l1, const double *x, size_t n);
/* Returns the subgradient of least absolute value of f + l|x| in one variable, where g = f'(x): g
 * + l·sign(x); at x = 0, g shrunk towards 0 by l. The subgradient is 0 if and only if x is a
 * minimum. */
double dni_l1_slope(double l, double x, double g);
/* out [n] ← dni_l1_slope of every variable, the minimum-norm subgradient of F. gradient [n] is ∇f;
 * out may be the same array as gradient. */
void dni_l1_subgradient(const double *l1, const double *x, const double *gradient, size_t n,
                        double *out);
/* Returns argmin_z ½(z − a)² + l|z|, the value a moved towards 0 by at most l. */
double dni_l1_shrink(double a, double l);

#endif
