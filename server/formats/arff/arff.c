#include "formats/arff/arff.h"
#include "base/memory/array.h"

#include <discern/datetime.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The current position in a line. */
struct cursor {
    const char *line;
    size_t at, n;
    struct arff *arff;
    struct arff_fault *fault;
};

/* A name or a value in a line. */
struct token {
    /* the text with escapes decoded; points into the line or, if `escaped`, into arff->unescaped */
    struct text text;
    size_t column;
    bool quoted;
    size_t start; /* used if `escaped`: offset of the text in arff->unescaped */
    bool escaped;
};

enum { READ_WELL, READ_FAULT, READ_NO_MEMORY };

__attribute__((format(printf, 3, 4))) static int wrong(struct cursor *c, size_t at,
                                                       const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->fault->text, sizeof c->fault->text, format, args);
    va_end(args);
    c->fault->column = at + 1;
    return READ_FAULT;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct cursor *c) {
    while (c->at < c->n && is_blank(c->line[c->at])) {
        c->at++;
    }
}

/* Whether the line, or the part of the line before a comment, ends here. */
static bool at_end(const struct cursor *c) {
    return c->at >= c->n || c->line[c->at] == '%';
}

static char unescape(char c) {
    return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
}

/* Reads a quoted token, including the closing quote. */
static int read_quoted(struct cursor *c, struct token *out) {
    const size_t open = c->at++;
    struct buf *bytes = &c->arff->unescaped;
    while (c->at < c->n && c->line[c->at] != c->line[open]) {
        const bool escape = c->line[c->at] == '\\' && c->at + 1 < c->n;
        if (escape && !out->escaped) {
            out->escaped = true;
            out->start = bytes->size;
            buf_append(bytes, c->line + open + 1, c->at - open - 1);
        }
        c->at += escape;
        if (out->escaped) {
            buf_putc(bytes, escape ? unescape(c->line[c->at]) : c->line[c->at]);
        }
        c->at++;
    }
    if (c->at >= c->n) {
        return wrong(c, open, "the closing quote %c is missing", c->line[open]);
    }
    out->text = (struct text){c->line + open + 1, c->at - open - 1};
    if (out->escaped) {
        out->text.n = bytes->size - out->start;
    }
    c->at++;
    return bytes->failed ? READ_NO_MEMORY : READ_WELL;
}

/* Reads a name or a value. An unquoted token ends before a blank or a character of `ends`. */
static int read_token(struct cursor *c, const char *ends, struct token *out) {
    *out = (struct token){.column = c->at + 1};
    if (c->at < c->n && (c->line[c->at] == '\'' || c->line[c->at] == '"')) {
        out->quoted = true;
        return read_quoted(c, out);
    }
    const size_t begin = c->at;
    while (!at_end(c) && !is_blank(c->line[c->at]) && strchr(ends, c->line[c->at]) == NULL) {
        c->at++;
    }
    out->text = (struct text){c->line + begin, c->at - begin};
    return READ_WELL;
}

/* Returns the text of a token. It is valid until bytes are appended to arff->unescaped. */
static struct text token_text(const struct arff *arff, const struct token *token) {
    return token->escaped ? (struct text){arff->unescaped.data + token->start, token->text.n}
                          : token->text;
}

/* ---- the header ---- */
/* Returns a copy of the text that arff owns; NULL if out of memory. */
static const char *keep(struct arff *arff, struct text text) {
    if (arff->n_owned == arff->owned_capacity &&
        !array_grow(&arff->owned, &arff->owned_capacity, 16, sizeof *arff->owned)) {
        return NULL;
    }
    char *copy = malloc(text.n + 1);
    if (copy == NULL) {
        return NULL;
    }
    if (text.n > 0) {
        memcpy(copy, text.bytes, text.n);
    }
    copy[text.n] = '\0';
    arff->owned[arff->n_owned++] = copy;
    return copy;
}

