/* Reads ARFF line by line: declarations of attributes, then rows. Private to formats/arff.
 *
 *   % comment
 *   @relation NAME
 *   @attribute NAME numeric | real | integer | string | {value, value, …}
 *   @data
 *   value, value, …            a dense row: one value for each attribute
 *   {index value, index value} a sparse row: indices count from 0 and ascend
 *
 * Keywords are read in any case. Names and values are quoted by ' or " if they hold spaces, commas,
 * braces, % or quotes; a backslash in quotes escapes the next character (\n, \r, \t; others stand
 * for themselves). Values are separated by commas or tabs. An unquoted % begins a comment. ? is a
 * missing value. A value that a sparse row leaves out is 0, or the first value of a nominal
 * attribute.
 *
 * Not supported, and refused: date and relational attributes, weights of rows.
 *
 * Source: Weka, "Attribute-Relation File Format (ARFF)". */
#ifndef FORMATS_ARFF_H
#define FORMATS_ARFF_H

#include "base/buf.h"
#include "formats/text/names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arff_kind { ARFF_NUMERIC, ARFF_STRING, ARFF_NOMINAL };

struct arff_attribute {
    struct text name;
    enum arff_kind kind;
    struct names values; /* of a nominal attribute, in the order of the declaration */
};

/* A value of a row. */
struct arff_cell {
    size_t attribute;
    size_t column; /* of the line, from 1 */
    bool missing;  /* an unquoted ? */
    bool quoted;
    bool implied; /* the sparse row leaves it out */
    struct text text;
};

struct arff_fault {
    size_t column; /* of the line, from 1 */
    char text[256];
};

enum arff_line {
    ARFF_BLANK,    /* blank, or only a comment */
    ARFF_DECLARED, /* a line of the header */
    ARFF_DATA,     /* @data: the declarations are complete */
    ARFF_ROW,      /* arff->cells */
    ARFF_FAULT,    /* fault is set. A fault in the declarations ends the reading */
    ARFF_NO_MEMORY
};

/* The state of reading one body. {0} before the first line. */
struct arff {
    struct arff_attribute *attributes;
    size_t n_attributes, capacity;
    struct names names; /* of the attributes */
    bool in_data;       /* @data was read */
    int64_t comments;   /* lines with only a comment */
    /* The present row: a value for each attribute, in order. */
    struct arff_cell *cells; /* [n_attributes] */
    struct buf unescaped;    /* decoded texts of values with escapes */
    char **owned;            /* [n_owned] texts of names and nominal values */
    size_t n_owned, owned_capacity;
};

void arff_done(struct arff *arff);
/* Reads a line without its end. The texts of a row's cells are valid until the next call and while
 * the line is. At most max_attributes attributes. */
enum arff_line arff_read(struct arff *arff, const char *line, size_t n, size_t max_attributes,
                         struct arff_fault *fault);
/* Whether a nominal attribute has the value. */
bool arff_has_value(const struct arff_attribute *attribute, struct text value);
/* Whether the bytes begin an ARFF body: comments, then @relation or @attribute. *unsure: more bytes
 * are needed. */
bool arff_looks_like(const char *bytes, size_t n, bool *unsure);

#endif
