/* Reads and writes dates and times (discern/datetime.h). Days are counted with the arithmetic of
 * Howard Hinnant, "chrono-compatible low-level date algorithms": an era has 400 years and 146,097
 * days, and a year begins with March. */
#include <discern/datetime.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DAY = 86400, ERA_DAYS = 146097, EPOCH_DAYS = 719468 };

/* ---- the calendar ---- */
static int64_t days_of(int64_t year, int month, int day) {
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t of_era = y - era * 400;
    const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAYS;
}

static void date_of(int64_t days, dn_datetime_fields *out) {
    const int64_t z = days + EPOCH_DAYS;
    const int64_t era = (z >= 0 ? z : z - ERA_DAYS + 1) / ERA_DAYS;
    const int64_t day = z - era * ERA_DAYS;
    const int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    const int64_t of_year = day - (365 * year + year / 4 - year / 100);
    const int64_t month = (5 * of_year + 2) / 153;
    out->day = (int)(of_year - (153 * month + 2) / 5 + 1);
    out->month = (int)(month < 10 ? month + 3 : month - 9);
    out->year = year + era * 400 + (out->month <= 2);
    const int64_t weekday = (days + 3) % 7; /* 1970-01-01 was a Thursday */
    out->weekday = (int)(weekday < 0 ? weekday + 7 : weekday) + 1;
}

static int month_days(int year, int month) {
    static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month < 1 || month > 12 ? 0 : days[month - 1] + (month == 2 && leap);
}

dn_datetime_fields dn_datetime_split(double seconds) {
    dn_datetime_fields out = {0};
    const double days = floor(seconds / DAY);
    const double rest = seconds - days * DAY;
    const int whole = (int)rest;
    date_of((int64_t)days, &out);
    out.hour = whole / 3600;
    out.minute = whole / 60 % 60;
    out.second = rest - (double)(whole - whole % 60);
    return out;
}

/* ---- reading ---- */
/* A text that was read: its form, with all possible orders, and its numbers. */
struct cell {
    dn_datetime_form form;
    int year, first, second; /* first, second: the numbers beside the year */
    double time;             /* seconds since midnight */
};

struct text {
    const char *at, *end;
};

static bool is_digit(char c) {
    return (unsigned)(unsigned char)c - '0' <= 9;
}

/* Reads at most `most` digits. Returns how many. */
static int read_digits(struct text *t, int most, int *out) {
    int n = 0, value = 0;
    for (; n < most && t->at < t->end && is_digit(*t->at); n++, t->at++) {
        value = 10 * value + (*t->at - '0');
    }
    *out = value;
    return n;
}

static bool take(struct text *t, char c) {
    if (t->at == t->end || *t->at != c) {
        return false;
    }
    t->at++;
    return true;
}

/* The orders in which the numbers are a day of the calendar. */
static unsigned possible_orders(const struct cell *cell, bool year_first) {
    const int a = cell->first, b = cell->second, year = cell->year;
    if (year < 1) {
        return 0;
    }
    if (year_first) {
        return b >= 1 && b <= month_days(year, a) ? DN_DATE_YMD : 0;
    }
    return (a >= 1 && a <= month_days(year, b) ? (unsigned)DN_DATE_DMY : 0) |
           (b >= 1 && b <= month_days(year, a) ? (unsigned)DN_DATE_MDY : 0);
}

static bool is_separator(char c) {
    return c == '-' || c == '/' || c == '.';
}

/* Reads MMDD after a year of four digits. */
static const char *read_compact(struct text *t, int year, struct cell *cell) {
    int rest = 0;
    if (read_digits(t, 4, &rest) != 4 || (t->at < t->end && is_digit(*t->at))) {
        return "";
    }
    cell->year = year;
    cell->first = rest / 100;
    cell->second = rest % 100;
    cell->form.orders = (uint8_t)possible_orders(cell, true);
    return cell->form.orders != 0 ? NULL
           : year < 1             ? "years are 0001 to 9999"
                                  : "there is no such day in the calendar";
}

