/* Internal functions of machines of any kind: scores, densities, description. machine_kind.h
 * specifies the functions that each kind implements. */
#ifndef DNI_MACHINE_DISPATCH_H
#define DNI_MACHINE_DISPATCH_H

#include "base/bytes.h"
#include <discern/duals.h>
#include <discern/machine.h>
#include <discern/matrix.h>
#include <discern/run.h>
#include <discern/status.h>

typedef struct dni_machine_kind dni_machine_kind;

#define DNI_MACHINE_MAX_ARRAYS 10 /* maximum number of arrays of a machine (dni_machine_array) */

struct dn_machine {
    const dni_machine_kind *kind;
    size_t n_classes, n_features;
    double *projection; /* [n_components × n_features] projection directions; NULL: none */
    size_t n_components;
    dn_duals *duals;  /* support vectors of the training; NULL: none */
    double threshold; /* DN_DECISION_OUTLIER: a row with a score below −threshold is an outlier */

    void *array[DNI_MACHINE_MAX_ARRAYS]; /* [n_arrays] arrays allocated by dni_machine_array */
    size_t n_arrays;
    double bytes;    /* size of the structure and of its arrays */
    bool incomplete; /* an array could not be allocated */
};

/* Some of the entries of a sparse x: n distinct feature indices, in any order. */
typedef struct dni_entry_part {
    const uint32_t *feature;
    const double *value;
    size_t n;
} dni_entry_part;

/* ---- for learners ---- */
/* Allocates the projection of a machine, with all numbers 0. *out [n_components × n_features]
 * receives the projection, which the machine owns. Fails with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_new_projection(dn_machine *machine, size_t n_components,
                                                 double **out, dn_error *err);
/* Sets the threshold >= 0 of DN_DECISION_OUTLIER. A row with a score below −threshold is an
 * outlier. */
void dni_machine_set_threshold(dn_machine *machine, double threshold);
/* Allocates the support vectors of a machine, with all numbers 0. *out [n] receives the items,
 * which the machine owns; the caller sets them, and machine->duals->residual. Fails with
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_new_duals(dn_machine *machine, size_t n, dn_dual **out,
                                            dn_error *err);
/* Returns the number of support vectors. *out: the items; NULL if the machine has no list. */
size_t dni_machine_duals(dn_machine *machine, dn_dual **out);
/* Frees the support vectors of a machine and marks them as omitted, if the machine has any. */
void dni_machine_omit_duals(dn_machine *machine);
/* Sets the weights of a feature to 0 in a linear machine. Has no effect on machines of other
 * kinds. */
void dni_machine_clear_feature(dn_machine *machine, size_t feature);

/* ---- memory ---- */
/* Returns the bytes of a machine, without the data that the machines of a model share. */
double dni_machine_memory(const dn_machine *machine);
/* Returns the bytes of the data that the machines of a model share. */
double dni_machine_shared_memory(const dn_machine *machine);
/* Subtracts the machine's memory from the memory charged to the run that trained the machine
 * (dn_run_discharge). */
void dni_machine_leave_run(dn_machine *machine);
/* Precomputes data for prediction. Called once with all machines of a model, before the first
 * score. */
void dni_machines_finish(dn_machine *const *machines, size_t n);

/* ---- properties ---- */
bool dni_machine_is_linear(const dn_machine *machine);
/* Returns the weights and intercepts, which the machine owns. Returns false and leaves the outputs
 * untouched if the machine is not linear. */
bool dni_machine_linear(const dn_machine *machine, const double **out_w, const double **out_w0);
/* Returns whether prediction passes encoded rows to machines of this kind (dni_machines_score). */
bool dni_machine_stays_encoded(const dn_machine *machine);
/* Returns whether the machine can score raw features without conversion if the features are not
 * standardised. */
bool dni_machine_is_raw(const dn_machine *machine);
bool dni_machine_has_densities(const dn_machine *machine);
bool dni_machine_has_contributions(const dn_machine *machine);
/* Returns whether valid scores are always finite. If not, −∞ and +∞ are valid scores, and the
 * densities of a row may be 0 under every class. */
bool dni_machine_finite_scores(const dn_machine *machine);
/* Returns whether the machine has a projection, or densities that also depend on features that are
 * 0. If so, x must be expanded to all features. */
bool dni_machine_needs_all(const dn_machine *machine);
/* Returns whether dni_machine_scores_entries and, with densities, dni_machine_joint_entries may be
 * called. */
bool dni_machine_takes_entries(const dn_machine *machine);
bool dni_machine_is_precomputed(const dn_machine *machine);
/* Returns the number by which a score of a two-class machine is divided to give the distance from
 * the decision surface. NaN: the distance is not defined. */
double dni_machine_norm(const dn_machine *machine);

/* ---- one row ---- */
/* Returns the number of doubles in `work` for the functions below. */
size_t dni_machine_work(const dn_machine *machine);
/* joint [K] ← ln P(C_k) + ln p(x | C_k). The machine must have densities. If this is −∞ for every
 * class, sets joint to the log priors and returns false. */
bool dni_machine_joint(const dn_machine *machine, const double *x, double *joint, double *work);
bool dni_machine_joint_entries(const dn_machine *machine, const dni_entry_part *parts,
                               size_t n_parts, double *joint);
