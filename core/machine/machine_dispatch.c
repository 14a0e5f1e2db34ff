/* Machines of any kind: dispatch to the functions of the kind, and code that all kinds share. */
#include "linalg/tile.h"
#include "machine/machine_kind.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- for the files of the kinds ---- */
void *dni_machine_alloc(const dni_machine_kind *kind, size_t size, size_t n_classes,
                        size_t n_features) {
    dn_machine *m = calloc(1, size);
    if (m != NULL) {
        *m = (dn_machine){.kind = kind,
                          .n_classes = n_classes,
                          .n_features = n_features,
                          .bytes = (double)size};
    }
    return m;
}

void *dni_machine_array(dn_machine *machine, size_t n, size_t size) {
    void *array = n >= SIZE_MAX / 2 / size ? NULL : calloc(n + 1, size);
    assert(machine->n_arrays < DNI_MACHINE_MAX_ARRAYS);
    machine->array[machine->n_arrays++] = array;
    machine->bytes += (double)n * (double)size;
    machine->incomplete = machine->incomplete || array == NULL;
    return array;
}

double *dni_machine_doubles(dn_machine *machine, size_t n) {
    return dni_machine_array(machine, n, sizeof(double));
}

dn_status dni_machine_created(dn_machine *machine, dn_machine **out, dn_error *err) {
    if (machine->incomplete) {
        const size_t n_classes = machine->n_classes, n_features = machine->n_features;
        dn_machine_free(machine);
        return dni_machine_no_memory(n_classes, n_features, err);
    }
    *out = machine;
    return DN_OK;
}

dn_status dni_machine_corrupt(const char *what, dn_error *err) {
    return dn_error_set(err, DN_ERR_CORRUPT, "the model is damaged: %s", what);
}

dn_status dni_machine_not_finite(dn_error *err) {
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "the weights in the scale of the raw columns are not finite: the columns "
                        "are too small; multiply them by powers of ten");
}

size_t dni_machine_product(size_t a, size_t b) {
    return b != 0 && a > SIZE_MAX / 16 / b ? SIZE_MAX : a * b;
}

double *dni_machine_numbers_new(size_t n) {
    return n >= SIZE_MAX / 16 ? NULL : calloc(n + 1, sizeof(double));
}

bool dni_machine_fits(const dni_reader *reader, size_t a, size_t b) {
    return !reader->failed && (b == 0 || a <= reader->left / 8 / b);
}

/* ---- memory ---- */
void dn_machine_free(dn_machine *machine) {
    if (machine == NULL) {
        return;
    }
    if (machine->kind->free_parts != NULL) {
        machine->kind->free_parts(machine);
    }
    for (size_t i = 0; i < machine->n_arrays; i++) {
        free(machine->array[i]);
    }
    free(machine->duals);
    free(machine);
}

size_t dn_machine_n_scores(const dn_machine *machine) {
    return machine->n_classes == 2 ? 1 : machine->n_classes;
}

dn_status dni_machine_new_projection(dn_machine *machine, size_t n_components, double **out,
                                     dn_error *err) {
    machine->projection =
        dni_machine_doubles(machine, dni_machine_product(n_components, machine->n_features));
    if (machine->projection == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "a projection needs memory which the system does not have");
    }
    machine->n_components = n_components;
    *out = machine->projection;
    return DN_OK;
}

/* The items follow the structure in the same allocation. */
struct machine_duals {
    dn_duals duals;
    dn_dual items[];
};

dn_status dni_machine_new_duals(dn_machine *machine, size_t n, dn_dual **out, dn_error *err) {
    struct machine_duals *own =
        n > SIZE_MAX / 2 / sizeof(dn_dual) ? NULL : calloc(1, sizeof *own + n * sizeof(dn_dual));
    if (own == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "%zu support vectors need memory which the system does not have", n);
    }
    own->duals = (dn_duals){.n = n, .items = own->items};
    free(machine->duals);
    machine->duals = &own->duals;
    *out = own->items;
    return DN_OK;
}

size_t dni_machine_duals(dn_machine *machine, dn_dual **out) {
    struct machine_duals *own = (struct machine_duals *)machine->duals;
    *out = own == NULL ? NULL : own->items;
    return own == NULL ? 0 : own->duals.n;
}

