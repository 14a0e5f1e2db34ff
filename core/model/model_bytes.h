/* The bytes of a model. All integers and doubles little-endian; a text is a u64 length and its
 * bytes.
 *
 *   8 bytes   "DNMODEL\n"
 *   u32       format version, 3; 2 is the same but for its encoder's version
 *   u32       0
 *   u64       size of everything, checksum included
 *   text      id of the algorithm
 *   u64       seed
 *   u64       number of parameters; for each: text name, u8 0 and an f64, u8 1 and a text (a
 *   choice, or a word instead of a
 *             number), or u8 2, a u64 and so many f64 (a list)
 *   text      name of the target column
 *   u8        its dn_column_type; u64 number of classes; then an f64 each (numeric, boolean) or a
 *   text each
 *   …         the encoder (data/encoder_bytes.h)
 *   u8        dn_decision; outlier: f64 threshold
 *   …         the machines it needs, one after the other (format/machine_bytes.h)
 *   …         if the parameters have a `calibrate` that is not none: the calibration
 *   (predict/calibration.h)
 *   u32       CRC-32 of everything before
 *
 * Parameters are matched by name: one that the algorithm has no more is left out, one that it has
 * got since has its default. */
#ifndef DNI_MODEL_BYTES_H
#define DNI_MODEL_BYTES_H

#define DNI_MODEL_MAGIC "DNMODEL\n"
#define DNI_MODEL_SIZE_AT 16   /* offset of the total size */
#define DNI_MODEL_HEAD_SIZE 24 /* bytes up to the id of the algorithm */
#define DNI_MODEL_VERSION                                                                          \
    4 /* 2 and 3 lack kernel machines and outliers and are still read; 1 is refused */

#endif
