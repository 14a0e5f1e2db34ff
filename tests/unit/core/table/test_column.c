/* Column chunks: decoding returns the encoded numbers and texts, and refuses damaged bytes. */
#include "base/bytes.h"
#include "table/column_format.h"
#include <discern/table.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

struct blob {
    void *bytes;
    size_t size;
};

static struct blob encode(dn_column_builder *builder) {
    struct blob blob = {0};
    assert_int_equal(dn_column_builder_encode(builder, &blob.bytes, &blob.size, NULL), DN_OK);
    assert_int_equal(dn_column_builder_n_rows(builder), 0);
    return blob;
}

/* Builds a column as a CSV reader does: cells that read as numbers are appended as numbers, the
 * others as strings. NULL: missing. silently: a number in canonical spelling is appended without
 * its text. */
static struct blob build_how(dn_column_builder *builder, const char *const *cells, size_t n,
                             bool silently) {
    for (size_t i = 0; i < n; i++) {
        double value;
        char canonical[DN_NUMBER_SIZE];
        if (cells[i] == NULL) {
            assert_int_equal(dn_column_builder_missing(builder, NULL), DN_OK);
        } else if (silently && dn_number_parse(cells[i], strlen(cells[i]), &value) &&
                   dn_number_format(value, canonical) > 0 && strcmp(canonical, cells[i]) == 0) {
            assert_int_equal(dn_column_builder_number(builder, value, NULL, 0, NULL), DN_OK);
        } else if (dn_number_parse(cells[i], strlen(cells[i]), &value)) {
            assert_int_equal(dn_column_builder_number(builder, value, cells[i], strlen(cells[i]),
                                                      NULL),
                             DN_OK);
        } else {
            assert_int_equal(dn_column_builder_string(builder, cells[i], strlen(cells[i]), NULL),
                             DN_OK);
        }
        assert_int_equal(dn_column_builder_n_rows(builder), i + 1);
    }
    assert_true(dn_column_builder_bytes(builder) >= n);
    return encode(builder);
}

static struct blob build(dn_column_builder *builder, const char *const *cells, size_t n) {
    return build_how(builder, cells, n, false);
}

static bool same_text(dn_strings strings, uint32_t code, const char *text) {
    size_t length = strings.start[code + 1] - strings.start[code];
    return length == strlen(text) && memcmp(strings.bytes + strings.start[code], text, length) == 0;
}

/* Checks that the blob read as categories has the cells, and that its strings are distinct and in
 * the order of first appearance. */
static void check_texts(dn_column_chunk *chunk, struct blob blob, const char *const *cells,
                        size_t n) {
    dn_column_view view;
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, DN_CATEGORICAL, &view,
                                            &err),
                     DN_OK);
    assert_int_equal(view.n_rows, n);
    assert_int_equal(view.type, DN_CATEGORICAL);
    uint32_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (cells[i] == NULL) {
            assert_int_equal(view.code[i], DN_CODE_MISSING);
            continue;
        }
        assert_true(view.code[i] < view.strings.n && view.code[i] <= known);
        known += view.code[i] == known;
        if (!same_text(view.strings, view.code[i], cells[i])) {
            fail_msg("row %zu: \"%s\" came back as \"%.*s\"", i, cells[i],
                     (int)(view.strings.start[view.code[i] + 1] - view.strings.start[view.code[i]]),
                     view.strings.bytes + view.strings.start[view.code[i]]);
        }
    }
    assert_int_equal(known, view.strings.n);
    for (uint32_t i = 0; i + 1 < view.strings.n && view.strings.n < 2000; i++) {
        for (uint32_t k = i + 1; k < view.strings.n; k++) {
            assert_false(view.strings.start[i + 1] - view.strings.start[i] ==
                             view.strings.start[k + 1] - view.strings.start[k] &&
                         memcmp(view.strings.bytes + view.strings.start[i],
                                view.strings.bytes + view.strings.start[k],
                                view.strings.start[i + 1] - view.strings.start[i]) == 0);
        }
    }
}

