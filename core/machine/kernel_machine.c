/* Kernel machines. Rows are scored in tiles. The kernel values of a row with all support vectors
 * are computed once. Each machine then sums the values of its support vectors. */
#include "machine/kernel_machine.h"
#include "base/tasks.h"
#include "kernels/points.h"
#include "linalg/vector.h"
#include "machine/machine_kind.h"
#include "machine/stored_rows.h"

#include <discern/encoder.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The error of a kernel value in float is at most 2.5e-7, so that the error of a score is at most
 * 2.5e-7 Σ|c|. If Σ|c| <= MAX_COEFFICIENTS, this is at most 1e-3 of the margin. Float is used only
 * if n_rows × n_cols of the support vectors is above MIN_FLOAT_NUMBERS; otherwise the gain is
 * small. */
#define MAX_COEFFICIENTS 4000
#define MIN_FLOAT_NUMBERS 1e6
/* Cost of the exponential function, in multiplications. */
#define EXP_COST 8
/* Maximum number of steps of about 10 ms (dni_points_step) between two checks for cancellation. */
enum { MAX_STEPS = 100 };

/* ---- memory ---- */
dni_kernel_machine *dni_kernel_machine_of(const dn_machine *machine) {
    return (dni_kernel_machine *)(uintptr_t)machine;
}

double dni_kernel_machines_estimate(size_t n_machines, double n_rows) {
    const double each = sizeof(dni_kernel_machine) + sizeof(uint32_t) + sizeof(double);
    return (double)n_machines * each + n_rows * (sizeof(uint32_t) + sizeof(double));
}

dn_status dni_kernel_machine_new(dni_support *support, size_t n, dn_machine **out, dn_error *err) {
    const size_t d = support->kernel.n_features;
    dn_status status = dni_support_charge(support, dni_kernel_machines_estimate(1, (double)n), err);
    if (status != DN_OK) {
        return status;
    }
    dni_kernel_machine *m = dni_machine_alloc(&dni_kernel_kind, sizeof *m, 2, d);
    if (m != NULL) {
        m->index = calloc(n + 1, sizeof *m->index);
        m->coef = dni_machine_numbers_new(n);
    }
    if (m == NULL || m->index == NULL || m->coef == NULL) {
        dn_machine_free(m == NULL ? NULL : &m->base);
        return dn_error_set(err, DN_ERR_MEMORY,
                            "%zu support vectors need memory which the system does not have", n);
    }
    m->n = n;
    m->support = dni_support_ref(support);
    *out = &m->base;
    return DN_OK;
}

static void kernel_free(dn_machine *machine) {
    dni_kernel_machine *m = dni_kernel_machine_of(machine);
    dni_support_unref(m->support);
    free(m->index);
    free(m->coef);
}

static double kernel_memory(const dn_machine *machine) {
    return dni_kernel_machines_estimate(1, (double)dni_kernel_machine_of(machine)->n);
}

static double kernel_shared_memory(const dn_machine *machine) {
    return dni_support_memory(dni_kernel_machine_of(machine)->support);
}

static void kernel_leave_run(dn_machine *machine) {
    dni_support_leave_run(dni_kernel_machine_of(machine)->support);
}

/* Decides whether the kernel values may be computed in float. */
static void kernel_finish(dn_machine *const *machines, size_t n) {
    dni_support *support = dni_kernel_machine_of(machines[0])->support;
    bool single = (double)support->x.n_rows * (double)support->x.n_cols > MIN_FLOAT_NUMBERS;
    for (size_t i = 0; i < n; i++) {
        const dni_kernel_machine *m = dni_kernel_machine_of(machines[i]);
        double sum = 0;
        for (size_t k = 0; k < m->n; k++) {
            sum += fabs(m->coef[k]);
        }
        single = single && sum <= MAX_COEFFICIENTS;
    }
    support->single = single;
}

/* ---- bytes ---- */
static void kernel_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer) {
    const dni_kernel_machine *m = dni_kernel_machine_of(machine);
    if (first == NULL) {
        dni_support_write(m->support, writer);
    }
    dni_write_u64(writer, m->n);
    dni_write_u32s(writer, m->index, m->n);
    dni_write_f64s(writer, m->coef, m->n);
    dni_write_f64(writer, m->w0);
    dni_write_f64(writer, m->norm);
}

