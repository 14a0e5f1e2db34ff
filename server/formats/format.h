/* A format: one representation of rows as bytes, and what the server can do with it.
 *
 * A format is one folder and one name in FORMATS. Its object has the functions that read tables and
 * instances and write rows and answers; NULL: not possible in this format. Media types, error texts
 * and the values of `Accept` are derived from these objects. */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include "base/memory/buf.h"
#include <discern/table.h>
#include <stdbool.h>
#include <stddef.h>

struct instances;
struct instance_rows;

/* Reads the body of a prediction call. */
struct instances_reader {
    /* the body is read line by line as it arrives (instance_lines), so it may have any length */
    bool lines;
    /* Whether a body without a media type is in this format. */
    bool (*sniff)(const char *body, size_t size);
    /* Reads all rows; see instances_read. */
    bool (*read)(struct instances *in, const char *body, size_t size, struct instance_rows *out);
};

/* Writes rows of a stored table. */
struct rows_writer {
    bool document; /* the rows are the items of one JSON document */
    bool entries;  /* a row is a label and index:value entries; svmlight_rows_write writes it */
    /* Writes the header line. NULL: the format has none. */
    void (*header)(const char *const *names, size_t n_columns, struct buf *out);
    /* Writes rows first … first + n - 1. begun: rows were written before. NULL if `entries` is
     * true. */
    void (*rows)(const dn_column_view *views, const char *const *names, size_t n_columns,
                 size_t first, size_t n, bool begun, struct buf *out);
};

/* The form of the answers of prediction calls: one document, lines of JSON, or cells. */
struct answers_writer {
    bool document;  /* one JSON document */
    char delimiter; /* between cells; '\0': the rows are JSON */
};

struct format {
    const char *const *media_types;   /* ends with NULL; answers are sent with the first one */
    const struct table_reader *table; /* table/table.h */
    const struct instances_reader *instances;
    const struct rows_writer *rows;
    const struct answers_writer *answers;
};

/* All formats, in the order in which a body is checked against them: csv accepts any text. */
#define FORMATS(X) X(json) X(ndjson) X(svmlight) X(arff) X(csv) X(tsv)

#define FORMAT_DECLARE(name) extern const struct format format_##name;
FORMATS(FORMAT_DECLARE)
#undef FORMAT_DECLARE

extern const struct format *const formats[]; /* ends with NULL */
#define FORMATS_MAX 16                       /* formats[] has fewer elements */

enum format_use {
    FORMAT_TABLE,
    FORMAT_INSTANCES,
    FORMAT_ROWS,
    FORMAT_ANSWERS,
    FORMAT_GRID /* answers for the points of a grid: one document, or cells */
};

bool format_has(const struct format *format, enum format_use use);
const char *format_media_type(const struct format *format);
/* Finds the format of a media type. If the type is "", *out is NULL: the format is to be detected
 * from the body. Returns false if no format of this use has the type. */
bool format_find(const char *media_type, enum format_use use, const struct format **out);
/* Appends the media types of the formats of a use: "application/json, text/csv or text/x-svmlight".
 */
void format_list(enum format_use use, struct buf *out);
/* Lists the formats of a use with `first` before the others: offered[i] has the media type
 * types[i]. Both have FORMATS_MAX + 1 elements; types ends with NULL. */
void format_offer(enum format_use use, const struct format *first,
                  const struct format *offered[FORMATS_MAX + 1],
                  const char *types[FORMATS_MAX + 1]);

#endif
