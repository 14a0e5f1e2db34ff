/* ln p(x, C_k) of every row. Whitened rows are products of tiles: z = A(x − m), ‖z‖² the Mahalanobis distance; with one covariance for all classes a single
 * product serves them all, ‖A(x − m_k)‖ = ‖A(x − m_0) − A(m_k − m_0)‖. Other densities go row by row, naive Bayes over the entries of a sparse one. */
#include "learners/shared/likelihood.h"
#include "base/sum.h"
#include "linalg/tile.h"
#include "linalg/triangle.h"
#include "linalg/vector.h"
#include "machine/machine_impl.h"

#include <math.h>

#define LN_2PI 1.8378770664093454835606594728112

/* What one thread needs. A least value is the same in whatever order it is found, so a slot may keep it. */
struct slot {
    double *x;     /* [tile_rows × (d + 1)] rows, expanded */
    double *joint; /* [DNI_TILE_ROWS × K] */
    double *work;  /* dni_machine_work */
    double least;  /* ln p(x) */
};

struct likelihood {
    const dn_run *run;
    const dn_machine *machine;
    const dn_gaussians *gaussians; /* the machine's; NULL: it has other densities */
    size_t n_classes;
    const double *ones; /* [d] */
    double *centre;     /* [K × d] A(m_k − m_0) of a shared covariance */
    struct slot *slots; /* [run->n_slots] */
};

static bool by_tiles(const struct likelihood *l) {
    return l->gaussians != NULL && l->gaussians->covariance != DN_COVARIANCE_DIAGONAL;
}

/* joint of all rows of a tile, by whitening. */
static dn_status whitened_tile(const struct likelihood *l, const struct slot *slot, dn_matrix x,
                               dn_error *err) {
    const dn_gaussians *g = l->gaussians;
    size_t K = l->n_classes, d = x.n_cols, width = d + 1;
    bool shared = g->covariance == DN_COVARIANCE_SHARED;
    const double turns = (double)dni_gaussians_n_used(g, d) * LN_2PI;
    for (size_t k = 0; k < K; k++) {
        if (k == 0 || !shared) {
            dni_tile_expand(x, g->mean + k * d, l->ones, slot->x);
            dn_status status = dni_lower_times_rows(l->run, g->whiten + k * d * d, d, slot->x,
                                                    x.n_rows, width, err);
            if (status != DN_OK) {
                return status;
            }
        }
        double constant = log(g->prior[k]) - 0.5 * (g->log_det[shared ? 0 : k] + turns);
        for (size_t t = 0; t < x.n_rows; t++) {
            const double *z = slot->x + t * width;
            slot->joint[t * K + k] =
                constant -
                0.5 * (shared ? dni_square_distance(z, l->centre + k * d, d) : dni_dot(z, z, d));
        }
    }
    return DN_OK;
}

/* Rows that are expanded at once. */
static size_t tile_rows(const struct likelihood *l) {
    return by_tiles(l) ? DNI_TILE_ROWS : 1;
}

static void each_row(const struct likelihood *l, const struct slot *slot, dn_matrix x) {
    for (size_t t = 0; t < x.n_rows; t++) {
        double *joint = slot->joint + t * l->n_classes;
        const double *row = slot->x;
        if (x.kind == DN_CSR && dni_machine_takes_entries(l->machine)) {
            const size_t first = x.row_start[t];
            const dni_entry_part entries = {x.cols + first, x.values + first,
                                            x.row_start[t + 1] - first};
            (void)dni_machine_joint_entries(l->machine, &entries, 1, joint);
            continue;
        }
        if (x.kind == DN_DENSE) {
            row = x.values + t * x.stride;
        } else {
            dni_tile_expand(dn_matrix_rows(x, t, 1), NULL, NULL, slot->x);
        }
        (void)dni_machine_joint(l->machine, row, joint, slot->work);
    }
}

