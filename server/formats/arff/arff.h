/* Reads ARFF line by line: declarations of attributes, then rows. Private to formats/arff.
 *
 *   % comment
 *   @relation NAME
 *   @attribute NAME numeric | real | integer | string | {value, value, …}
 *   @data
 *   value, value, …            a dense row: one value for each attribute
 *   {index value, index value} a sparse row: indices count from 0 and ascend
 *
 * Keywords are case-insensitive. Names and values that contain spaces, commas, braces, % or quotes
 * are put in ' or ". In quotes a backslash escapes the next character (\n, \r, \t; any other
 * character stands for itself). Values are separated by commas or tabs. An unquoted % begins a
 * comment. ? is a missing value. A value that a sparse row leaves out is 0, or the first value of a
 * nominal attribute.
 *
 * Not supported, and refused: relational attributes, weights of rows.
 *
 * Source: Weka, "Attribute-Relation File Format (ARFF)". */
#ifndef FORMATS_ARFF_H
#define FORMATS_ARFF_H

#include "base/memory/buf.h"
#include "formats/text/names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arff_kind { ARFF_NUMERIC, ARFF_STRING, ARFF_NOMINAL, ARFF_DATE };

struct arff_attribute {
    struct text name;
    enum arff_kind kind;
    unsigned orders;     /* date: the order of its parts (enum dn_date_order) */
    struct names values; /* nominal: the declared values, in the order of the declaration */
};

/* A value of a row. */
struct arff_cell {
    size_t attribute;
    size_t column; /* column in the line, in bytes from 1 */
    bool missing;  /* an unquoted ? */
    bool quoted;
    bool implied; /* the sparse row leaves the value out */
    struct text text;
};

struct arff_fault {
    size_t column; /* column in the line, in bytes from 1 */
    char text[256];
};

enum arff_line {
    ARFF_BLANK,    /* blank, or only a comment */
    ARFF_DECLARED, /* a line of the header */
    ARFF_DATA,     /* @data: the declarations are complete */
    ARFF_ROW,      /* a row, which is in arff->cells */
    ARFF_FAULT,    /* `fault` is set. After a fault in the declarations nothing more can be read */
    ARFF_NO_MEMORY
};

/* The state of reading one body. {0} before the first line. */
struct arff {
    struct arff_attribute *attributes;
    size_t n_attributes, capacity;
    struct names names; /* names of the attributes */
    bool repeats;       /* set by the caller: attributes may have the name of an earlier one */
    bool in_data;       /* @data was read */
    int64_t comments;   /* number of lines with only a comment */
    /* [n_attributes] the current row: one value for each attribute, in order */
    struct arff_cell *cells;
    struct buf unescaped; /* decoded texts of values with escapes */
    char **owned;         /* [n_owned] memory of names and nominal values */
    size_t n_owned, owned_capacity;
};

void arff_done(struct arff *arff);
/* Reads a line, which is passed without its line end. The texts of the cells are valid until the
 * next call and as long as `line` is. More than max_attributes attributes are a fault. */
enum arff_line arff_read(struct arff *arff, const char *line, size_t n, size_t max_attributes,
                         struct arff_fault *fault);
/* Whether a nominal attribute has the value. */
bool arff_has_value(const struct arff_attribute *attribute, struct text value);
/* Whether the bytes begin an ARFF body: comments, then @relation or @attribute. *unsure: more bytes
 * are needed to decide. */
bool arff_looks_like(const char *bytes, size_t n, bool *unsure);

#endif
