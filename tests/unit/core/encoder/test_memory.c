/* Each allocation fails once. The failure is reported, nothing leaks, and the next attempt
 * succeeds. */
#include "encoder/encoder_bytes.h"
#include "unit/base/alloc_fail.h"
#include "unit/core/table/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* numbers, numbers with other spellings, then strings */
static const char *const cells[] = {"1", "2.50", "007", NULL, "3.25", "1e5",
                                    "x", "",     "12",  "x",  NULL,   "yy"};
#define N_CELLS (sizeof cells / sizeof *cells)

static dn_status append(dn_column_builder *builder, const char *cell, dn_error *err) {
    double value;
    if (cell == NULL) {
        return dn_column_builder_missing(builder, err);
    }
    if (dn_number_parse(cell, strlen(cell), &value)) {
        return dn_column_builder_number(builder, value, cell, strlen(cell), err);
    }
    return dn_column_builder_string(builder, cell, strlen(cell), err);
}

/* Builds a column chunk while allocation k fails. A call that failed is repeated. *out_failed:
 * whether a call failed. */
static void build(long k, size_t n_cells, void **bytes, size_t *size, bool *out_failed) {
    dn_column_builder *builder = NULL;
    dn_error err;
    dn_status status = DN_ERR_MEMORY;
    *out_failed = false;
    alloc_fail_at = k;
    for (int attempt = 0; status != DN_OK; attempt++) {
        dn_error_clear(&err);
        status = dn_column_builder_new(&builder, &err);
        assert_true(status == DN_OK ||
                    (status == DN_ERR_MEMORY && attempt == 0 && builder == NULL));
        *out_failed = *out_failed || status != DN_OK;
    }
    for (size_t i = 0; i < n_cells; i++) {
        dn_error_clear(&err);
        status = append(builder, cells[i % N_CELLS], &err);
        if (status != DN_OK) {
            assert_int_equal(status, DN_ERR_MEMORY);
            assert_int_equal(err.code, DN_ERR_MEMORY);
            assert_int_equal(dn_column_builder_n_rows(builder), i);
            *out_failed = true;
            assert_int_equal(append(builder, cells[i % N_CELLS], NULL), DN_OK);
        }
        assert_int_equal(dn_column_builder_n_rows(builder), i + 1);
    }
    if (dn_column_builder_encode(builder, bytes, size, NULL) != DN_OK) {
        *out_failed = true;
        assert_int_equal(dn_column_builder_n_rows(builder), n_cells);
        assert_int_equal(dn_column_builder_encode(builder, bytes, size, NULL), DN_OK);
    }
    alloc_fail_at = 0;
    dn_column_builder_free(builder);
}

static void column_builder(void **unused) {
    (void)unused;
    if (!alloc_fail_works()) {
        skip();
    }
    static const size_t sizes[] = {4, N_CELLS, 500};
    for (size_t s = 0; s < 3; s++) {
        void *want = NULL, *got = NULL;
        size_t want_size = 0, got_size = 0;
        bool failed;
        build(0, sizes[s], &want, &want_size, &failed);
        assert_false(failed);
        long k = 1;
        for (failed = true; failed; k++) {
            build(k, sizes[s], &got, &got_size, &failed);
            assert_int_equal(got_size, want_size);
            assert_memory_equal(got, want, want_size);
            free(got);
        }
        assert_true(k > 4);
        free(want);
    }
}

static void column_chunk(void **unused) {
    (void)unused;
    if (!alloc_fail_works()) {
        skip();
    }
    static const size_t sizes[] = {4, 300};
    for (size_t s = 0; s < 2; s++) {
        void *bytes = NULL;
        size_t size = 0;
        bool failed;
        build(0, sizes[s], &bytes, &size, &failed);
        for (int type = DN_NUMERIC; type <= DN_TEXT; type++) {
            dn_status status = DN_ERR_MEMORY;
            for (long k = 1; status == DN_ERR_MEMORY; k++) {
                dn_column_chunk *chunk = NULL;
                dn_column_view view;
                dn_error err;
                dn_error_clear(&err);
                alloc_fail_at = k;
                status = dn_column_chunk_new(&chunk, &err);
                if (status == DN_OK) {
                    status = dn_column_chunk_decode(chunk, bytes, size, (dn_column_type)type, &view,
                                                    &err);
                }
                alloc_fail_at = 0;
                assert_int_equal(err.code, status);
                if (status == DN_ERR_MEMORY && chunk != NULL) { /* can be used again */
                    assert_true(dn_column_chunk_decode(chunk, bytes, size, (dn_column_type)type,
                                                       &view, NULL) != DN_ERR_MEMORY);
                }
                dn_column_chunk_free(chunk);
                assert_true(k < 100);
            }
            assert_true(status == DN_OK || status == DN_ERR_DATA); /* "x" is not a number */
        }
        free(bytes);
    }
}