/* out: Σv ln p(x, C), Σv */
static dn_status add_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                           dn_error *err) {
    const struct likelihood *l = arg;
    struct slot *slot = &l->slots[slot_index];
    size_t K = l->n_classes;
    for (size_t first = 0, n; first < block->x.n_rows; first += n) {
        n = block->x.n_rows - first < DNI_TILE_ROWS ? block->x.n_rows - first : DNI_TILE_ROWS;
        dn_matrix x = dn_matrix_rows(block->x, first, n);
        dn_status status = dn_run_stop(l->run, err);
        if (status == DN_OK && by_tiles(l)) {
            status = whitened_tile(l, slot, x, err);
        } else if (status == DN_OK) {
            each_row(l, slot, x);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t t = 0; t < n; t++) {
            double v = block->weight == NULL ? 1 : block->weight[first + t];
            if (v == 0) {
                continue;
            }
            out[0] += v * slot->joint[t * K + (size_t)block->target[first + t]];
            out[1] += v;
            slot->least = fmin(slot->least, dni_log_sum(slot->joint + t * K, K));
        }
    }
    return DN_OK;
}

static dn_status prepare(struct likelihood *l, size_t d, void **out_numbers, void **out_slots,
                         dn_error *err) {
    size_t K = l->n_classes, n_slots = l->run->n_slots, work = dni_machine_work(l->machine);
    size_t expanded = tile_rows(l) * (d + 1), each = expanded + DNI_TILE_ROWS * K + work;
    if (each > SIZE_MAX / 64 / n_slots) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the tiles of rows of %zu features are more than can be addressed", d);
    }
    size_t shared = by_tiles(l) ? d + K * d : 0;
    dn_status status = dn_run_alloc(l->run, shared + n_slots * each, sizeof(double),
                                    "the densities of the rows", out_numbers, err);
    if (status == DN_OK) {
        status = dn_run_alloc(l->run, n_slots, sizeof *l->slots, "the densities of the rows",
                              out_slots, err);
    }
    if (status != DN_OK) {
        return status;
    }
    double *next = *out_numbers;
    l->slots = *out_slots;
    l->ones = next;
    l->centre = next + d;
    for (size_t j = 0; shared > 0 && j < d; j++) {
        next[j] = 1;
    }
    next += shared;
    for (size_t i = 0; i < n_slots; i++, next += each) {
        l->slots[i] = (struct slot){next, next + expanded, next + expanded + DNI_TILE_ROWS * K,
                                    (double)INFINITY};
    }
    if (!by_tiles(l) || l->gaussians->covariance != DN_COVARIANCE_SHARED) {
        return DN_OK;
    }
    const dn_gaussians *g = l->gaussians;
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            l->centre[k * d + j] = g->mean[k * d + j] - g->mean[j];
        }
    }
    return dni_lower_times_rows(l->run, g->whiten, d, l->centre, K, d, err);
}

dn_status dni_likelihood_report(const dn_fit_input *input, const dn_run *run,
                                const dn_machine *machine, const dn_gaussians *gaussians,
                                dn_report *report, dn_error *err) {
    struct likelihood l = {.run = run,
                           .machine = machine,
                           .gaussians = gaussians,
                           .n_classes = input->n_classes};
    void *numbers = NULL, *slots = NULL;
    size_t d = input->rows->n_cols;
    double sums[2], least = (double)INFINITY, log_scale = 0;
    dn_status status = prepare(&l, d, &numbers, &slots, err);
    if (status == DN_OK) {
        status = dni_each_sum(run, input->rows, add_block, &l, 2, sums, err);
    }
    for (size_t i = 0; status == DN_OK && i < run->n_slots; i++) {
        least = fmin(least, l.slots[i].least);
    }
    dn_run_free(run, slots);
    dn_run_free(run, numbers);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; input->scale != NULL && j < d; j++) {
        log_scale +=
            gaussians == NULL || dni_gaussians_use(gaussians, d, j) ? log(input->scale[j]) : 0;
    }
    report->objective = log_scale - sums[0] / sums[1];
    dn_report_number(report, "log_density_min", least - log_scale);
    return DN_OK;
}

double dni_likelihood_memory(bool whitened, size_t n_features, size_t n_classes, size_t n_slots) {
    double d = (double)n_features, K = (double)n_classes, rows = whitened ? DNI_TILE_ROWS : 1,
           shared = whitened ? d + K * d : 0;
    return 8 * (shared + (double)n_slots * (rows * (d + 1) + DNI_TILE_ROWS * K + 2 * d + K + 4));
}
