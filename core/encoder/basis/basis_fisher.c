/* Directions of Fisher's discriminant of K classes: the largest generalised eigenvalues of S_B w
 * = r S_W w.
 *
 *   S_W = D R D, D: square roots of the diagonal;   R = L L' (Cholesky)
 *   S_B = M M', columns of M: sqrt(n_k) (m_k - m)
 *   C = L^-1 D^-1 M,   (C'C) u = r u, of order K,   w = D^-1 L^-T C u
 *
 * L^-1 D^-1 S_B D^-1 L^-T = C C' has the eigenvectors C u, so that only a matrix of order K is
 * decomposed. Columns that are collinear within the classes make R singular; the error names
 * them.
 *
 * Sources: Bishop, PRML, section 4.1.6; Alpaydin, section 6.8; Duda, Hart and Stork, section
 * 3.8.3. */
#include "base/argument.h"
#include "base/layout.h"
#include "encoder/basis/basis_fit.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/step.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include <stdio.h>
#include <string.h>

#define COLLINEAR 1e-12 /* smallest eigenvalue of R, relative to the largest */
/* a column is named as collinear if its component of a null vector is greater than this times
 * the largest component */
#define INVOLVED 1e-3
#define NO_DIFFERENCE 1e-20 /* smallest r, relative to the largest */

struct fisher {
    const dn_run *run;
    size_t p, K;
    /* [K × (p + 1)] sum of v z and sum of v of each class; finish_means divides the first by the
     * second */
    double *mean;
    double *centre;  /* [p] mean of all rows */
    double *within;  /* [p × p] S_W, then R, then L */
    double *scratch; /* [p × p] */
    double *root;    /* [p] the diagonal of D */
    double *between; /* [K × p] rows of C' */
    double *small;   /* [K × K] C'C */
    double *tiles;   /* [n_slots × (2p + 1) × DNI_TILE_ROWS] */
};

