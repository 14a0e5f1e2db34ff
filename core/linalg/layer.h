/* The three products of a layer of a network on a tile of rows: forward, backward, gradient.
 *
 * A layer of `units` units over x.n_cols inputs is a table [(n_cols + 1) × units]: the weights of
 * one input are adjacent, as entries of sparse rows need them, and the biases are the last row. The
 * result for a tile depends only on its rows and its shape. */
#ifndef DNI_LAYER_H
#define DNI_LAYER_H

#include <discern/matrix.h>

/* out [x.n_rows × units] ← [x, 1]·table, the inputs of the activation function. */
void dni_layer_forward(dn_matrix x, const double *table, size_t units, double *out);
/* out [n_rows × inputs] ← delta·Wᵀ, where W is the table without its biases; delta [n_rows ×
 * units] */
void dni_layer_backward(const double *delta, size_t n_rows, const double *table, size_t inputs,
                        size_t units, double *out);
/* Adds the gradient to the table: table += Σ_t [x_t, 1] ⊗ delta_t; delta [x.n_rows × units]. */
void dni_layer_gradient(dn_matrix x, const double *delta, size_t units, double *table);
/* Like dni_layer_gradient, for the rows first … first + n - 1 of the table, of which row n_cols has
 * the biases; x must be dense. Parts of one gradient can be computed concurrently. */
void dni_layer_gradient_part(dn_matrix x, const double *delta, size_t units, size_t first, size_t n,
                             double *table);

#endif
