/* Joined chunks: every cell is read as it was written, for chunks of all encodings; damaged chunks
 * are refused; failed allocations. */
#include <discern/table.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/base/alloc_fail.h"

enum { MAX_CHUNK_ROWS = 40, MAX_CHUNKS = 6 };

static uint64_t state = 0x9e3779b97f4a7c15;

static size_t below(size_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % n;
}

struct blob {
    void *bytes;
    size_t size;
};

static struct blob encode(dn_column_builder *builder) {
    struct blob blob = {0};
    assert_int_equal(dn_column_builder_encode(builder, &blob.bytes, &blob.size, NULL), DN_OK);
    return blob;
}

/* Appends a cell as a CSV reader does; NULL: missing. silently: a number in canonical form is
 * appended without its spelling. */
static void put(dn_column_builder *builder, const char *cell, bool silently) {
    double value;
    char canonical[DN_NUMBER_SIZE];
    dn_status status;
    if (cell == NULL) {
        status = dn_column_builder_missing(builder, NULL);
    } else if (!dn_number_parse(cell, strlen(cell), &value)) {
        status = dn_column_builder_string(builder, cell, strlen(cell), NULL);
    } else {
        dn_number_format(value, canonical);
        status = silently && strcmp(canonical, cell) == 0
                     ? dn_column_builder_number(builder, value, NULL, 0, NULL)
                     : dn_column_builder_number(builder, value, cell, strlen(cell), NULL);
    }
    assert_int_equal(status, DN_OK);
}

/* Checks the cells of a chunk that is read as strings. */
static void assert_cells(const struct blob *blob, const char *const *cells, size_t n) {
    dn_column_chunk *chunk = NULL;
    dn_column_view view;
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_decode(chunk, blob->bytes, blob->size, DN_TEXT, &view, NULL),
                     DN_OK);
    assert_int_equal(view.n_rows, n);
    for (size_t i = 0; i < n; i++) {
        if (cells[i] == NULL) {
            assert_int_equal(view.code[i], DN_CODE_MISSING);
            continue;
        }
        const uint32_t from = view.strings.start[view.code[i]],
                       length = view.strings.start[view.code[i] + 1] - from;
        assert_int_equal(length, strlen(cells[i]));
        assert_memory_equal(view.strings.bytes + from, cells[i], length);
    }
    dn_column_chunk_free(chunk);
}

static const char *const canonical[] = {"0",   "1",  "7",     "255",       "-3", "70000",
                                        "0.5", "-0", "1e300", "123456789", NULL};
static const char *const padded[] = {"1.50", "2.25", "0.00", "-7.10", "12.00", NULL};
static const char *const odd[] = {"007", "+3", "1e2", ".5", "4.", "1.5", "12345678901234567890",
                                  " 1",  NULL};
static const char *const words[] = {"x", "", "true", "1", "2.50", "a long one, of some words",
                                    NULL};

struct pool {
    const char *const *cell;
    size_t n;
};
#define POOL(a)                                                                                    \
    { (a), sizeof(a) / sizeof *(a) }
static const struct pool pools[] = {POOL(canonical), POOL(padded), POOL(odd), POOL(words)};
enum { N_POOLS = sizeof pools / sizeof *pools };