static bool is_word(struct text text, const char *word) {
    return text.n == strlen(word) && strncasecmp(text.bytes, word, text.n) == 0;
}

/* Reads {value, value, …}. */
static int read_values(struct cursor *c, struct arff_attribute *attribute) {
    char shown[TEXT_SHOWN];
    const size_t open = c->at++;
    for (;;) {
        struct token token;
        skip_blanks(c);
        if (at_end(c)) {
            return wrong(c, open, "the list of values has no closing }");
        }
        if (c->line[c->at] == '}' && attribute->values.n == 0) {
            return wrong(c, open, "the list of values is empty");
        }
        const int status = read_token(c, ",{}", &token);
        if (status != READ_WELL) {
            return status;
        }
        const struct text value = token_text(c->arff, &token);
        if (value.n == 0 && !token.quoted) {
            return wrong(c, c->at, "a value is missing in the list");
        }
        if (names_find(&attribute->values, value.bytes, value.n) >= 0) {
            return wrong(c, token.column - 1, "value %s is listed twice",
                         text_show(value.bytes, value.n, shown));
        }
        const char *kept = keep(c->arff, value);
        if (kept == NULL || !names_add(&attribute->values, kept, value.n)) {
            return READ_NO_MEMORY;
        }
        skip_blanks(c);
        if (at_end(c) || (c->line[c->at] != ',' && c->line[c->at] != '}')) {
            return wrong(c, c->at,
                         "a value of the list must be followed by , or } (put values with spaces "
                         "in quotes)");
        }
        if (c->line[c->at++] == '}') {
            return READ_WELL;
        }
    }
}

/* Reads the format of dates, as in "dd/MM/yyyy", if there is one. Only the order of its parts is
 * used: the cells show the rest. */
static int read_date_format(struct cursor *c, struct arff_attribute *attribute) {
    struct token token;
    attribute->orders = DN_DATE_ANY;
    skip_blanks(c);
    if (at_end(c)) {
        attribute->orders = DN_DATE_YMD;
        return READ_WELL;
    }
    const int status = read_token(c, ",{}", &token);
    const char *day = NULL, *month = NULL, *year = NULL;
    if (status == READ_WELL && token.text.n > 0) {
        day = memchr(token.text.bytes, 'd', token.text.n);
        month = memchr(token.text.bytes, 'M', token.text.n);
        year = memchr(token.text.bytes, 'y', token.text.n);
    }
    if (day != NULL && month != NULL && year != NULL) {
        attribute->orders = year < day ? DN_DATE_YMD : day < month ? DN_DATE_DMY : DN_DATE_MDY;
        if (month == year + 4 && day == month + 2) { /* yyyyMMdd */
            attribute->orders |= DN_DATE_COMPACT;
        }
    }
    return status;
}

static int read_type(struct cursor *c, struct arff_attribute *attribute) {
    static const struct {
        const char *word;
        enum arff_kind kind;
    } types[] = {{"numeric", ARFF_NUMERIC},
                 {"real", ARFF_NUMERIC},
                 {"integer", ARFF_NUMERIC},
                 {"string", ARFF_STRING},
                 {"date", ARFF_DATE}};
    char shown[TEXT_SHOWN];
    struct token token;
    if (c->at < c->n && c->line[c->at] == '{') {
        attribute->kind = ARFF_NOMINAL;
        return read_values(c, attribute);
    }
    const size_t at = c->at;
    const int status = read_token(c, ",{}", &token);
    if (status != READ_WELL) {
        return status;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (is_word(token.text, types[i].word)) {
            attribute->kind = types[i].kind;
            return attribute->kind == ARFF_DATE ? read_date_format(c, attribute) : READ_WELL;
        }
    }
    if (is_word(token.text, "relational")) {
        return wrong(c, at, "%.*s attributes are not supported", (int)token.text.n,
                     token.text.bytes);
    }
    return wrong(c, at,
                 "a type must be numeric, real, integer, string, date or {value, …} (got %s)",
                 text_show(token.text.bytes, token.text.n, shown));
}

