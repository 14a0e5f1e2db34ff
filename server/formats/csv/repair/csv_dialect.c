#include "formats/csv/repair/csv_dialect.h"
#include "formats/csv/repair/csv_faultless.h"
#include "formats/csv/repair/csv_raw.h"
#include "formats/text/scan.h"

#include <string.h>

enum { SCORE_BYTES = 64 * 1024, SCORE_ROWS = 300, LENGTHS = 64, SIGNS = 16 };

struct score {
    const struct csv_dialect *dialect;
    double value;
    size_t rows, cells, typed, quoted, unclear; /* unclear: cells with a stray or an open quote */
    size_t length[LENGTHS], count[LENGTHS], n_lengths; /* rows of each number of cells */
    size_t first;                                      /* number of cells of the first row */
    bool no_memory;
};

/* ---- one candidate ---- */
/* Whether a text without quotes looks like one cell. */
static bool is_typed(struct text t, const struct csv_dialect *d) {
    unsigned written = 0;
    double number = 0;
    if (t.n == 0 || scan_number(t.bytes, &number, &written) == t.n) {
        return true;
    }
    const char first = t.bytes[0], last = t.bytes[t.n - 1];
    if (t.n == 1 && strchr(",.:", first) != NULL) {
        return false;
    }
    if (strchr("\"'`~^*$%#@!&|", first) != NULL && first == last) {
        return false;
    }
    for (size_t i = 0; i < t.n; i++) {
        const char c = t.bytes[i];
        if (c == d->quote || c == '\t' || c == ';' || c == '|' || c == '^' || c == '~' ||
            (unsigned char)c < ' ' || (c == ',' && i + 1 < t.n && t.bytes[i + 1] != ' ')) {
            return false;
        }
    }
    return true;
}

static bool score_row(void *arg, const struct csv_raw_row *row) {
    struct score *s = arg;
    const struct csv_split *split = row->split;
    size_t i = 0;
    while (i < s->n_lengths && s->length[i] != split->n) {
        i++;
    }
    if (i == s->n_lengths && i < LENGTHS) {
        s->length[s->n_lengths++] = split->n;
    }
    if (i < LENGTHS) {
        s->count[i]++;
    }
    s->first = s->rows == 0 ? split->n : s->first;
    for (size_t k = 0; k < split->n; k++) {
        const struct csv_piece *piece = &split->piece[k];
        s->cells++;
        s->quoted += piece->quoted;
        s->unclear += piece->stray || piece->open;
        s->typed += !piece->stray && !piece->open &&
                    (piece->quoted || is_typed(csv_split_trimmed(row->bytes, piece), s->dialect));
    }
    return ++s->rows < SCORE_ROWS;
}

/* The number of cells that most rows have, at least two. */
static size_t most_frequent(const struct score *s, size_t *rows) {
    size_t best = 0;
    *rows = 0;
    for (size_t i = 0; i < s->n_lengths; i++) {
        if (s->length[i] > 1 && s->count[i] > *rows) {
            best = s->length[i];
            *rows = s->count[i];
        }
    }
    return best;
}

static bool score_dialect(const struct csv_sample *sample, const struct csv_dialect *d,
                          struct score *out) {
    *out = (struct score){.dialect = d};
    struct csv_sample part = *sample;
    if (part.n > SCORE_BYTES) {
        part.n = SCORE_BYTES;
        part.whole = false;
    }
    const bool well =
        csv_raw_sample(&part, d, 0, &(struct csv_raw_handler){.row = score_row, .arg = out});
    double pattern = 0;
    for (size_t i = 0; i < out->n_lengths; i++) {
        const double length = (double)out->length[i];
        pattern += (double)out->count[i] * (out->length[i] > 1 ? (length - 1) / length : 0.001);
    }
    if (out->cells > 0) {
        out->value = pattern / (double)out->n_lengths * (double)out->typed / (double)out->cells;
    }
    return well;
}

/* ---- candidates ---- */
/* The number of places where the text occurs, without overlaps. */
static size_t occurrences(const struct csv_sample *sample, const char *text, size_t n) {
    const size_t size = sample->n < SCORE_BYTES ? sample->n : SCORE_BYTES;
    size_t found = 0;
    for (size_t i = 0; i + n <= size;) {
        const bool here = memcmp(sample->bytes + i, text, n) == 0;
        found += here;
        i += here ? n : 1;
    }
    return found;
}

