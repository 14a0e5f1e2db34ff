/* Tests that a summary that is saved and loaded continues as if it had not been interrupted, and
 * that damaged bytes are detected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/summary/column_summary_saved.h"
#include "unit/base/alloc_fail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 60000,
    CHUNK = 1000,
    DIGEST = 8 + 12 * 8 /* offset of the state of the digest */
};

/* The rows of a column. The chunks are ranges of these rows. */
struct rows {
    dn_column_type type;
    size_t n;
    double *number;
    uint32_t *code;
    dn_strings strings;
    uint32_t *index; /* sparse columns: [n] the feature of each row's only entry */
};

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void add(struct column_summary *s, const struct rows *rows, size_t from, size_t n) {
    size_t *start = calloc(n + 1, sizeof *start);
    assert_non_null(start);
    for (size_t i = 0; i <= n; i++) {
        start[i] = i;
    }
    const dn_column_view view = {.type = rows->type,
                                 .n_rows = n,
                                 .number = rows->number != NULL ? rows->number + from : NULL,
                                 .code = rows->code != NULL ? rows->code + from : NULL,
                                 .strings = rows->strings,
                                 .row_start = start,
                                 .index = rows->index != NULL ? rows->index + from : NULL};
    assert_true(column_summary_add(s, &view));
    free(start);
}

/* Returns the summary as JSON and its digest in hex. */
static char *text_of(struct column_summary *s, dn_column_type type) {
    uint8_t digest[HASH_BLAKE2B_SIZE];
    char hex[HASH_BLAKE2B_TEXT];
    struct buf text = {0};
    struct json_writer w;
    w = json_writer_of(&text);
    column_summary_write(s, "x", type, NULL, &w);
    json_end_object(&w);
    assert_true(column_summary_digest(s, digest));
    hash_hex(digest, sizeof digest, hex);
    buf_printf(&text, " %s %zu %zu", hex, column_summary_counts_memory(s),
               column_summary_sketch_memory(s));
    size_t size = 0;
    char *out = buf_take(&text, &size);
    assert_non_null(out);
    return out;
}

static void save_and_load(struct column_summary *s, dn_column_type type) {
    struct buf saved = {0}, again = {0};
    struct column_summary loaded = {0};
    assert_true(column_summary_save(s, &saved));
    assert_int_equal(column_summary_load(&loaded, type, saved.data, saved.size),
                     COLUMN_SUMMARY_LOADED);
    assert_true(column_summary_save(&loaded, &again));
    assert_int_equal(saved.size, again.size);
    assert_memory_equal(saved.data, again.data, saved.size);
    column_summary_done(s);
    *s = loaded;
    buf_done(&saved);
    buf_done(&again);
}

/* Saves and loads the summary before every `step`-th chunk, and compares the result with that of a
 * summary that was never saved. */
static void check_rows(const struct rows *rows, size_t n_columns, bool wordless) {
    const size_t steps[] = {1, 3, 30, SIZE_MAX};
    char *expected = NULL;
    for (size_t k = sizeof steps / sizeof steps[0]; k-- > 0;) {
        struct column_summary s = {.n_columns = n_columns, .wordless = wordless};
        s.sparse.first = 1;
        for (size_t at = 0; at < rows->n; at += CHUNK) {
            if (at / CHUNK % steps[k] == 0 && steps[k] != SIZE_MAX) {
                save_and_load(&s, rows->type);
            }
            add(&s, rows, at, rows->n - at < CHUNK ? rows->n - at : CHUNK);
        }
        char *text = text_of(&s, rows->type);
        column_summary_done(&s);
        if (expected == NULL) {
            expected = text;
            continue;
        }
        assert_string_equal(text, expected);
        free(text);
    }
    free(expected);
}

static void rows_done(struct rows *rows) {
    free(rows->number);
    free(rows->code);
    free(rows->index);
    free((void *)rows->strings.start);
    free((void *)rows->strings.bytes);
}