/* Reads a date whose first number of n digits was read. */
static const char *read_date(struct text *t, int n, int number, struct cell *cell) {
    static const char none[] = "";
    const bool year_first = n == 4;
    int n_second = 0, n_third = 0, second = 0, third = 0;
    if (year_first && t->at < t->end && is_digit(*t->at)) {
        return read_compact(t, number, cell);
    }
    cell->form.separator = t->at < t->end ? *t->at : '\0';
    if (n < 1 || n == 3 || t->at == t->end || !is_separator(*t->at)) {
        return none;
    }
    t->at++;
    n_second = read_digits(t, 2, &second);
    if (n_second == 0 || !take(t, cell->form.separator)) {
        return none;
    }
    n_third = read_digits(t, year_first ? 2 : 4, &third);
    if (n_third == 0 || (!year_first && n_third != 4)) {
        return none;
    }
    cell->year = year_first ? number : third;
    cell->first = year_first ? second : number;
    cell->second = year_first ? third : second;
    cell->form.short_date = n == 1 || n_second == 1 || n_third == 1;
    cell->form.orders = (uint8_t)possible_orders(cell, year_first);
    return cell->form.orders != 0 ? NULL
           : cell->year < 1       ? "years are 0001 to 9999"
                                  : "there is no such day in the calendar";
}

/* Reads the digits of a fraction, 1 to 9. */
static bool read_fraction(struct text *t, struct cell *cell) {
    int value = 0, n = read_digits(t, 9, &value);
    double power = 1;
    for (int i = 0; i < n; i++) {
        power *= 10;
    }
    cell->form.decimals = (uint8_t)n;
    cell->time += value / power;
    return n > 0;
}

/* Reads a time whose hour of n digits was read. */
static const char *read_time(struct text *t, int n, int hour, struct cell *cell) {
    static const char none[] = "";
    int minute = 0, second = 0;
    if (n < 1 || n > 2 || !take(t, ':') || read_digits(t, 2, &minute) != 2) {
        return none;
    }
    cell->form.short_hour = n == 1;
    cell->form.clock = 2;
    if (take(t, ':')) {
        cell->form.clock = 3;
        if (read_digits(t, 2, &second) != 2) {
            return none;
        }
    }
    cell->time = hour * 3600.0 + minute * 60.0 + second;
    if (cell->form.clock == 3 && take(t, '.') && !read_fraction(t, cell)) {
        return none;
    }
    return hour > 23      ? "hours are 00 to 23"
           : minute > 59  ? "minutes are 00 to 59"
           : second == 60 ? "leap seconds are not read"
           : second > 59  ? "seconds are 00 to 59"
                          : NULL;
}

static const char *read_zone(struct text *t, struct cell *cell) {
    static const char none[] = "";
    if (t->at == t->end) {
        return NULL;
    }
    if (take(t, 'Z')) {
        cell->form.zone = DN_ZONE_Z;
        return t->at == t->end ? NULL : none;
    }
    const bool west = *t->at == '-';
    int hours = 0, minutes = 0;
    if (*t->at != '+' && *t->at != '-') {
        return none;
    }
    t->at++;
    if (read_digits(t, 2, &hours) != 2) {
        return none;
    }
    if (t->at < t->end) {
        (void)take(t, ':');
        if (read_digits(t, 2, &minutes) != 2 || t->at != t->end) {
            return none;
        }
    }
    cell->form.zone = DN_ZONE_OFFSET;
    cell->form.offset = (int16_t)((west ? -1 : 1) * (60 * hours + minutes));
    return hours > 23 || minutes > 59 ? "offsets are -23:59 to +23:59" : NULL;
}

/* Returns NULL if the text is a date or time; otherwise the reason, "" if there is none to be
 * named. */
static const char *read_cell(const char *text, size_t length, struct cell *cell) {
    struct text t = {text, text + length};
    int number = 0;
    *cell = (struct cell){0};
    int n = read_digits(&t, 4, &number);
    const char *why = NULL;
    if (n > 0 && t.at < t.end && *t.at == ':') {
        why = read_time(&t, n, number, cell);
        return why != NULL ? why : t.at == t.end ? NULL : "";
    }
    why = read_date(&t, n, number, cell);
    if (why != NULL || t.at == t.end) {
        return why;
    }
    cell->form.joint = *t.at;
    if (!take(&t, 'T') && !take(&t, ' ')) {
        return "";
    }
    n = read_digits(&t, 2, &number);
    why = read_time(&t, n, number, cell);
    return why != NULL ? why : read_zone(&t, cell);
}