static void check_numbers(dn_column_chunk *chunk, struct blob blob, const double *numbers,
                          size_t n) {
    dn_column_view view;
    assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, DN_NUMERIC, &view, NULL),
                     DN_OK);
    assert_int_equal(view.n_rows, n);
    for (size_t i = 0; i < n; i++) {
        if (isnan(numbers[i])) {
            assert_true(isnan(view.number[i]));
        } else {
            assert_memory_equal(&view.number[i], &numbers[i], sizeof *numbers);
        }
    }
}

static void check_cells(const char *const *cells, size_t n) {
    dn_column_builder *builder = NULL;
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    struct blob blob = build_how(builder, cells, n, true);
    check_texts(chunk, blob, cells, n);
    free(blob.bytes);
    blob = build(builder, cells, n);
    check_texts(chunk, blob, cells, n);
    double *numbers = calloc(n + 1, sizeof *numbers);
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (double)NAN;
        all = all && (cells[i] == NULL || dn_number_parse(cells[i], strlen(cells[i]), &numbers[i]));
    }
    if (all) {
        check_numbers(chunk, blob, numbers, n);
    }
    free(numbers);
    free(blob.bytes);
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
}

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        static const char *const cells_[] = {__VA_ARGS__};                                         \
        check_cells(cells_, sizeof cells_ / sizeof *cells_);                                       \
    } while (0)

static void spellings(void **unused) {
    (void)unused;
    CHECK("5.1", "4.9", "-3", "0", NULL, "100000");
    CHECK("0", "-0", "0.0", "-0.0", "+0", "00", "0.", ".0", "-.0", "0e0");
    CHECK("1e5", "100000", "1E5", "1e+5", "100000.0", "1e5");
    CHECK("007", "7", "7.0", "7.00", "+7", " ", "7 ");
    CHECK("5.0", "4.0", "5.25", "3.125", "-0.0", "1000.0"); /* at least one digit after the point */
    CHECK("1.50", "2.00", "12.25", "0.10", "3");            /* two decimals, except in one cell */
    CHECK("3", "1.50", "2.00"); /* the cell with another format is the first */
    CHECK("1.5", "1.50", "1.500", "1.5");
    CHECK("1.2345", "0.0001", "12.3450", "1.2345", "7", "7.0000",
          "1e-7"); /* canonical numbers first; padding does not change them */
    CHECK("1.2345", "2", "12.3450", "12.3450"); /* padding would change 2, the second cell */
    CHECK("1.9999", "9999.9999", "10000.0001", "1.000", "1.0001", "3.25", "1.2350");
    CHECK("0.0000001", "1e-7", "0.000001", "1.0e-7", "0.00000010");
    CHECK("1e21", "1000000000000000000000", "100000000000000000000",
          "123456789012345678901234567890");
    CHECK("0.1000000000000000055511151231257827", "0.1", "0.10000000000000001",
          "0.30000000000000004", "0.3");
    CHECK("9007199254740993", "9007199254740992", "9007199254740992.0", "123456789012345",
          "1234567890123456", "1234567890.1234567");
    CHECK("1.00000000000000000000000000000000000000000000000", "2.0");
    CHECK("0.12345678901234567890123456789012345678901234567890", "0.5");
    CHECK("1e-400", "0", "-1e-400", "4.9e-324", "5e-324");
    CHECK("abc", "5.0", NULL, "", "abc", "007", "5");
    CHECK("5.0", "1.50", NULL, "007", "NA", "2", "1e3"); /* numbers that become strings later */
    CHECK("", "", NULL);
    CHECK(NULL, NULL);
    CHECK("255", "0", "128");
    CHECK("1.7976931348623157e308", "1.7976931348623157E308", "179769313486231570000000000");
    check_cells(NULL, 0);
}

