/* Reads a line of svmlight: "label index:value index:value … # comment". Private to the readers
 * of tables and instances.
 *
 * Spaces and tabs separate the parts of a line; # begins a comment. Indexes are integers in
 * strictly ascending order, values are finite decimal numbers. "qid:N" after the label is
 * skipped. */
#ifndef FORMATS_SVMLIGHT_H
#define FORMATS_SVMLIGHT_H

#include "formats/text/cell.h"
#include "formats/text/scan.h"

/* The largest index; it keeps the width below 2^31. */
#define SVMLIGHT_MAX_INDEX 2147483646
/* Number of bytes after a line that may be read. Their values do not matter. */
#define SVMLIGHT_SLACK SCAN_NUMBER_READS

struct svmlight_row {
    struct text label; /* points into the line; n is 0 if there is no label */
    /* [n] feature index of each entry, from 0: the index as written, minus 1 if indexes count from
     * 1. The memory is reused for the next line */
    uint32_t *place;
    /* [n] value of each entry. Entries of +0 are left out, because absent entries are 0; entries of
     * -0 are kept */
    double *value;
    size_t n, capacity;
    /* 1 + the largest feature index in the line, including entries of 0; 0: there are no entries */
    uint32_t width;
    bool qid;              /* the line has a "qid:N" */
    size_t n_inexact;      /* number of values that number_is_exact is false for */
    struct text inexact;   /* the first of them; points into the line */
    double inexact_number; /* what it was read as */
};
void svmlight_row_done(struct svmlight_row *row);

struct svmlight_options {
    bool zero_based;    /* the index of the first feature is 0, not 1 */
    bool without_label; /* the label may be absent */
};

/* The first fault of a line. */
struct svmlight_fault {
    size_t at; /* offset in the line, from 0 */
    char text[256];
};

enum svmlight_line { SVMLIGHT_BLANK, SVMLIGHT_ROW, SVMLIGHT_FAULT, SVMLIGHT_NO_MEMORY };
/* Reads line[0 … n - 1], without its line end. line[n] must be a line end or NUL, and
 * SVMLIGHT_SLACK bytes from there must be readable. BLANK: the line has only blanks or a comment.
 * ROW: *row is set. FAULT: *fault is set. */
enum svmlight_line svmlight_read(const char *line, size_t n, const struct svmlight_options *options,
                                 struct svmlight_row *row, struct svmlight_fault *fault);

/* Whether the first line that is neither blank nor a comment is "number index:value …". whole:
 * the bytes are the whole body. */
bool svmlight_looks_like(const char *bytes, size_t n, bool whole);

#endif