static void encoder_and_rows(void **unused) {
    (void)unused;
    if (!alloc_fail_works()) {
        skip();
    }
    table *t = mixed_table_new(60);
    static const size_t columns[] = {T_PLAIN, T_COLOUR, T_CITY};
    dn_column_view views[3];
    dn_table_column names[3];
    uint32_t *codes = malloc(2 * TABLE_ROWS * sizeof *codes), start[61];
    char text[200];
    assert_non_null(codes);
    start[0] = 0;
    for (uint32_t i = 0; i < 60; i++) {
        memcpy(text + start[i], t->names[i], strlen(t->names[i]));
        start[i + 1] = start[i] + (uint32_t)strlen(t->names[i]);
    }
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        codes[i] = (uint32_t)(i % 60);
        codes[TABLE_ROWS + i] = i % 11 == 0 ? DN_CODE_MISSING : (uint32_t)(i % 5);
    }
    for (size_t c = 0; c < 3; c++) {
        names[c] = t->columns[columns[c]].column;
        views[c] = (dn_column_view){.type = names[c].type,
                                    .n_rows = TABLE_ROWS,
                                    .number = t->number[T_PLAIN]};
        if (c > 0) {
            views[c].code = codes + (c - 1) * TABLE_ROWS;
            views[c].strings = (dn_strings){60, start, text};
        }
    }
    static const size_t inputs[] = {0, 1, 2};
    dn_encoder_spec spec = {.columns = inputs, .n_columns = 3, .standardize = true};
    dn_status status = DN_ERR_MEMORY;
    long k = 1;
    for (; status != DN_OK; k++) {
        dn_table_source *source = NULL;
        dn_encoder *encoder = NULL, *back = NULL;
        dn_rows *rows[2] = {NULL, NULL};
        void *bytes = NULL;
        size_t size = 0;
        dn_error err;
        dn_error_clear(&err);
        dni_writer writer;
        dni_writer_init(&writer);
        alloc_fail_at = k;
        status = dn_table_source_from_columns(names, views, 3, TABLE_ROWS, &source, &err);
        if (status == DN_OK) {
            status = dn_encoder_fit(source, &spec, t->role, NULL, NULL, &encoder, &err);
        }
        for (int memory = 0; status == DN_OK && memory < 2; memory++) {
            status = dn_rows_from_source(source, encoder, t->role, DN_ROW_TRAIN, t->target, NULL,
                                         memory == 1, NULL, &rows[memory], &err);
            dn_block block;
            if (status == DN_OK) {
                status = dn_rows_block(rows[memory], 0, 0, &block, &err);
            }
        }
        if (status == DN_OK) {
            dni_encoder_write(encoder, &writer);
            status = dni_writer_take(&writer, &bytes, &size, &err);
        }
        if (status == DN_OK) {
            dni_reader reader = dni_reader_of(bytes, size);
            status = dni_encoder_read(&reader, &back, &err);
        }
        alloc_fail_at = 0;
        assert_true(status == DN_OK || status == DN_ERR_MEMORY);
        assert_int_equal(err.code, status);
        assert_true((back != NULL) == (status == DN_OK));
        dni_writer_done(&writer);
        dn_rows_free(rows[0]);
        dn_rows_free(rows[1]);
        dn_encoder_unref(back);
        dn_encoder_unref(encoder);
        dn_table_source_free(source);
        free(bytes);
    }
    assert_true(k > 60);
    free(codes);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(column_builder),
        cmocka_unit_test(column_chunk),
        cmocka_unit_test(encoder_and_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
