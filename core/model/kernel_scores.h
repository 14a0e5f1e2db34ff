/* Scores of a model of kernel machines: the kernel of a row and all support vectors once, then the sums of every machine. */
#ifndef DNI_KERNEL_SCORES_H
#define DNI_KERNEL_SCORES_H

#include "kernels/points.h"
#include "model/model_impl.h"

/* Whether the machines' kernel values may be computed in float. */
bool dni_kernel_scores_single(const dn_support *support, dn_machine *const *machines,
                              size_t n_machines);
/* Doubles of work for dni_kernel_scores. */
size_t dni_kernel_scores_work(const dn_model *model);
/* scores [x.n_rows × n_scores] of encoded rows, standardised where the encoder standardises, dense or CSR, any number of them. A row's depend on it alone. No allocation.
 * With a run its stop is polled; NULL: it cannot fail. */
DN_MUST_USE dn_status dni_kernel_scores(const dn_model *model, dn_matrix x, const dn_run *run,
                                        double *scores, double *work, dn_error *err);
/* Rows at a time that are scored without looking at a stop, of raw ones: where comparing texts takes long a single one. */
size_t dni_kernel_scores_rows(const dn_model *model);

/* Doubles of work for dni_kernel_scores_raw, that of dni_kernel_scores included; independent of the number of rows, O(features + support vectors). */
size_t dni_kernel_scores_raw_work(const dn_model *model);
/* The same of raw rows from `first` on, of at most DNI_POINTS_QUERIES of them: scores [… × n_scores]. Returns of how many, at least one. */
size_t dni_kernel_scores_raw(const dn_model *model, dn_raw_rows rows, size_t first, double *scores,
                             double *work);

#endif
