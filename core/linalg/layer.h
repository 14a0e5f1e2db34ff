/* The three products of a layer of a network on a tile of rows: forward, backward, gradient.
 *
 * A layer of `units` units over x.n_cols inputs is a table [(n_cols + 1) × units], input after input, the biases behind: an input's weights lie side by side, which entries of sparse rows want,
 * too. The result for a tile depends on its rows and its shape only. */
#ifndef DNI_LAYER_H
#define DNI_LAYER_H

#include <discern/matrix.h>

/* out [x.n_rows × units] ← [x, 1]·table */
void dni_layer_forward(dn_matrix x, const double *table, size_t units, double *out);
/* out [n_rows × inputs] ← delta·Wᵀ, W the table without its biases; delta [n_rows × units] */
void dni_layer_backward(const double *delta, size_t n_rows, const double *table, size_t inputs,
                        size_t units, double *out);
/* table += Σ_t [x_t, 1] ⊗ delta_t; delta [x.n_rows × units] */
void dni_layer_gradient(dn_matrix x, const double *delta, size_t units, double *table);
/* The rows first … first + n - 1 of the same table for dense x; n_cols is the biases'. So pieces of one gradient can be had at once. */
void dni_layer_gradient_part(dn_matrix x, const double *delta, size_t units, size_t first, size_t n,
                             double *table);

#endif
