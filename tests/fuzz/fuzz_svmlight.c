/* Reads the body as an svmlight table. Byte 0 of the input chooses the options, byte 1 where the
 * body is cut into pieces; the other bytes are the body. The table must not depend on the cuts, and
 * must be the same after it was written and read again. Its rows and its first fault are compared
 * with a second, simple implementation. */
#include "formats/text/foreign.h"
#include "fuzz/support.h"

#include <ctype.h>
#include <math.h>

enum { MOST_INDEX = 2147483646 };

/* The body as the simple implementation reads it. */
struct plain {
    size_t n_rows, n_entries, n_faults;
    size_t *start;      /* [n_rows + 1] the first entry of each row */
    const char **label; /* [n_rows] not NUL-terminated */
    size_t *length;     /* [n_rows] bytes of each label */
    uint32_t *place;
    double *number;
    long first_fault; /* line of the first fault */
    uint32_t width;
};

/* [+-]? (digits [. digits*]? | . digits) ([eE] [+-]? digits)? */
static bool plain_number(const char *text, size_t n, double *out) {
    size_t i = n > 0 && (text[0] == '+' || text[0] == '-'), digits = 0;
    for (; i < n && isdigit((unsigned char)text[i]); i++) {
        digits++;
    }
    if (i < n && text[i] == '.') {
        for (i++; i < n && isdigit((unsigned char)text[i]); i++) {
            digits++;
        }
    }
    if (digits == 0) {
        return false;
    }
    if (i < n && (text[i] == 'e' || text[i] == 'E')) {
        i += i + 1 < n && (text[i + 1] == '+' || text[i + 1] == '-') ? 2 : 1;
        if (i == n) {
            return false;
        }
        while (i < n && isdigit((unsigned char)text[i])) {
            i++;
        }
    }
    if (i < n) {
        return false;
    }
    char *copy = malloc(n + 1);
    CHECK(copy != NULL);
    memcpy(copy, text, n);
    copy[n] = '\0';
    *out = strtod(copy, NULL);
    free(copy);
    return isfinite(*out);
}

/* Returns the length of the next token of [*at, end); 0: there is none. */
static size_t plain_token(const char **at, const char *end) {
    const char *p = *at;
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    size_t n = 0;
    while (p + n < end && p[n] != ' ' && p[n] != '\t') {
        n++;
    }
    *at = p;
    return n;
}

static bool plain_qid(const char *token, size_t n) {
    bool well = n > 4 && memcmp(token, "qid:", 4) == 0;
    for (size_t i = 4; well && i < n; i++) {
        well = isdigit((unsigned char)token[i]);
    }
    return well;
}

/* Returns 1 for an entry, -1 for a fault. `before`: the index of the previous entry; -1: there is
 * none. */
static bool plain_entry(const char *token, size_t n, bool zero_based, long long before,
                        long long *index, double *value) {
    size_t digits = 0;
    *index = 0;
    while (digits < n && isdigit((unsigned char)token[digits]) && digits < 11) {
        *index = *index * 10 + (token[digits++] - '0');
    }
    return digits > 0 && digits <= 10 && digits < n && token[digits] == ':' &&
           *index <= MOST_INDEX && *index >= (zero_based ? 0 : 1) && *index > before &&
           plain_number(token + digits + 1, n - digits - 1, value);
}

static void plain_row(struct plain *p, const char *at, const char *end, bool zero_based,
                      long line) {
    size_t n = plain_token(&at, end), k = p->n_entries;
    long long before = -1, index = 0;
    if (n == 0) {
        return;
    }
    const char *label = at;
    const size_t length = n;
    bool well = memchr(at, ':', n) == NULL && memchr(at, ',', n) == NULL;
    for (size_t i = 1; well && (at += n, n = plain_token(&at, end)) > 0; i++) {
        double value = 0;
        if (i == 1 && plain_qid(at, n)) {
            continue;
        }
        well = plain_entry(at, n, zero_based, before, &index, &value);
        before = index;
        if (well && (value != 0 || signbit(value))) {
            p->place[k] = (uint32_t)(index - (zero_based ? 0 : 1));
            p->number[k++] = value;
        }
    }
    if (!well) {
        p->first_fault = p->n_faults++ == 0 ? line : p->first_fault;
        return;
    }
    const uint32_t width = before < 0 ? 0 : (uint32_t)(before - (zero_based ? 0 : 1)) + 1;
    p->width = width > p->width ? width : p->width;
    p->n_entries = k;
    p->label[p->n_rows] = label;
    p->length[p->n_rows] = length;
    p->start[++p->n_rows] = k;
}

