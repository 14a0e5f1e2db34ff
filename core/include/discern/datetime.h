/* Dates and times as they are written in tables.
 *
 * A form is how the cells of a column are written: the order of day, month and year, the
 * separator, the letter between date and time, whether there are seconds, fractions and an offset.
 * These texts are dates and times:
 *
 *   2024-01-31, 2024/1/31, 31.01.2024, 1/31/2024   year first, day first or month first; the
 *                                                  separators are - / and . and the year has four
 *                                                  digits, 0001 to 9999
 *   20240131                                       only where it is allowed (DN_DATE_COMPACT)
 *   a date, T or a blank, then a time              2024-01-31T08:30:00.25+02:00
 *   HH:MM, HH:MM:SS                                a time of day, 00:00 to 23:59:59
 *   fractions                                      after seconds, 1 to 9 digits
 *   Z, +HH:MM, +HHMM, +HH                          after a date and a time; without it the time is
 *                                                  UTC
 *
 * The calendar is the Gregorian one for all years. Days that a month does not have, 24:00 and leap
 * seconds are no dates and times. */
#ifndef DISCERN_DATETIME_H
#define DISCERN_DATETIME_H

#include <discern/api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

/* The order of the parts of a date, as bits: a text such as 01/02/2024 has two possible orders. */
enum dn_date_order {
    DN_DATE_YMD = 1,
    DN_DATE_DMY = 2,
    DN_DATE_MDY = 4,
    DN_DATE_ANY = DN_DATE_YMD | DN_DATE_DMY | DN_DATE_MDY,
    /* allows DN_DATE_YMD without separators, which is a number as well; no order of a form */
    DN_DATE_COMPACT = 8
};

enum dn_datetime_zone {
    DN_ZONE_NONE,
    DN_ZONE_Z,
    DN_ZONE_OFFSET, /* the same offset in all cells */
    DN_ZONE_OFFSETS /* different offsets, or offsets and Z */
};

/* {0}: no form. Two forms read the same texts if orders, separator, joint, clock, and whether there
 * is a zone are equal; the other members say how a value is written. */
typedef struct dn_datetime_form {
    uint8_t orders;   /* possible orders of the date; 0: there is no date */
    char separator;   /* '-', '/' or '.'; '\0': there is no date, or it has no separators */
    char joint;       /* 'T' or ' ' between date and time; '\0': there are not both */
    uint8_t clock;    /* numbers of the time: 0, 2 (HH:MM) or 3 (HH:MM:SS) */
    uint8_t decimals; /* digits of the longest fraction of a second */
    uint8_t zone;     /* enum dn_datetime_zone */
    bool short_date;  /* days and months have no leading zero */
    bool short_hour;  /* hours have no leading zero */
    int16_t offset;   /* DN_ZONE_OFFSET: minutes east of UTC */
} dn_datetime_form;

/* Sizes of texts, with the terminating NUL. */
#define DN_DATETIME_SIZE 48
#define DN_DATETIME_FORM_SIZE 48

/* Returns true if a column of this form has texts at all: the form is not {0}. */
static inline bool dn_datetime_is_form(const dn_datetime_form *form) {
    return form->orders != 0 || form->clock != 0;
}

/* Returns true if one order of the date is left, or there is no date. */
static inline bool dn_datetime_is_decided(const dn_datetime_form *form) {
    return (form->orders & (form->orders - 1)) == 0;
}

/* Returns true if both forms read the same texts to the same values. */
bool dn_datetime_same(const dn_datetime_form *a, const dn_datetime_form *b);

/* Returns true if values of both forms mean the same: both have dates or neither has, and both have
 * times or neither has. */
bool dn_datetime_is_alike(const dn_datetime_form *a, const dn_datetime_form *b);

/* Adds a text without blanks at its ends to the form of a column.
 *
 *   orders  the orders that are allowed, if `form` is {0}; with DN_DATE_COMPACT, YYYYMMDD is, too
 *   form    {0}: any form is taken. On success it describes the texts so far with this one
 *
 * Returns false if the text is no date or time, or not one of this form; `form` is unchanged. */
bool dn_datetime_add(const char *text, size_t length, unsigned orders, dn_datetime_form *form);

/* Converts a text of a decided form to seconds since 1970-01-01T00:00:00Z; a time of day without a
 * date to seconds since midnight. Returns false if it has another form. */
bool dn_datetime_parse(const char *text, size_t length, const dn_datetime_form *form, double *out);

/* Why the text is no date or time although it looks like one ("the month has no such day"); NULL:
 * no reason to be named. Static strings. */
const char *dn_datetime_fault(const char *text, size_t length);

/* Writes a finite value in a decided form, NUL-terminated, and returns the length. Values before
 * year 1 and after year 9999 are written as its first or last second. Fractions have at most six
 * digits. With DN_ZONE_OFFSETS the offset is +00:00. */
size_t dn_datetime_format(double seconds, const dn_datetime_form *form, char out[DN_DATETIME_SIZE]);

/* Writes the form as a pattern, NUL-terminated: "YYYY-MM-DDThh:mm:ss.fff+02:00", "D/M/YYYY h:mm".
 * DN_ZONE_OFFSETS is written "+hh:mm". Returns the length. */
size_t dn_datetime_form_write(const dn_datetime_form *form, char out[DN_DATETIME_FORM_SIZE]);
/* Reads such a pattern. Returns false if the text is none. */
bool dn_datetime_form_parse(const char *text, size_t length, dn_datetime_form *out);

/* The parts of a value, in UTC. */
typedef struct dn_datetime_fields {
    int64_t year;
    int month, day, weekday; /* from 1; weekday: Monday is 1 */
    int hour, minute;
    double second;
} dn_datetime_fields;
/* Splits finite seconds of less than 1e15 in magnitude. */
dn_datetime_fields dn_datetime_split(double seconds);

/* A part of the calendar or the clock, as a category. The part is that of the offset of the form,
 * if all cells have the same one, otherwise that of UTC. */
typedef enum dn_date_part {
    DN_PART_NONE,
    DN_PART_YEAR,    /* 0001 to 9999 */
    DN_PART_MONTH,   /* 01 to 12 */
    DN_PART_DAY,     /* 01 to 31 */
    DN_PART_WEEKDAY, /* Mon to Sun */
    DN_PART_HOUR     /* 00 to 23 */
} dn_date_part;
#define DN_DATE_PARTS 6 /* number of parts, with DN_PART_NONE */

/* Returns the name of a part: "year", "month", "day", "weekday", "hour"; DN_PART_NONE: "seconds",
 * the value itself. Static strings. */
const char *dn_date_part_name(dn_date_part part);
/* Returns true if values of the form have the part: dates have no hour without a time, and times of
 * day have nothing but an hour. */
bool dn_datetime_has_part(const dn_datetime_form *form, dn_date_part part);
/* Writes the part of finite seconds as a category, NUL-terminated, and returns the length. */
#define DN_DATE_PART_SIZE 24
size_t dn_date_part_format(double seconds,
                           const dn_datetime_form *form,
                           dn_date_part part,
                           char out[DN_DATE_PART_SIZE]);

DN_END_DECLS

#endif