static int expect_end(struct cursor *c) {
    char shown[TEXT_SHOWN];
    skip_blanks(c);
    return at_end(c) ? READ_WELL
                     : wrong(c, c->at, "the line must end here (got %s)",
                             text_show(c->line + c->at, c->n - c->at, shown));
}

static int read_attribute(struct cursor *c, size_t max_attributes) {
    struct arff *arff = c->arff;
    char shown[TEXT_SHOWN];
    struct token token;
    skip_blanks(c);
    if (arff->n_attributes == max_attributes) {
        return wrong(c, 0, "there are more than %zu attributes", max_attributes);
    }
    int status = read_token(c, "{},", &token);
    if (status != READ_WELL) {
        return status;
    }
    const struct text name = token_text(arff, &token);
    if (name.n == 0) {
        return wrong(c, token.column - 1, "the attribute has no name");
    }
    const bool again = names_find(&arff->names, name.bytes, name.n) >= 0;
    if (again && !arff->repeats) {
        return wrong(c, token.column - 1, "attribute %s is declared twice",
                     text_show(name.bytes, name.n, shown));
    }
    if (arff->n_attributes == arff->capacity &&
        !array_grow(&arff->attributes, &arff->capacity, 16, sizeof *arff->attributes)) {
        return READ_NO_MEMORY;
    }
    const char *kept = keep(arff, name);
    if (kept == NULL || (!again && !names_add(&arff->names, kept, name.n))) {
        return READ_NO_MEMORY;
    }
    struct arff_attribute *attribute = &arff->attributes[arff->n_attributes++];
    *attribute = (struct arff_attribute){.name = {kept, name.n}};
    skip_blanks(c);
    status = read_type(c, attribute);
    return status == READ_WELL ? expect_end(c) : status;
}

/* Handles @data: the declarations are complete. */
static int begin_data(struct cursor *c) {
    struct arff *arff = c->arff;
    if (arff->n_attributes == 0) {
        return wrong(c, 0, "@data comes before the first @attribute");
    }
    const int status = expect_end(c);
    if (status != READ_WELL) {
        return status;
    }
    arff->cells = calloc(arff->n_attributes, sizeof *arff->cells);
    arff->in_data = arff->cells != NULL;
    return arff->in_data ? READ_WELL : READ_NO_MEMORY;
}

static int read_declaration(struct cursor *c, size_t max_attributes, enum arff_line *kind) {
    char shown[TEXT_SHOWN];
    struct token token;
    const size_t at = c->at;
    const int status = read_token(c, "{},", &token);
    if (status != READ_WELL) {
        return status;
    }
    *kind = ARFF_DECLARED;
    if (is_word(token.text, "@relation")) {
        return READ_WELL; /* the name of the relation is not used */
    }
    if (is_word(token.text, "@attribute")) {
        return read_attribute(c, max_attributes);
    }
    if (is_word(token.text, "@data")) {
        *kind = ARFF_DATA;
        return begin_data(c);
    }
    return wrong(c, at, "@relation, @attribute or @data must begin the line (got %s)",
                 text_show(token.text.bytes, token.text.n, shown));
}

/* ---- rows ---- */
static int put_cell(struct cursor *c, size_t i, const struct token *token) {
    struct arff *arff = c->arff;
    const struct arff_attribute *attribute = &arff->attributes[i];
    const struct text text = token_text(arff, token);
    char shown[TEXT_SHOWN];
    if (text.n == 0 && !token->quoted) {
        return wrong(c, token->column - 1, "attribute \"%s\": the value is missing: write ?",
                     attribute->name.bytes);
    }
    arff->cells[i] = (struct arff_cell){.attribute = i,
                                        .column = token->column,
                                        .quoted = token->quoted,
                                        .missing = !token->quoted && text_is(text, "?"),
                                        .text = text};
    if (attribute->kind == ARFF_NOMINAL && !arff->cells[i].missing &&
        !arff_has_value(attribute, text)) {
        return wrong(c, token->column - 1,
                     "attribute \"%s\": the value must be one of those declared (got %s)",
                     attribute->name.bytes, text_show(text.bytes, text.n, shown));
    }
    return READ_WELL;
}

