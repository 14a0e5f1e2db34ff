/* What a machine says of one x. */
#ifndef DNI_MACHINE_IMPL_H
#define DNI_MACHINE_IMPL_H

#include "machine/bayes.h"
#include "machine/network.h"
#include <discern/machine.h>
#include <discern/status.h>

/* New machines, all numbers 0, for the learner to fill in through dni_linear_machine_of and the like. DN_ERR_MEMORY; *out is then untouched. */
/* densities: with Gaussian class densities of one shared covariance, too. */
DN_MUST_USE dn_status dni_linear_machine_new(size_t n_classes, size_t n_features, bool densities,
                                             dn_machine **out, dn_error *err);
DN_MUST_USE dn_status dni_gaussian_machine_new(size_t n_classes, size_t n_features,
                                               dn_covariance covariance, dn_machine **out,
                                               dn_error *err);
DN_MUST_USE dn_status dni_bayes_machine_new(size_t n_classes, size_t n_features, dn_machine **out,
                                            dn_error *err);
DN_MUST_USE dn_status dni_network_machine_new(size_t n_classes, const dni_layers *layers,
                                              dn_machine **out, dn_error *err);

/* What a machine of that kind holds. The machine must be of the kind. */
typedef dn_machine dni_linear_machine;
static inline dni_linear_machine *dni_linear_machine_of(const dn_machine *machine) {
    return (dn_machine *)(uintptr_t)machine;
}
static inline dn_gaussians *dni_gaussians_of(const dn_machine *machine) {
    return machine->gaussians;
}
static inline dn_naive_bayes *dni_bayes_of(const dn_machine *machine) {
    return machine->naive_bayes;
}
static inline dn_network *dni_network_of(const dn_machine *machine) {
    return machine->network;
}
/* *out [n_components × n_features] ← the machine's projection, zeroed. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_new_projection(dn_machine *machine, size_t n_components,
                                                 double **out, dn_error *err);
/* The threshold >= 0 of DN_DECISION_OUTLIER: a score below −threshold is an outlier's. */
void dni_machine_set_threshold(dn_machine *machine, double threshold);
/* Sets the weights of a feature to 0 where scores are linear in the features; does nothing to other machines. */
void dni_machine_clear_feature(dn_machine *machine, size_t feature);

/* Numbers in its arrays; 0 when the shape overflows. */
size_t dni_machine_numbers(const dn_machine *machine);

/* Doubles of `work` that the functions below need. */
size_t dni_machine_work(const dn_machine *machine);

/* Whether the densities are of column j too: one left out has a 0 in A's diagonal. And how many they are of. */
static inline bool dni_gaussians_use(const dn_gaussians *g, size_t d, size_t j) {
    return g->whiten[g->covariance == DN_COVARIANCE_DIAGONAL ? j : j * (d + 1)] != 0;
}
size_t dni_gaussians_n_used(const dn_gaussians *g, size_t d);

/* joint[K] ← ln P(C_k) + ln p(x | C_k). Needs gaussians or naive bayes. false: every class says −∞, then joint is the log priors. */
bool dni_machine_joint(const dn_machine *machine, const double *x, double *joint, double *work);
/* scores [n_scores] of x [n_features]. false as above. */
bool dni_machine_scores(const dn_machine *machine, const double *x, double *scores, double *work);
/* joint and scores of a naive Bayes machine with what dni_bayes_settle makes, for an x that is 0 but for its entries, in one part or several. O(n·K) for n of them: what x = 0 says is summed
 * before. The same up to the last bits. Scores of a network too. */
bool dni_machine_joint_entries(const dn_machine *machine, const dni_entry_part *parts,
                               size_t n_parts, double *joint);
bool dni_machine_scores_entries(const dn_machine *machine, const dni_entry_part *parts,
                                size_t n_parts, double *scores, double *work);
/* Whether dni_machine_joint_entries can be used. */
bool dni_machine_takes_entries(const dn_machine *machine);
/* ln p(x) of joint[K]: −∞ allowed. */
double dni_log_sum(const double *joint, size_t n);

/* x may be the first d numbers of `out`, but of a Gaussian machine. out [n_scores × d] ← the part of each score that is feature j's; with `intercept` [n_scores] it adds up to the score.
 * linear: w_kj·x_j; gaussian: x_j (W_k x)_j + w_kj·x_j, W_k = −½Σ_k⁻¹; naive bayes: ln p(x_j | C_k). Two classes: the difference. Not of networks
 * nor kernel machines, which have no such parts; a network's intercept is NaN. */
void dni_machine_contributions(const dn_machine *machine, const double *x, double *out,
                               double *work);
void dni_machine_intercept(const dn_machine *machine, double *intercept, double *work);

/* Class k's part of it, for a machine with densities: its log joint density at x = 0 where there are gaussians, ln P(C_k) of naive bayes. work [2 n_features]. */
double dni_class_intercept(const dn_machine *machine, size_t k, double *work);

/* The machine of x = (raw − mean)/scale as one of raw: a new one. mean and scale NULL: 0 and 1. DN_ERR_NUMERIC: a weight is not finite. */
DN_MUST_USE dn_status dni_machine_to_raw(const dn_machine *machine, const double *mean,
                                         const double *scale, dn_machine **out, dn_error *err);

#endif
