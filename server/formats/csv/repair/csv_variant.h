/* Reads separated text in a dialect other than that of csv.h: with another quote character, an
 * escape character or a delimiter of several characters. on_error=repair of an upload detects such a
 * dialect; rows that are appended to the table, and rows that its models predict, are read by it.
 * Nothing is repaired. Private to formats.
 *
 * Faults: a quote that is not closed, and a quote within a quoted cell that is neither doubled nor
 * escaped, after which reading continues; and those of csv_raw.h. */
#ifndef FORMATS_CSV_VARIANT_H
#define FORMATS_CSV_VARIANT_H

#include "formats/csv/repair/csv_raw.h"

/* Makes the dialect of its texts: the delimiter, the quote and the escape character; empty quote:
 * ", empty escape: none. Returns false if one is too long; out->n is then 0. */
bool csv_variant_dialect(struct text delimiter, struct text quote, struct text escape,
                         struct csv_dialect *out);
/* Whether struct csv cannot read the dialect. false for {0}, an unknown dialect. */
bool csv_variant_needed(const struct csv_dialect *d);

/* All members but `no_memory` are private. */
struct csv_variant {
    struct csv_dialect dialect;
    struct csv_handler handler;
    struct csv_raw raw;
    struct csv_cell *cells; /* [capacity] */
    size_t capacity;
    struct buf aside;
    bool no_memory;
};
void csv_variant_init(struct csv_variant *v, const struct csv_dialect *dialect, char comment,
                      int64_t skip, const struct csv_handler *handler);
void csv_variant_done(struct csv_variant *v);
/* Return false if reading stopped: because of a fault, the handler, or a lack of memory. */
bool csv_variant_feed(struct csv_variant *v, const char *bytes, size_t n);
bool csv_variant_end(struct csv_variant *v);
/* A csv_sample.rows: reads the rows of the sample in the dialect `arg`. */
bool csv_variant_sample(const struct csv_sample *sample, const void *arg,
                        const struct csv_handler *handler, size_t *unfinished);

/* Returns the sample with its rows read in the dialect, which must stay valid. */
struct csv_sample csv_variant_by(const struct csv_sample *sample, const struct csv_dialect *d);
/* Returns the dialect with another delimiter; '\0', or that of the dialect: with its own. d: {0} is
 * the usual dialect. */
struct csv_dialect csv_variant_with(const struct csv_dialect *d, char delimiter);

/* How a dialect divides a sample. */
struct csv_variant_fit {
    bool fits;         /* set by the caller: the first row can be one of the table, or its header */
    size_t cells;      /* number of cells of the first row; 0: there is none */
    size_t rows, even; /* number of rows; of those with as many cells as the first */
    size_t faults, quoted;
};
/* Returns false if out of memory. */
bool csv_variant_measure(const struct csv_sample *sample, const struct csv_dialect *d,
                         struct csv_variant_fit *out);
/* Whether a body is read in the dialect `variant` and not in the usual one. */
bool csv_variant_better(const struct csv_variant_fit *variant, const struct csv_variant_fit *usual);

#endif
