/* How the numbers in the cells of separated text are written: the decimal mark, the separator of
 * thousands, and signs around them. */
#ifndef FORMATS_MARKS_H
#define FORMATS_MARKS_H

#include "formats/text/cell.h"

#define MARKS_STRIP_MAX 64 /* limit of the bytes of `strip` */

/* What the options decimal, thousands and strip say; {0}: none is given. */
struct marks {
    char decimal; /* '.' or ','; '\0': not given, which means '.' unless commas are detected */
    /* '.', ',', '\'' (also U+2019) or ' ' (also no-break spaces); '\0': none */
    char thousands;
    bool has_thousands, has_strip; /* the option is given */
    /* UTF-8 characters that are removed from both ends of a number, with the blanks next to them */
    char strip[MARKS_STRIP_MAX + 1];
};
/* Each reads the value of an option. Returns false if it is invalid and sets
 * PROBLEM_BAD_REQUEST. */
bool marks_set_decimal(struct marks *m, const char *value, struct problem *problem);
bool marks_set_thousands(struct marks *m, const char *value, struct problem *problem);
bool marks_set_strip(struct marks *m, const char *value, struct problem *problem);
/* Replaces what `later` gives. */
void marks_replace(struct marks *m, const struct marks *later);
/* Whether numbers may be written differently from plain numbers. */
static inline bool marks_any(const struct marks *m) {
    return m->decimal == ',' || m->thousands != '\0' || m->strip[0] != '\0';
}
/* Whether decimal commas are detected in a text with this delimiter. */
static inline bool marks_detect(const struct marks *m, char delimiter) {
    return delimiter != ',' && m->decimal == '\0' && m->thousands != '.' && m->thousands != ',';
}
/* Reads a trimmed text as a number with the given marks. Separators of thousands must divide the
 * digits before the decimal mark into groups of three. */
bool marks_number(const struct marks *m, struct text t, double *out);

/* The marks that a text has, if the decimal mark is not given. */
enum marks_form {
    MARKS_NO_NUMBER,
    MARKS_PLAIN,   /* 12, 1e5: neither a point nor a comma */
    MARKS_POINT,   /* 1.5, 0.125, 1234.567 */
    MARKS_GROUPED, /* 1.234: a point that could separate thousands; the number is 1.234 */
    MARKS_COMMA,   /* 1,5, 0,125, 1.234,5: a decimal comma; points separate thousands */
    MARKS_EITHER   /* 1,234: a comma that could separate thousands; the number is 1.234 */
};
enum marks_form marks_form(const struct marks *m, struct text t, double *out);
/* Whether the text is a number with a comma that is or may be its decimal mark. */
bool marks_is_comma(struct text t);

/* Why a grouped number is refused in a body that is delimited by commas. */
#define MARKS_DOUBT                                                                                \
    "its point may separate thousands, as the numbers of this column have decimal commas; "        \
    "decimal=. reads points as decimal marks"

/* What is written around the numbers of a column, for warnings: signs of currencies and
 * percentages, units behind the number, negative numbers in parentheses or with the sign behind. */
#define MARKS_SIGNS 24
#define MARKS_UNIT 12
struct marks_signs {
    char text[MARKS_SIGNS];   /* the signs of all numbers so far; "": there are none */
    bool plain;               /* a number has no sign */
    bool commas, groups;      /* a number has a decimal comma; commas that separate thousands */
    bool parentheses;         /* a number is written (5) */
    bool behind;              /* a number is written 5- */
    char unit[2][MARKS_UNIT]; /* units of the numbers; "": there is none */
};
/* Adds the signs of a number to `signs`. Returns false if the text is no number between signs, or
 * the numbers have more than two units. */
bool marks_signs_add(struct marks_signs *signs, struct text t);
/* Whether a number had something around it. */
static inline bool marks_signs_any(const struct marks_signs *signs) {
    return signs->text[0] != '\0' || signs->parentheses || signs->behind ||
           signs->unit[0][0] != '\0';
}

#endif