static void random_cells(void **unused) {
    (void)unused;
    enum { N = 3000 };
    static char text[N][48];
    const char *cells[N];
    for (int round = 0; round < 60; round++) {
        size_t n = (size_t)(next_random() % N);
        for (size_t i = 0; i < n; i++) {
            cells[i] = text[i];
            unsigned kind = (unsigned)(next_random() % (unsigned)(1 + round % 12));
            double x = (double)(int64_t)(next_random() % 200001 - 100000);
            if (kind == 0) {
                snprintf(text[i], sizeof text[i], "%.0f", x);
            } else if (kind < 3) {
                snprintf(text[i], sizeof text[i], "%.*f", round % 5, x / 64);
            } else if (kind == 3) {
                cells[i] = NULL;
            } else if (kind == 4) {
                snprintf(text[i], sizeof text[i], "%.17g", x / 7);
            } else if (kind == 5) {
                snprintf(text[i], sizeof text[i], "%.18e", x / 7);
            } else if (kind == 6) {
                dn_number_format(x / 7e30, text[i]);
            } else if (kind == 7) {
                snprintf(text[i], sizeof text[i], "%+.3f", x);
            } else if (kind == 8) {
                snprintf(text[i], sizeof text[i], "%06.1f", x);
            } else if (kind == 9) {
                snprintf(text[i], sizeof text[i], "level %d", (int)x % 50);
            } else {
                snprintf(text[i], sizeof text[i], "%llx", (unsigned long long)next_random());
            }
        }
        check_cells(cells, n);
    }
}

/* More distinct strings than a dictionary may have: the list that is read is still distinct. */
static void many_strings(void **unused) {
    (void)unused;
    enum { N = 140000 };
    char(*text)[12] = malloc(N * sizeof *text);
    const char **cells = malloc(N * sizeof *cells);
    assert_non_null(text);
    assert_non_null(cells);
    for (size_t i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "s%zu", i < 70000 ? i % 30000 : i * 7 % 100000);
        cells[i] = text[i];
    }
    check_cells(cells, N);
    check_cells(cells, 300);
    free((void *)cells);
    free(text);
}

static void narrow_encodings(void **unused) {
    (void)unused;
    static const struct {
        double values[4];
        size_t bytes; /* of a value */
    } cases[] = {
        {{0, 255, 7, 1}, 1},
        {{0, 254, (double)NAN, 1}, 1},
        {{0, 255, (double)NAN, 1}, 2},
        {{0, -1, 3, 256}, 2},
        {{-32768, 32767, 0, 0}, 2},
        {{-32767, 32767, (double)NAN, 0}, 2},
        {{-32768, 32767, (double)NAN, 0}, 4},
        {{0, 32768, 3, 1}, 4},
        {{-2147483648.0, 2147483647.0, 0, 0}, 4},
        {{-2147483648.0, 2147483647.0, (double)NAN, 0}, 8},
        {{-2147483647.0, 2147483647.0, (double)NAN, 0}, 4},
        {{0, 2147483648.0, 0, 0}, 8},
        {{0, 0.5, 0, 0}, 8},
        {{0, -0.0, 0, 0}, 8},
        {{1e300, -1e-300, 5e-324, (double)NAN}, 8},
    };
    dn_column_builder *builder = NULL;
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(dn_column_builder_number(builder, cases[c].values[i], NULL, 0, NULL),
                             DN_OK);
        }
        struct blob blob = encode(builder);
        assert_int_equal(blob.size, DNI_COLUMN_HEADER + 4 * cases[c].bytes);
        check_numbers(chunk, blob, cases[c].values, 4);
        free(blob.bytes);
    }
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_column_builder_number(builder, (double)INFINITY, NULL, 0, &err),
                     DN_ERR_ARGUMENT);
    assert_int_equal(dn_column_builder_n_rows(builder), 0);
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
}

/* A column of numbers with padded decimals needs no more bytes than the numbers. */
static void padding_is_free(void **unused) {
    (void)unused;
    dn_column_builder *builder = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    for (int i = 0; i < 1000; i++) {
        char text[32];
        int n = snprintf(text, sizeof text, "%.2f", i / 4.0);
        assert_int_equal(dn_column_builder_number(builder, i / 4.0, text, (size_t)n, NULL), DN_OK);
    }
    struct blob blob = encode(builder);
    assert_int_equal(blob.size, DNI_COLUMN_HEADER + 8000);
    free(blob.bytes);
    /* also if canonical numbers without text come first */
    for (int i = 0; i < 1000; i++) {
        char text[32];
        int n = snprintf(text, sizeof text, "%.4f", i * 0.1234 + 0.0001);
        assert_int_equal(dn_column_builder_number(builder, strtod(text, NULL),
                                                  text[n - 1] == '0' ? text : NULL, (size_t)n,
                                                  NULL),
                         DN_OK);
    }
    blob = encode(builder);
    assert_int_equal(blob.size, DNI_COLUMN_HEADER + 8000);
    free(blob.bytes);
    dn_column_builder_free(builder);
}

