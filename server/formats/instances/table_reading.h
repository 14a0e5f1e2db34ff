/* The reading of a table: how the texts of its cells were read. It is stored with the models that
 * are trained on the table, so that rows of predictions are read in the same way.
 *
 * As JSON, the member "reading" of the document of a model:
 *   delimiter  separated text: the delimiter, 1 to 3 characters
 *   quote, escape  the quote character if it is not ", the escape character if there is one
 *   comment    the comment character, if one was given
 *   decimal, thousands, strip  the options of these names, if they were given
 *   decimal_comma  names of the columns of numbers with decimal commas, which were detected
 *   missing    the tokens for missing values beside the standard ones, if there are any
 *   trimmed    separated text: true, blanks around cells without quotes were removed; absent in
 *              models of earlier releases
 *   columns    the names of all columns in their order; absent if one is sparse, and in models of
 *              earlier releases */
#ifndef FORMATS_TABLE_READING_H
#define FORMATS_TABLE_READING_H

#include "base/json/json.h"
#include "formats/csv/repair/csv_split.h"
#include "formats/formats.h"
#include "formats/text/names.h"

struct table_reading {
    char delimiter;             /* '\0': the table was not separated text, or it is unknown */
    struct csv_dialect dialect; /* n 0: as '\0' of `delimiter` */
    bool trimmed;               /* blanks around cells without quotes were removed */
    char comment;               /* as in table_options */
    struct missing missing;
    struct marks marks;
    struct names commas;              /* names of the columns with decimal commas */
    struct names columns;             /* names of all columns; n 0: they are unknown */
    char *comma_bytes, *column_bytes; /* the texts of the names */
};

/* Reads the dialect of the members delimiter, quote and escape of a reading or of the notes of a
 * table. out->n 0: there is none. */
void table_reading_dialect(const struct json_t *object, struct csv_dialect *out);

/* Parses a document with the member "reading". Without that member, or with NULL, the reading is
 * that of an upload without options. Returns false if out of memory or if the document is
 * damaged. */
bool table_reading_parse(const char *document, struct table_reading *out);
void table_reading_done(struct table_reading *reading); /* {0} is allowed */

#endif
