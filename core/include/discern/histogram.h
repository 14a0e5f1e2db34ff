/* Histograms of the coordinates of labelled rows, by class: the figure of two projected classes and
 * a threshold between them. Bishop, Pattern Recognition and Machine Learning, section 4.1.4, figure
 * 4.6. */
#ifndef DISCERN_HISTOGRAM_H
#define DISCERN_HISTOGRAM_H

#include <discern/api.h>
#include <discern/model.h>
#include <discern/run.h>
#include <discern/status.h>
#include <discern/table.h>
#include <stddef.h>

DN_BEGIN_DECLS

#define DN_MAX_BINS 1000

/* Options. NULL and {0}: 30 bins of the directions, all weights 1, the target of the model. */
typedef struct dn_histogram_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    dn_coordinates coordinates;
    size_t bins;        /* 1 … DN_MAX_BINS; 0: 30 */
    const char *weight; /* as in dn_evaluate_options */
    const char *target; /* as in dn_evaluate_options */
} dn_histogram_options;

/* Results. Made by the library; may grow at its end. */
typedef struct dn_histogram {
    size_t n_components, n_classes, n_bins;
    size_t n_rows; /* rows that have a class and a weight above 0 */
    /* [n_components × (n_bins + 1)] ascending edges of equal bins from the least to the greatest
     * coordinate of all classes; from z − 0.5 to z + 0.5 if all coordinates are z. Bin b has the
     * rows with edge b <= z < edge b + 1; the last bin also has those with z = its upper edge. */
    double *edges;
    /* [n_components × n_classes × n_bins] sums of the weights of the rows in a bin. A row whose
     * coordinate is infinite (a log density of 0) is in no bin. */
    double *counts;
} dn_histogram;

/* Computes the histogram of each coordinate for each class of a labelled table.
 *
 *   run  NULL is allowed
 *   out  set on success; free it with dn_histogram_free
 *
 * Errors: those of dn_model_evaluate. DN_ERR_ARGUMENT: the model does not have the coordinates
 * (field "coordinates"), or too many bins (field "bins"). DN_ERR_DATA: a coordinate is not finite,
 * or no row has a class. Cost: two passes over the table. Memory: the class indices and weights of
 * the rows and one block of encoded rows. Polls run->stop as dn_model_evaluate does. The sums are
 * taken in the order of the rows. Coordinates are computed from encoded rows: if the features are
 * standardised, a coordinate that differs from an edge by rounding may be in either bin. */
DN_MUST_USE dn_status dn_model_histogram(const dn_model *model,
                                         const dn_table_source *source,
                                         const dn_histogram_options *options,
                                         const dn_run *run,
                                         dn_histogram **out,
                                         dn_error *err);
void dn_histogram_free(dn_histogram *histogram); /* NULL is allowed */

DN_END_DECLS

#endif