/* Numbers without text among numbers with text. */
static void without_spelling(void **unused) {
    (void)unused;
    dn_column_builder *builder = NULL;
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    static const char *const want[] = {"2.0", "2", "3.25", "x", "-0", "1e300", NULL, NULL};
    for (int order = 0; order < 2; order++) {
        assert_int_equal(dn_column_builder_number(builder, 2, order == 0 ? "2.0" : NULL, 3, NULL),
                         DN_OK);
        assert_int_equal(dn_column_builder_number(builder, 2, order == 0 ? NULL : "2.0", 3, NULL),
                         DN_OK);
        assert_int_equal(dn_column_builder_number(builder, 3.25, NULL, 0, NULL), DN_OK);
        assert_int_equal(dn_column_builder_string(builder, "x", 1, NULL), DN_OK);
        assert_int_equal(dn_column_builder_number(builder, -0.0, NULL, 0, NULL), DN_OK);
        assert_int_equal(dn_column_builder_number(builder, 1e300, NULL, 0, NULL), DN_OK);
        assert_int_equal(dn_column_builder_number(builder, (double)NAN, NULL, 0, NULL), DN_OK);
        assert_int_equal(dn_column_builder_missing(builder, NULL), DN_OK);
        const char *cells[8];
        memcpy(cells, want, sizeof cells);
        if (order == 1) {
            cells[0] = "2";
            cells[1] = "2.0";
        }
        struct blob blob = encode(builder);
        check_texts(chunk, blob, cells, 8);
        free(blob.bytes);
    }
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
}

static dn_status decode_as(dn_column_chunk *chunk, dn_column_builder *builder,
                           const char *const *cells, size_t n, dn_column_type type,
                           dn_column_view *view, dn_error *err) {
    struct blob blob = build(builder, cells, n);
    dn_error_clear(err);
    dn_status status = dn_column_chunk_decode(chunk, blob.bytes, blob.size, type, view, err);
    free(blob.bytes);
    return status;
}

static void add_padded(dn_column_builder *builder, double value, unsigned decimals) {
    char text[DNI_COLUMN_TEXT_SIZE];
    if (decimals == 0 || isnan(value)) {
        assert_int_equal(dn_column_builder_number(builder, value, NULL, 0, NULL), DN_OK);
    } else {
        assert_int_equal(dn_column_builder_number(builder, value, text,
                                                  dni_column_number_text(value, decimals, text),
                                                  NULL),
                         DN_OK);
    }
}

/* Numbers appended in one call give the same bytes as in one call for each number, for any cells
 * before them. */
