/* Recognises delimiters: "sep=;", and separators within the cells of a single column. */
#include "formats/csv/csv_separator.h"
#include "formats/formats.h"
#include "formats/text/cell_hint.h"

#include <ctype.h>
#include <discern/discern.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool csv_delimiter_allowed(char c) {
    return c == CSV_BLANKS || c == '\t' ||
           (ispunct((unsigned char)c) && strchr("\"'.+-", c) == NULL);
}

enum csv_separator_line csv_separator_line(const struct csv_sample *sample, char *delimiter) {
    static const char mark[] = "\xEF\xBB\xBF", sep[] = "sep=";
    const char *at = sample->bytes, *end = sample->bytes + sample->n;
    if (end - at >= 3 && memcmp(at, mark, 3) == 0) {
        at += 3;
    }
    const bool quoted = at < end && *at == '"';
    at += quoted;
    if ((size_t)(end - at) < sizeof sep || strncasecmp(at, sep, sizeof sep - 1) != 0) {
        return CSV_SEPARATOR_NONE;
    }
    at += sizeof sep - 1;
    char found = *at++;
    while (found == ' ' && at < end && strchr(" \"\r\n", *at) == NULL) {
        found = *at++; /* blanks before the delimiter */
    }
    if (found == '\\' && at < end && *at == 't') {
        found = '\t';
        at++;
    }
    /* delimiters that a spreadsheet adds to each line, a quote, blanks */
    while (at < end && (*at == found || *at == ' ' || (quoted && *at == '"'))) {
        at++;
    }
    if ((at < end && *at != '\n' && *at != '\r') || !csv_delimiter_allowed(found)) {
        return CSV_SEPARATOR_UNUSED;
    }
    *delimiter = found;
    return CSV_SEPARATOR_FOUND;
}

bool csv_is_numbers(struct text t, size_t *n) {
    for (*n = 0; t.n > 0; ++*n) {
        double number = 0;
        size_t end = 0;
        while (end < t.n && t.bytes[end] != ' ' && t.bytes[end] != '\t') {
            end++;
        }
        if (!dn_number_parse(t.bytes, end, &number)) {
            return false;
        }
        t = text_trim(t.bytes + end, t.n - end);
    }
    return true;
}

/* ---- one column ---- */
/* The most plausible separators come first. */
static const char separators[] = ",;\t|:^~!&*\\#\001\037 ";
enum { N_SEPARATORS = sizeof separators - 1 };

struct occurrences {
    size_t rows;
    size_t numbers; /* number of rows that are several numbers with blanks between them */
    /* how often the separator is in the first and in the second row, the number of rows that have
     * it as often, and whether it always occurs in pairs */
    struct {
        size_t want[2], agree[2];
        bool single;
        /* consecutive rows that have it as often, at least once: the last ones, and the most */
        size_t last, run, most, most_times;
    } of[N_SEPARATORS];
};

/* Returns how often the separator occurs; blanks: the number of runs within the text. */
static size_t count_separator(struct text t, char separator, bool *single) {
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++) {
        const bool here = t.bytes[i] == separator;
        if (separator == ' ') {
            n += here && t.bytes[i - 1] != ' ';
        } else if (here) {
            const bool before = i > 0 && t.bytes[i - 1] == separator,
                       after = i + 1 < t.n && t.bytes[i + 1] == separator;
            *single |= before == after;
            n++;
        }
    }
    return n;
}

static bool count_occurrences(void *arg, const struct csv_row *row) {
    struct occurrences *o = arg;
    if (row->n_cells != 1 || row->cells[0].quoted) {
        return true;
    }
    const struct text text = csv_cell_trimmed(row, 0);
    size_t numbers = 0;
    if (cell_hint_time(text.bytes, text.n)) {
        return true;
    }
    o->numbers += csv_is_numbers(text, &numbers) && numbers > 1;
    for (size_t k = 0; k < N_SEPARATORS; k++) {
        const size_t n = count_separator(text, separators[k], &o->of[k].single);
        for (size_t i = 0; i < 2; i++) {
            o->of[k].want[i] = o->rows == i ? n : o->of[k].want[i];
            o->of[k].agree[i] += o->rows >= i && n == o->of[k].want[i];
        }
        o->of[k].run = n > 0 && n == o->of[k].last ? o->of[k].run + 1 : n > 0;
        o->of[k].last = n;
        if (o->of[k].run > o->of[k].most) {
            o->of[k].most = o->of[k].run;
            o->of[k].most_times = n;
        }
    }
    return ++o->rows < CSV_SNIFF_ROWS;
}

static void describe(char separator, bool pairs, struct csv_separator *out) {
    static const struct {
        char separator;
        const char *text, *option;
    } named[] = {{',', "a comma", "comma"},
                 {';', "a semicolon", "semicolon"},
                 {'\t', "a tab", "tab"},
                 {'|', "|", "pipe"},
                 {' ', "blanks", "space"}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (named[i].separator == separator && !pairs) {
            snprintf(out->text, sizeof out->text, "%s", named[i].text);
            snprintf(out->option, sizeof out->option, "%s", named[i].option);
            return;
        }
    }
    if (!ispunct((unsigned char)separator)) {
        snprintf(out->text, sizeof out->text, "the control character %02X", (unsigned)separator);
    } else {
        snprintf(out->text, sizeof out->text, pairs ? "%c%c" : "%c", separator, separator);
    }
    if (!pairs && csv_delimiter_allowed(separator)) {
        snprintf(out->option, sizeof out->option, "%%%02X", (unsigned)separator);
    }
}

/* Finds a separator that nearly all rows have as often. */
static void find_even(const struct occurrences *o, struct csv_separator *out) {
    for (size_t k = 0; k < N_SEPARATORS && out->lines == 0; k++) {
        const bool second = o->of[k].agree[1] > o->of[k].agree[0];
        const size_t times = o->of[k].want[second], lines = o->of[k].agree[second];
        const bool pairs = !o->of[k].single;
        if (times > 0 && 10 * lines >= 9 * o->rows - 10 * second &&
            lines >= (separators[k] == ' ' ? 3 : 2)) {
            describe(separators[k], pairs && separators[k] != ' ', out);
            out->times = times / (pairs && separators[k] != ' ' ? 2 : 1);
            out->lines = lines;
            out->of = o->rows;
        }
    }
}

/* Finds a separator that half of the rows, at least three, one below the other, have as often:
 * a table with lines of one cell above or below it. */
static void find_run(const struct occurrences *o, struct csv_separator *out) {
    for (size_t k = 0; k < N_SEPARATORS && out->lines == 0; k++) {
        if (separators[k] != ' ' && o->of[k].most >= 3 && 2 * o->of[k].most >= o->rows) {
            describe(separators[k], false, out);
            out->times = o->of[k].most_times;
            out->lines = o->of[k].most;
            out->of = o->rows;
        }
    }
}

bool csv_separator_find(const struct csv_sample *sample, char delimiter,
                        struct csv_separator *out) {
    struct occurrences o = {0};
    *out = (struct csv_separator){0};
    if (!csv_sample_read(sample, delimiter,
                         &(struct csv_handler){.row = count_occurrences, .arg = &o}, NULL)) {
        return false;
    }
    find_even(&o, out);
    if (out->lines == 0 && o.numbers > 1 && 10 * o.numbers >= 9 * o.rows) {
        describe(' ', false, out);
        out->lines = o.numbers;
        out->of = o.rows;
    }
    find_run(&o, out);
    return true;
}
