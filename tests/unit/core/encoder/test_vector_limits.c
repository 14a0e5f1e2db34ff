/* Text and sparse inputs: bytes, errors, memory estimates, lack of memory. */
#include "unit/core/encoder/vector_encoders.h"

#include "encoder/encoder_bytes.h"
#include "encoder/encoder_impl.h"
#include "text/words.h"

/* ---- bytes ---- */
static void bytes_and_back(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    for (int kind = 0; kind < 4; kind++) {
        const dn_encoder_spec spec = vectors_spec(kind % 2 == 0 ? DN_TEXT_COUNTS : DN_TEXT_TFIDF,
                                                  kind < 2 ? 0 : 3, kind > 0, kind == 3);
        dn_encoder *encoder = vectors_fit(t, 1, &spec, t->role, NULL, NULL), *back = NULL;
        dni_writer writer, again;
        void *bytes, *more;
        size_t size, more_size;
        dni_writer_init(&writer);
        dni_writer_init(&again);
        dni_encoder_write(encoder, &writer);
        OK(dni_writer_take(&writer, &bytes, &size, NULL));
        dni_reader reader = dni_reader_of(bytes, size);
        OK(dni_encoder_read(&reader, &back, NULL));
        OK(dni_reader_end(&reader, "encoder", NULL));
        dni_encoder_write(back, &again);
        OK(dni_writer_take(&again, &more, &more_size, NULL));
        assert_int_equal(size, more_size);
        assert_memory_equal(bytes, more, size);
        assert_true(dn_encoder_is_sparse(back) == dn_encoder_is_sparse(encoder));
        assert_true(dn_encoder_rows_bytes(back, 1000) == dn_encoder_rows_bytes(encoder, 1000));
        unsigned char *copy = malloc(size);
        memcpy(copy, bytes, size);
        for (size_t cut = 0; cut < size; cut++) {
            dn_encoder *none = NULL;
            reader = dni_reader_of(copy, cut);
            assert_int_equal(dni_encoder_read(&reader, &none, NULL), DN_ERR_CORRUPT);
        }
        for (size_t i = 0; i < size; i++) {
            for (unsigned bit = 0; bit < 9; bit++) {
                dn_encoder *other = NULL;
                copy[i] = (unsigned char)(bit < 8 ? copy[i] ^ (1u << bit) : 255);
                reader = dni_reader_of(copy, size);
                dn_status status = dni_encoder_read(&reader, &other, NULL);
                assert_true(status == DN_OK || status == DN_ERR_CORRUPT ||
                            status == DN_ERR_VERSION);
                char name[600];
                for (size_t j = 0; status == DN_OK && j < dn_encoder_n_features(other);
                     j += 1 + dn_encoder_n_features(other) / 50) {
                    (void)dn_encoder_feature_name(other, j, name, sizeof name);
                }
                dn_encoder_unref(other);
                copy[i] = ((unsigned char *)bytes)[i];
            }
        }
        free(copy);
        free(bytes);
        free(more);
        dn_encoder_unref(encoder);
        dn_encoder_unref(back);
    }
    free(t);
}

/* Bytes with many features must be followed by at least one byte for each feature. */
static void bytes_of_no_model(void **unused) {
    (void)unused;
    dni_writer w;
    dni_writer_init(&w);
    dni_write_u8(&w, 3);
    dni_write_u8(&w, 1 | 8); /* standardize_sparse */
    dni_write_u64(&w, 1);
    dni_write_text(&w, "f", 1);
    dni_write_u8(&w, DN_SPARSE);
    dni_write_u32(&w, 1);
    dni_write_u64(&w, 4000000000u);
    dni_write_f64(&w, 1);
    dni_write_u32(&w, 0);
    void *bytes;
    size_t size;
    OK(dni_writer_take(&w, &bytes, &size, NULL));
    dni_reader reader = dni_reader_of(bytes, size);
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    assert_int_equal(dni_encoder_read(&reader, &encoder, &err), DN_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "cut short"));
    free(bytes);
}

