/* ln p(x, C_k) of every row. Gaussian densities are computed in tiles of rows (gaussian_tiles.h),
 * like in an evaluation. Other densities are computed row by row. Naive Bayes reads only the
 * entries of sparse rows. */
#include "learners/shared/likelihood.h"
#include "base/group.h"
#include "base/layout.h"
#include "base/sum.h"
#include "linalg/tiles.h"
#include "machine/gaussian_tiles.h"

#include <math.h>

struct likelihood_shape {
    size_t n_slots, K, d;
    size_t work;   /* number of doubles of working memory for a row: dni_machine_work */
    bool whitened; /* Gaussian densities with full covariance matrices */
};

struct likelihood {
    const dn_run *run;
    const dn_machine *machine;
    const dni_gaussians *gaussians; /* densities of the machine; NULL: not Gaussian */
    struct likelihood_shape shape;
    double *centre; /* [K × d] from dni_gaussians_centre; used if the covariance is shared */
    double *x;      /* [n_slots × dni_gaussians_tile_work] memory for a tile, or an expanded row */
    double *joint;  /* [n_slots × DNI_TILE_ROWS × K] ln p(x, C_k) */
    double *work;   /* [n_slots × work] */
    double *least;  /* [n_slots] smallest ln p(x) of the rows of each slot */
};

static bool is_shared(const struct likelihood *l) {
    return l->gaussians != NULL && l->gaussians->covariance == DNI_COVARIANCE_SHARED;
}

static void likelihood_layout(dni_layout *layout, const void *shape, void *work) {
    const struct likelihood_shape *s = shape;
    struct likelihood *l = work;
    l->centre = dni_layout_matrix(layout, s->whitened ? s->K : 0, s->d);
    l->x = dni_layout_matrix(layout, s->n_slots, dni_gaussians_tile_work(s->whitened, s->d));
    l->joint = dni_layout_matrix(layout, s->n_slots * DNI_TILE_ROWS, s->K);
    l->work = dni_layout_matrix(layout, s->n_slots, s->work);
    l->least = dni_layout_doubles(layout, s->n_slots);
}

double dni_likelihood_memory(bool whitened, size_t n_rows, size_t n_features, size_t n_classes,
                             size_t n_slots) {
    const struct likelihood_shape shape = {.n_slots = n_slots,
                                           .K = n_classes,
                                           .d = n_features,
                                           .work = 2 * n_features + n_classes,
                                           .whitened = whitened};
    struct likelihood unused;
    return dni_layout_bytes(likelihood_layout, &shape, &unused) +
           dn_run_sum_memory(n_rows, n_slots, 2);
}

/* joint [x.n_rows × K] ← ln p(x, C_k) of the rows of a tile, row by row. */
static void tile_by_rows(const struct likelihood *l, size_t slot, dn_matrix x, double *joint) {
    double *expanded = l->x + slot * (l->shape.d + 1);
    for (size_t t = 0; t < x.n_rows; t++, joint += l->shape.K) {
        const double *row = expanded;
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
            dni_tile_expand(dn_matrix_rows(x, t, 1), NULL, NULL, expanded);
        }
        (void)dni_machine_joint(l->machine, row, joint, l->work + slot * l->shape.work);
    }
}

/* out[0] += Σv ln p(x, C), out[1] += Σv. Also lowers l->least of the slot: this array needs no
 * fixed order of the rows, because a minimum does not depend on the order. */
static dn_status add_block(void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    const struct likelihood *l = arg;
    const size_t K = l->shape.K;
    double *joint = l->joint + slot * DNI_TILE_ROWS * K;
    dni_tiles tiles = dni_tiles_of(l->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        dn_status status = DN_OK;
        if (l->gaussians != NULL) {
            double *work = l->x + slot * dni_gaussians_tile_work(l->shape.whitened, l->shape.d);
            status = dni_gaussians_joint_tile(l->gaussians, K, l->shape.d,
                                              is_shared(l) ? l->centre : NULL, tile->x, l->run,
                                              work, joint, err);
        } else {
            tile_by_rows(l, slot, tile->x, joint);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const double v = tile->weight[t];
            if (v == 0) {
                continue;
            }
            out[0] += v * joint[t * K + (size_t)tile->target[t]];
            out[1] += v;
            l->least[slot] = fmin(l->least[slot], dni_log_sum(joint + t * K, K));
        }
    }
    return tiles.status;
}

/* Initialises l->least, and computes l->centre if the covariance is shared. */
static dn_status prepare(struct likelihood *l, dn_error *err) {
    for (size_t i = 0; i < l->shape.n_slots; i++) {
        l->least[i] = (double)INFINITY;
    }
    return is_shared(l)
               ? dni_gaussians_centre(l->gaussians, l->shape.K, l->shape.d, l->run, l->centre, err)
               : DN_OK;
}

dn_status dni_likelihood_report(const dn_fit_input *input, const dn_run *run,
                                const dn_machine *machine, const dni_gaussians *gaussians,
                                dn_report *report, dn_error *err) {
    const size_t d = input->rows->n_cols;
    struct likelihood l = {.run = run,
                           .machine = machine,
                           .gaussians = gaussians,
                           .shape = {.n_slots = run->n_slots,
                                     .K = input->n_classes,
                                     .d = d,
                                     .work = dni_machine_work(machine),
                                     .whitened = gaussians != NULL &&
                                                 gaussians->covariance != DNI_COVARIANCE_DIAGONAL}};
    void *memory = NULL;
    double sums[2], least = (double)INFINITY, log_scale = 0;
    dn_status status = dni_layout_take(run, likelihood_layout, &l.shape, &l,
                                       "the densities of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = prepare(&l, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_each_sum(run, input->rows, add_block, &l, 2, sums, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t i = 0; i < run->n_slots; i++) {
        least = fmin(least, l.least[i]);
    }
    status = dni_group_least(run, DN_OK, &least, 1, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t j = 0; input->scale != NULL && j < d; j++) {
        log_scale +=
            gaussians == NULL || dni_gaussians_use(gaussians, d, j) ? log(input->scale[j]) : 0;
    }
    report->objective = log_scale - sums[0] / sums[1];
    dn_report_number(report, "log_density_min", least - log_scale);
cleanup:
    dn_run_free(run, memory);
    return status;
}
