/* What models of kernel machines have learned, as JSON. Machines see standardised rows; support vectors are shown as the columns have them. */
#include "api/kernel_weights.h"
#include "api/densities.h"

#include <math.h>
#include <stdlib.h>

const dn_support *api_kernel_support(const dn_model *model) {
    const dn_kernel_machine *first = dn_model_machine(model, 0)->kernel;
    return first ? first->support : NULL;
}

/* The features that are not 0 where a standardised row is: those with a mean. */
static size_t n_means(const dn_encoder *encoder) {
    const double *mean = dn_encoder_mean(encoder);
    size_t n = 0;
    for (size_t j = 0; mean && j < dn_encoder_n_features(encoder); j++) {
        n += mean[j] != 0;
    }
    return n;
}

double api_kernel_numbers(const dn_model *model) {
    const dn_support *s = api_kernel_support(model);
    if (!s) {
        return 0;
    }
    const double n = (double)s->x.n_rows, d = (double)s->x.n_cols,
                 covariance = s->kernel.factor ? d * d : 0;
    if (s->x.kind == DN_DENSE) {
        return n * d + covariance;
    }
    return 2 * ((double)s->x.row_start[s->x.n_rows] +
                n * (double)n_means(dn_model_encoder(model))) +
           covariance;
}

/* ---- the kernel ---- */
/* S of the columns as they are: S_ij scale_i scale_j. */
static void put_covariance(struct json_writer *w, const dn_kernel *kernel, const double *scale) {
    const size_t d = kernel->n_features;
    double *room = calloc(2 * d * d + 1, sizeof *room);
    if (!room) {
        w->out->failed = true;
        return;
    }
    dn_kernel_covariance(kernel, room, room + d * d);
    for (size_t i = 0; scale && i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            room[i * d + j] *= scale[i] * scale[j];
        }
    }
    api_put_matrix(w, "covariance", room, d, d);
    free(room);
}

static void put_kernel(struct json_writer *w, const dn_kernel *k, const double *scale,
                       bool matrices) {
    json_put_key(w, "kernel");
    json_begin_object(w);
    json_kv_string(w, "type", dn_kernel_type_name(k->type));
    if (k->type == DN_KERNEL_POLYNOMIAL) {
        json_kv_double(w, "gamma", k->gamma);
        json_kv_int(w, "degree", k->degree);
    }
    if (k->type == DN_KERNEL_SIGMOID) {
        json_kv_double(w, "scale", k->scale);
    }
    if (k->type == DN_KERNEL_POLYNOMIAL || k->type == DN_KERNEL_SIGMOID) {
        json_kv_double(w, "coef0", k->coef0);
    }
    if (k->type == DN_KERNEL_DISTANCE) {
        json_kv_string(w, "metric", dn_kernel_metric_name(k->metric));
    }
    if (k->type == DN_KERNEL_RBF || k->type == DN_KERNEL_DISTANCE) {
        json_kv_double(w, "width", k->width);
    }
    if (k->type == DN_KERNEL_SHARED_PATHS) {
        json_kv_int(w, "length", k->length);
    }
    if (k->type == DN_KERNEL_MAHALANOBIS && matrices) {
        put_covariance(w, k, scale);
    }
    json_kv_bool(w, "normalize", k->normalize);
    json_end_object(w);
}

/* ---- support vectors ---- */
/* Of a model whose features are standardised, or not: NULL. */
struct scales {
    const double *mean, *scale;
    uint32_t *with_mean; /* [n] ascending, of sparse rows */
    size_t n;
};

static double raw(const struct scales *s, size_t j, double x) {
    return s->mean ? s->mean[j] + s->scale[j] * x : x;
}

static void put_dense(struct json_writer *w, dn_matrix x, const struct scales *s) {
    for (size_t i = 0; i < x.n_rows && !w->out->failed; i++) {
        json_begin_array(w);
        for (size_t j = 0; j < x.n_cols; j++) {
            json_put_double(w, raw(s, j, x.values[i * x.stride + j]));
        }
        json_end_array(w);
    }
}

static void put_pair(struct json_writer *w, const struct scales *s, size_t j, double x) {
    json_begin_array(w);
    json_put_int(w, (int64_t)j);
    json_put_double(w, raw(s, j, x));
    json_end_array(w);
}

/* A row's entries, and between them the features that are their mean. */
static void put_sparse(struct json_writer *w, dn_matrix x, const struct scales *s) {
    for (size_t i = 0; i < x.n_rows && !w->out->failed; i++) {
        size_t e = x.row_start[i], m = 0;
        const size_t end = x.row_start[i + 1];
        json_begin_array(w);
        while (e < end || m < s->n) {
            const size_t a = e < end ? x.cols[e] : SIZE_MAX,
                         b = m < s->n ? s->with_mean[m] : SIZE_MAX;
            put_pair(w, s, a <= b ? a : b, a <= b ? x.values[e] : 0);
            e += a <= b;
            m += b <= a;
        }
        json_end_array(w);
    }
}

static void put_support_vectors(struct json_writer *w, dn_matrix x, const dn_encoder *encoder) {
    struct scales s = {.mean = dn_encoder_mean(encoder), .scale = dn_encoder_scale(encoder)};
    const size_t n = x.kind == DN_CSR ? n_means(encoder) : 0;
    s.with_mean = calloc(n + 1, sizeof *s.with_mean);
    if (!s.with_mean) {
        w->out->failed = true;
        return;
    }
    for (size_t j = 0; n > 0 && j < x.n_cols; j++) {
        if (s.mean[j] != 0) {
            s.with_mean[s.n++] = (uint32_t)j;
        }
    }
    json_put_key(w, "support_vectors");
    json_begin_array(w);
    if (x.kind == DN_DENSE) {
        put_dense(w, x, &s);
    } else {
        put_sparse(w, x, &s);
    }
    json_end_array(w);
    free(s.with_mean);
}

void api_kernel_write(const dn_support *s, const dn_encoder *encoder, bool matrices,
                      struct json_writer *w) {
    const double *mean = dn_encoder_mean(encoder), *scale = dn_encoder_scale(encoder);
    put_kernel(w, &s->kernel, scale, matrices);
    json_kv_int(w, "n_support_vectors", (int64_t)s->x.n_rows);
    json_kv_bool(w, "sparse", s->x.kind == DN_CSR);
    if (!matrices) {
        return;
    }
    if (mean) {
        api_put_vector(w, "mean", mean, s->x.n_cols);
        api_put_vector(w, "scale", scale, s->x.n_cols);
    }
    put_support_vectors(w, s->x, encoder);
}

void api_kernel_machine_write(const dn_kernel_machine *machine, bool matrices,
                              struct json_writer *w) {
    if (matrices) {
        json_put_key(w, "indexes");
        json_begin_array(w);
        for (size_t i = 0; i < machine->n; i++) {
            json_put_int(w, machine->index[i]);
        }
        json_end_array(w);
        api_put_vector(w, "coefficients", machine->coef, machine->n);
    }
    api_put_vector(w, "w0", &machine->w0, 1);
    json_kv_double(w, "norm", machine->norm);
}