/* Whether the character occurs in pairs only in the first line that has it. */
static bool is_doubled(const struct csv_sample *sample, char c) {
    const size_t size = sample->n < SCORE_BYTES ? sample->n : SCORE_BYTES;
    size_t n = 0, pairs = 0, run = 0;
    for (size_t i = 0; i < size; i++) {
        const char at = sample->bytes[i];
        if (at == c) {
            n++;
            run++;
            continue;
        }
        pairs += run / 2;
        run = 0;
        if ((at == '\n' || at == '\r') && n > 0) {
            break;
        }
    }
    return n > 0 && 2 * pairs == n;
}

static struct csv_dialect dialect_of(const char *delimiter, bool run) {
    struct csv_dialect d = {.n = (uint8_t)strlen(delimiter), .run = run, .quote = '"'};
    memcpy(d.delimiter, delimiter, d.n);
    return d;
}

static bool is_same_delimiter(const struct csv_dialect *a, const struct csv_dialect *b) {
    return a->run == b->run && a->n == b->n && memcmp(a->delimiter, b->delimiter, a->n) == 0;
}

/* Whether the score allows an unusual delimiter. */
static bool is_even(const struct score *s) {
    size_t rows = 0;
    const size_t cells = most_frequent(s, &rows);
    return cells >= 3 && 5 * rows >= 4 * s->rows && s->rows >= 2;
}

/* Whether enough cells are quoted. even: without the quotes, all rows have as many cells. */
static bool is_quoted(const struct score *s, char quote, bool even) {
    const size_t share = even ? s->rows / 10 : quote == '\'' ? 0 : s->rows / 50;
    const size_t least = even ? 3 : quote == '\'' ? 1 : 2;
    return s->quoted >= (share > least ? share : least);
}

static bool try_delimiter(const struct csv_sample *sample, const struct csv_dialect *d, bool usual,
                          struct csv_dialect *best, double *value) {
    struct score s;
    static const char quotes[] = "\"'`~|^";
    struct csv_dialect other = *d;
    for (size_t i = 0; i < (usual ? sizeof quotes - 1 : 2); i++) {
        other.quote = quotes[i];
        if (memchr(d->delimiter, quotes[i], d->n) != NULL ||
            (i > 0 && occurrences(sample, &quotes[i], 1) < 2)) {
            continue;
        }
        if (!score_dialect(sample, &other, &s)) {
            return false;
        }
        if (s.value > *value * (1 + 1e-9) && (usual || is_even(&s)) &&
            (i == 0 || is_quoted(&s, quotes[i], false))) {
            *value = s.value;
            *best = other;
        }
    }
    return true;
}

/* The length of a sign that is not ASCII and no letter: U+00A1 to U+00BF, U+00D7, U+00F7 and the
 * blocks U+2000 to U+2BFF (punctuation, arrows, shapes); or of a control character. 0: others. */
static size_t sign_length(const char *bytes, size_t n) {
    const unsigned char a = (unsigned char)bytes[0], b = n > 1 ? (unsigned char)bytes[1] : 0;
    if (a < ' ') {
        return a != '\t' && a != '\n' && a != '\r';
    }
    if (a == 0xC2 || a == 0xC3) {
        return (a == 0xC2 && b >= 0xA1 && b <= 0xBF) || (a == 0xC3 && (b == 0x97 || b == 0xB7)) ? 2
                                                                                                : 0;
    }
    return a == 0xE2 && b >= 0x80 && b <= 0xAF && n > 2 ? 3 : 0;
}

/* Tries the signs of the first line that has one. */
static bool find_sign(const struct csv_sample *sample, struct csv_dialect *out, double *value) {
    const size_t size = sample->n < SCORE_BYTES ? sample->n : SCORE_BYTES;
    size_t tried = 0;
    for (size_t i = 0; i < size && tried < SIGNS; i++) {
        const size_t n = sign_length(sample->bytes + i, size - i);
        if (n == 0) {
            if (tried > 0 && (sample->bytes[i] == '\n' || sample->bytes[i] == '\r')) {
                break;
            }
            continue;
        }
        struct csv_dialect d = {.n = (uint8_t)n, .quote = '"'};
        memcpy(d.delimiter, sample->bytes + i, n);
        tried++;
        if (!is_same_delimiter(out, &d) && occurrences(sample, d.delimiter, n) > 2 &&
            !try_delimiter(sample, &d, false, out, value)) {
            return false;
        }
        i += n - 1;
    }
    return true;
}

