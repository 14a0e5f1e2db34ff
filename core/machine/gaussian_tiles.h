/* Gaussian class densities of a tile of rows. */
#ifndef DNI_GAUSSIAN_TILES_H
#define DNI_GAUSSIAN_TILES_H

#include "machine/gaussians.h"
#include <discern/run.h>

/* Returns the number of doubles of `work` for dni_gaussians_joint_tile. whitened: the covariances
 * are not diagonal. */
size_t dni_gaussians_tile_work(bool whitened, size_t d);
/* centre [K × d] ← A(m_k − m_0), for densities with a shared covariance. Polls the run. Errors:
 * those of dn_run_stop. */
DN_MUST_USE dn_status dni_gaussians_centre(const dni_gaussians *g, size_t K, size_t d,
                                           const dn_run *run, double *centre, dn_error *err);
/* joint [x.n_rows × K] ← ln P(C_k) + ln p(x | C_k) of the rows of a tile.
 *
 *   x       at most DNI_TILE_ROWS rows, dense or CSR
 *   run     polled; NULL: the call cannot fail
 *   centre  from dni_gaussians_centre; NULL: the covariance is not shared
 *   work    [dni_gaussians_tile_work]
 *
 * z = A(x − m), and ‖z‖² is the squared Mahalanobis distance. With a shared covariance one matrix
 * product is enough for all classes: ‖A(x − m_k)‖ = ‖A(x − m_0) − A(m_k − m_0)‖. */
DN_MUST_USE dn_status dni_gaussians_joint_tile(const dni_gaussians *g, size_t K, size_t d,
                                               const double *centre, dn_matrix x, const dn_run *run,
                                               double *work, double *joint, dn_error *err);

#endif