static dn_status means_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const struct fisher *self = arg;
    dni_pace pace = {.run = self->run};
    (void)slot;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        double v = block->weight == NULL ? 1 : block->weight[t];
        if (v == 0) {
            continue;
        }
        double *sum = out + (size_t)block->target[t] * (self->p + 1);
        dni_axpy(v, block->x.values + t * block->x.stride, sum, self->p);
        sum[self->p] += v;
        dn_status status = dni_pace_poll(&pace, 2 * (double)self->p, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status within_block(const void *arg, const dn_block *block, size_t slot, double *out,
                              dn_error *err) {
    const struct fisher *self = arg;
    size_t p = self->p;
    double *z = self->tiles + slot * (2 * p + 1) * DNI_TILE_ROWS, *scratch = z + p * DNI_TILE_ROWS,
           *v = scratch + p * DNI_TILE_ROWS;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        size_t n =
            block->x.n_rows - first < DNI_TILE_ROWS ? block->x.n_rows - first : DNI_TILE_ROWS;
        for (size_t t = 0; t < n; t++) {
            const double *x = block->x.values + (first + t) * block->x.stride;
            v[t] = block->weight == NULL ? 1 : block->weight[first + t];
            const double *mean =
                self->mean + (v[t] == 0 ? 0 : (size_t)block->target[first + t]) * (p + 1);
            for (size_t c = 0; c < p; c++) {
                z[t * p + c] = x[c] - mean[c];
            }
        }
        dn_status status = dni_tile_gram(self->run, z, n, p, v, 1, scratch, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Converts the sums to class means and the mean of all rows. */
static void finish_means(struct fisher *self) {
    double total = 0;
    for (size_t k = 0; k < self->K; k++) {
        double *sum = self->mean + k * (self->p + 1), n = sum[self->p];
        total += n;
        for (size_t c = 0; c < self->p && n > 0; c++) {
            self->centre[c] += sum[c];
            sum[c] /= n;
        }
    }
    for (size_t c = 0; c < self->p; c++) {
        self->centre[c] /= total;
    }
}

/* ---- collinear columns ---- */
static dn_status refuse(const char *const *names, const double *vector, size_t p, dn_error *err) {
    enum { MAX_NAMED = 4 };
    char list[DN_MESSAGE_SIZE / 2] = "";
    double most = dni_max_abs(vector, p);
    size_t named = 0, length = 0, first = 0;
    for (size_t c = p; c-- > 0;) {
        first = fabs(vector[c]) > INVOLVED * most ? c : first;
    }
    for (size_t c = first; c < p; c++) {
        if (!(fabs(vector[c]) > INVOLVED * most) || named++ >= MAX_NAMED || length >= sizeof list) {
            continue;
        }
        length += (size_t)snprintf(list + length, sizeof list - length, "%s\"%s\"",
                                   c == first ? "" : ", ", names[c]);
    }
    return dni_error_at(
        dn_error_set(err, DN_ERR_NUMERIC,
                     "the columns of a fisher basis must vary within the classes and not determine "
                     "each other there: leave out %s%s%s",
                     named > 1 ? "one of " : "", list, named > MAX_NAMED ? " and others" : ""),
        names[first], -1, err);
}

/* Replaces S_W by R and stores the diagonal of D. */
static dn_status correlate(struct fisher *self, const char *const *names, dn_error *err) {
    size_t p = self->p, n_null = 0;
    double *null = NULL;
    for (size_t c = 0; c < p; c++) {
        double total = 0;
        for (size_t k = 0; k < self->K; k++) {
            total += self->mean[k * (p + 1) + p];
        }
        self->root[c] = sqrt(self->within[c * p + c]);
        if (!(self->root[c] > 1e-12 * sqrt(total))) { /* the columns have deviation 1 */
            memset(self->scratch, 0, p * sizeof *self->scratch);
            self->scratch[c] = 1;
            return refuse(names, self->scratch, p, err);
        }
    }
    dni_pace pace = {.run = self->run};
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j <= i; j++) {
            self->within[i * p + j] /= self->root[i] * self->root[j];
        }
        memcpy(self->scratch + i * p, self->within + i * p, (i + 1) * sizeof *self->scratch);
        dn_status status = dni_pace_poll(&pace, 8 * (double)i, err);
        if (status != DN_OK) {
            return status;
        }
    }
    dn_status status =
        dni_symmetric_null(self->run, self->scratch, p, COLLINEAR, &n_null, &null, err);
    if (status != DN_OK) {
        return status;
    }
    if (n_null > 0) {
        for (size_t c = 0; null == NULL && c < p; c++) {
            self->scratch[c] = 1; /* the null vectors are unknown: name all columns */
        }
        status = refuse(names, null == NULL ? self->scratch : null, p, err);
    }
    dn_run_free(self->run, null);
    if (status != DN_OK) {
        return status;
    }
    bool positive = false;
    status = dni_cholesky(self->run, self->within, p, &positive, err);
    if (status == DN_OK && !positive) {
        status = dn_error_set(
            err, DN_ERR_NUMERIC,
            "the scatter within the classes of a fisher basis could not be decomposed");
    }
    return status;
}

/* ---- directions ---- */
/* Solves L y = x, or with `transposed` L'y = x, in place. */
static void substitute(const double *l, size_t p, bool transposed, double *x) {
    if (!transposed) {
        for (size_t i = 0; i < p; i++) {
            x[i] = (x[i] - dni_dot(l + i * p, x, i)) / l[i * p + i];
        }
        return;
    }
    for (size_t i = p; i-- > 0;) {
        x[i] /= l[i * p + i];
        dni_axpy(-x[i], l + i * p, x, i);
    }
}

static dn_status make_between(struct fisher *self, dn_error *err) {
    size_t p = self->p;
    for (size_t k = 0; k < self->K; k++) {
        double *c = self->between + k * p, n = self->mean[k * (p + 1) + p];
        for (size_t j = 0; j < p; j++) {
            c[j] = n > 0 ? sqrt(n) * (self->mean[k * (p + 1) + j] - self->centre[j]) / self->root[j]
                         : 0;
        }
        dn_status status = dn_run_stop(self->run, err);
        if (status != DN_OK) {
            return status;
        }
        substitute(self->within, p, false, c);
        for (size_t i = 0; i <= k; i++) {
            self->small[k * self->K + i] = dni_dot(c, self->between + i * p, p);
        }
    }
    return DN_OK;
}

static dn_status find_directions(struct fisher *self, size_t n, double *out, dn_error *err) {
    size_t p = self->p, K = self->K, found = 0;
    double *vectors = NULL, largest = 0;
    dn_status status = dni_symmetric_null(self->run, self->small, K, 1, &found, &vectors, err);
    if (status == DN_OK && vectors == NULL) {
        status = dn_error_set(
            err, DN_ERR_NUMERIC,
            "the directions of a fisher basis between %zu classes could not be computed", K);
    }
    for (size_t i = 0; status == DN_OK && vectors != NULL && i < n; i++) {
        const double *u = vectors + (found - 1 - i) * K;
        double *w = out + i * p;
        memset(w, 0, p * sizeof *w);
        for (size_t k = 0; k < K; k++) {
            dni_axpy(u[k], self->between + k * p, w, p);
        }
        double ratio = dni_dot(w, w, p); /* |C u|^2 = r */
        largest = i == 0 ? ratio : largest;
        if (!(ratio > NO_DIFFERENCE * largest)) {
            memset(w, 0, p * sizeof *w);
            continue;
        }
        substitute(self->within, p, true, w);
        for (size_t c = 0; c < p; c++) {
            w[c] /= self->root[c];
        }
        if (K == 2 && dni_dot(w, self->mean + p + 1, p) < dni_dot(w, self->mean, p)) {
            for (size_t c = 0; c < p; c++) {
                w[c] = -w[c];
            }
        }
        status = dn_run_stop(self->run, err);
    }
    dn_run_free(self->run, vectors);
    return status;
}

struct fisher_shape {
    size_t p, K, n_slots;
};

static void fisher_layout(dni_layout *layout, const void *shape, void *work) {
    const struct fisher_shape *s = shape;
    struct fisher *w = work;
    w->mean = dni_layout_matrix(layout, s->K, s->p + 1);
    w->centre = dni_layout_doubles(layout, s->p);
    w->within = dni_layout_matrix(layout, s->p, s->p);
    w->scratch = dni_layout_matrix(layout, s->p, s->p);
    w->root = dni_layout_doubles(layout, s->p);
    w->between = dni_layout_matrix(layout, s->K, s->p);
    w->small = dni_layout_matrix(layout, s->K, s->K);
    w->tiles = dni_layout_matrix(layout, s->n_slots * DNI_TILE_ROWS, 2 * s->p + 1);
}

double dni_basis_fisher_memory(size_t n_columns, size_t n_classes, size_t n_slots) {
    const struct fisher_shape shape = {n_columns, n_classes, n_slots};
    struct fisher work;
    return dni_layout_bytes(fisher_layout, &shape, &work);
}

dn_status dni_basis_fisher(const dn_rows *rows, size_t n_classes, size_t n,
                           const char *const *names, const dn_run *run, double *directions,
                           dn_error *err) {
    struct fisher self = {.run = run, .p = rows->n_cols, .K = n_classes};
    const size_t p = self.p, K = self.K;
    const struct fisher_shape shape = {p, K, run->n_slots == 0 ? 1 : run->n_slots};
    void *memory = NULL;
    dn_status status = dni_layout_take(run, fisher_layout, &shape, &self,
                                       "the scatter of a fisher basis", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_sum(run, rows, &(dn_sum){means_block, &self, sizeof self, K * (p + 1)},
                        self.mean, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    finish_means(&self);
    status =
        dn_run_sum(run, rows, &(dn_sum){within_block, &self, sizeof self, p * p}, self.within, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = correlate(&self, names, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = make_between(&self, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = find_directions(&self, n, directions, err);
cleanup:
    dn_run_free(run, memory);
    return status;
}
