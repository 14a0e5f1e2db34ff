/* Distribution functions of the normal, Student's t, F and chi-squared distributions: the tail
 * probabilities of tests and the quantiles of confidence intervals.
 *
 * Relative error: about 1e-12, also far in the tails; it grows in proportion to the degrees of
 * freedom above 1e5 and is 1e-9 at 1e8 (absolute error < 1e-10). Results are NaN if an argument is
 * NaN or a number of degrees of freedom is not > 0. Degrees of freedom need not be integers.
 * Thread-safe; no state. */
#ifndef DNI_DISTRIBUTION_H
#define DNI_DISTRIBUTION_H

/* P(|Z| >= |z|) of a standard normal variable Z. */
double dni_normal_two_sided(double z);
/* P(|T| >= |t|) of Student's t with df degrees of freedom. */
double dni_student_two_sided(double t, double df);
/* P(F >= f) of the F distribution with df1 and df2 degrees of freedom. */
double dni_f_upper(double f, double df1, double df2);
/* P(X >= x) of the chi-squared distribution. */
double dni_chi_squared_upper(double x, double df);

/* The z > 0 with P(|Z| <= z) = level, and the t with P(|T| <= t) = level; 0 < level < 1. */
double dni_normal_quantile(double level);
double dni_student_quantile(double level, double df);

#endif
