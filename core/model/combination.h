/* Combined models. The probabilities of several models, the members, are combined by a logarithmic
 * opinion pool
 *
 *   P(C_k | x) ∝ Π_m P_m(C_k | x)^(s_m),   s_m >= 0,
 *
 * which is the multinomial logistic regression on the logarithms of their probabilities with one
 * coefficient, the share s_m, for each member (Genest and Zidek, Combining probability
 * distributions, Statistical Science 1, 1986, section 4; stacking: Wolpert, Neural Networks 5,
 * 1992).
 *
 * A combined model has one machine, of the kind "combination", for the features of a joined encoder
 * (encoder_join.h). Members with the same encoder share its features. */
#ifndef DNI_COMBINATION_H
#define DNI_COMBINATION_H

#include "model/model_impl.h"

/* Makes the machine and the encoder of a combined model.
 *
 *   members  [n] 2 … DN_MAX_MEMBERS models with probabilities and the same classes, none of them
 *            combined; the machine references them
 *   share    [n] >= 0, not all 0
 *
 * DN_ERR_ARGUMENT: the members do not read the same raw rows or have other classes. DN_ERR_DATA:
 * too many features. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_combination_new(dn_model *const *members, const double *share, size_t n,
                                          dn_machine **out, dn_encoder **out_encoder,
                                          dn_error *err);
/* Returns true if the machine is one of a combined model. */
bool dni_machine_is_combination(const dn_machine *machine);
/* Returns ln P of a member, bounded below, so that a probability of 0 remains finite. */
double dni_log_share(double probability);
/* Combines the logarithms of the probabilities of the members of one row.
 *
 *   logs    [n × K]
 *   scores  [K], two classes [1]: their scores */
void dni_combine(const double *logs, const double *share, size_t n, size_t K, double *scores);

/* Returns the number of members. */
size_t dni_combination_n_members(const dn_machine *machine);
/* Returns member m, which belongs to the machine. */
const dn_model *dni_combination_member(const dn_machine *machine, size_t m, double *out_share);

#endif