static void test_any_chunks(void **unused) {
    (void)unused;
    dn_column_builder *builder = NULL, *joined = NULL;
    dn_column_chunk *scratch = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_builder_new(&joined, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&scratch, NULL), DN_OK);
    for (int round = 0; round < 4000; round++) {
        const char *cells[MAX_CHUNKS * MAX_CHUNK_ROWS];
        struct blob chunk[MAX_CHUNKS];
        size_t n = 0, n_chunks = 1 + below(MAX_CHUNKS), kinds = 1 + below(N_POOLS),
               base = below(N_POOLS);
        for (size_t c = 0; c < n_chunks; c++) {
            const struct pool *pool = &pools[(base + below(kinds)) % N_POOLS];
            const bool silently = below(2) == 0;
            for (size_t rows = below(3) == 0 ? 1 : 1 + below(MAX_CHUNK_ROWS); rows > 0; rows--) {
                cells[n] = pool->cell[below(pool->n)];
                put(builder, cells[n++], silently);
            }
            chunk[c] = encode(builder);
        }
        for (size_t c = 0; c < n_chunks; c++) {
            assert_int_equal(dn_column_builder_chunk(joined, scratch, chunk[c].bytes, chunk[c].size,
                                                     NULL),
                             DN_OK);
        }
        assert_int_equal(dn_column_builder_n_rows(joined), n);
        struct blob all = encode(joined);
        assert_cells(&all, cells, n);
        for (size_t c = 0; c < n_chunks; c++) {
            free(chunk[c].bytes);
        }
        free(all.bytes);
    }
    dn_column_builder_free(builder);
    dn_column_builder_free(joined);
    dn_column_chunk_free(scratch);
}

/* Numbers are joined bit for bit. */
static void test_numbers(void **unused) {
    (void)unused;
    static const char *const cells[] = {"5", "1.50", "-0", NULL, "007", "1e300", "0.1"};
    static const double expected[] = {5, 1.5, -0.0, (double)NAN, 7, 1e300, 0.1};
    enum { N = sizeof cells / sizeof *cells };
    dn_column_builder *builder = NULL, *joined = NULL;
    dn_column_chunk *scratch = NULL;
    dn_column_view view;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_builder_new(&joined, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&scratch, NULL), DN_OK);
    for (size_t i = 0; i < N; i++) { /* a chunk a cell */
        put(builder, cells[i], false);
        struct blob one = encode(builder);
        assert_int_equal(dn_column_builder_chunk(joined, scratch, one.bytes, one.size, NULL),
                         DN_OK);
        free(one.bytes);
    }
    struct blob all = encode(joined);
    assert_int_equal(dn_column_chunk_decode(scratch, all.bytes, all.size, DN_NUMERIC, &view, NULL),
                     DN_OK);
    for (size_t i = 0; i < N; i++) {
        assert_true(isnan(expected[i])
                        ? isnan(view.number[i])
                        : memcmp(&view.number[i], &expected[i], sizeof expected[i]) == 0);
    }
    assert_cells(&all, cells, N);
    free(all.bytes);
    dn_column_builder_free(builder);
    dn_column_builder_free(joined);
    dn_column_chunk_free(scratch);
}

static void test_sparse_rows(void **unused) {
    (void)unused;
    static const uint32_t index[] = {0, 3, 70000, 2, 5};
    static const double value[] = {1, -2.5, 4, 0, 7};
    static const size_t start[] = {0, 3, 3, 5};
    dn_column_builder *builder = NULL, *joined = NULL;
    dn_column_chunk *scratch = NULL;
    dn_column_view view;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_builder_new(&joined, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&scratch, NULL), DN_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(dn_column_builder_entries(builder, index + start[i], value + start[i],
                                                   start[i + 1] - start[i], NULL),
                         DN_OK);
        struct blob one = encode(builder);
        assert_int_equal(dn_column_builder_chunk(joined, scratch, one.bytes, one.size, NULL),
                         DN_OK);
        free(one.bytes);
    }
    put(builder, "1", false);
    struct blob cell = encode(builder);
    assert_int_equal(dn_column_builder_chunk(joined, scratch, cell.bytes, cell.size, NULL),
                     DN_ERR_ARGUMENT); /* not behind them */
    struct blob all = encode(joined);
    assert_int_equal(dn_column_chunk_decode(scratch, all.bytes, all.size, DN_SPARSE, &view, NULL),
                     DN_OK);
    assert_int_equal(view.n_rows, 3);
    assert_memory_equal(view.row_start, start, sizeof start);
    assert_memory_equal(view.index, index, sizeof index);
    assert_memory_equal(view.number, value, sizeof value);
    put(builder, "1", false);
    assert_int_equal(dn_column_builder_chunk(builder, scratch, all.bytes, all.size, NULL),
                     DN_ERR_ARGUMENT); /* a builder with cells refuses a sparse chunk */
    free(cell.bytes);
    free(all.bytes);
    dn_column_builder_free(builder);
    dn_column_builder_free(joined);
    dn_column_chunk_free(scratch);
}