static struct plain plain_read(const char *body, size_t size, bool zero_based) {
    struct plain p = {.start = calloc(size + 2, sizeof *p.start),
                      .label = calloc(size + 1, sizeof *p.label),
                      .length = calloc(size + 1, sizeof *p.length),
                      .place = calloc(size + 1, sizeof *p.place),
                      .number = calloc(size + 1, sizeof *p.number)};
    CHECK(p.start != NULL && p.label != NULL && p.length != NULL && p.place != NULL &&
          p.number != NULL);
    long line = 1;
    for (size_t at = 0; at < size; line++) {
        size_t n = 0, text = 0;
        while (at + n < size && body[at + n] != '\n' && body[at + n] != '\r') {
            n++;
        }
        while (text < n && body[at + text] != '#') {
            text++;
        }
        plain_row(&p, body + at, body + at + text, zero_based, line);
        at += n + (at + n + 1 < size && body[at + n] == '\r' && body[at + n + 1] == '\n' ? 2 : 1);
    }
    return p;
}

static void plain_done(struct plain *p) {
    free(p->start);
    free(p->label);
    free(p->length);
    free(p->place);
    free(p->number);
}

static bool is_missing(const char *text, size_t n) {
    static const char *const tokens[] = {"NA", "NaN", "null", "?"};
    bool missing = false;
    for (size_t i = 0; i < 4; i++) {
        missing |= n == strlen(tokens[i]) && memcmp(text, tokens[i], n) == 0;
    }
    return missing;
}

/* Compares the reader's rows with those of the simple implementation. Appends the rows to `text` as
 * svmlight. */
static void check_rows(const struct fuzz_table *t, const struct plain *p, bool zero_based,
                       struct buf *text) {
    struct schema schema = {0};
    struct problem problem = {0};
    size_t row = 0, entry = 0;
    dn_column_type type;
    CHECK(schema_parse(t->columns, &schema, &problem) && schema.n == 2 && t->n_columns == 2);
    CHECK(schema.columns[1].type == DN_SPARSE && schema.columns[1].width == p->width &&
          schema.columns[1].first_index == (zero_based ? 0 : 1));
    CHECK(schema.columns[1].entries == (int64_t)p->n_entries);
    /* dates are written as they are */
    type = schema.columns[0].type == DN_DATETIME ? DN_TEXT : schema.columns[0].type;
    for (size_t c = 0; c < t->n_chunks; c++) {
        dn_column_chunk *chunks[3];
        dn_column_view label, typed, entries;
        const struct table_blob *blob = t->blobs + 2 * c;
        for (size_t i = 0; i < 3; i++) {
            CHECK(dn_column_chunk_new(&chunks[i], NULL) == DN_OK);
        }
        CHECK(dn_column_chunk_decode(chunks[0], blob[0].bytes, blob[0].size, DN_TEXT, &label,
                                     NULL) == DN_OK);
        CHECK(dn_column_chunk_decode(chunks[1], blob[0].bytes, blob[0].size, type, &typed, NULL) ==
              DN_OK);
        CHECK(dn_column_chunk_decode(chunks[2], blob[1].bytes, blob[1].size, DN_SPARSE, &entries,
                                     NULL) == DN_OK);
        CHECK(label.n_rows == (size_t)t->rows[c] && entries.n_rows == label.n_rows);
        for (size_t i = 0; i < label.n_rows; i++, row++) {
            const size_t n = entries.row_start[i + 1] - entries.row_start[i];
            CHECK(row < p->n_rows && n == p->start[row + 1] - p->start[row]);
            for (size_t k = 0; k < n; k++, entry++) {
                CHECK(entries.index[entries.row_start[i] + k] == p->place[entry]);
                CHECK(memcmp(&entries.number[entries.row_start[i] + k], &p->number[entry],
                             sizeof *p->number) == 0);
            }
            CHECK((label.code[i] == DN_CODE_MISSING) == is_missing(p->label[row], p->length[row]));
            if (label.code[i] != DN_CODE_MISSING) {
                const uint32_t *s = label.strings.start + label.code[i];
                CHECK(s[1] - s[0] == p->length[row] &&
                      memcmp(label.strings.bytes + s[0], p->label[row], p->length[row]) == 0);
            }
        }
        const struct svmlight_rows lines = {.label = &typed,
                                            .entries = &entries,
                                            .first_index = schema.columns[1].first_index};
        svmlight_rows_write(&lines, 0, typed.n_rows, text);
        for (size_t i = 0; i < 3; i++) {
            dn_column_chunk_free(chunks[i]);
        }
    }
    CHECK(row == p->n_rows && entry == p->n_entries && !text->failed);
    schema_done(&schema);
}