static bool kernel_good(const dni_kernel_machine *m) {
    for (size_t i = 0; i < m->n; i++) {
        if (m->index[i] >= m->support->x.n_rows || (i > 0 && m->index[i] <= m->index[i - 1])) {
            return false;
        }
    }
    return dni_all_finite(m->coef, m->n) && isfinite(m->w0) &&
           (isnan(m->norm) || (isfinite(m->norm) && m->norm >= 0));
}

/* The bytes of the first machine contain the support vectors. The other machines share them. */
static dn_status kernel_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                             dn_machine **out, dn_error *err) {
    dni_support *support = NULL;
    dn_machine *made = NULL;
    dn_status status = DN_OK;
    (void)K;
    if (first == NULL) {
        status = dni_support_read(r, d, &support, err);
    } else {
        support = dni_support_ref(dni_kernel_machine_of(first)->support);
    }
    if (status != DN_OK) {
        return status;
    }
    const size_t n = dni_read_count(r, sizeof(uint32_t) + sizeof(double));
    if (r->failed) {
        dni_support_unref(support);
        return dni_machine_corrupt("a machine has no support vectors", err);
    }
    status = dni_kernel_machine_new(support, n, &made, err);
    dni_support_unref(support); /* the machine has its own reference */
    if (status != DN_OK) {
        return status;
    }
    dni_kernel_machine *m = dni_kernel_machine_of(made);
    const bool whole = dni_read_u32s(r, m->index, n) && dni_read_f64s(r, m->coef, n);
    m->w0 = dni_read_f64(r);
    m->norm = dni_read_f64(r);
    if (!whole || r->failed || !kernel_good(m)) {
        dn_machine_free(made);
        return dni_machine_corrupt(
            "the row indices, coefficients or intercept of a kernel machine are invalid", err);
    }
    *out = made;
    return DN_OK;
}

