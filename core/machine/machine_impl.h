/* The machine as the rest of the library sees it: scores, densities, bytes, description. What a
 * function does for each kind is in machine_kind.h. */
#ifndef DNI_MACHINE_IMPL_H
#define DNI_MACHINE_IMPL_H

#include "base/bytes.h"
#include <discern/machine.h>
#include <discern/matrix.h>
#include <discern/run.h>
#include <discern/status.h>

typedef struct dni_machine_kind dni_machine_kind;

struct dn_machine {
    const dni_machine_kind *kind;
    size_t n_classes, n_features;
    double *projection; /* [n_components × n_features] directions to project x on; NULL: none */
    size_t n_components;
    double threshold; /* DN_DECISION_OUTLIER: scores below −threshold are outliers' */
};

/* Some of the entries of an x: n different features, in any order. */
typedef struct dni_entry_part {
    const uint32_t *feature;
    const double *value;
    size_t n;
} dni_entry_part;

/* ---- for learners ---- */
/* *out [n_components × n_features] ← the machine's projection, zeroed. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_new_projection(dn_machine *machine, size_t n_components,
                                                 double **out, dn_error *err);
/* The threshold >= 0 of DN_DECISION_OUTLIER: scores below −threshold are outliers'. */
void dni_machine_set_threshold(dn_machine *machine, double threshold);
/* Sets a feature's weights to 0 where scores are linear; does nothing to other machines. */
void dni_machine_clear_feature(dn_machine *machine, size_t feature);

/* ---- memory ---- */
/* Bytes of the machine, without what machines share; and of what they share. */
double dni_machine_memory(const dn_machine *machine);
double dni_machine_shared_memory(const dn_machine *machine);
/* Ends the accounting of its memory in the run that trained it. */
void dni_machine_leave_run(dn_machine *machine);
/* To be called once with all machines of a model, before they score. */
void dni_machines_finish(dn_machine *const *machines, size_t n);

/* ---- what a machine can do ---- */
bool dni_machine_is_linear(const dn_machine *machine);
/* The machine's weights and intercepts; false, outputs untouched: it is not linear. */
bool dni_machine_linear(const dn_machine *machine, const double **out_w, const double **out_w0);
/* Machines of this kind see encoded rows in prediction too (dni_machines_score). */
bool dni_machine_stays_encoded(const dn_machine *machine);
/* Whether, without standardisation, it is a machine of raw features as it is. */
bool dni_machine_is_raw(const dn_machine *machine);
bool dni_machine_has_densities(const dn_machine *machine);
bool dni_machine_has_contributions(const dn_machine *machine);
/* Scores must be finite; else an infinity is an answer, and rows may be impossible. */
bool dni_machine_finite_scores(const dn_machine *machine);
/* Whether densities need all of x, 0 or not. */
bool dni_machine_needs_all(const dn_machine *machine);
/* Whether the functions of entries can be used. */
bool dni_machine_takes_entries(const dn_machine *machine);
bool dni_machine_is_precomputed(const dn_machine *machine);
/* A score of two classes divided by this is a distance; NaN: there is none. */
double dni_machine_norm(const dn_machine *machine);

/* ---- one row ---- */
/* Doubles of `work` that the functions below need. */
size_t dni_machine_work(const dn_machine *machine);
/* joint[K] ← ln P(C_k) + ln p(x | C_k) of a machine with densities. False: every class says −∞;
 * joint is then the log priors. */
bool dni_machine_joint(const dn_machine *machine, const double *x, double *joint, double *work);
bool dni_machine_joint_entries(const dn_machine *machine, const dni_entry_part *parts,
                               size_t n_parts, double *joint);
/* scores [n_scores] of x [n_features]. False as above. Not for machines that stay encoded. */
bool dni_machine_scores(const dn_machine *machine, const double *x, double *scores, double *work);
/* The same of an x that is 0 but for its entries, in O(n_entries). Equal up to the last bits. */
bool dni_machine_scores_entries(const dn_machine *machine, const dni_entry_part *parts,
                                size_t n_parts, double *scores, double *work);
/* out [n_scores × n_features] ← the part of each score that is feature j's; with the intercept it
 * adds up to the score. x may be the first n_features numbers of `out`, but for machines that need
 * all of x. Needs dni_machine_has_contributions. */
void dni_machine_contributions(const dn_machine *machine, const double *x, double *out,
                               double *work);
/* intercept [n_scores]; NaN where there is none. */
void dni_machine_intercept(const dn_machine *machine, double *intercept, double *work);
/* ln p(x) of joint[n]: ln Σ exp(joint_k). −∞ is allowed. */
double dni_log_sum(const double *joint, size_t n);
/* The machine of raw features of one of x = (raw − mean)/scale; NULL pointers: 0 and 1. Not for
 * machines that stay encoded. DN_ERR_NUMERIC: a weight is not finite. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_to_raw(const dn_machine *machine, const double *mean,
                                         const double *scale, dn_machine **out, dn_error *err);

/* ---- tiles of encoded rows ---- */
/* Doubles of work that dni_machines_score needs with so many threads. */
size_t dni_machines_work(dn_machine *const *machines, size_t n, size_t n_slots);
/* Fills in the part of the work that all tiles share. `sparse`: the tiles are CSR. */
void dni_machines_prepare(dn_machine *const *machines, size_t n, bool sparse, double *work);
/* scores [x.n_rows × n_scores of all machines] of at most DNI_TILE_ROWS rows. A row's scores do not
 * depend on the other rows. Polls the run's stop and may use its threads; run == NULL: one thread,
 * and it cannot fail. */
DN_MUST_USE dn_status dni_machines_score(dn_machine *const *machines, size_t n, dn_matrix x,
                                         const dn_run *run, double *scores, double *work,
                                         dn_error *err);
/* Rows, at most DNI_TILE_ROWS, to score between two polls of a stop by the caller. */
size_t dni_machines_tile_rows(const dn_machine *machine);
/* Multiplications for one row by all machines, about. */
double dni_machines_cost(dn_machine *const *machines, size_t n);

/* ---- description ---- */
const char *dni_machine_kind_name(const dn_machine *machine);
/* Passes the machine's parameters to the visitor, those that all machines share apart. The weights
 * of linear machines are not passed. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_describe(const dn_machine *machine, const dn_encoder *encoder,
                                           const dn_visitor *visitor, dn_error *err);
DN_MUST_USE dn_status dni_machine_describe_shared(const dn_machine *machine,
                                                  const dn_encoder *encoder,
                                                  const dn_visitor *visitor, dn_error *err);
/* Whether dni_machine_describe passes anything. */
bool dni_machine_describes(const dn_machine *machine);
/* Numbers that are passed with visitor->matrices only, of one machine and of what all share, and
 * what these arrays are called: "layers". */
double dni_machine_matrix_numbers(const dn_machine *machine);
double dni_machine_shared_matrix_numbers(const dn_machine *machine, const dn_encoder *encoder);
const char *dni_machine_matrices_name(const dn_machine *machine);

#endif