/* Tries all delimiters. */
static bool find_delimiter(const struct csv_sample *sample, struct csv_dialect *out) {
    static const char usual[] = ",\t;|", odd[] = " :^~#&@!$%*/=_+-";
    double value = 0;
    for (size_t i = 0; i < sizeof usual + sizeof odd - 2; i++) {
        const bool is_usual = i < sizeof usual - 1;
        const char c = is_usual ? usual[i] : odd[i - (sizeof usual - 1)];
        const char twice[] = {c, c, '\0'}, once[] = {c, '\0'}, behind[] = {c, ' ', '\0'},
                   around[] = {' ', c, ' ', '\0'};
        const size_t n = occurrences(sample, once, 1);
        if (n == 0 || c == sample->comment) {
            continue;
        }
        struct csv_dialect d = dialect_of(twice, false);
        if (is_doubled(sample, c)) {
            struct score s;
            size_t rows = 0;
            if (!try_delimiter(sample, &d, is_usual, out, &value) ||
                !score_dialect(sample, is_same_delimiter(out, &d) ? out : &d, &s)) {
                return false;
            }
            if (most_frequent(&s, &rows) > 1 && 10 * rows >= 9 * s.rows) {
                continue; /* with a single character, each second cell would be empty */
            }
        }
        d = dialect_of(once, false);
        if (!try_delimiter(sample, &d, is_usual, out, &value)) {
            return false;
        }
        d = dialect_of(behind, false);
        if (c != ' ' && 2 * occurrences(sample, behind, 2) > n &&
            !try_delimiter(sample, &d, is_usual, out, &value)) {
            return false;
        }
        d = dialect_of(around, false);
        if (c != ' ' && 2 * occurrences(sample, around, 3) > n &&
            !try_delimiter(sample, &d, is_usual, out, &value)) {
            return false;
        }
        d = dialect_of(" ", true);
        if (c == ' ' && !try_delimiter(sample, &d, false, out, &value)) {
            return false;
        }
    }
    return find_sign(sample, out, &value);
}

/* Whether the delimiter divides all rows into the same number of cells, and leaves little doubt. */
static bool is_clean(const struct csv_sample *sample, const struct score *s) {
    return s->n_lengths == 1 && s->length[0] > 1 && s->rows > 1 && s->unclear == 0 &&
           10 * s->typed >= 7 * s->cells &&
           (s->dialect->run || !is_doubled(sample, s->dialect->delimiter[0]));
}

/* Tries other quote characters. */
static bool find_quote(const struct csv_sample *sample, struct csv_dialect *d) {
    static const char quotes[] = "'`~|^*$%#@!&/_+=;,";
    struct score s;
    if (!score_dialect(sample, d, &s)) {
        return false;
    }
    double value = s.value;
    const bool even = s.n_lengths == 1 && s.unclear == 0;
    const struct csv_dialect first = *d;
    for (size_t i = 0; i < sizeof quotes - 1; i++) {
        struct csv_dialect other = first;
        other.quote = quotes[i];
        if (quotes[i] == first.quote || memchr(first.delimiter, quotes[i], first.n) != NULL ||
            quotes[i] == sample->comment || memchr(sample->bytes, quotes[i], sample->n) == NULL) {
            continue;
        }
        if (!score_dialect(sample, &other, &s)) {
            return false;
        }
        if (s.unclear == 0 && s.value > value * 1.0001 && is_quoted(&s, quotes[i], even)) {
            value = s.value;
            *d = other;
        }
    }
    return true;
}