/* ---- scores ---- */
/* Returns Σ c_i k[index_i]. The processor executes the four independent sums in parallel. */
static double gathered(const dni_kernel_machine *m, const double *k) {
    const uint32_t *index = m->index;
    const double *coef = m->coef;
    const size_t n = m->n, whole = n - n % 4;
    double sum[4] = {0};
    for (size_t i = 0; i < whole; i += 4) {
        sum[0] += coef[i] * k[index[i]];
        sum[1] += coef[i + 1] * k[index[i + 1]];
        sum[2] += coef[i + 2] * k[index[i + 2]];
        sum[3] += coef[i + 3] * k[index[i + 3]];
    }
    for (size_t i = whole; i < n; i++) {
        sum[i - whole] += coef[i] * k[index[i]];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* score[r · stride] ← Σ_i c_i k[r · n_points + index_i] + w0. The order of the sum does not depend
 * on n_rows. */
static void add_up(const dni_kernel_machine *m, const double *k, size_t n_points, size_t n_rows,
                   double *score, size_t stride) {
    const bool all = m->n == n_points; /* then index_i = i */
    for (size_t r = 0; r < n_rows; r++, k += n_points) {
        score[r * stride] = (all ? dni_dot(m->coef, k, m->n) : gathered(m, k)) + m->w0;
    }
}

/* Returns the number of doubles of working memory of one thread. */
static size_t query_work(const dni_support *support) {
    const size_t n = support->x.n_rows;
    return n == 0 ? 0 : DNI_POINTS_QUERIES * n + dni_points_query_work(support->points);
}

double dni_kernel_machines_work(const dn_kernel *kernel, size_t n, double n_entries,
                                size_t n_slots) {
    const dni_points_estimate points = dni_points_memory(kernel, n, kernel->n_features, n_entries);
    return (double)n_slots * (sizeof(double) * DNI_POINTS_QUERIES * (double)n + points.query_work);
}

static size_t kernel_tile_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    (void)n;
    return n_slots * query_work(dni_kernel_machine_of(machines[0])->support);
}

struct queries {
    dn_machine *const *machines;
    size_t n;
    dn_matrix x;
    const dn_run *run;
    double *scores, *work;
};

/* Task i: scores up to DNI_POINTS_QUERIES rows, starting with row i · DNI_POINTS_QUERIES. */
static dn_status score_queries(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct queries *q = arg;
    const dni_support *support = dni_kernel_machine_of(q->machines[0])->support;
    const size_t n = support->x.n_rows, first = i * DNI_POINTS_QUERIES, left = q->x.n_rows - first,
                 rows = left < DNI_POINTS_QUERIES ? left : DNI_POINTS_QUERIES;
    double *k = q->work + slot * query_work(support);
    if (n > 0) {
        dn_status status =
            dni_points_query(support->points, dn_matrix_rows(q->x, first, rows), support->single,
                             q->run, k, k + DNI_POINTS_QUERIES * n, err);
        if (status != DN_OK) {
            return status;
        }
    }
    for (size_t m = 0; m < q->n; m++) {
        add_up(dni_kernel_machine_of(q->machines[m]), k, n, rows, q->scores + first * q->n + m,
               q->n);
    }
    return DN_OK;
}

/* Distributes the rows of the tile over the threads of the run. */
static dn_status kernel_score_tile(dn_machine *const *machines, size_t n, dn_matrix x,
                                   const dn_run *run, size_t slot, double *scores, double *work,
                                   dn_error *err) {
    struct queries queries = {machines, n, x, run, scores, work};
    (void)slot;
    const size_t n_tasks = (x.n_rows + DNI_POINTS_QUERIES - 1) / DNI_POINTS_QUERIES;
    if (run != NULL) {
        return dni_tasks_run(run, n_tasks, score_queries, &queries, err);
    }
    dn_status status = DN_OK;
    for (size_t i = 0; i < n_tasks && status == DN_OK; i++) {
        status = score_queries(&queries, i, 0, err);
    }
    return status;
}

static size_t kernel_tile_rows(const dn_machine *machine) {
    const dni_support *support = dni_kernel_machine_of(machine)->support;
    const size_t n = support->x.n_rows,
                 rows =
                     n == 0 ? DNI_POINTS_QUERIES : MAX_STEPS * dni_points_step(support->points) / n;
    return rows == 0 ? 1 : rows < DNI_POINTS_QUERIES ? rows : DNI_POINTS_QUERIES;
}

static void kernel_intercept(const dn_machine *machine, double *out, double *work) {
    (void)work;
    *out = dni_kernel_machine_of(machine)->w0;
}

static double kernel_norm(const dn_machine *machine) {
    return dni_kernel_machine_of(machine)->norm;
}

static bool kernel_is_precomputed(const dn_machine *machine) {
    return dni_kernel_machine_of(machine)->support->kernel.type == DN_KERNEL_PRECOMPUTED;
}

/* Returns the multiplications for one row: the kernel values of all support vectors, and the sums
 * of each machine. */
static double kernel_cost(dn_machine *const *machines, size_t n_machines) {
    const dni_support *s = dni_kernel_machine_of(machines[0])->support;
    const double n = (double)s->x.n_rows;
    if (n == 0) {
        return 0;
    }
    const double each =
        s->x.kind == DN_DENSE ? (double)s->x.n_cols : (double)s->x.row_start[s->x.n_rows] / n;
    double cost = s->kernel.factor != NULL ? (double)s->x.n_cols * (double)s->x.n_cols : 0;
    if (s->kernel.type == DN_KERNEL_DISTANCE && s->kernel.metric == DN_METRIC_EDIT) {
        cost += n * each * each;
    }
    for (size_t i = 0; i < n_machines; i++) {
        cost += (double)dni_kernel_machine_of(machines[i])->n;
    }
    return cost + n * (each + EXP_COST);
}

/* ---- description ---- */
static double kernel_matrix_numbers(const dn_machine *machine) {
    return 2 * (double)dni_kernel_machine_of(machine)->n;
}

static double kernel_shared_matrix_numbers(const dn_machine *machine, const dn_encoder *encoder) {
    const dni_support *s = dni_kernel_machine_of(machine)->support;
    const double d = (double)s->x.n_cols;
    return dni_rows_numbers(s->x, encoder) + (s->kernel.factor != NULL ? d * d : 0);
}

static dn_status kernel_describe(const dn_machine *machine, const dn_encoder *encoder,
                                 const dn_visitor *v, dn_error *err) {
    const dni_kernel_machine *m = dni_kernel_machine_of(machine);
    (void)encoder;
    (void)err;
    if (v->matrices) {
        v->begin_array(v->ctx, "indexes");
        for (size_t i = 0; i < m->n; i++) {
            v->integer(v->ctx, NULL, m->index[i]);
        }
        v->end_array(v->ctx);
        dn_visit_vector(v, "coefficients", m->coef, m->n);
    }
    dn_visit_vector(v, "w0", &m->w0, 1);
    v->number(v->ctx, "norm", m->norm);
    return DN_OK;
}

/* Passes S in the scale of the raw columns: S_ij scale_i scale_j. */
static dn_status visit_covariance(const dn_visitor *v, const dn_kernel *kernel, const double *scale,
                                  dn_error *err) {
    const size_t d = kernel->n_features;
    double *s = dni_machine_numbers_new(dni_machine_product(2 * d, d));
    if (s == NULL) {
        return dni_machine_no_memory(2, d, err);
    }
    dn_kernel_covariance(kernel, s, s + d * d);
    for (size_t i = 0; scale != NULL && i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            s[i * d + j] *= scale[i] * scale[j];
        }
    }
    dn_visit_matrix(v, "covariance", s, d, d);
    free(s);
    return DN_OK;
}

