/* Distribution functions by the incomplete beta and gamma functions.
 *
 *   normal       P(|Z| >= z) = erfc(z/√2)
 *   Student      P(|T| >= t) = I_y(ν/2, 1/2),  y = ν/(ν + t²)          DLMF 8.17(ii)
 *   F            P(F >= f) = I_y(ν₂/2, ν₁/2),  y = ν₂/(ν₂ + ν₁ f)
 *   chi-squared  P(X >= x) = Q(ν/2, x/2)
 *
 * I_x(a, b): continued fraction DLMF 8.17.22, evaluated by Lentz's method (Thompson and Barnett,
 * Journal of Computational Physics 64, 1986). Q(a, x): the series DLMF 8.11.4 below x = a + 1, the
 * continued fraction DLMF 8.9.2 above.
 *
 * The factors in front, x^a (1 − x)^b/B(a, b) and x^a e^{−x}/Γ(a), are computed relative to their
 * maximum: Γ(z) = √(2π/z) (z/e)^z e^{δ(z)}, so that no large numbers are subtracted (Loader, Fast
 * and Accurate Computation of Binomial Probabilities, 2000). */
#include "number/distribution.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MAX_TERMS = 100000 };
static const double two_pi = 6.283185307179586476925;

/* δ(z) = ln Γ(z) − ln(√(2π/z) (z/e)^z), z > 0. Above 15 Stirling's series (DLMF 5.11.1) is used; a
 * smaller z is first increased to 15 or more by Γ(z) = Γ(z + 1)/z. */
static double stirling_error(double z) {
    double shift = 0;
    for (; z < 15; z += 1) { /* δ(z) − δ(z + 1) = (z + ½) ln(1 + 1/z) − 1 */
        shift += (z + 0.5) * log1p(1 / z) - 1;
    }
    const double q = 1 / (z * z);
    return shift +
           (1.0 / 12 -
            q * (1.0 / 360 -
                 q * (1.0 / 1260 - q * (1.0 / 1680 - q * (1.0 / 1188 - q * 691.0 / 360360))))) /
               z;
}

/* Lentz's method divides by its terms: a term close to 0 is replaced by a tiny number. */
static double nonzero(double v) {
    return fabs(v) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : v;
}

/* ---- incomplete beta function ---- */
/* Returns ln(v/v0); `more` = v − v0 has been computed without cancellation. */
static double log_ratio(double v, double v0, double more) {
    return fabs(more) > v0 / 2 ? log(v / v0) : log1p(more / v0);
}

/* Returns x^a y^b/B(a, b), y = 1 − x. */
static double beta_factor(double x, double y, double a, double b) {
    const double x0 = a / (a + b), y0 = b / (a + b); /* maximum of the factor */
    const double below = x < y ? x - x0 : y0 - y;    /* x − x0, from the smaller of x and y */
    const double exponent = a * log_ratio(x, x0, below) + b * log_ratio(y, y0, -below) +
                            (stirling_error(a + b) - stirling_error(a) - stirling_error(b));
    return sqrt(a * y0 / two_pi) * exp(exponent);
}

/* Returns I_x(a, b)·a/factor by its continued fraction, which converges fast for x < (a + 1)/(a + b
 * + 2). */
static double beta_fraction(double x, double a, double b) {
    double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m <= MAX_TERMS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / nonzero(1 + even * d);
        c = nonzero(1 + even / c);
        value *= d * c;
        d = 1 / nonzero(1 + odd * d);
        c = nonzero(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) <= DBL_EPSILON) {
            break;
        }
    }
    return value;
}

/* Returns I_x(a, b). y = 1 − x is passed as well, because the smaller of x and y is more accurate
 * than 1 minus the larger. */
static double beta_lower(double x, double y, double a, double b) {
    if (!(a > 0 && b > 0 && x >= 0 && y >= 0)) {
        return (double)NAN;
    }
    if (x == 0 || y == 0) {
        return x == 0 ? 0 : 1;
    }
    const double factor = beta_factor(x, y, a, b);
    return x <= (a + 1) / (a + b + 2) ? factor * beta_fraction(x, a, b) / a
                                      : 1 - factor * beta_fraction(y, b, a) / b;
}

/* ---- incomplete gamma function ---- */
/* Returns x^a e^{−x}/Γ(a). */
static double gamma_factor(double a, double x) {
    const double e = (x - a) / a;
    return sqrt(a / two_pi) * exp(a * (log_ratio(x, a, x - a) - e) - stirling_error(a));
}

static double gamma_upper(double a, double x) {
    if (!(a > 0 && x >= 0)) {
        return (double)NAN;
    }
    if (x == 0 || isinf(x)) {
        return x == 0 ? 1 : 0;
    }
    const double factor = gamma_factor(a, x);
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; n <= MAX_TERMS && term > sum * DBL_EPSILON; n++) {
            term *= x / (a + n);
            sum += term;
        }
        return 1 - factor * sum;
    }
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / nonzero(b), value = d;
    for (int n = 1; n <= MAX_TERMS; n++) {
        const double an = -n * (n - a);
        b += 2;
        d = 1 / nonzero(an * d + b);
        c = nonzero(b + an / c);
        value *= d * c;
        if (fabs(d * c - 1) <= DBL_EPSILON) {
            break;
        }
    }
    return factor * value;
}

/* ---- distributions ---- */
double dni_normal_two_sided(double z) {
    return erfc(fabs(z) / sqrt(2.0));
}

double dni_student_two_sided(double t, double df) {
    if (isnan(t) || !(df > 0)) {
        return (double)NAN;
    }
    if (isinf(df)) {
        return dni_normal_two_sided(t);
    }
    if (fabs(t) > sqrt(df)) { /* t² may overflow */
        const double r = sqrt(df) / fabs(t), q = r * r;
        return beta_lower(q / (1 + q), 1 / (1 + q), df / 2, 0.5);
    }
    const double q = t * t / df;
    return beta_lower(1 / (1 + q), q / (1 + q), df / 2, 0.5);
}

double dni_f_upper(double f, double df1, double df2) {
    if (isnan(f) || !(df1 > 0 && df2 > 0)) {
        return (double)NAN;
    }
    if (!(f > 0)) {
        return 1;
    }
    if (isinf(f)) {
        return 0;
    }
    const double q = f * df1 / df2;
    return q > 1 ? beta_lower(1 / q / (1 + 1 / q), 1 / (1 + 1 / q), df2 / 2, df1 / 2)
                 : beta_lower(1 / (1 + q), q / (1 + q), df2 / 2, df1 / 2);
}

double dni_chi_squared_upper(double x, double df) {
    return gamma_upper(df / 2, x < 0 ? 0 : x / 2);
}

/* ---- quantiles ---- */
static double tail(double x, double df) {
    return isinf(df) ? dni_normal_two_sided(x) : dni_student_two_sided(x, df);
}

/* Bisects to neighbouring doubles. */
double dni_student_quantile(double level, double df) {
    if (!(level > 0 && level < 1 && df > 0)) {
        return (double)NAN;
    }
    const double p = 1 - level;
    double low = 0, high = 1;
    while (tail(high, df) > p && high < DBL_MAX / 4) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 2000; i++) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) {
            break;
        }
        if (tail(middle, df) > p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

double dni_normal_quantile(double level) {
    return dni_student_quantile(level, (double)INFINITY);
}