/* ---- errors and failures ---- */
static void refusals(void **unused) {
    (void)unused;
    static const size_t columns[] = {0};
    static const size_t border[] = {0, 1}, start[] = {0, 1};
    static const uint32_t index[] = {2};
    const double number[] = {(double)INFINITY};
    dn_table_column wide = {.name = "f", .type = DN_SPARSE, .width = DN_MAX_DENSE_FEATURES + 1};
    const dn_encoder_spec spec = {.columns = columns,
                                  .n_columns = 1,
                                  .standardize = true,
                                  .standardize_sparse = true};
    dn_error err = {0};
    assert_int_equal(dn_encoder_check(&wide, 1, &spec, &err), DN_ERR_DATA);
    assert_string_equal(err.field, "f");
    assert_non_null(strstr(err.message, "16384"));
    wide.width--;
    OK(dn_encoder_check(&wide, 1, &spec, NULL));
    wide.width += 2;
    OK(dn_encoder_check(&wide, 1,
                        &(dn_encoder_spec){.columns = columns, .n_columns = 1, .standardize = true},
                        NULL));

    const dn_table_column column = {.name = "f", .type = DN_SPARSE, .width = 3, .first_index = 1};
    const dn_column_view view = {
        .type = DN_SPARSE, .n_rows = 1, .number = number, .row_start = start, .index = index};
    dn_table_source *source = NULL;
    OK(dn_table_source_from_columns(&column, &view, 1, border[1], &source, NULL));
    dn_encoder *encoder = NULL;
    dn_error_clear(&err);
    assert_int_equal(dn_encoder_fit(source, &(dn_encoder_spec){.columns = columns, .n_columns = 1},
                                    NULL, NULL, NULL, &encoder, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.message, "column \"f3\" must be a finite number (got inf)");
    assert_true(err.row == 0 && encoder == NULL);
    dn_table_source_free(source);
}

/* Every call to the source and to the allocator fails once. Each failure is reported and nothing
 * leaks. */
static void failures(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    const dn_encoder_spec spec = vectors_spec(DN_TEXT_TFIDF, 0, true, true),
                          sparse = vectors_spec(DN_TEXT_COUNTS, 0, true, false);
    dn_encoder *encoder = vectors_fit(t, 1, &sparse, NULL, NULL, NULL);
    for (int way = 0; way < 4; way++) {
        dn_status status = DN_ERR_BUDGET;
        size_t n = 0;
        for (; status != DN_OK; n++) {
            refusing memory;
            refusing_init(&memory, n + 1);
            dn_run run = scattered_run();
            run.allocator = &memory.allocator;
            chunked source;
            vector_table_source(t, t->columns, L_COLUMNS, 1, &source);
            source.fail_at = way == 3 ? n + 1 : 0;
            memory.refuse = way == 3 ? 0 : n + 1;
            dn_error err = {0};
            dn_encoder *fitted = NULL;
            dn_rows *rows = NULL;
            if (way == 0 || way == 3) {
                status =
                    dn_encoder_fit(&source.source, &spec, t->role, t->weight, &run, &fitted, &err);
            } else {
                status = dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, t->target,
                                             t->weight, way == 1, &run, &rows, &err);
            }
            dn_block block;
            for (size_t b = 0; status == DN_OK && rows != NULL && b < rows->n_blocks; b++) {
                status = dn_rows_block(rows, b, b % 4, &block, &err);
            }
            assert_true(status == DN_OK || status == (way == 3 ? DN_ERR_SOURCE : DN_ERR_BUDGET));
            assert_int_equal(err.code, status);
            dn_rows_free(rows);
            dn_encoder_unref(fitted);
            assert_int_equal(memory.live, 0);
            chunked_done(&source);
        }
        assert_true(n > 10);
    }
    dn_encoder_unref(encoder);
    free(t);
}

/* ---- memory ---- */
struct counted {
    size_t live, most;
};

static void *counted_allocate(void *ctx, size_t size) {
    struct counted *c = ctx;
    size_t *memory = malloc(size + 64);
    if (memory == NULL) {
        return NULL;
    }
    *memory = size;
    c->live += size;
    c->most = c->live > c->most ? c->live : c->most;
    return (char *)memory + 64;
}