/* The value of a cell in one of its orders. */
static double value_of(const struct cell *cell, unsigned order) {
    if (order == 0) {
        return cell->time;
    }
    const bool day_first = order == DN_DATE_DMY;
    const int64_t days = days_of(cell->year, day_first ? cell->second : cell->first,
                                 day_first ? cell->first : cell->second);
    return (double)(days * DAY - cell->form.offset * 60) + cell->time;
}

/* Whether texts of both forms can stand in one column, but for the order. */
static bool is_alike(const dn_datetime_form *a, const dn_datetime_form *b) {
    return a->separator == b->separator && a->joint == b->joint && a->clock == b->clock &&
           (a->zone == DN_ZONE_NONE) == (b->zone == DN_ZONE_NONE);
}

bool dn_datetime_same(const dn_datetime_form *a, const dn_datetime_form *b) {
    return a->orders == b->orders && is_alike(a, b);
}

bool dn_datetime_is_alike(const dn_datetime_form *a, const dn_datetime_form *b) {
    return (a->orders == 0) == (b->orders == 0) && (a->clock == 0) == (b->clock == 0);
}

bool dn_datetime_add(const char *text, size_t length, unsigned orders, dn_datetime_form *form) {
    struct cell cell;
    const bool first = !dn_datetime_is_form(form);
    if (length == 0 || !is_digit(*text) || read_cell(text, length, &cell) != NULL) {
        return false;
    }
    const bool dated = cell.form.orders != 0;
    if (first && dated && cell.form.separator == '\0' && (orders & DN_DATE_COMPACT) == 0) {
        return false;
    }
    cell.form.orders &= (uint8_t)(first ? orders : form->orders);
    if ((dated && cell.form.orders == 0) || (!first && !is_alike(&cell.form, form))) {
        return false;
    }
    if (!first) {
        const dn_datetime_form *f = form;
        const bool differs = f->zone != cell.form.zone || f->offset != cell.form.offset;
        cell.form.decimals = f->decimals > cell.form.decimals ? f->decimals : cell.form.decimals;
        cell.form.short_date |= f->short_date;
        cell.form.short_hour |= f->short_hour;
        cell.form.zone = differs ? DN_ZONE_OFFSETS : f->zone;
        cell.form.offset = differs ? 0 : f->offset;
    }
    *form = cell.form;
    return true;
}

bool dn_datetime_parse(const char *text, size_t length, const dn_datetime_form *form, double *out) {
    struct cell cell;
    if (read_cell(text, length, &cell) != NULL || !is_alike(&cell.form, form) ||
        !dn_datetime_is_decided(form) || (cell.form.orders & form->orders) != form->orders) {
        return false;
    }
    *out = value_of(&cell, form->orders);
    return true;
}

const char *dn_datetime_fault(const char *text, size_t length) {
    struct cell cell;
    const char *why = read_cell(text, length, &cell);
    return why != NULL && why[0] != '\0' ? why : NULL;
}

/* ---- writing ---- */
enum { MAX_DECIMALS = 6 };
#define FIRST_SECOND (-62135596800.0) /* of year 1 */
#define LAST_SECOND 253402300799.0    /* of year 9999 */

/* A text that is written. */
struct line {
    char *out;
    size_t n;
};

static void put_char(struct line *l, char c) {
    l->out[l->n++] = c;
}

/* Writes a number with at least `digits` digits. */
static void put_number(struct line *l, int64_t number, int digits) {
    const int n = snprintf(l->out + l->n, 21, "%0*lld", digits, (long long)number);
    l->n += n > 0 ? (size_t)n : 0;
}

static void put_separator(struct line *l, const dn_datetime_form *form) {
    if (form->separator != '\0') {
        put_char(l, form->separator);
    }
}

static void put_date(struct line *l, const dn_datetime_fields *at, const dn_datetime_form *form) {
    const int digits = form->short_date ? 1 : 2;
    if (form->orders == DN_DATE_YMD) {
        put_number(l, at->year, 4);
        put_separator(l, form);
    }
    put_number(l, form->orders == DN_DATE_DMY ? at->day : at->month, digits);
    put_separator(l, form);
    put_number(l, form->orders == DN_DATE_DMY ? at->month : at->day, digits);
    if (form->orders != DN_DATE_YMD) {
        put_separator(l, form);
        put_number(l, at->year, 4);
    }
}