static struct rows numbers(uint32_t distinct, double scale) {
    struct rows rows = {.type = DN_NUMERIC, .n = ROWS, .number = calloc(ROWS, sizeof(double))};
    uint64_t seed = distinct;
    assert_non_null(rows.number);
    for (size_t i = 0; i < ROWS; i++) {
        const double x = (double)(next(&seed) % distinct) * scale;
        rows.number[i] = next(&seed) % 50 == 0 ? (double)NAN : x;
    }
    return rows;
}

static void test_numbers(void **state) {
    (void)state;
    const uint32_t distinct[] = {1, 20, 1000, 9999, 10001, 1000000};
    for (size_t i = 0; i < sizeof distinct / sizeof distinct[0]; i++) {
        for (size_t k = 0; k < 2; k++) {
            struct rows rows = numbers(distinct[i], k == 0 ? 1 : -0.37);
            check_rows(&rows, 1, false);
            check_rows(&rows, 2000, false);
            check_rows(&rows, 2001, false); /* too many columns: without quantiles */
            rows_done(&rows);
        }
    }
}

static void test_booleans(void **state) {
    (void)state;
    struct rows rows = numbers(2, 1);
    rows.type = DN_BOOLEAN;
    check_rows(&rows, 1, false);
    rows_done(&rows);
}

static struct rows strings(uint32_t distinct, dn_column_type type) {
    struct rows rows = {.type = type, .n = ROWS, .code = calloc(ROWS, sizeof *rows.code)};
    uint32_t *start = calloc(distinct + 1, sizeof *start);
    char *bytes = malloc((size_t)distinct * 40);
    assert_true(rows.code != NULL && start != NULL && bytes != NULL);
    for (uint32_t i = 0; i < distinct; i++) {
        start[i + 1] =
            start[i] +
            (uint32_t)(i == 0 ? 0 : sprintf(bytes + start[i], "A word, t%u \xC3\xA4", i));
    }
    rows.strings = (dn_strings){.n = distinct, .start = start, .bytes = bytes};
    uint64_t seed = distinct;
    for (size_t i = 0; i < ROWS; i++) {
        const uint32_t code = next(&seed) % distinct;
        rows.code[i] = next(&seed) % 50 == 0 ? DN_CODE_MISSING : code;
    }
    return rows;
}

static void test_strings(void **state) {
    (void)state;
    const uint32_t distinct[] = {1, 16, 17, 10000, 10001, 30000};
    for (size_t i = 0; i < sizeof distinct / sizeof distinct[0]; i++) {
        struct rows rows = strings(distinct[i], distinct[i] > 10000 ? DN_TEXT : DN_CATEGORICAL);
        check_rows(&rows, 1, false);
        rows.type = DN_CATEGORICAL;
        check_rows(&rows, 500, true);
        rows_done(&rows);
    }
}

static void test_sparse(void **state) {
    (void)state;
    struct rows rows = {.type = DN_SPARSE,
                        .n = ROWS,
                        .number = calloc(ROWS, sizeof(double)),
                        .index = calloc(ROWS, sizeof(uint32_t))};
    assert_true(rows.number != NULL && rows.index != NULL);
    uint64_t seed = 4;
    for (size_t i = 0; i < ROWS; i++) {
        rows.number[i] = (double)(next(&seed) % 5) / 4;
        rows.index[i] = next(&seed) % (uint32_t)(i / 1000 + 1);
    }
    check_rows(&rows, 1, false);
    rows.index[ROWS / 2] = 4000000; /* too many features: without statistics of each feature */
    check_rows(&rows, 1, false);
    rows_done(&rows);
}

/* Numbers of the rows, and the same with one row left out in the middle. */
static void test_numbers_that_count_up(void **state) {
    (void)state;
    struct rows rows = numbers(5, 1);
    for (size_t i = 0; i < ROWS; i++) {
        rows.number[i] = (double)i - 100;
    }
    for (size_t way = 0; way < 2; way++) {
        struct column_summary s = {.n_columns = 1};
        add(&s, &rows, 0, ROWS);
        char *text = text_of(&s, DN_NUMERIC);
        assert_true((strstr(text, "\"identifier\":true") != NULL) == (way == 0));
        free(text);
        column_summary_done(&s);
        check_rows(&rows, 1, false);
        for (size_t i = ROWS / 2; i < ROWS; i++) {
            rows.number[i]++;
        }
    }
    rows_done(&rows);
}