void dni_machine_omit_duals(dn_machine *machine) {
    if (machine->duals == NULL || machine->duals->omitted) {
        return;
    }
    struct machine_duals *less = realloc(machine->duals, sizeof *less);
    machine->duals = less != NULL ? &less->duals : machine->duals;
    *machine->duals = (dn_duals){.omitted = true};
}

void dni_machine_set_threshold(dn_machine *machine, double threshold) {
    machine->threshold = threshold;
}

void dni_machine_clear_feature(dn_machine *machine, size_t feature) {
    if (machine->kind->linear == NULL) {
        return;
    }
    double *w, *w0;
    machine->kind->linear(machine, &w, &w0);
    for (size_t k = 0; k < dn_machine_n_scores(machine); k++) {
        w[k * machine->n_features + feature] = 0;
    }
}

double dni_machine_memory(const dn_machine *machine) {
    const double duals =
        machine->duals == NULL
            ? 0
            : (double)sizeof *machine->duals + (double)machine->duals->n * (double)sizeof(dn_dual);
    return duals +
           (machine->kind->memory == NULL ? machine->bytes : machine->kind->memory(machine));
}

double dni_machine_shared_memory(const dn_machine *machine) {
    return machine->kind->shared_memory == NULL ? 0 : machine->kind->shared_memory(machine);
}

void dni_machine_leave_run(dn_machine *machine) {
    if (machine->kind->leave_run != NULL) {
        machine->kind->leave_run(machine);
    }
}

void dni_machines_finish(dn_machine *const *machines, size_t n) {
    if (machines[0]->kind->finish != NULL) {
        machines[0]->kind->finish(machines, n);
    }
}

/* ---- properties ---- */
bool dni_machine_is_linear(const dn_machine *machine) {
    return machine->kind->linear != NULL;
}

bool dni_machine_linear(const dn_machine *machine, const double **out_w, const double **out_w0) {
    if (machine->kind->linear == NULL) {
        return false;
    }
    double *w, *w0;
    machine->kind->linear(machine, &w, &w0);
    *out_w = w;
    *out_w0 = w0;
    return true;
}

bool dni_machine_stays_encoded(const dn_machine *machine) {
    return machine->kind->to_raw == NULL;
}

bool dni_machine_is_raw(const dn_machine *machine) {
    return machine->kind->is_raw != NULL && machine->kind->is_raw(machine);
}

bool dni_machine_has_densities(const dn_machine *machine) {
    const dni_machine_kind *kind = machine->kind;
    return kind->joint != NULL && (kind->has_densities == NULL || kind->has_densities(machine));
}

bool dni_machine_has_contributions(const dn_machine *machine) {
    return (machine->kind->flags & DNI_MACHINE_SUMS) != 0;
}

bool dni_machine_finite_scores(const dn_machine *machine) {
    return (machine->kind->flags & DNI_MACHINE_FINITE) != 0;
}

bool dni_machine_needs_all(const dn_machine *machine) {
    return machine->n_components > 0 ||
           (machine->kind->needs_all != NULL && machine->kind->needs_all(machine));
}

bool dni_machine_takes_entries(const dn_machine *machine) {
    const dni_machine_kind *kind = machine->kind;
    return kind->scores_entries != NULL || (kind->scores == NULL && kind->joint_entries != NULL);
}

bool dni_machine_is_precomputed(const dn_machine *machine) {
    return machine->kind->is_precomputed != NULL && machine->kind->is_precomputed(machine);
}

double dni_machine_norm(const dn_machine *machine) {
    return machine->kind->norm == NULL ? (double)NAN : machine->kind->norm(machine);
}

/* ---- one row ---- */
size_t dni_machine_work(const dn_machine *machine) {
    const dni_machine_kind *kind = machine->kind;
    return (kind->work == NULL ? 0 : kind->work(machine)) +
           (kind->scores == NULL ? machine->n_classes : 0);
}

bool dni_machine_joint(const dn_machine *machine, const double *x, double *joint, double *work) {
    return machine->kind->joint(machine, x, joint, work);
}

bool dni_machine_joint_entries(const dn_machine *machine, const dni_entry_part *parts,
                               size_t n_parts, double *joint) {
    return machine->kind->joint_entries(machine, parts, n_parts, joint);
}

const double *dni_machine_prior(const dn_machine *machine) {
    return machine->kind->prior(machine);
}

