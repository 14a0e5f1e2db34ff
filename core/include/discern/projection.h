/* Fisher's criterion over the angle of a direction in the plane of two columns.
 *
 *   J(θ) = uᵀ S_B u / uᵀ S_W u,   u = (cos θ, sin θ)
 *   S_B = Σ_k n_k (m_k − m)(m_k − m)ᵀ,   S_W = Σ_k Σ_{i in C_k} v_i (x_i − m_k)(x_i − m_k)ᵀ
 *
 * m_k is the weighted mean of class k, n_k the sum of its weights v_i. For two classes J is
 * n_1 n_2/n times the ratio (μ_2 − μ_1)²/(s_1² + s_2²) of the projected classes. The maximum is the
 * first eigenvalue that the algorithm "fisher" reports for these columns without shrinkage.
 *
 * Bishop, Pattern Recognition and Machine Learning, equations 4.25 to 4.30; Duda, Hart and Stork,
 * Pattern Classification, section 3.8.2, equation 103. */
#ifndef DISCERN_PROJECTION_H
#define DISCERN_PROJECTION_H

#include <discern/api.h>
#include <discern/model.h>
#include <discern/run.h>
#include <discern/status.h>
#include <discern/table.h>
#include <stddef.h>

DN_BEGIN_DECLS

#define DN_MAX_ANGLES 10000

typedef struct dn_projection_options {
    size_t struct_size;    /* sizeof, or 0: see api.h */
    const char *column[2]; /* names of two numeric columns */
    size_t n_angles;       /* 2 … DN_MAX_ANGLES; 0: 181 */
    const char *weight;    /* as in dn_evaluate_options */
    const char *target;    /* as in dn_evaluate_options */
} dn_projection_options;

/* Results. Made by the library; may grow at its end. */
typedef struct dn_projection {
    size_t n_angles;
    double *angle; /* [n_angles] from 0 to π, in radians, in equal steps */
    double *value; /* [n_angles] J */
    double best_angle,
        best_value; /* the maximum over all angles from 0 to π, not only those listed */
    size_t n_rows;  /* rows with a class of the model, both values and a weight above 0 */
} dn_projection;

/* Computes J over the angle for a table that has the target of a model. The model gives the target
 * and the classes; the columns need not be its inputs.
 *
 *   run  NULL is allowed
 *   out  set on success; free it with dn_projection_free
 *
 * Errors: DN_ERR_ARGUMENT: the options are invalid (field "columns" or "angles"). DN_ERR_DATA: a
 * column is missing or not numeric (field); no row has a class and both values; S_W is singular, so
 * that J is not bounded; the values are so large that the sums overflow. Errors of
 * dn_model_evaluate. Cost: two passes over the rows, then O(1) for each angle. Memory: the two
 * columns, the class indices and the weights. The sums are taken in the order of the rows. Polls
 * run->stop. */
DN_MUST_USE dn_status dn_model_projection(const dn_model *model,
                                          const dn_table_source *source,
                                          const dn_projection_options *options,
                                          const dn_run *run,
                                          dn_projection **out,
                                          dn_error *err);
void dn_projection_free(dn_projection *projection); /* NULL is allowed */

DN_END_DECLS

#endif