/* Reads the written text, which must give the same table, with two exceptions: the number of
 * features is smaller if only entries of value 0 had the highest indices, and booleans become
 * numbers. */
static void check_again(const struct table_options *options, const struct fuzz_table *t,
                        const struct plain *p, struct buf *text) {
    uint32_t width = 0;
    for (size_t k = 0; k < p->n_entries; k++) {
        width = p->place[k] >= width ? p->place[k] + 1 : width;
    }
    if (width != p->width || strstr(t->columns, "\"type\":\"boolean\"") != NULL ||
        foreign_body(text->data, text->size < FOREIGN_BYTES ? text->size : FOREIGN_BYTES) != NULL) {
        return; /* the text is read as something else: another width, other labels, another format */
    }
    struct fuzz_table again = fuzz_read(options, text->data, text->size, 0);
    CHECK(again.well && strcmp(again.content, t->content) == 0);
    fuzz_table_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    const struct table_options options = {.format = &format_svmlight,
                                          .zero_based = data[0] & 1,
                                          .on_error = data[0] & 2 ? TABLE_SKIP : TABLE_REJECT,
                                          .label = data[0] & 4 ? "class" : NULL};
    const char *body = (const char *)data + 2;
    size_t n = size - 2;
    struct fuzz_table whole = fuzz_read(&options, body, n, 0),
                      cut = fuzz_read(&options, body, n, (uint64_t)data[1] << 8 | 1);
    CHECK(whole.well == cut.well && strcmp(whole.text.data, cut.text.data) == 0);
    bool ascii = true;
    for (size_t i = 0; i < n; i++) {
        ascii = ascii && body[i] > 0;
    }
    if (ascii && foreign_body(body, n < FOREIGN_BYTES ? n : FOREIGN_BYTES) == NULL) {
        struct plain p = plain_read(body, n, options.zero_based);
        const bool faulty = p.n_faults > 0 && options.on_error == TABLE_REJECT;
        CHECK(whole.well == (!faulty && p.n_rows > 0 && p.n_faults < 1000) || p.n_faults >= 1000);
        if (faulty) {
            char place[48];
            snprintf(place, sizeof place, "\"errors\":[{\"line\":%ld,", p.first_fault);
            CHECK(strstr(whole.text.data, place) != NULL);
        }
        if (whole.well) {
            struct buf text = {0};
            check_rows(&whole, &p, options.zero_based, &text);
            check_again(&options, &whole, &p, &text);
            buf_done(&text);
        }
        plain_done(&p);
    }
    fuzz_table_done(&whole);
    fuzz_table_done(&cut);
    return 0;
}