static dn_status visit_kernel(const dn_visitor *v, const dn_kernel *k, const double *scale,
                              dn_error *err) {
    const char *type = dn_kernel_type_name(k->type);
    dn_status status = DN_OK;
    v->begin_object(v->ctx, "kernel");
    v->text(v->ctx, "type", type, strlen(type));
    if (k->type == DN_KERNEL_POLYNOMIAL) {
        v->number(v->ctx, "gamma", k->gamma);
        v->integer(v->ctx, "degree", k->degree);
    }
    if (k->type == DN_KERNEL_SIGMOID) {
        v->number(v->ctx, "scale", k->scale);
    }
    if (k->type == DN_KERNEL_POLYNOMIAL || k->type == DN_KERNEL_SIGMOID) {
        v->number(v->ctx, "coef0", k->coef0);
    }
    if (k->type == DN_KERNEL_DISTANCE) {
        const char *metric = dn_kernel_metric_name(k->metric);
        v->text(v->ctx, "metric", metric, strlen(metric));
    }
    if (k->type == DN_KERNEL_RBF || k->type == DN_KERNEL_DISTANCE) {
        v->number(v->ctx, "width", k->width);
    }
    if (k->type == DN_KERNEL_SHARED_PATHS) {
        v->integer(v->ctx, "length", k->length);
    }
    if (k->type == DN_KERNEL_MAHALANOBIS && v->matrices) {
        status = visit_covariance(v, k, scale, err);
    }
    v->boolean(v->ctx, "normalize", k->normalize);
    v->end_object(v->ctx);
    return status;
}

static dn_status kernel_describe_shared(const dn_machine *machine, const dn_encoder *encoder,
                                        const dn_visitor *v, dn_error *err) {
    const dni_support *s = dni_kernel_machine_of(machine)->support;
    const double *mean = dn_encoder_mean(encoder), *scale = dn_encoder_scale(encoder);
    dn_status status = visit_kernel(v, &s->kernel, scale, err);
    if (status != DN_OK) {
        return status;
    }
    v->integer(v->ctx, "n_support_vectors", (int64_t)s->x.n_rows);
    v->boolean(v->ctx, "sparse", s->x.kind == DN_CSR);
    if (!v->matrices) {
        return DN_OK;
    }
    if (mean != NULL) {
        dn_visit_vector(v, "mean", mean, s->x.n_cols);
        dn_visit_vector(v, "scale", scale, s->x.n_cols);
    }
    return dni_rows_describe(s->x, encoder, "support_vectors", v, err);
}

const dni_machine_kind dni_kernel_kind = {
    .id = DNI_KIND_KERNEL,
    .name = "kernel",
    .matrices = "support vectors",
    .flags = DNI_MACHINE_FINITE | DNI_MACHINE_TWO | DNI_MACHINE_TASKS,
    .free_parts = kernel_free,
    .memory = kernel_memory,
    .shared_memory = kernel_shared_memory,
    .leave_run = kernel_leave_run,
    .finish = kernel_finish,
    .write = kernel_write,
    .read = kernel_read,
    .intercept = kernel_intercept,
    .norm = kernel_norm,
    .tile_work = kernel_tile_work,
    .score_tile = kernel_score_tile,
    .tile_rows = kernel_tile_rows,
    .is_precomputed = kernel_is_precomputed,
    .cost = kernel_cost,
    .matrix_numbers = kernel_matrix_numbers,
    .shared_matrix_numbers = kernel_shared_matrix_numbers,
    .describe = kernel_describe,
    .describe_shared = kernel_describe_shared,
};
