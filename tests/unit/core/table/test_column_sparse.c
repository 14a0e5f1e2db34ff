/* Sparse column chunks: rows are read as they were written in all widths and encodings; damaged
 * bytes are refused; failed allocations. */
#include "base/bytes.h"
#include "table/column_format.h"
#include "unit/base/alloc_fail.h"
#include <discern/table.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The rows of a column chunk as plain arrays. */
struct rows {
    size_t n_rows, n_entries;
    size_t start[3001];
    uint32_t index[20000];
    double number[20000];
};

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static struct rows *rows_new(void) {
    struct rows *rows = calloc(1, sizeof *rows);
    assert_non_null(rows);
    return rows;
}

static void add_row(struct rows *rows, const uint32_t *index, const double *number, size_t n) {
    assert_true(rows->n_rows < 3000 && rows->n_entries + n <= 20000);
    for (size_t k = 0; k < n; k++) {
        rows->index[rows->n_entries + k] = index[k];
        rows->number[rows->n_entries + k] = number[k];
    }
    rows->n_entries += n;
    rows->start[++rows->n_rows] = rows->n_entries;
}

/* Fills n_rows rows of up to `most` entries. Consecutive indices differ by at most `step`. kind:
 * the range of the numbers. */
static void fill(struct rows *rows, size_t n_rows, size_t most, uint32_t step, int kind) {
    static const double special[] = {0,           -0.0, DBL_MAX, -DBL_MAX,
                                     DBL_MIN / 8, 0.1,  1e-300,  12345678901.0};
    for (size_t i = 0; i < n_rows; i++) {
        const size_t n = next_random() % (most + 1);
        uint32_t index[300], p = (uint32_t)(next_random() % step);
        double number[300];
        for (size_t k = 0; k < n; k++) {
            const uint64_t r = next_random();
            index[k] = p;
            p += 1 + (uint32_t)(next_random() % step);
            number[k] = kind == 0   ? 1
                        : kind == 1 ? (double)(r % 256)
                        : kind == 2 ? (double)(int64_t)(r % 65536) - 32768
                        : kind == 3 ? (double)(int32_t)(uint32_t)r
                                    : special[r % 8];
        }
        add_row(rows, index, number, n);
    }
}

struct blob {
    void *bytes;
    size_t size;
};

static struct blob encode(const struct rows *rows) {
    dn_column_builder *builder = NULL;
    struct blob blob = {0};
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const size_t first = rows->start[i];
        assert_int_equal(dn_column_builder_entries(builder, rows->index + first,
                                                   rows->number + first, rows->start[i + 1] - first,
                                                   NULL),
                         DN_OK);
        assert_int_equal(dn_column_builder_n_rows(builder), i + 1);
    }
    assert_true(dn_column_builder_bytes(builder) >= 12 * rows->n_entries);
    assert_int_equal(dn_column_builder_encode(builder, &blob.bytes, &blob.size, NULL), DN_OK);
    assert_int_equal(dn_column_builder_n_rows(builder), 0);
    dn_column_builder_free(builder);
    return blob;
}

static void check(dn_column_chunk *chunk, struct blob blob, const struct rows *rows) {
    dn_column_view view;
    assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, DN_SPARSE, &view, NULL),
                     DN_OK);
    assert_int_equal(view.type, DN_SPARSE);
    assert_int_equal(view.n_rows, rows->n_rows);
    assert_memory_equal(view.row_start, rows->start, (rows->n_rows + 1) * sizeof *rows->start);
    assert_memory_equal(view.index, rows->index, rows->n_entries * sizeof *rows->index);
    assert_memory_equal(view.number, rows->number,
                        rows->n_entries * sizeof *rows->number); /* -0 too */
}

/* All encodings and widths are decoded with one chunk object, to detect state that remains from the
 * chunk before. */
static void round_trips(void **unused) {
    (void)unused;
    static const struct {
        size_t n_rows, most;
        uint32_t step;
    } shapes[] = {{1, 0, 1},    {1, 1, 1},      {40, 3, 2},     {3000, 6, 20},
                  {30, 300, 5}, {30, 300, 200}, {25, 257, 400}, {200, 30, 10000000}};
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (int kind = 0; kind < 5; kind++) {
            struct rows *rows = rows_new();
            fill(rows, shapes[s].n_rows, shapes[s].most, shapes[s].step, kind);
            struct blob blob = encode(rows);
            check(chunk, blob, rows);
            free(blob.bytes);
            free(rows);
        }
    }
    dn_column_chunk_free(chunk);
}