static void many_at_once(void **unused) {
    (void)unused;
    enum { N = 90, STRIDE = 3 };
    static const double kinds[] = {0,          -0.0,        1,           255,          256,
                                   -1,         32767,       -32768,      32768,        -32769,
                                   2147483647, -2147483647, -2147483648, 2147483648.0, 0.5,
                                   0.25,       1e300,       0.1,         1e15,         1e-300,
                                   -1e300,     4.5e15,      9e15,        254};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    dn_column_builder *one = NULL, *many = NULL;
    assert_int_equal(dn_column_builder_new(&one, NULL), DN_OK);
    assert_int_equal(dn_column_builder_new(&many, NULL), DN_OK);
    for (size_t round = 0; round < 3000; round++) {
        double values[N * STRIDE];
        size_t n = next_random() % (N + 1), kind = next_random() % KINDS,
               most = 1 + next_random() % 3;
        unsigned decimals = round % 2 == 0 ? 0 : (unsigned)(next_random() % 4);
        bool missing = next_random() % 3 == 0;
        for (size_t i = 0; i < N * STRIDE; i++) {
            values[i] = missing && next_random() % 8 == 0
                            ? (double)NAN
                            : kinds[(kind + next_random() % most) % KINDS];
        }
        dn_column_builder *const both[] = {one, many};
        for (size_t b = 0; b < 2; b++) {
            if (round % 5 == 1) {
                assert_int_equal(dn_column_builder_number(both[b], 2.5, "2.50", 4, NULL), DN_OK);
            }
            if (round % 5 == 2) {
                assert_int_equal(dn_column_builder_string(both[b], "x", 1, NULL), DN_OK);
            }
            if (round % 5 == 3) {
                assert_int_equal(dn_column_builder_missing(both[b], NULL), DN_OK);
            }
        }
        for (size_t i = 0; i < n; i++) {
            add_padded(one, values[i * STRIDE], decimals);
        }
        assert_int_equal(dn_column_builder_numbers(many, values, STRIDE, n, decimals, NULL), DN_OK);
        if (round % 7 == 0) { /* padded numbers follow */
            for (size_t b = 0; b < 2; b++) {
                assert_int_equal(dn_column_builder_number(both[b], 7, "7.0", 3, NULL), DN_OK);
            }
        }
        assert_int_equal(dn_column_builder_n_rows(one), dn_column_builder_n_rows(many));
        assert_int_equal(dn_column_builder_padding(one), dn_column_builder_padding(many));
        struct blob a = encode(one), c = encode(many);
        assert_int_equal(a.size, c.size);
        assert_memory_equal(a.bytes, c.bytes, a.size);
        free(a.bytes);
        free(c.bytes);
    }
    double infinite[] = {1, 2, (double)INFINITY};
    assert_int_equal(dn_column_builder_numbers(many, infinite, 1, 3, 0, NULL), DN_ERR_ARGUMENT);
    dn_column_builder_free(one);
    dn_column_builder_free(many);
}

static void strings_as_values(void **unused) {
    (void)unused;
    dn_column_builder *builder = NULL;
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    dn_column_view view;
    dn_error err;
    static const char *const words[] = {"true", "FALSE", NULL, "True", "0", "1"};
    assert_int_equal(decode_as(chunk, builder, words, 6, DN_BOOLEAN, &view, &err), DN_OK);
    assert_true(view.number[0] == 1 && view.number[1] == 0 && isnan(view.number[2]) &&
                view.number[3] == 1 && view.number[4] == 0 && view.number[5] == 1);
    static const char *const bits[] = {"1", "0", NULL, "-0"};
    assert_int_equal(decode_as(chunk, builder, bits, 4, DN_BOOLEAN, &view, &err), DN_OK);
    assert_true(view.number[0] == 1 && isnan(view.number[2]) && !signbit(view.number[3]));
    static const char *const more[] = {"1", "0", "2"};
    assert_int_equal(decode_as(chunk, builder, more, 3, DN_BOOLEAN, &view, &err), DN_ERR_DATA);
    assert_int_equal(err.row, 2);
    static const char *const odd[] = {"true", NULL, "truex", "tru"};
    assert_int_equal(decode_as(chunk, builder, odd, 4, DN_BOOLEAN, &view, &err), DN_ERR_DATA);
    assert_int_equal(err.row, 2);
    assert_non_null(strstr(err.message, "\"truex\""));
    static const char *const mixed[] = {"1.50", "x", "3", "x"};
    assert_int_equal(decode_as(chunk, builder, mixed, 4, DN_NUMERIC, &view, &err), DN_ERR_DATA);
    assert_int_equal(err.row, 1);
    assert_string_equal(err.message, "\"x\" is not a number");
    static const char *const emptied[] = {"", "3"};
    assert_int_equal(decode_as(chunk, builder, emptied, 2, DN_NUMERIC, &view, &err), DN_ERR_DATA);
    static const char *const huge[] = {"1e999", "3"};
    assert_int_equal(decode_as(chunk, builder, huge, 2, DN_NUMERIC, &view, &err), DN_ERR_DATA);
    static const char *const umlauts[] = {"äääääääääääääääääääääääääääääääääääääää"};
    assert_int_equal(decode_as(chunk, builder, umlauts, 1, DN_NUMERIC, &view, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "\"ääääääääääääääääääää…\" is not a number");
    /* strings that read as numbers, in a builder for strings */
    assert_int_equal(dn_column_builder_string(builder, "12.5", 4, NULL), DN_OK);
    assert_int_equal(dn_column_builder_missing(builder, NULL), DN_OK);
    struct blob blob = encode(builder);
    assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, DN_NUMERIC, &view, NULL),
                     DN_OK);
    assert_true(view.number[0] == 12.5 && isnan(view.number[1]));
    free(blob.bytes);
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
}