/* ---- damage ---- */
static void put_crc(struct buf *b) {
    const uint32_t crc = hash_crc32(b->data, b->size - 4);
    for (size_t i = 0; i < 4; i++) {
        b->data[b->size - 4 + i] = (char)(crc >> (8 * i));
    }
}

static enum column_summary_load_status load(dn_column_type type, const struct buf *b, size_t n) {
    struct column_summary s = {0};
    /* a block of exactly n bytes, so that the sanitizer reports a read beyond its end */
    char *bytes = malloc(n > 0 ? n : 1);
    assert_non_null(bytes);
    memcpy(bytes, b->data, n);
    const enum column_summary_load_status status = column_summary_load(&s, type, bytes, n);
    if (status != COLUMN_SUMMARY_LOADED) {
        const struct column_summary none = {0};
        assert_memory_equal(&s, &none, sizeof s);
    } else {
        char *text = text_of(&s, type);
        free(text);
    }
    column_summary_done(&s);
    free(bytes);
    return status;
}

/* Every truncation and every changed byte must be detected as damage. If the CRC is valid
 * nevertheless, loading must not crash. */
static void check_damage(const struct rows *rows, size_t n) {
    struct column_summary s = {.n_columns = 5000};
    struct buf saved = {0};
    if (rows->type == DN_NUMERIC) {
        s.n_columns = 1900;
    }
    add(&s, rows, 0, n);
    assert_true(column_summary_save(&s, &saved));
    assert_int_equal(load(rows->type, &saved, saved.size), COLUMN_SUMMARY_LOADED);
    const size_t step = saved.size / 2000 + 1;
    for (size_t i = 0; i < saved.size; i += step) {
        assert_int_equal(load(rows->type, &saved, i), COLUMN_SUMMARY_DAMAGED);
        saved.data[i] ^= 0x11;
        assert_int_equal(load(rows->type, &saved, saved.size), COLUMN_SUMMARY_DAMAGED);
        saved.data[i] ^= 0x11;
    }
    const size_t known = saved.size < 1200 ? saved.size : 1200;
    for (size_t i = 0; i + 4 < known; i++) {
        const char was = saved.data[i];
        saved.data[i] = (char)(was ^ (i % 2 == 0 ? 0xFF : 0x01));
        put_crc(&saved);
        (void)load(rows->type, &saved, saved.size);
        saved.data[i] = was;
    }
    saved.data[4] = COLUMN_SUMMARY_VERSION + 1;
    put_crc(&saved);
    assert_int_equal(load(rows->type, &saved, saved.size), COLUMN_SUMMARY_OTHER_VERSION);
    saved.data[4] = COLUMN_SUMMARY_VERSION;
    saved.data[DIGEST] ^= 1; /* the version of libsodium in the digest's state */
    put_crc(&saved);
    assert_int_equal(load(rows->type, &saved, saved.size), COLUMN_SUMMARY_OTHER_VERSION);
    saved.data[DIGEST] ^= 1;
    saved.data[DIGEST + 20] ^= 1; /* the digest's state */
    put_crc(&saved);
    assert_int_equal(load(rows->type, &saved, saved.size), COLUMN_SUMMARY_OTHER_VERSION);
    buf_done(&saved);
    column_summary_done(&s);
}

static void test_damage(void **state) {
    (void)state;
    struct rows few = numbers(5, 0.5), many = numbers(1000000, 0.5),
                texts = strings(30000, DN_TEXT), names = strings(7, DN_CATEGORICAL);
    check_damage(&few, 300);
    check_damage(&many, 20000);
    check_damage(&texts, 20000);
    check_damage(&names, 300);
    rows_done(&few);
    rows_done(&many);
    rows_done(&texts);
    rows_done(&names);
}

/* A loaded summary must need as much memory for counts as the saved one, because this memory
 * decides when the counts become estimates. A hash table grows before a lookup: if it is full and
 * its values are added once more, it is twice as large as a new hash table of these values. */