static size_t encoded_size(const uint32_t *index, const double *number, size_t n) {
    struct rows *rows = rows_new();
    add_row(rows, index, number, n);
    struct blob blob = encode(rows);
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    check(chunk, blob, rows);
    dn_column_chunk_free(chunk);
    free(blob.bytes);
    free(rows);
    return blob.size;
}

/* A row of two entries takes a header, a length, two indices, two values. */
static void is_narrow(void **unused) {
    (void)unused;
    static const uint32_t near[] = {0, 65535}, far[] = {1, 65536}, furthest[] = {0, UINT32_MAX};
    static const double ones[] = {1, 1}, small[] = {0, 255}, middle[] = {-32768, 1},
                        large[] = {1, 32768}, fraction[] = {1, 0.5}, minus[] = {1, -0.0};
    assert_int_equal(encoded_size(near, ones, 2), 16 + 1 + 4);
    assert_int_equal(encoded_size(far, ones, 2), 16 + 1 + 8);
    assert_int_equal(encoded_size(furthest, ones, 2), 16 + 1 + 8);
    assert_int_equal(encoded_size(near, small, 2), 16 + 1 + 4 + 2);
    assert_int_equal(encoded_size(near, middle, 2), 16 + 1 + 4 + 4);
    assert_int_equal(encoded_size(near, large, 2), 16 + 1 + 4 + 8);
    assert_int_equal(encoded_size(near, fraction, 2), 16 + 1 + 4 + 16);
    assert_int_equal(encoded_size(near, minus, 2), 16 + 1 + 4 + 16);
    assert_int_equal(encoded_size(near, ones, 0), 16 + 1);
}

