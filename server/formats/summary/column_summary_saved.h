/* The stored form of a column's summary. A later append loads the summary and adds its rows; the
 * result is the same as if all rows had been added to one summary.
 *
 * Integers and the bits of doubles are little-endian, 8 bytes each:
 *   "dsum", version (u32); flags, sizes, moments and counts; the state of the digest; the
 *   numbers of the incomplete block; the exact counts of numbers and of texts; the sketches that
 *   exist; the sparse features; CRC-32 of all previous bytes (u32).
 * At most 0.3 MB for numbers; for texts, additionally the bytes of TALLY_MAX texts. The state of
 * the digest can be read only by the version of libsodium that wrote it: after an upgrade of the
 * library the caller computes the summary from the stored chunks, as it does for a damaged
 * summary. */
#ifndef FORMATS_COLUMN_SUMMARY_SAVED_H
#define FORMATS_COLUMN_SUMMARY_SAVED_H

#include "base/memory/buf.h"
#include "formats/summary/column_summary.h"

enum { COLUMN_SUMMARY_VERSION = 3 };

enum column_summary_load_status {
    COLUMN_SUMMARY_LOADED,
    COLUMN_SUMMARY_DAMAGED,
    COLUMN_SUMMARY_OTHER_VERSION, /* written by another version of this form or of libsodium */
    COLUMN_SUMMARY_NO_MEMORY
};

/* Appends the stored form of s. Returns false if out of memory. */
bool column_summary_save(const struct column_summary *s, struct buf *out);
/* Loads the summary of a column of that type into *s, which must be {0}. *s stays {0} unless the
 * status is LOADED. */
enum column_summary_load_status column_summary_load(struct column_summary *s, dn_column_type type,
                                                    const void *bytes, size_t n);

#endif
