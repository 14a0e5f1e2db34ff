/* Signs of a delimiter in separated text: the line that Excel writes, and what seems to separate
 * the cells of a table that was read as one column. Private to formats. */
#ifndef FORMATS_CSV_SEPARATOR_H
#define FORMATS_CSV_SEPARATOR_H

#include "formats/csv/csv_sniff.h"

/* Whether a character can be the delimiter of separated text: a blank (CSV_BLANKS), a tab, or a
 * punctuation character that occurs neither in numbers nor as a quote. */
bool csv_delimiter_allowed(char c);
enum csv_separator_line {
    CSV_SEPARATOR_NONE,
    CSV_SEPARATOR_FOUND,
    CSV_SEPARATOR_UNUSED /* the line begins with sep=, but is read as a row */
};
/* Whether the first line is "sep=;" or the like, with or without quotes, and with delimiters or
 * blanks behind it. *delimiter: its character. The line is not part of the table. */
enum csv_separator_line csv_separator_line(const struct csv_sample *sample, char *delimiter);

/* Whether the trimmed text is a number, or several numbers with blanks between them. *n: how
 * many. */
bool csv_is_numbers(struct text t, size_t *n);

struct csv_separator {
    char text[32];   /* name of the separator for messages; "": there is none */
    char option[16]; /* value of the option `delimiter`; "": the reader cannot use the separator */
    size_t times;    /* how often most lines have it; 0: it is between numbers, not equally often */
    size_t lines;    /* number of these lines */
    size_t of;       /* number of lines in the sample */
};
/* Finds what most rows of one cell, read with `delimiter`, have equally often. Returns false if out
 * of memory. */
bool csv_separator_find(const struct csv_sample *sample, char delimiter, struct csv_separator *out);

#endif