/* Tries characters that may escape a quote or a delimiter. */
static bool find_escape(const struct csv_sample *sample, struct csv_dialect *d) {
    static const char escapes[] = "\\^~/|!#$%&*@`'?";
    struct score s;
    if (!score_dialect(sample, d, &s)) {
        return false;
    }
    double value = s.value;
    size_t unclear = s.unclear;
    const struct csv_dialect first = *d;
    for (size_t i = 0; i < sizeof escapes - 1; i++) {
        struct csv_dialect other = first;
        other.escape = escapes[i];
        const char quote[] = {escapes[i], first.quote},
                   delimiter[] = {escapes[i], first.delimiter[0]};
        const bool is_usual = escapes[i] == '\\';
        const size_t n = occurrences(sample, quote, 2);
        if (memchr(first.delimiter, escapes[i], first.n) != NULL || escapes[i] == first.quote ||
            n + (is_usual ? occurrences(sample, delimiter, 2) : 0) < (is_usual ? 1 : 2)) {
            continue;
        }
        if (!score_dialect(sample, &other, &s)) {
            return false;
        }
        if (s.unclear < unclear || (is_usual && s.unclear <= unclear && s.value > value)) {
            value = s.value;
            unclear = s.unclear;
            *d = other;
        }
    }
    return true;
}

/* Adds the blanks around the delimiter to it if quoted cells follow them, and if this divides as many
 * rows into as many cells. */
static bool find_blanks(const struct csv_sample *sample, struct csv_dialect *d) {
    const char c = d->delimiter[0], quoted[] = {c, ' ', d->quote, '\0'};
    const char behind[] = {c, ' ', '\0'}, around[] = {' ', c, ' ', '\0'};
    const char *const texts[] = {around, behind};
    struct score s, by;
    size_t rows = 0, rows_by = 0;
    if (d->n > 1 || d->run || occurrences(sample, quoted, 3) == 0) {
        return true;
    }
    if (!score_dialect(sample, d, &s)) {
        return false;
    }
    const size_t cells = most_frequent(&s, &rows);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct csv_dialect other = dialect_of(texts[i], false);
        other.quote = d->quote;
        other.escape = d->escape;
        if (!score_dialect(sample, &other, &by)) {
            return false;
        }
        if (most_frequent(&by, &rows_by) == cells && rows_by >= rows && by.unclear <= s.unclear) {
            *d = other;
            return true;
        }
    }
    return true;
}

/* Finds another delimiter or quote in a body without faults, if the evidence is strong. cells: number
 * of cells of its rows. */
static bool find_strong(const struct csv_sample *sample, bool given, size_t cells,
                        struct csv_dialect *d) {
    static const char quotes[] = "'`~|^";
    struct csv_dialect other = *d;
    const char twice[] = {d->delimiter[0], d->delimiter[0], '\0'};
    bool strong = false;
    if (!given && cells == 1 && !find_delimiter(sample, &other)) {
        return false;
    }
    if (!given && cells > 1 && !d->run && is_doubled(sample, d->delimiter[0])) {
        other = dialect_of(twice, false);
    }
    if (!is_same_delimiter(&other, d)) {
        if (!csv_faultless_delimiter(sample, &other, cells, &strong)) {
            return false;
        }
        if (strong) {
            *d = other;
            cells = 0;
            strong = false;
        }
    }
    other = *d;
    for (size_t i = 0; i < sizeof quotes - 1 && !strong && d->quote == '"'; i++) {
        other.quote = quotes[i];
        if (memchr(d->delimiter, quotes[i], d->n) != NULL || quotes[i] == sample->comment ||
            memchr(sample->bytes, quotes[i], sample->n) == NULL) {
            continue;
        }
        if (!csv_faultless_quote(sample, &other, cells, &strong)) {
            return false;
        }
    }
    *d = strong ? other : *d;
    return true;
}

bool csv_dialect_find(const struct csv_sample *sample, char given, struct csv_dialect *out,
                      size_t *cells) {
    struct csv_shape shape;
    struct score s;
    const char ordinary = given != '\0' ? given : csv_sniff_delimiter(sample, &shape);
    const char text[] = {ordinary, '\0'};
    *out = dialect_of(text, ordinary == CSV_BLANKS);
    if (given == '\0' && shape.no_memory) {
        return false;
    }
    if (!csv_faultless_check(sample, ordinary, cells)) {
        return false;
    }
    if (*cells > 0) {
        const struct csv_dialect usual = *out;
        if (!find_strong(sample, given != '\0', *cells, out)) {
            return false;
        }
        *cells = is_same_delimiter(&usual, out) ? *cells : 0;
        return find_blanks(sample, out);
    }
    if (!score_dialect(sample, out, &s) ||
        (given == '\0' && !is_clean(sample, &s) && !find_delimiter(sample, out))) {
        return false;
    }
    return find_quote(sample, out) && find_escape(sample, out) && find_blanks(sample, out);
}
