#include "kernel_plain.h"
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number_or(const json_t *object, const char *key, double otherwise) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

struct plain_kernel plain_kernel_of(const json_t *asked, double width) {
    return (struct plain_kernel){.type = json_string_value(json_object_get(asked, "type")),
                                 .metric = json_string_value(json_object_get(asked, "metric")),
                                 .gamma = number_or(asked, "gamma", 1),
                                 .coef0 = number_or(asked, "coef0", 1),
                                 .degree = number_or(asked, "degree", 2),
                                 .scale = number_or(asked, "scale", 2),
                                 .width = number_or(asked, "width", width),
                                 .normalize = json_is_true(json_object_get(asked, "normalize"))};
}

static double dot(const double *x, const double *z, size_t d) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        sum += x[j] * z[j];
    }
    return sum;
}

/* Levenshtein distance of two sequences; a sequence ends at its first 0. */
static double edits(const double *x, const double *z, size_t d) {
    size_t m = 0, n = 0;
    while (m < d && x[m] != 0) {
        m++;
    }
    while (n < d && z[n] != 0) {
        n++;
    }
    double *row = calloc(n + 1, sizeof *row);
    assert_non_null(row);
    for (size_t j = 0; j <= n; j++) {
        row[j] = (double)j;
    }
    for (size_t i = 1; i <= m; i++) {
        double corner = row[0];
        row[0] = (double)i;
        for (size_t j = 1; j <= n; j++) {
            const double changed = corner + (x[i - 1] != z[j - 1]);
            corner = row[j];
            row[j] = fmin(changed, fmin(row[j], row[j - 1]) + 1);
        }
    }
    const double found = row[n];
    free(row);
    return found;
}

static double distance(const char *metric, const double *x, const double *z, size_t d) {
    double square = 0, sum = 0, most = 0;
    for (size_t j = 0; j < d; j++) {
        const double step = fabs(x[j] - z[j]);
        square += step * step;
        sum += step;
        most = fmax(most, step);
    }
    if (strcmp(metric, "edit") == 0) {
        return edits(x, z, d);
    }
    if (strcmp(metric, "euclidean") == 0) {
        return sqrt(square);
    }
    if (strcmp(metric, "manhattan") == 0) {
        return sum;
    }
    if (strcmp(metric, "chebyshev") == 0) {
        return most;
    }
    assert_string_equal(metric, "cosine");
    const double xx = dot(x, x, d), zz = dot(z, z, d);
    return xx > 0 && zz > 0 ? 1 - dot(x, z, d) / sqrt(xx * zz) : xx > 0 || zz > 0;
}

static double mahalanobis(const double *inverse, const double *x, const double *z, size_t d) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            sum += (x[i] - z[i]) * inverse[i * d + j] * (x[j] - z[j]);
        }
    }
    return sum;
}

static double bare(const struct plain_kernel *k, const double *x, const double *z, size_t d) {
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        square += (x[j] - z[j]) * (x[j] - z[j]);
    }
    if (strcmp(k->type, "polynomial") == 0) {
        return pow(k->gamma * dot(x, z, d) + k->coef0, k->degree);
    }
    if (strcmp(k->type, "sigmoid") == 0) {
        return tanh(k->scale * dot(x, z, d) + k->coef0);
    }
    if (strcmp(k->type, "rbf") == 0) {
        return exp(-square / (2 * k->width * k->width));
    }
    if (strcmp(k->type, "mahalanobis") == 0) {
        return exp(-mahalanobis(k->inverse, x, z, d) / 2);
    }
    if (strcmp(k->type, "distance") == 0) {
        return exp(-distance(k->metric, x, z, d) / (2 * k->width * k->width));
    }
    assert_true(strcmp(k->type, "linear") == 0 || strcmp(k->type, "shared_words") == 0 ||
                strcmp(k->type, "shared_paths") == 0);
    return dot(x, z, d);
}

double plain_kernel_value(const struct plain_kernel *k, const double *x, const double *z,
                          size_t d) {
    if (!k->normalize) {
        return bare(k, x, z, d);
    }
    const double xx = bare(k, x, x, d), zz = bare(k, z, z, d);
    return xx > 0 && zz > 0 ? bare(k, x, z, d) / sqrt(xx * zz) : 0;
}

double *plain_inverse(const double *s, size_t d) {
    double *a = keep(calloc(d * d, sizeof *a), free),
           *inverse = keep(calloc(d * d, sizeof *inverse), free);
    memcpy(a, s, d * d * sizeof *a);
    for (size_t i = 0; i < d; i++) {
        inverse[i * d + i] = 1;
    }
    for (size_t i = 0; i < d; i++) {
        const double pivot = a[i * d + i];
        assert_true(pivot > 0);
        for (size_t j = 0; j < d; j++) {
            a[i * d + j] /= pivot;
            inverse[i * d + j] /= pivot;
        }
        for (size_t k = 0; k < d; k++) {
            const double factor = a[k * d + i];
            for (size_t j = 0; k != i && j < d; j++) {
                a[k * d + j] -= factor * a[i * d + j];
                inverse[k * d + j] -= factor * inverse[i * d + j];
            }
        }
    }
    return inverse;
}
