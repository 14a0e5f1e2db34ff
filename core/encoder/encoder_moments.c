/* Mean and deviation from the sums of two passes. The formulas are in encoder_fit.c. */
#include "encoder/encoder_moments.h"

#include <math.h>

#define CONSTANT_DEVIATION 1e-14

bool dni_moments_mean(const dni_scan_column *column, double *out) {
    double mean = column->weight > 0 ? column->sum / column->weight : 0;
    if (column->minimum == column->maximum) {
        mean = column->minimum + 0.0; /* converts -0 to 0 */
    }
    *out = mean;
    return isfinite(mean);
}

/* The factor is a power of two that scales the largest deviation to about 1, so that squares
 * cannot overflow or underflow. */
void dni_moments_prepare(dni_scan_column *column, double mean) {
    column->shift = mean;
    column->factor = 0;
    if (!(column->minimum < column->maximum)) {
        return;
    }
    double widest = fmax(column->maximum - mean, mean - column->minimum);
    int exponent = 0;
    if (isfinite(widest)) {
        (void)frexp(widest, &exponent);
    }
    exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
    column->factor = ldexp(1.0, -exponent);
}

bool dni_moments_finish(const dni_scan_column *column, double total_weight, const double *fill,
                        double *mean, double *scale) {
    double first = column->first, second = column->second, weight = column->weight;
    if (fill != NULL) {
        double missing = fmax(total_weight - column->weight, 0),
               step = (*fill - column->shift) * column->factor;
        first += missing * step;
        second += missing * step * step;
        weight = total_weight;
    }
    double correction = first / weight;
    double variance = (second - first * correction) / total_weight;
    double m = column->shift + correction / column->factor;
    double s = sqrt(fmax(variance, 0)) / column->factor;
    if (!isfinite(m) || !isfinite(s)) {
        return false;
    }
    double magnitude = fmax(fabs(column->minimum), fabs(column->maximum));
    *mean = m;
    *scale = s > CONSTANT_DEVIATION * magnitude ? s : 1;
    return true;
}