bool dni_machine_scores(const dn_machine *machine, const double *x, double *scores, double *work) {
    if (machine->kind->scores != NULL) {
        return machine->kind->scores(machine, x, scores, work);
    }
    const size_t K = machine->n_classes;
    const bool possible = machine->kind->joint(machine, x, K == 2 ? work : scores, work + K);
    if (K == 2) {
        scores[0] = work[1] - work[0];
    }
    return possible;
}

bool dni_machine_scores_entries(const dn_machine *machine, const dni_entry_part *parts,
                                size_t n_parts, double *scores, double *work) {
    const dni_machine_kind *kind = machine->kind;
    if (kind->scores_entries != NULL) {
        return kind->scores_entries(machine, parts, n_parts, scores, work);
    }
    const size_t K = machine->n_classes;
    const bool possible = kind->joint_entries(machine, parts, n_parts, K == 2 ? work : scores);
    if (K == 2) {
        scores[0] = work[1] - work[0];
    }
    return possible;
}

size_t dni_machine_n_hidden(const dn_machine *machine) {
    return machine->kind->n_hidden == NULL ? 0 : machine->kind->n_hidden(machine);
}

void dni_machine_hidden(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                        double *out, double *work) {
    machine->kind->hidden(machine, parts, n_parts, out, work);
}

void dni_machine_contributions(const dn_machine *machine, const double *x, double *out,
                               double *work) {
    machine->kind->contributions(machine, x, out, work);
}

void dni_machine_intercept(const dn_machine *machine, double *intercept, double *work) {
    if (machine->kind->intercept != NULL) {
        machine->kind->intercept(machine, intercept, work);
        return;
    }
    for (size_t k = 0; k < dn_machine_n_scores(machine); k++) {
        intercept[k] = (double)NAN;
    }
}

bool dni_machine_joint_or_priors(const double *prior, size_t K, double *joint) {
    bool possible = false;
    for (size_t k = 0; k < K; k++) {
        joint[k] = isnan(joint[k]) ? -(double)INFINITY : joint[k];
        possible = possible || joint[k] > -(double)INFINITY;
    }
    for (size_t k = 0; !possible && k < K; k++) {
        joint[k] = log(prior[k]);
    }
    return possible;
}

double dni_log_sum(const double *joint, size_t n) {
    double max = joint[0], sum = 0;
    for (size_t k = 1; k < n; k++) {
        max = joint[k] > max ? joint[k] : max;
    }
    if (isinf(max)) {
        return max;
    }
    for (size_t k = 0; k < n; k++) {
        sum += exp(joint[k] - max);
    }
    return max + log(sum);
}

/* ---- raw features ---- */
/* Converts the projection to raw features and stores it in `to`. */
static dn_status convert_projection(const dn_machine *from, const double *scale, dn_machine *to,
                                    dn_error *err) {
    const size_t d = from->n_features;
    double *projection = NULL;
    if (from->n_components == 0) {
        return DN_OK;
    }
    dn_status status = dni_machine_new_projection(to, from->n_components, &projection, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < to->n_components; i++) {
        for (size_t j = 0; j < d; j++) {
            const double v = from->projection[i * d + j];
            projection[i * d + j] = scale == NULL ? v : v / scale[j];
        }
    }
    return DN_OK;
}

dn_status dni_machine_to_raw(const dn_machine *from, const double *mean, const double *scale,
                             dn_machine **out, dn_error *err) {
    dn_machine *to = NULL;
    dn_status status = from->kind->to_raw(from, mean, scale, &to, err);
    if (status == DN_OK) {
        status = convert_projection(from, scale, to, err);
    }
    if (status != DN_OK) {
        dn_machine_free(to);
        return status;
    }
    to->threshold = from->threshold;
    *out = to;
    return DN_OK;
}

/* ---- tiles of encoded rows ---- */
size_t dni_machines_n_scores(dn_machine *const *machines, size_t n) {
    size_t n_scores = 0;
    for (size_t i = 0; i < n; i++) {
        n_scores += dn_machine_n_scores(machines[i]);
    }
    return n_scores;
}

/* An expanded row, then the largest `work` of all machines. */
size_t dni_machines_rows_work(dn_machine *const *machines, size_t n) {
    size_t max_work = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t work = dni_machine_work(machines[i]);
        max_work = work > max_work ? work : max_work;
    }
    return machines[0]->n_features + 1 + max_work;
}

size_t dni_machines_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    const dni_machine_kind *kind = machines[0]->kind;
    return kind->score_tile != NULL ? kind->tile_work(machines, n, n_slots)
                                    : n_slots * dni_machines_rows_work(machines, n);
}