static void counted_release(void *ctx, void *memory) {
    struct counted *c = ctx;
    if (memory == NULL) {
        return;
    }
    size_t *start = (size_t *)(void *)((char *)memory - 64);
    c->live -= *start;
    free(start);
}

/* Sparse rows in memory use 12 bytes for each entry for any number of features. A budget that is
 * too small for the rows is reported. */
static void bytes_of_rows(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    static const size_t columns[] = {L_SPARSE, L_NOTE};
    const dn_encoder_spec spec = {.columns = columns, .n_columns = 2, .text = {.buckets = 1000000}};
    dn_encoder *encoder = vectors_fit(t, 0, &spec, NULL, NULL, NULL);
    chunked source;
    vector_table_source(t, t->columns, L_COLUMNS, 2, &source);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        struct counted counted = {0};
        const dn_allocator allocator = {.allocate = counted_allocate,
                                        .release = counted_release,
                                        .ctx = &counted,
                                        .budgeted = true};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dn_rows *rows = NULL;
        OK(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, t->target, t->weight,
                               in_memory, &run, &rows, NULL));
        size_t entries = 0, kept = counted.live;
        for (size_t b = 0; b < rows->n_blocks; b++) {
            dn_block block;
            OK(dn_rows_block(rows, b, 0, &block, NULL));
            entries += block.x.row_start[block.x.n_rows] - block.x.row_start[0];
        }
        const double exact = 12.0 * (double)entries + 24.0 * VECTORS_ROWS,
                     said = (double)dn_encoder_rows_bytes(encoder, VECTORS_ROWS);
        assert_true(fabs(said - exact) <= 0.001 * exact); /* without roles */
        if (in_memory) {
            assert_true((double)kept >= exact && (double)kept <= exact + 4096);
        } else {
            assert_true((double)counted.most <=
                        0.7 * exact +
                            200000); /* a block has 4,096 of 9,001 rows, and some reserve */
        }
        dn_rows_free(rows);
        assert_int_equal(counted.live, 0);
    }
    assert_true(dn_encoder_rows_bytes(encoder, SIZE_MAX / 8) == SIZE_MAX);
    dn_encoder_unref(encoder);
    chunked_done(&source);
    free(t);
}

/* With more than 16,384 features of vector inputs the rows are sparse for any number of
 * entries. */
static void very_wide(void **unused) {
    (void)unused;
    enum { WIDTH = 4000000 };
    static const size_t columns[] = {0}, start[] = {0, 2, 2, 5};
    static const uint32_t index[] = {5, WIDTH - 1, 0, 5, 99999};
    static const double number[] = {1, 2, 3, 4, 5};
    const dn_table_column column = {.name = "f",
                                    .type = DN_SPARSE,
                                    .width = WIDTH,
                                    .first_index = 1};
    const dn_column_view view = {
        .type = DN_SPARSE, .n_rows = 3, .number = number, .row_start = start, .index = index};
    dn_table_source *source = NULL;
    OK(dn_table_source_from_columns(&column, &view, 1, 3, &source, NULL));
    dn_encoder *encoder = NULL;
    OK(dn_encoder_fit(source,
                      &(dn_encoder_spec){.columns = columns, .n_columns = 1, .standardize = true},
                      NULL, NULL, NULL, &encoder, NULL));
    assert_int_equal(dn_encoder_n_features(encoder), WIDTH);
    assert_true(dn_encoder_is_sparse(encoder) && dn_encoder_mean(encoder) == NULL);
    assert_true(fabs(dn_encoder_entries(encoder) - 5.0 / 3) < 1e-15);
    assert_true(fabs(dni_encoder_stored_entries(encoder, 3) - 5) < 1e-14);
    assert_true(dni_encoder_memory(encoder) < 1000000);
    char name[32];
    dn_encoder_feature_name(encoder, WIDTH - 1, name, sizeof name);
    assert_string_equal(name, "f4000000");
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_back), cmocka_unit_test(bytes_of_no_model),
        cmocka_unit_test(refusals),       cmocka_unit_test(failures),
        cmocka_unit_test(bytes_of_rows),  cmocka_unit_test(very_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
