/* Support vectors that the machines of a model share.
 *
 * A learner fills a support, creates its machines over it and releases its reference:
 *
 *   dni_support_new
 *   dni_support_add, any number of times
 *   dni_support_end
 *   dni_kernel_machine_new for each machine; the learner sets index, coef, w0 and norm
 *   dni_support_unref
 *
 * All memory comes from malloc, because it becomes part of the model. It is charged to the run
 * until dni_support_leave_run. The run's allocator must live until then. */
#ifndef DNI_SUPPORT_H
#define DNI_SUPPORT_H

#include "base/bytes.h"
#include <discern/algorithm.h>
#include <discern/kernel.h>
#include <discern/matrix.h>
#include <discern/run.h>
#include <discern/status.h>

/* Support vectors: encoded rows, standardised if the encoder standardises. */
typedef struct dni_support {
    size_t references; /* not atomic: one thread at a time may change it */
    dn_kernel kernel;  /* the support owns kernel.factor */
    /* [n × d] dense or CSR; the support owns the arrays. Precomputed kernels: a row has the single
     * entry 1, in the column of its row of the training table. */
    dn_matrix x;
    struct dni_points *points; /* x preprocessed for prediction; NULL: no rows */
    bool single;               /* prediction may compute kernel values in float */
} dni_support;

/* Creates an empty support and returns one reference to it.
 *
 *   kernel     copied, including its factor; kernel->n_features is the number of columns
 *   n          capacity in rows; 0: the score of every machine is w0
 *   n_entries  capacity in entries of sparse rows; SIZE_MAX: rows are dense. Rows of a Mahalanobis
 *              kernel are always dense.
 *   run        the run to which the support and its machines are charged (dn_run_charge); NULL: no
 *              charges
 *
 * Fails with DN_ERR_MEMORY or DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_support_new(const dn_kernel *kernel, size_t n, size_t n_entries,
                                      const dn_run *run, dni_support **out, dn_error *err);
/* Appends copies of the rows of x, which are encoded, and standardised if the encoder standardises.
 * The capacity must suffice (asserted). A dense support accepts dense and sparse rows, a sparse
 * support only sparse rows. */
void dni_support_add(dni_support *support, dn_matrix x);
/* Preprocesses the rows for prediction. Call after the last dni_support_add. Fails with
 * DN_ERR_MEMORY, or with DN_ERR_NUMERIC if K(x, x) of a row is not finite. */
DN_MUST_USE dn_status dni_support_end(dni_support *support, dn_error *err);

/* Take and release a reference. The count is not atomic: only one thread at a time may call these
 * functions. dni_support_unref accepts NULL. */
dni_support *dni_support_ref(dni_support *support);
void dni_support_unref(dni_support *support);
/* Discharges all memory from the run. The support does not use the run's allocator afterwards. */
void dni_support_leave_run(dni_support *support);
/* Charges the bytes of a machine that uses the support to the run. Fails with DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_support_charge(dni_support *support, double bytes, dn_error *err);
/* Returns the approximate size in bytes. */
double dni_support_memory(const dni_support *support);
/* Estimates the bytes of a support with n rows and n_entries entries (INFINITY: dense). */
double dni_support_estimate(const dn_kernel *kernel, size_t n, double n_entries);
/* Estimates the memory of machines that keep the rows of a fit (dn_algorithm.kept_memory). */
dn_kept_memory dni_support_kept_memory(const dn_kernel *kernel, const dn_fit_shape *shape);

/* ---- bytes ---- */
/* Writes the kernel and the rows.
 *
 *   u8    dn_kernel_type, u8 dn_metric; f64 gamma, coef0, scale, width; u32 degree, length;
 *         u8 normalize
 *   f64   factor [d × d]; Mahalanobis kernels only
 *   u8    dn_matrix_kind; u64 n, the number of support vectors
 *           dense: f64 x [n × d]
 *           CSR:   u32 entries of each row [n], u64 their sum, u32 feature indices, f64 values
 *   u8    0 [d], only if d > DN_MAX_DENSE_FEATURES: padding, because the reader of the encoder
 *         requires a minimum number of bytes for its features (encoder/encoder_bytes.h) */
void dni_support_write(const dni_support *support, dni_writer *writer);
/* Reads a support of n_features columns; the caller owns the reference in *out. Allocates at most a
 * small multiple of the bytes left. Fails with DN_ERR_CORRUPT or DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_support_read(dni_reader *reader, size_t n_features, dni_support **out,
                                       dn_error *err);

#endif