static void put_offset(struct line *l, const dn_datetime_form *form) {
    const int offset = form->zone == DN_ZONE_OFFSET ? form->offset : 0;
    if (form->zone == DN_ZONE_Z) {
        put_char(l, 'Z');
    } else if (form->zone != DN_ZONE_NONE) {
        const int minutes = offset < 0 ? -offset : offset;
        put_char(l, offset < 0 ? '-' : '+');
        put_number(l, minutes / 60, 2);
        put_char(l, ':');
        put_number(l, minutes % 60, 2);
    }
}

size_t dn_datetime_format(double seconds, const dn_datetime_form *form,
                          char out[DN_DATETIME_SIZE]) {
    struct line l = {.out = out};
    const int decimals = form->decimals < MAX_DECIMALS ? form->decimals : MAX_DECIMALS;
    double power = 1;
    for (int i = 0; i < decimals; i++) {
        power *= 10;
    }
    seconds =
        fmin(fmax(seconds, -1e12), 1e12) + (form->zone == DN_ZONE_OFFSET ? form->offset * 60.0 : 0);
    double whole = floor(seconds), part = nearbyint((seconds - whole) * power);
    if (form->clock < 3) {
        part = 0;
    } else if (part >= power && form->orders == 0 && fmod(whole + 1, DAY) == 0) {
        part = power - 1;       /* a time of day has no next day */
    } else if (part >= power) { /* rounded up to the next second */
        part = 0;
        whole += 1;
    }
    if (form->orders != 0 && (whole < FIRST_SECOND || whole > LAST_SECOND)) {
        part = whole > LAST_SECOND ? power - 1 : 0;
        whole = whole > LAST_SECOND ? LAST_SECOND : FIRST_SECOND;
    }
    const dn_datetime_fields at = dn_datetime_split(whole);
    if (form->orders != 0) {
        put_date(&l, &at, form);
    }
    if (form->joint != '\0') {
        put_char(&l, form->joint);
    }
    if (form->clock >= 2) {
        put_number(&l, at.hour, form->short_hour ? 1 : 2);
        put_char(&l, ':');
        put_number(&l, at.minute, 2);
    }
    if (form->clock == 3) {
        put_char(&l, ':');
        put_number(&l, (int64_t)at.second, 2);
        if (decimals > 0) {
            put_char(&l, '.');
            put_number(&l, (int64_t)part, decimals);
        }
    }
    put_offset(&l, form);
    out[l.n] = '\0';
    return l.n;
}

/* ---- patterns ---- */
static void put_text(struct line *l, const char *text) {
    for (; *text != '\0'; text++) {
        put_char(l, *text);
    }
}

size_t dn_datetime_form_write(const dn_datetime_form *form, char out[DN_DATETIME_FORM_SIZE]) {
    struct line l = {.out = out};
    const char *day = form->short_date ? "D" : "DD", *month = form->short_date ? "M" : "MM";
    const bool day_first = form->orders == DN_DATE_DMY, year_first = form->orders == DN_DATE_YMD;
    if (form->orders != 0) {
        put_text(&l, year_first ? "YYYY" : day_first ? day : month);
        put_separator(&l, form);
        put_text(&l, day_first || year_first ? month : day);
        put_separator(&l, form);
        put_text(&l, year_first ? day : "YYYY");
    }
    if (form->joint != '\0') {
        put_char(&l, form->joint);
    }
    if (form->clock >= 2) {
        put_text(&l, form->short_hour ? "h:mm" : "hh:mm");
    }
    if (form->clock == 3) {
        put_text(&l, ":ss");
        put_text(&l, form->decimals > 0 ? "." : "");
        for (int i = 0; i < form->decimals; i++) {
            put_char(&l, 'f');
        }
    }
    if (form->zone == DN_ZONE_OFFSETS) {
        put_text(&l, "+hh:mm");
    } else {
        put_offset(&l, form);
    }
    out[l.n] = '\0';
    return l.n;
}