/* Invalid rows are refused and change nothing; a builder takes cells or sparse rows, not both. */
static void refusals(void **unused) {
    (void)unused;
    static const uint32_t same[] = {3, 3}, falling[] = {3, 2}, good[] = {2, 3};
    static const double ones[] = {1, 1}, nan[] = {1, (double)NAN},
                        infinite[] = {(double)-INFINITY, 1};
    dn_column_builder *builder = NULL;
    struct rows *rows = rows_new();
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(dn_column_builder_entries(builder, same, ones, 2, NULL), DN_ERR_ARGUMENT);
        assert_int_equal(dn_column_builder_entries(builder, falling, ones, 2, NULL),
                         DN_ERR_ARGUMENT);
        assert_int_equal(dn_column_builder_entries(builder, good, nan, 2, NULL), DN_ERR_ARGUMENT);
        assert_int_equal(dn_column_builder_entries(builder, good, infinite, 2, NULL),
                         DN_ERR_ARGUMENT);
        assert_int_equal(dn_column_builder_n_rows(builder), (size_t)round);
        assert_int_equal(dn_column_builder_entries(builder, good, ones, 2, NULL), DN_OK);
        add_row(rows, good, ones, 2);
    }
    assert_int_equal(dn_column_builder_number(builder, 1, NULL, 0, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_column_builder_number(builder, 1, "+1", 2, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_column_builder_numbers(builder, ones, 1, 2, 0, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_column_builder_string(builder, "x", 1, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_column_builder_missing(builder, NULL), DN_ERR_ARGUMENT);
    struct blob blob = {0};
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_builder_encode(builder, &blob.bytes, &blob.size, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    check(chunk, blob, rows);
    free(blob.bytes);
    /* a builder with cells refuses sparse rows */
    assert_int_equal(dn_column_builder_number(builder, 1, NULL, 0, NULL), DN_OK);
    assert_int_equal(dn_column_builder_entries(builder, good, ones, 2, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_column_builder_n_rows(builder), 1);
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
    free(rows);
}

/* Sparse chunks are refused as any other type, and other chunks are refused as sparse rows. Neither
 * error is "damaged". */
static void other_types(void **unused) {
    (void)unused;
    struct rows *rows = rows_new();
    fill(rows, 5, 3, 4, 0);
    struct blob blob = encode(rows);
    dn_column_chunk *chunk = NULL;
    dn_column_builder *builder = NULL;
    dn_column_view view;
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    for (int type = DN_NUMERIC; type <= DN_TEXT; type++) {
        assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, (dn_column_type)type,
                                                &view, NULL),
                         DN_ERR_DATA);
    }
    free(blob.bytes);
    for (int strings = 0; strings < 2; strings++) {
        assert_int_equal(strings ? dn_column_builder_string(builder, "x", 1, NULL)
                                 : dn_column_builder_missing(builder, NULL),
                         DN_OK);
        assert_int_equal(dn_column_builder_encode(builder, &blob.bytes, &blob.size, NULL), DN_OK);
        assert_int_equal(dn_column_chunk_decode(chunk, blob.bytes, blob.size, DN_SPARSE, &view,
                                                NULL),
                         DN_ERR_DATA);
        free(blob.bytes);
    }
    dn_column_builder_free(builder);
    dn_column_chunk_free(chunk);
    free(rows);
}

/* Decodes any bytes: they are refused, or the rows are valid. */
static dn_status touch(dn_column_chunk *chunk, const void *bytes, size_t size) {
    dn_column_view view;
    dn_error err;
    dn_error_clear(&err);
    unsigned char *exact =
        malloc(size + 1); /* exact size, so that a read past the end is detected */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    const dn_status status = dn_column_chunk_decode(chunk, exact, size, DN_SPARSE, &view, &err);
    free(exact);
    if (status != DN_OK) {
        assert_true(err.message[0] != '\0');
        return status;
    }
    assert_int_equal(view.row_start[0], 0);
    for (size_t i = 0; i < view.n_rows; i++) {
        assert_true(view.row_start[i] <= view.row_start[i + 1]);
        for (size_t k = view.row_start[i]; k < view.row_start[i + 1]; k++) {
            assert_true(isfinite(view.number[k]));
            assert_true(k == view.row_start[i] || view.index[k] > view.index[k - 1]);
        }
    }
    return status;
}

static void damaged_bytes(void **unused) {
    (void)unused;
    dn_column_chunk *chunk = NULL;
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    for (int kind = 0; kind < 5; kind++) {
        struct rows *rows = rows_new();
        fill(rows, 12, kind == 2 ? 300 : 5, kind == 3 ? 100000 : 4, kind);
        struct blob blob = encode(rows);
        for (size_t cut = 0; cut < blob.size; cut++) {
            assert_int_equal(touch(chunk, blob.bytes, cut), DN_ERR_CORRUPT);
        }
        unsigned char *copy = malloc(blob.size + 1);
        assert_non_null(copy);
        for (int i = 0; i < 3000; i++) {
            memcpy(copy, blob.bytes, blob.size);
            for (unsigned k = 0; k < 1 + next_random() % 3; k++) {
                copy[next_random() % (next_random() % 2 && blob.size > 40 ? 40 : blob.size)] =
                    (unsigned char)next_random();
            }
            (void)touch(chunk, copy, blob.size);
        }
        memcpy(copy, blob.bytes, blob.size);
        copy[blob.size] = 0;
        assert_int_equal(touch(chunk, copy, blob.size + 1), DN_ERR_CORRUPT);
        free(copy);
        free(blob.bytes);
        free(rows);
    }
    dn_column_chunk_free(chunk);
}

/* Each rule is broken alone. */
static void broken_rules(void **unused) {
    (void)unused;
    static const uint32_t index[] = {1, 5, 2, 9};
    static const double number[] = {0.5, 1, 2, 3};
    struct rows *rows = rows_new();
    dn_column_chunk *chunk = NULL;
    add_row(rows, index, number, 2);
    add_row(rows, index + 2, number + 2, 2);
    struct blob blob = encode(rows);
    unsigned char *at = blob.bytes;
    assert_int_equal(blob.size, 16 + 2 + 8 + 32);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    check(chunk, blob, rows);
    static const struct {
        size_t at;
        unsigned char value;
    } wrong[] = {
        {4, 3},  {8, 3},  {8, 0},  {9, 1},
        {9, 3},  {10, 5}, {11, 1},          /* rows, widths, encoding, the zero */
        {12, 3}, {12, 5},                   /* entries */
        {16, 1}, {16, 3}, {17, 1},          /* lengths */
        {18, 5}, {20, 1}, {22, 9}, {24, 2}, /* indices that do not ascend */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const unsigned char right = at[wrong[i].at];
        at[wrong[i].at] = wrong[i].value;
        if (touch(chunk, blob.bytes, blob.size) != DN_ERR_CORRUPT) {
            fail_msg("byte %zu as %u is taken", wrong[i].at, wrong[i].value);
        }
        at[wrong[i].at] = right;
    }
    static const double bad[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
    for (size_t i = 0; i < 3; i++) {
        dni_put_f64s(at + 16 + 2 + 8 + 8 * i, &bad[i], 1);
        assert_int_equal(touch(chunk, blob.bytes, blob.size), DN_ERR_CORRUPT);
        dni_put_f64s(at + 16 + 2 + 8 + 8 * i, &number[i], 1);
    }
    check(chunk, blob, rows);
    /* lengths whose sum overflows to the right number */
    static const unsigned char round[] = {'D',
                                          'C',
                                          DNI_COLUMN_VERSION,
                                          DNI_COLUMN_SPARSE,
                                          2,
                                          0,
                                          0,
                                          0,
                                          4,
                                          2,
                                          DNI_COLUMN_ONES,
                                          0,
                                          1,
                                          0,
                                          0,
                                          0,
                                          2,
                                          0,
                                          0,
                                          0,
                                          255,
                                          255,
                                          255,
                                          255,
                                          7,
                                          0};
    assert_int_equal(touch(chunk, round, sizeof round), DN_ERR_CORRUPT);
    free(blob.bytes);
    dn_column_chunk_free(chunk);
    free(rows);
}

/* Allocation k fails, and the refused call is repeated. Returns whether an allocation failed. */
static bool build_failing(const struct rows *rows, long k, struct blob *out) {
    dn_column_builder *builder = NULL;
    dn_column_chunk *chunk = NULL;
    dn_column_view view;
    bool failed = false;
    assert_int_equal(dn_column_builder_new(&builder, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    alloc_fail_at = k;
    for (size_t i = 0; i < rows->n_rows;) {
        const size_t first = rows->start[i], n = rows->start[i + 1] - first;
        const dn_status status =
            dn_column_builder_entries(builder, rows->index + first, rows->number + first, n, NULL);
        assert_true(status == DN_OK || status == DN_ERR_MEMORY);
        failed = failed || status != DN_OK;
        i += status == DN_OK;
        assert_int_equal(dn_column_builder_n_rows(builder), i);
    }
    while (dn_column_builder_encode(builder, &out->bytes, &out->size, NULL) != DN_OK) {
        failed = true;
    }
    while (dn_column_chunk_decode(chunk, out->bytes, out->size, DN_SPARSE, &view, NULL) != DN_OK) {
        failed = true;
    }
    alloc_fail_at = 0;
    check(chunk, *out, rows);
    dn_column_chunk_free(chunk);
    dn_column_builder_free(builder);
    return failed;
}

static void no_memory(void **unused) {
    (void)unused;
    if (!alloc_fail_works()) {
        skip();
    }
    struct rows *rows = rows_new();
    fill(rows, 200, 6, 3, 0);
    struct blob want = encode(rows), got = {0};
    bool failed = true;
    long k = 1;
    for (; failed; k++) {
        failed = build_failing(rows, k, &got);
        assert_int_equal(got.size, want.size);
        assert_memory_equal(got.bytes, want.bytes, want.size);
        free(got.bytes);
    }
    assert_true(k > 6);
    free(want.bytes);
    free(rows);
}

static void source_in_memory(void **unused) {
    (void)unused;
    static const size_t start[] = {0, 2, 2, 3}, backwards[] = {0, 2, 1, 3};
    static const uint32_t index[] = {0, 6, 3}, equal[] = {6, 6, 3}, beyond[] = {0, 7, 3};
    static const double number[] = {1, 2, 3};
    dn_table_column column = {.name = "f", .type = DN_SPARSE, .width = 7, .first_index = 1};
    dn_column_view view = {.type = DN_SPARSE,
                           .n_rows = 3,
                           .number = number,
                           .row_start = start,
                           .index = index},
                   out;
    dn_table_source *source = NULL;
    dn_error err;
    assert_int_equal(dn_table_source_from_columns(&column, &view, 1, 3, &source, NULL), DN_OK);
    assert_int_equal(source->columns[0].width, 7);
    assert_int_equal(source->columns[0].first_index, 1);
    assert_int_equal(source->column(source, 0, 0, 0, &out, NULL), DN_OK);
    assert_ptr_equal(out.index, index);
    dn_table_source_free(source);
    const uint32_t *const wrong_indices[] = {equal, beyond};
    for (size_t i = 0; i < 4; i++) {
        dn_column_view wrong = view;
        column.width = i == 0 ? 0 : 7;
        wrong.row_start = i == 1 ? backwards : start;
        wrong.index = i >= 2 ? wrong_indices[i - 2] : index;
        dn_error_clear(&err);
        assert_int_equal(dn_table_source_from_columns(&column, &wrong, 1, 3, &source, &err),
                         DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "f");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),   cmocka_unit_test(is_narrow),
        cmocka_unit_test(refusals),      cmocka_unit_test(other_types),
        cmocka_unit_test(damaged_bytes), cmocka_unit_test(broken_rules),
        cmocka_unit_test(no_memory),     cmocka_unit_test(source_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