/* Decodes the bytes as every type. Sanitizers detect a read outside of a chunk that was
 * accepted. */
static unsigned touch(dn_column_chunk *chunk, const void *bytes, size_t size) {
    unsigned good = 0;
    for (int type = DN_NUMERIC; type <= DN_TEXT; type++) {
        dn_column_view view;
        memset(&view, 0xee, sizeof view);
        dn_column_view before = view;
        dn_error err;
        dn_error_clear(&err);
        dn_status status =
            dn_column_chunk_decode(chunk, bytes, size, (dn_column_type)type, &view, &err);
        if (status != DN_OK) {
            assert_true(status == DN_ERR_CORRUPT || status == DN_ERR_DATA ||
                        status == DN_ERR_VERSION);
            assert_int_equal(err.code, status);
            assert_memory_equal(&view, &before, sizeof view);
            continue;
        }
        good |= 1u << type;
        double sum = 0;
        for (size_t i = 0; i < view.n_rows; i++) {
            if (type == DN_NUMERIC || type == DN_BOOLEAN) {
                assert_true(isinf(view.number[i]) == 0);
                sum += view.number[i];
                continue;
            }
            assert_true(view.code[i] == DN_CODE_MISSING || view.code[i] < view.strings.n);
        }
        if (type == DN_CATEGORICAL || type == DN_TEXT) {
            assert_int_equal(view.strings.start[0], 0);
            for (size_t i = 0; i < view.strings.n; i++) {
                assert_true(view.strings.start[i] <= view.strings.start[i + 1]);
                for (uint32_t k = view.strings.start[i]; k < view.strings.start[i + 1]; k++) {
                    sum += view.strings.bytes[k];
                }
            }
        }
        assert_true(sum == sum || isnan(sum));
    }
    return good;
}

static void damage(struct blob blob) {
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    assert_int_not_equal(touch(chunk, blob.bytes, blob.size) & 1u << DN_CATEGORICAL, 0);
    for (size_t size = 0; size < blob.size; size++) { /* a copy of exactly that size */
        void *cut = malloc(size + (size == 0));
        memcpy(cut, blob.bytes, size);
        assert_int_equal(touch(chunk, cut, size), 0);
        free(cut);
    }
    unsigned char *copy = malloc(blob.size + 1);
    memcpy(copy, blob.bytes, blob.size);
    copy[blob.size] = 0;
    assert_int_equal(touch(chunk, copy, blob.size + 1), 0);
    free(copy);
    copy = malloc(blob.size);
    memcpy(copy, blob.bytes, blob.size);
    for (size_t i = 0; i < blob.size; i++) {
        unsigned char was = copy[i];
        for (unsigned k = 0; k < 16; k++) {
            copy[i] = (unsigned char)(k < 8    ? was ^ (1u << k)
                                      : k == 8 ? 0
                                      : k == 9 ? 255
                                               : next_random());
            (void)touch(chunk, copy, blob.size);
        }
        copy[i] = was;
    }
    for (int round = 0; round < 3000; round++) {
        memcpy(copy, blob.bytes, blob.size);
        for (unsigned k = 0; k < 1 + next_random() % 4; k++) {
            copy[next_random() % blob.size] = (unsigned char)next_random();
        }
        (void)touch(chunk, copy, blob.size);
    }
    free(copy);
    dn_column_chunk_free(chunk);
}