static bool take_word(struct text *t, const char *word) {
    const size_t n = strlen(word);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0) {
        return false;
    }
    t->at += n;
    return true;
}

static bool parse_date(struct text *t, dn_datetime_form *form) {
    if (take_word(t, "YYYYMMDD")) {
        form->orders = DN_DATE_YMD;
        return true;
    }
    const bool year_first = take_word(t, "YYYY");
    const bool leads = year_first && t->at < t->end;
    if (year_first) {
        form->separator = leads ? *t->at : '\0';
        t->at += leads;
    }
    const bool day_first = take_word(t, "DD") || (form->short_date = take_word(t, "D"));
    if (!day_first && !take_word(t, "MM") && !(form->short_date = take_word(t, "M"))) {
        return false;
    }
    if (t->at == t->end) {
        return false;
    }
    form->separator = year_first ? form->separator : *t->at;
    const char *day = form->short_date ? "D" : "DD", *month = form->short_date ? "M" : "MM";
    if (!is_separator(form->separator) || !take(t, form->separator) ||
        !take_word(t, day_first ? month : day)) {
        return false;
    }
    form->orders = year_first ? DN_DATE_YMD : day_first ? DN_DATE_DMY : DN_DATE_MDY;
    return year_first ? !day_first : take(t, form->separator) && take_word(t, "YYYY");
}

bool dn_datetime_form_parse(const char *text, size_t length, dn_datetime_form *out) {
    struct text t = {text, text + length};
    dn_datetime_form form = {0};
    char again[DN_DATETIME_FORM_SIZE];
    if (length > 0 && *text != 'h') {
        if (!parse_date(&t, &form)) {
            return false;
        }
        form.joint = t.at == t.end ? '\0' : *t.at++;
        if (form.joint != '\0' && form.joint != 'T' && form.joint != ' ') {
            return false;
        }
    }
    if (form.orders == 0 || form.joint != '\0') {
        form.clock = 2;
        if (!take_word(&t, "hh:mm") && !(form.short_hour = take_word(&t, "h:mm"))) {
            return false;
        }
        if (take_word(&t, ":ss")) {
            form.clock = 3;
            (void)take(&t, '.');
            for (; form.decimals < 9 && take(&t, 'f'); form.decimals++) {
            }
        }
    }
    struct cell zone = {0};
    if (take_word(&t, "+hh:mm")) {
        form.zone = DN_ZONE_OFFSETS;
    } else if (read_zone(&t, &zone) != NULL) {
        return false;
    } else {
        form.zone = zone.form.zone;
        form.offset = zone.form.offset;
    }
    if (t.at != t.end || (form.zone != DN_ZONE_NONE && form.joint == '\0') ||
        dn_datetime_form_write(&form, again) != length || memcmp(again, text, length) != 0) {
        return false;
    }
    *out = form;
    return true;
}

/* ---- parts ---- */
const char *dn_date_part_name(dn_date_part part) {
    static const char *const names[DN_DATE_PARTS] = {"seconds", "year",    "month",
                                                     "day",     "weekday", "hour"};
    return (size_t)part < DN_DATE_PARTS ? names[part] : "";
}

bool dn_datetime_has_part(const dn_datetime_form *form, dn_date_part part) {
    return part == DN_PART_NONE || (part == DN_PART_HOUR ? form->clock > 0 : form->orders != 0);
}

size_t dn_date_part_format(double seconds, const dn_datetime_form *form, dn_date_part part,
                           char out[DN_DATE_PART_SIZE]) {
    static const char days[7][4] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    struct line l = {.out = out};
    seconds = fmin(fmax(seconds, -1e12), 1e12) + form->offset * 60.0;
    const dn_datetime_fields at = dn_datetime_split(seconds);
    if (part == DN_PART_WEEKDAY) {
        put_text(&l, days[at.weekday - 1]);
    } else {
        put_number(&l,
                   part == DN_PART_YEAR    ? at.year
                   : part == DN_PART_MONTH ? at.month
                   : part == DN_PART_DAY   ? at.day
                                           : at.hour,
                   part == DN_PART_YEAR ? 4 : 2);
    }
    out[l.n] = '\0';
    return l.n;
}