/* Skips the separator after a value. *more: another value follows. */
static int read_separator(struct cursor *c, char close, bool *more) {
    bool tab = false;
    while (c->at < c->n && is_blank(c->line[c->at])) {
        tab |= c->line[c->at++] == '\t';
    }
    const bool comma = c->at < c->n && c->line[c->at] == ',';
    c->at += comma;
    skip_blanks(c);
    if (comma) {
        *more = true;
        return READ_WELL;
    }
    *more = !(at_end(c) || (close != '\0' && c->line[c->at] == close));
    if (*more && c->line[c->at] == '{') {
        return wrong(c, c->at, "weights of rows are not supported");
    }
    if (*more && !tab) {
        return wrong(c, c->at, "a comma is missing (put values with spaces in quotes)");
    }
    return READ_WELL;
}

static int read_dense(struct cursor *c) {
    struct arff *arff = c->arff;
    bool more = true;
    size_t i = 0;
    for (; more; i++) {
        struct token token;
        if (i > 0 && c->at < c->n && c->line[c->at] == '{') {
            return wrong(c, c->at, "weights of rows are not supported");
        }
        if (i == arff->n_attributes) {
            return wrong(c, c->at, "the row has more than %zu values", arff->n_attributes);
        }
        int status = read_token(c, ",{}", &token);
        status = status == READ_WELL ? put_cell(c, i, &token) : status;
        status = status == READ_WELL ? read_separator(c, '\0', &more) : status;
        if (status != READ_WELL) {
            return status;
        }
    }
    return i == arff->n_attributes ? READ_WELL
                                   : wrong(c, c->n, "the row has %zu value%s, expected %zu", i,
                                           i == 1 ? "" : "s", arff->n_attributes);
}

/* Sets the cells `from` … end - 1, which a sparse row leaves out. */
static int imply(struct cursor *c, size_t from, size_t end) {
    struct arff *arff = c->arff;
    for (size_t i = from; i < end; i++) {
        const struct arff_attribute *attribute = &arff->attributes[i];
        if (attribute->kind == ARFF_STRING || attribute->kind == ARFF_DATE) {
            return wrong(c, c->at, "attribute \"%s\": a sparse row must give the value of a %s",
                         attribute->name.bytes, attribute->kind == ARFF_DATE ? "date" : "string");
        }
        arff->cells[i] =
            (struct arff_cell){.attribute = i,
                               .column = 1,
                               .implied = true,
                               .text = attribute->kind == ARFF_NOMINAL ? attribute->values.text[0]
                                                                       : (struct text){"0", 1}};
    }
    return READ_WELL;
}

/* Reads the attribute index of an entry, which must be at least `least`. */
static int read_index(struct cursor *c, size_t least, size_t *index) {
    const size_t at = c->at, n = c->arff->n_attributes;
    char shown[TEXT_SHOWN];
    struct token token;
    const int status = read_token(c, ",{}", &token);
    if (status != READ_WELL) {
        return status;
    }
    *index = 0;
    for (size_t k = 0; k < token.text.n && *index < n; k++) {
        const char digit = token.text.bytes[k];
        if (digit < '0' || digit > '9') {
            *index = SIZE_MAX;
            break;
        }
        *index = 10 * *index + (size_t)(digit - '0');
    }
    if (token.text.n == 0 || token.quoted || *index >= n) {
        return wrong(c, at, "the index of an attribute must be 0 … %zu (got %s)", n - 1,
                     text_show(token.text.bytes, token.text.n, shown));
    }
    return *index >= least ? READ_WELL : wrong(c, at, "the indices of a row must ascend");
}