static void test_memory_of_counts(void **state) {
    (void)state;
    struct rows all[] = {numbers(12, -0.5), strings(16, DN_CATEGORICAL)};
    for (size_t i = 0; i < 2; i++) {
        struct column_summary s = {0};
        add(&s, &all[i], 0, 2000);
        add(&s, &all[i], 2000, 2000);
        const size_t memory = column_summary_counts_memory(&s);
        save_and_load(&s, all[i].type);
        assert_int_equal(column_summary_counts_memory(&s), memory);
        column_summary_done(&s);
        rows_done(&all[i]);
    }
}

/* The count of a small integer has 32 bits; a larger one is damage. */
static void test_count_limit(void **state) {
    (void)state;
    /* offset of the count of the first number */
    enum { COUNT = DIGEST + HASH_BLAKE2B_STATE + 16 + 24 };
    struct rows rows = {.type = DN_NUMERIC, .n = 1, .number = calloc(1, sizeof(double))};
    struct column_summary s = {0};
    struct buf saved = {0};
    assert_non_null(rows.number);
    add(&s, &rows, 0, 1);
    assert_true(column_summary_save(&s, &saved));
    assert_int_equal(saved.data[COUNT], 1);
    memset(saved.data + COUNT, 0xFF, 4);
    put_crc(&saved);
    assert_int_equal(load(DN_NUMERIC, &saved, saved.size), COLUMN_SUMMARY_LOADED);
    memset(saved.data + COUNT, 0, 4);
    saved.data[COUNT + 4] = 1;
    put_crc(&saved);
    assert_int_equal(load(DN_NUMERIC, &saved, saved.size), COLUMN_SUMMARY_DAMAGED);
    buf_done(&saved);
    column_summary_done(&s);
    rows_done(&rows);
}

/* A summary of numbers must not load as a summary of another type, whose writer needs members that
 * it does not have. */
static void test_other_type(void **state) {
    (void)state;
    struct rows many = numbers(1000000, 0.5);
    struct column_summary s = {0};
    struct buf saved = {0};
    add(&s, &many, 0, 20000);
    assert_true(column_summary_save(&s, &saved));
    assert_int_equal(load(DN_NUMERIC, &saved, saved.size), COLUMN_SUMMARY_LOADED);
    const dn_column_type others[] = {DN_BOOLEAN, DN_CATEGORICAL, DN_TEXT, DN_SPARSE};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(load(others[i], &saved, saved.size), COLUMN_SUMMARY_DAMAGED);
    }
    buf_done(&saved);
    column_summary_done(&s);
    rows_done(&many);
}

/* ---- memory ---- */
static struct column_summary source;
static dn_column_type source_type;

static bool copy_failing(void) {
    struct buf saved = {0};
    struct column_summary loaded = {0};
    bool well = column_summary_save(&source, &saved);
    if (well) {
        const enum column_summary_load_status status =
            column_summary_load(&loaded, source_type, saved.data, saved.size);
        assert_true(status == COLUMN_SUMMARY_LOADED || status == COLUMN_SUMMARY_NO_MEMORY);
        well = status == COLUMN_SUMMARY_LOADED;
    }
    column_summary_done(&loaded);
    buf_done(&saved);
    return well;
}

static void test_no_memory(void **state) {
    (void)state;
    if (!ALLOC_FAIL_WORKS) {
        skip();
    }
    struct rows all[] = {numbers(5000, 0.5), numbers(1000000, 0.5), strings(30, DN_CATEGORICAL),
                         strings(30000, DN_TEXT)};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bool well = false;
        source_type = all[i].type;
        add(&source, &all[i], 0, 20000);
        ALLOC_FAIL_EACH(well = copy_failing());
        assert_true(well);
        column_summary_done(&source);
        rows_done(&all[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_booleans),
                                       cmocka_unit_test(test_strings),
                                       cmocka_unit_test(test_sparse),
                                       cmocka_unit_test(test_numbers_that_count_up),
                                       cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_other_type),
                                       cmocka_unit_test(test_memory_of_counts),
                                       cmocka_unit_test(test_count_limit),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