static void damaged_bytes(void **unused) {
    (void)unused;
    static const char *const numbers[] = {"1", "2", NULL, "255", "007", "+5"};
    static const char *const wide[] = {"1.5", "1e300", NULL, "1.50", "-0"};
    static const char *const middle[] = {"-70000", "5", NULL};
    static const char *const words[] = {"a", "bb", NULL, "a", "", "ccc"};
    dn_column_builder *builder = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    struct blob blobs[] = {build(builder, numbers, 6), build(builder, wide, 5),
                           build(builder, middle, 3),  build(builder, words, 6),
                           build(builder, NULL, 0),    {0}};
    for (int i = 0; i < 300; i++) { /* two-byte codes */
        char text[8];
        int n = snprintf(text, sizeof text, "k%d", i);
        assert_int_equal(dn_column_builder_string(builder, text, (size_t)n, NULL), DN_OK);
    }
    blobs[5] = encode(builder);
    for (size_t i = 0; i < sizeof blobs / sizeof *blobs; i++) {
        damage(blobs[i]);
        free(blobs[i].bytes);
    }
    dn_column_builder_free(builder);
}

/* The error of a newer version is DN_ERR_VERSION, not DN_ERR_CORRUPT. */
static void newer_version(void **unused) {
    (void)unused;
    static const char *const cells[] = {"1"};
    dn_column_builder *builder = NULL;
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    struct blob blob = build(builder, cells, 1);
    dn_column_view view;
    ((unsigned char *)blob.bytes)[2] = DNI_COLUMN_VERSION + 1;
    assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, DN_NUMERIC, &view, NULL),
                     DN_ERR_VERSION);
    free(blob.bytes);
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
}

/* An infinite f64 is damage: the writer refuses infinite numbers. */
static void infinite_number(void **unused) {
    (void)unused;
    static const char *const cells[] = {"1.5", "2.5"};
    dn_column_builder *builder = NULL;
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    struct blob blob = build(builder, cells, 2);
    double infinity = -(double)INFINITY;
    dni_put_f64s((unsigned char *)blob.bytes + DNI_COLUMN_HEADER + 8, &infinity, 1);
    dn_column_view view;
    assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, DN_NUMERIC, &view, NULL),
                     DN_ERR_CORRUPT);
    free(blob.bytes);
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
}

static void column_types(void **unused) {
    (void)unused;
    for (int type = DN_NUMERIC; type <= DN_TEXT; type++) {
        dn_column_type back;
        assert_true(dn_column_type_parse(dn_column_type_name((dn_column_type)type), &back));
        assert_int_equal(back, type);
    }
    dn_column_type type = DN_TEXT;
    assert_false(dn_column_type_parse("Numeric", &type));
    assert_int_equal(type, DN_TEXT);
}

static void source_from_columns(void **unused) {
    (void)unused;
    static const double numbers[] = {1, 2, 3};
    static const uint32_t codes[] = {0, DN_CODE_MISSING, 0}, start[] = {0, 1};
    dn_column_view views[] = {
        {.type = DN_NUMERIC, .n_rows = 3, .number = numbers},
        {.type = DN_CATEGORICAL, .n_rows = 3, .code = codes, .strings = {1, start, "a"}}};
    dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                 {.name = "y", .type = DN_CATEGORICAL}};
    dn_table_source *source = NULL;
    assert_int_equal(dn_table_source_from_columns(columns, views, 2, 3, &source, NULL), DN_OK);
    assert_int_equal(source->n_chunks, 1);
    assert_int_equal(source->chunk_first_row[1], 3);
    dn_column_view view;
    assert_int_equal(source->column(source, 0, 1, 5, &view, NULL), DN_OK);
    assert_ptr_equal(view.code, codes);
    assert_int_equal(source->column(source, 1, 0, 0, &view, NULL), DN_ERR_SOURCE);
    dn_table_source_free(source);
    dn_error err;
    dn_error_clear(&err);
    views[1].n_rows = 2;
    assert_int_equal(dn_table_source_from_columns(columns, views, 2, 3, &source, &err),
                     DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "y");
    dn_table_source_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),           cmocka_unit_test(random_cells),
        cmocka_unit_test(many_strings),        cmocka_unit_test(narrow_encodings),
        cmocka_unit_test(padding_is_free),     cmocka_unit_test(without_spelling),
        cmocka_unit_test(many_at_once),        cmocka_unit_test(strings_as_values),
        cmocka_unit_test(damaged_bytes),       cmocka_unit_test(newer_version),
        cmocka_unit_test(infinite_number),     cmocka_unit_test(column_types),
        cmocka_unit_test(source_from_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
