/* The serialized form of a model. Integers and doubles are little-endian. A text is a u64 length
 * and its bytes.
 *
 *   8 bytes   "DNMODEL\n"
 *   u32       format version: DNI_MODEL_WITH_MEMBERS of a combined model, otherwise
 *             DNI_MODEL_WITH_SETS with sets of labels, otherwise DNI_MODEL_WITHOUT_SETS
 *   u32       0
 *   u64       total size, including the checksum
 *   text      id of the algorithm
 *   u64       seed
 *   u64       number of parameters; for each a text name and one of
 *               u8 0, f64
 *               u8 1, text (a choice, or a word instead of a number)
 *               u8 2, u64 n, f64[n] (a list)
 *   text      name of the target column
 *   u8        its dn_column_type
 *   u64       number of classes; for each an f64 (numeric, boolean) or a text
 *   …         the encoder (encoder/encoder_bytes.h); not of a combined model
 *   u8        dn_decision; for the outlier rule also f64 threshold
 *   …         the machines (machine/machine_bytes.h), or the members of a combined model:
 *             u64 n; for each member f64 share, u64 size and the bytes of its model
 *   …         if the parameter `calibrate` is not none: the calibration (model/calibration.h)
 *   …         the statistics of the weights (model/model_statistics.h); not in versions 2 to 4
 *   u64       number of feature means, 0 or the number of features; f64 each; not in versions 2
 *             to 5
 *   …         the support vectors of the machines (model/model_duals.h); not in versions 2 to 6
 *   u8        1 with sets of labels, otherwise 0; only of a combined model
 *   …         with sets of labels: their section (model/conformal.h); not in versions 2 to 7
 *   u32       CRC-32 of all bytes before it
 *
 * Parameters are matched by name. A parameter that the algorithm no longer has is skipped; a
 * parameter that the bytes lack has its default, except `decision`, which is then "scores". */
#ifndef DNI_MODEL_BYTES_H
#define DNI_MODEL_BYTES_H

#define DNI_MODEL_MAGIC "DNMODEL\n"
#define DNI_MODEL_SIZE_AT 16   /* offset of the total size */
#define DNI_MODEL_HEAD_SIZE 24 /* bytes up to the id of the algorithm */
/* Versions 2 to 8 can be read: 2 and 3 lack kernel machines and outliers, 4 lacks statistics, 5
 * lacks feature means, 6 lacks support vectors of the training, 7 lacks sets of labels, 8 lacks
 * combined models. Version 1 cannot be read. */
#define DNI_MODEL_VERSION 9
#define DNI_MODEL_WITHOUT_SETS 7    /* written for models without sets of labels */
#define DNI_MODEL_WITH_STATISTICS 5 /* the first version with the section of statistics */
#define DNI_MODEL_WITH_MEANS 6      /* the first version with the section of feature means */
#define DNI_MODEL_WITH_DUALS 7      /* the first version with the section of support vectors */
#define DNI_MODEL_WITH_MEMBERS 9    /* the first version with combined models */
#define DNI_MODEL_WITH_SETS 8       /* the first version with the section of sets of labels */

#endif