/* Returns P(C_k) [K], all > 0, which the machine owns. The machine must have densities. */
const double *dni_machine_prior(const dn_machine *machine);
/* scores [n_scores] ← the scores of x [n_features]. Returns false if the density of x is 0 under
 * every class. Not for machines with dni_machine_stays_encoded. */
bool dni_machine_scores(const dn_machine *machine, const double *x, double *scores, double *work);
/* Computes the same scores, up to rounding, from the entries of a sparse x. O(number of entries)
 * instead of O(n_features). */
bool dni_machine_scores_entries(const dn_machine *machine, const dni_entry_part *parts,
                                size_t n_parts, double *scores, double *work);
/* Returns the number of units in the last hidden layer; 0: the machine has no hidden layers. */
size_t dni_machine_n_hidden(const dn_machine *machine);
/* out [dni_machine_n_hidden] ← the outputs of the units in the last hidden layer for the entries of
 * a sparse x. Requires dni_machine_n_hidden > 0. */
void dni_machine_hidden(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                        double *out, double *work);
/* out [n_scores × n_features] ← the contribution of each feature to each score. The contributions
 * and the intercept add up to the score. x may be the first n_features numbers of `out`, unless
 * dni_machine_needs_all. Requires dni_machine_has_contributions. */
void dni_machine_contributions(const dn_machine *machine, const double *x, double *out,
                               double *work);
/* intercept [n_scores] ← the intercept of each score, or NaN if the machine has none. */
void dni_machine_intercept(const dn_machine *machine, double *intercept, double *work);
/* Returns ln p(x) = ln Σ_k exp(joint_k) over joint [n]. Values of −∞ are allowed. */
double dni_log_sum(const double *joint, size_t n);
/* Creates a machine of raw features from a machine of x = (raw − mean)/scale. mean and scale may be
 * NULL for 0 and 1. Not for machines with dni_machine_stays_encoded. Fails with DN_ERR_NUMERIC if a
 * weight is not finite, or with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_to_raw(const dn_machine *machine, const double *mean,
                                         const double *scale, dn_machine **out, dn_error *err);

/* ---- tiles of encoded rows ---- */
/* Returns the number of scores of all machines. */
size_t dni_machines_n_scores(dn_machine *const *machines, size_t n);
/* Returns the number of doubles in `work` for dni_machines_score with n_slots threads. */
size_t dni_machines_work(dn_machine *const *machines, size_t n, size_t n_slots);
/* Computes the part of `work` that all tiles share. `sparse`: the tiles are CSR. */
void dni_machines_prepare(dn_machine *const *machines, size_t n, bool sparse, double *work);
/* Returns whether dni_machines_score uses the threads of the run. If not, several threads may score
 * tiles at the same time, each with its own slot. */
bool dni_machines_use_threads(const dn_machine *machine);
/* Computes the scores [x.n_rows × n_scores of all machines] of at most DNI_TILE_ROWS rows. The
 * scores of a row do not depend on the other rows. Kinds with long computations poll the run for
 * cancellation. run == NULL: one thread, slot 0, and the call cannot fail. */
DN_MUST_USE dn_status dni_machines_score(dn_machine *const *machines, size_t n, dn_matrix x,
                                         const dn_run *run, size_t slot, double *scores,
                                         double *work, dn_error *err);
/* Computes the same scores row by row, with one thread and without preparation; only for machines
 * without dni_machine_stays_encoded.
 *
 *   work  [dni_machines_rows_work] */
void dni_machines_score_rows(dn_machine *const *machines, size_t n, dn_matrix x, double *scores,
                             double *work);
size_t dni_machines_rows_work(dn_machine *const *machines, size_t n);
/* Returns the number of rows, at most DNI_TILE_ROWS, that a caller scores between two checks for
 * cancellation. */
size_t dni_machines_tile_rows(const dn_machine *machine);
/* Returns the approximate number of multiplications that all machines need for one row. */
double dni_machines_cost(dn_machine *const *machines, size_t n);

/* ---- description ---- */
const char *dni_machine_kind_name(const dn_machine *machine);
/* Passes the parameters of one machine to the visitor, except the weights of linear machines. Fails
 * with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_describe(const dn_machine *machine, const dn_encoder *encoder,
                                           const dn_visitor *visitor, dn_error *err);
/* Passes the parameters that all machines of a model share to the visitor. Fails with
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_describe_shared(const dn_machine *machine,
                                                  const dn_encoder *encoder,
                                                  const dn_visitor *visitor, dn_error *err);
/* Returns whether dni_machine_describe passes any member. */
bool dni_machine_describes(const dn_machine *machine);
/* Returns how many numbers dni_machine_describe passes only if visitor->matrices is set. */
double dni_machine_matrix_numbers(const dn_machine *machine);
/* Returns how many numbers dni_machine_describe_shared passes only if visitor->matrices is set. */
double dni_machine_shared_matrix_numbers(const dn_machine *machine, const dn_encoder *encoder);
/* Returns the name, for messages, of the arrays that contain these numbers, such as "layers". */
const char *dni_machine_matrices_name(const dn_machine *machine);

#endif
