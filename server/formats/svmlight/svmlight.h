/* Reads a line of svmlight: "label index:value index:value … # comment". Private to the readers of
 * tables and instances.
 *
 * Spaces and tabs separate the parts; the rest of a line after # is a comment. Indexes are integers
 * that ascend strictly, values are finite decimal numbers. "qid:N" after the label is skipped. */
#ifndef FORMATS_SVMLIGHT_H
#define FORMATS_SVMLIGHT_H

#include "formats/text/cell.h"
#include "formats/text/scan.h"

/* The largest index, so that the width is below 2^31. */
#define SVMLIGHT_MAX_INDEX 2147483646
/* Bytes after a line that may be read. Their values do not matter. */
#define SVMLIGHT_SLACK SCAN_NUMBER_READS

struct svmlight_row {
    struct text label; /* a part of the line; n is 0 if there is none */
    /* [n] the place of an entry: its index, minus 1 if indexes count from 1. The memory is reused
     * for the next line */
    uint32_t *place;
    /* [n] the values. Entries of +0 are left out, since absent entries are 0; entries of -0 are
     * kept */
    double *value;
    size_t n, capacity;
    /* 1 + the greatest place in the line, with entries of 0; 0: there are no entries */
    uint32_t width;
    bool qid; /* the line has a "qid:N" */
    /* the first value that is an integer which a double cannot represent; n is 0 if there is none
     */
    struct text inexact;
};
void svmlight_row_done(struct svmlight_row *row);

struct svmlight_options {
    bool zero_based;    /* indexes count from 0 */
    bool without_label; /* the label may be absent */
};

/* The first fault of a line. */
struct svmlight_fault {
    size_t at; /* offset in the line, from 0 */
    char text[256];
};

enum svmlight_line { SVMLIGHT_BLANK, SVMLIGHT_ROW, SVMLIGHT_FAULT, SVMLIGHT_NO_MEMORY };
/* Reads line[0 … n-1] without its line end. SVMLIGHT_SLACK bytes after it are readable, and line[n]
 * is a line end or NUL. BLANK: the line has only blanks or a comment. ROW: *row is set. FAULT:
 * *fault is set. */
enum svmlight_line svmlight_read(const char *line, size_t n, const struct svmlight_options *options,
                                 struct svmlight_row *row, struct svmlight_fault *fault);

/* Whether the first line that is neither blank nor a comment is "number index:value …". whole: the
 * bytes are the whole body. */
bool svmlight_looks_like(const char *bytes, size_t n, bool whole);

#endif
