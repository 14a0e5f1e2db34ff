/* The thresholds of sets of labels (discern/decision.h: dn_conformal): calibration and storage. */
#ifndef DNI_CONFORMAL_H
#define DNI_CONFORMAL_H

#include "base/bytes.h"
#include <discern/decision.h>
#include <discern/run.h>

/* What the sets are asked for. */
typedef struct dni_conformal_spec {
    double coverage;
    bool by_class, folds;
    size_t n_classes;
    const char *const *class_name; /* [n_classes] for messages */
} dni_conformal_spec;

/* Checks that there are enough calibration rows. count [K]: number of rows of each class.
 * DN_ERR_DATA with the field "coverage". */
DN_MUST_USE dn_status dni_conformal_check(const dni_conformal_spec *spec, const size_t *count,
                                          dn_error *err);
/* Computes the thresholds.
 *
 *   p      [n × K] probabilities of the calibration rows
 *   truth  [n] their classes
 *   out    set on success; the caller frees it with free
 *
 * O(n log n). Errors of dni_conformal_check; DN_ERR_MEMORY, DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_conformal_fit(const dni_conformal_spec *spec, size_t n, const double *p,
                                        const uint32_t *truth, const dn_run *run,
                                        dn_conformal **out, dn_error *err);
size_t dni_conformal_bytes(const dn_conformal *conformal); /* bytes of memory; NULL: 0 */

/* Serializes the thresholds.
 *
 *   f64 coverage
 *   u8  by_class, plus 2 for folds
 *   for each class, or once without by_class: u64 rows, f64 threshold */
void dni_conformal_write(const dn_conformal *conformal, dni_writer *writer);
/* Reads thresholds; the caller frees *out with free. DN_ERR_CORRUPT, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_conformal_read(dni_reader *reader, size_t n_classes, dn_conformal **out,
                                         dn_error *err);

#endif
