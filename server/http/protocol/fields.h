/* The syntax that header fields share (RFC 9110, section 5.6): lists, parameters, weights. */
#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a field's value; not NUL-terminated. */
struct part {
    const char *text;
    size_t n; /* bytes */
};

/* Whether the part is not empty, and each of its bytes is an ASCII letter, a digit or in
 * `others`. */
bool part_consists_of(struct part part, const char *others);
/* Whether the part is this word, compared case-insensitively. */
bool part_is(struct part part, const char *word);
/* Writes the part in lower case to out[n + 1], NUL-terminated. */
void part_lower(struct part part, char *out);
/* Takes the next element off a comma-separated list, without blanks around it. A comma in a quoted
 * string does not separate. Returns false at the end of the list. */
bool list_next(const char **list, struct part *out);
/* Returns the text of an element in front of its first parameter: "text/csv" of "text/csv;
 * q=0.5". */
struct part element_value(struct part element);
/* Finds the value of the parameter of that name, without quotes around it. Returns false if there
 * is none. */
bool element_parameter(struct part element, const char *name, struct part *out);
/* Returns the weight of an element (parameter q) in thousandths; 1000 if there is none. */
int element_weight(struct part element);

#endif