bool dni_machines_use_threads(const dn_machine *machine) {
    return (machine->kind->flags & DNI_MACHINE_TASKS) != 0;
}

void dni_machines_prepare(dn_machine *const *machines, size_t n, bool sparse, double *work) {
    if (machines[0]->kind->tile_prepare != NULL) {
        machines[0]->kind->tile_prepare(machines, n, sparse, work);
    }
}

/* Scores one row, dense or CSR. A CSR row is expanded if the machines do not take entries. */
static void score_row(dn_machine *const *machines, size_t n, dn_matrix x, double *scores,
                      double *work) {
    const bool as_entries = x.kind == DN_CSR && dni_machine_takes_entries(machines[0]);
    const double *row = x.values;
    double *machine_work = work + machines[0]->n_features + 1;
    dni_entry_part entries = {0};
    if (as_entries) {
        const size_t first = x.row_start[0];
        entries = (dni_entry_part){x.cols + first, x.values + first, x.row_start[1] - first};
    } else if (x.kind == DN_CSR) {
        dni_tile_expand(x, NULL, NULL, work);
        row = work;
    }
    for (size_t i = 0; i < n; i++) {
        if (as_entries) {
            (void)dni_machine_scores_entries(machines[i], &entries, 1, scores, machine_work);
        } else {
            (void)dni_machine_scores(machines[i], row, scores, machine_work);
        }
        scores += dn_machine_n_scores(machines[i]);
    }
}

void dni_machines_score_rows(dn_machine *const *machines, size_t n, dn_matrix x, double *scores,
                             double *work) {
    const size_t n_scores = dni_machines_n_scores(machines, n);
    for (size_t r = 0; r < x.n_rows; r++) {
        score_row(machines, n, dn_matrix_rows(x, r, 1), scores + r * n_scores, work);
    }
}

dn_status dni_machines_score(dn_machine *const *machines, size_t n, dn_matrix x, const dn_run *run,
                             size_t slot, double *scores, double *work, dn_error *err) {
    const dni_machine_kind *kind = machines[0]->kind;
    if (kind->score_tile != NULL) {
        return kind->score_tile(machines, n, x, run, slot, scores, work, err);
    }
    dni_machines_score_rows(machines, n, x, scores,
                            work + slot * dni_machines_rows_work(machines, n));
    return DN_OK;
}

size_t dni_machines_tile_rows(const dn_machine *machine) {
    return machine->kind->tile_rows == NULL ? DNI_TILE_ROWS : machine->kind->tile_rows(machine);
}

double dni_machines_cost(dn_machine *const *machines, size_t n) {
    return machines[0]->kind->cost(machines, n);
}

/* ---- description ---- */
const char *dni_machine_kind_name(const dn_machine *machine) {
    return machine->kind->name;
}

dn_status dni_machine_describe(const dn_machine *machine, const dn_encoder *encoder,
                               const dn_visitor *visitor, dn_error *err) {
    if (machine->kind->describe != NULL) {
        const dn_status status = machine->kind->describe(machine, encoder, visitor, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (machine->n_components > 0) {
        dn_visit_matrix(visitor, "directions", machine->projection, machine->n_components,
                        machine->n_features);
    }
    return DN_OK;
}

dn_status dni_machine_describe_shared(const dn_machine *machine, const dn_encoder *encoder,
                                      const dn_visitor *visitor, dn_error *err) {
    return machine->kind->describe_shared == NULL
               ? DN_OK
               : machine->kind->describe_shared(machine, encoder, visitor, err);
}

bool dni_machine_describes(const dn_machine *machine) {
    const dni_machine_kind *kind = machine->kind;
    return machine->n_components > 0 ||
           (kind->describe != NULL && (kind->describes == NULL || kind->describes(machine)));
}

double dni_machine_matrix_numbers(const dn_machine *machine) {
    return machine->kind->matrix_numbers == NULL ? 0 : machine->kind->matrix_numbers(machine);
}

double dni_machine_shared_matrix_numbers(const dn_machine *machine, const dn_encoder *encoder) {
    return machine->kind->shared_matrix_numbers == NULL
               ? 0
               : machine->kind->shared_matrix_numbers(machine, encoder);
}

const char *dni_machine_matrices_name(const dn_machine *machine) {
    return machine->kind->matrices;
}