/* A changed byte is refused or gives other cells, without a crash. A truncated chunk is refused. */
static void test_damage(void **unused) {
    (void)unused;
    dn_column_builder *builder = NULL, *joined = NULL;
    dn_column_chunk *scratch = NULL;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&scratch, NULL), DN_OK);
    for (size_t p = 0; p < N_POOLS; p++) {
        for (size_t i = 0; i < 2 * pools[p].n; i++) {
            put(builder, pools[p].cell[i % pools[p].n], false);
        }
        struct blob good = encode(builder);
        for (size_t i = 0; i < 8 * good.size; i++) {
            unsigned char *bad = malloc(good.size);
            assert_non_null(bad);
            memcpy(bad, good.bytes, good.size);
            bad[i / 8] ^= (unsigned char)(1u << i % 8);
            assert_int_equal(dn_column_builder_new(&joined, NULL), DN_OK);
            const dn_status status = dn_column_builder_chunk(joined, scratch, bad, good.size, NULL);
            assert_true(status == DN_OK || status == DN_ERR_CORRUPT || status == DN_ERR_VERSION ||
                        status == DN_ERR_DATA);
            dn_column_builder_free(joined);
            free(bad);
        }
        for (size_t size = 0; size < good.size; size++) {
            assert_int_equal(dn_column_builder_new(&joined, NULL), DN_OK);
            assert_int_equal(dn_column_builder_chunk(joined, scratch, good.bytes, size, NULL),
                             DN_ERR_CORRUPT);
            dn_column_builder_free(joined);
        }
        free(good.bytes);
    }
    dn_column_builder_free(builder);
    dn_column_chunk_free(scratch);
}

/* Joins two chunks. Returns whether no allocation failed. */
static bool join_lean(const struct blob *a, const struct blob *b) {
    dn_column_builder *joined = NULL;
    dn_column_chunk *scratch = NULL;
    struct blob all = {0};
    dn_status status = dn_column_builder_new(&joined, NULL);
    status = status == DN_OK ? dn_column_chunk_new(&scratch, NULL) : status;
    status = status == DN_OK ? dn_column_builder_chunk(joined, scratch, a->bytes, a->size, NULL)
                             : status;
    status = status == DN_OK ? dn_column_builder_chunk(joined, scratch, b->bytes, b->size, NULL)
                             : status;
    status =
        status == DN_OK ? dn_column_builder_encode(joined, &all.bytes, &all.size, NULL) : status;
    assert_true(status == DN_OK || status == DN_ERR_MEMORY);
    free(all.bytes);
    dn_column_builder_free(joined);
    dn_column_chunk_free(scratch);
    return status == DN_OK;
}

static void test_no_memory(void **unused) {
    (void)unused;
    if (!alloc_fail_works()) {
        skip(); /* before anything is allocated */
    }
    dn_column_builder *builder = NULL;
    struct blob chunk[N_POOLS];
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    for (size_t p = 0; p < N_POOLS; p++) {
        for (size_t i = 0; i < 2 * pools[p].n; i++) {
            put(builder, pools[p].cell[i % pools[p].n], false);
        }
        chunk[p] = encode(builder);
    }
    for (size_t p = 0; p < N_POOLS; p++) {
        bool well = false;
        ALLOC_FAIL_EACH(well = join_lean(&chunk[p], &chunk[(p + 1) % N_POOLS]));
        assert_true(well);
    }
    for (size_t p = 0; p < N_POOLS; p++) {
        free(chunk[p].bytes);
    }
    dn_column_builder_free(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_chunks),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_sparse_rows), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("core: column chunks joined", tests, NULL, NULL);
}