static int read_sparse(struct cursor *c) {
    struct arff *arff = c->arff;
    size_t next = 0;
    bool more = true;
    c->at++;
    skip_blanks(c);
    if (c->at < c->n && c->line[c->at] == '}') {
        more = false;
    }
    while (more) {
        struct token token;
        size_t index = 0;
        int status = read_index(c, next, &index);
        skip_blanks(c);
        status = status == READ_WELL ? imply(c, next, index) : status;
        status = status == READ_WELL ? read_token(c, ",{}", &token) : status;
        status = status == READ_WELL ? put_cell(c, index, &token) : status;
        status = status == READ_WELL ? read_separator(c, '}', &more) : status;
        if (status != READ_WELL) {
            return status;
        }
        next = index + 1;
    }
    if (c->at >= c->n || c->line[c->at] != '}') {
        return wrong(c, c->at, "the closing } is missing");
    }
    c->at++;
    skip_blanks(c);
    if (!at_end(c)) {
        return wrong(c, c->at, "a row ends behind }: weights of rows are not supported");
    }
    return imply(c, next, arff->n_attributes);
}

/* Reads a row. The memory for the decoded texts is reserved first, so that the buffer does not move
 * and pointers into it stay valid while the row is read. */
static int read_row(struct cursor *c) {
    struct arff *arff = c->arff;
    /* the decoded texts together are at most as long as the line */
    if (!buf_reserve(&arff->unescaped, c->n + 1)) {
        return READ_NO_MEMORY;
    }
    return c->line[c->at] == '{' ? read_sparse(c) : read_dense(c);
}

/* ---- public functions ---- */
bool arff_has_value(const struct arff_attribute *attribute, struct text value) {
    return names_find(&attribute->values, value.bytes, value.n) >= 0;
}

enum arff_line arff_read(struct arff *arff, const char *line, size_t n, size_t max_attributes,
                         struct arff_fault *fault) {
    struct cursor c = {.line = line, .n = n, .arff = arff, .fault = fault};
    enum arff_line kind = ARFF_ROW;
    buf_clear(&arff->unescaped);
    skip_blanks(&c);
    if (at_end(&c)) {
        arff->comments += c.at < n;
        return ARFF_BLANK;
    }
    const int status = arff->in_data ? read_row(&c) : read_declaration(&c, max_attributes, &kind);
    return status == READ_WELL ? kind : status == READ_FAULT ? ARFF_FAULT : ARFF_NO_MEMORY;
}

bool arff_looks_like(const char *bytes, size_t n, bool *unsure) {
    static const char *const words[] = {"@relation", "@attribute"};
    size_t at = n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    *unsure = false;
    while (at < n) {
        while (at < n && (is_blank(bytes[at]) || bytes[at] == '\n' || bytes[at] == '\r')) {
            at++;
        }
        if (at < n && bytes[at] != '%') {
            for (size_t i = 0; i < 2; i++) {
                const size_t length = strlen(words[i]);
                if (n - at > length && strncasecmp(bytes + at, words[i], length) == 0 &&
                    (is_blank(bytes[at + length]))) {
                    return true;
                }
            }
            return false;
        }
        while (at < n && bytes[at] != '\n' && bytes[at] != '\r') {
            at++;
        }
    }
    *unsure = n > 0;
    return false;
}

void arff_done(struct arff *arff) {
    for (size_t i = 0; i < arff->n_attributes; i++) {
        names_done(&arff->attributes[i].values);
    }
    for (size_t i = 0; i < arff->n_owned; i++) {
        free(arff->owned[i]);
    }
    free(arff->owned);
    free(arff->attributes);
    free(arff->cells);
    names_done(&arff->names);
    buf_done(&arff->unescaped);
    *arff = (struct arff){0};
}
