/* Texts for kernels: errors of graphs, limits; independence of threads and chunks; bytes; lack
 * of memory. */
#include "encoder/encoder_bytes.h"
#include "text/paths.h"
#include "text/tokens.h"
#include "text/vocabulary.h"
#include "unit/base/alloc_fail.h"
#include "unit/core/encoder/kernel_texts.h"

/* ---- errors of graphs ---- */
static void malformed_edges(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"a-b a-", "edge 2, \"a-\", must be two labels joined by one \"-\""},
        {"-a", "edge 1, \"-a\", must be"},
        {"a b", "edge 1, \"a\", must be"},
        {"a--b", "edge 1, \"a--b\", must be"},
        {"a-b-c", "edge 1, \"a-b-c\", must be"},
        {"-", "edge 1, \"-\", must be"},
        {"a-b\tb-b", "edge 2, \"b-b\", joins a node with itself"},
        {"a-\xff", "edge 1 is not UTF-8"},
        {"a-"
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
         "\xc3\xa9...\", has a label of more than 31 bytes, the limit for paths of up to 8 "
         "labels"}};
    static const char *const good[] = {"a-b", NULL, "  \n", "\xc3\xa9-b"};
    dn_encoder *encoder = texts_fit(good, 4, texts_spec(DN_TEXT_PATHS, 8), NULL);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *text[] = {"a-b", "", "a-b", bad[k].text};
        static const uint8_t role[] = {DN_ROW_TRAIN, DN_ROW_TRAIN, DN_ROW_TRAIN, DN_ROW_VALIDATE};
        dn_run run = dn_run_default();
        for (size_t way = 0; way < 4;
             way++) { /* in training, in prediction, in rows in memory, in streamed rows */
            dn_error err = {0};
            dn_error_clear(&err);
            dn_encoder *none = NULL;
            dn_text_work *work = NULL;
            struct corpus c;
            dn_rows *rows = NULL;
            dn_block block;
            const uint32_t *feature;
            const double *entry;
            size_t n;
            corpus_init(&c, text, 4, 3);
            OK(dn_text_work_new(&work, NULL));
            dn_status status = DN_OK;
            if (way == 0) {
                status = texts_try_fit(text, 4, texts_spec(DN_TEXT_PATHS, 8), NULL, 3, &run, &none,
                                       &err);
            } else if (way == 1) {
                status = dn_encoder_text(encoder, 0, bad[k].text, strlen(bad[k].text), work,
                                         &feature, &entry, &n, &err);
            } else {
                status = dn_rows_from_source(&c.source.source, encoder, role, DN_ROW_VALIDATE, NULL,
                                             NULL, way == 2, &run, &rows, &err);
            }
            if (way == 3 && status == DN_OK) {
                status = rows->block(rows, 0, 0, &block, &err);
            }
            assert_int_equal(status, DN_ERR_DATA);
            assert_string_equal(err.field, COLUMN);
            assert_int_equal(err.row, way == 1 ? -1 : 3);
            assert_non_null(strstr(err.message, bad[k].why));
            assert_true((strstr(err.message, "column \"" COLUMN "\", row 3: ") == err.message) ==
                        (way != 1));
            if (rows != NULL) {
                dn_rows_free(rows);
            }
            dn_text_work_free(work);
            chunked_done(&c.source);
        }
    }
    /* the workspace can be used after an error */
    assert_true(product(encoder, "a-b", "b-a") == 4);
    dn_encoder_unref(encoder);
}

static void too_many_paths(void **state) {
    (void)state;
    char text[2000];
    size_t n = 0, count = 0;
    dni_paths paths = {.length = 8};
    dn_error err;
    for (size_t nodes = 2; nodes <= 12;
         nodes++) { /* a complete graph has sum_k nodes!/(nodes - k)! paths */
        double want = 0, some = 1;
        for (size_t k = 0; k < 8 && k < nodes; k++) {
            want += some *= (double)(nodes - k);
        }
        for (size_t i = 0; i + 1 < nodes; i++) {
            n += (size_t)snprintf(text + n, sizeof text - n, "v%zu-v%zu ", i, nodes - 1);
        }
        dn_error_clear(&err);
        dn_status status = dni_paths_begin(&paths, text, n, &err);
        assert_int_equal(status, want > DN_MAX_PATHS ? DN_ERR_DATA : DN_OK);
        assert_true(status == DN_OK ||
                    strcmp(err.message, "the graph has more than 100000 paths of up to 8 labels") ==
                        0);
        for (count = 0; status == DN_OK && dni_paths_next(&paths) > 0; count++) {
        }
        assert_true(status != DN_OK || (double)count == want);
    }
    paths.length = 1; /* the same edges have few paths of one label */
    OK(dni_paths_begin(&paths, text, n, NULL));
    for (count = 0; dni_paths_next(&paths) > 0; count++) {
    }
    assert_int_equal(count, 12);
    char *many = xcalloc(DN_MAX_PATHS + 1, 4);
    for (size_t i = 0; i <= DN_MAX_PATHS; i++) {
        memcpy(many + 4 * i, "a-b ", 4);
    }
    OK(dni_paths_begin(&paths, many, 4 * (size_t)DN_MAX_PATHS, NULL));
    dn_error_clear(&err);
    assert_int_equal(dni_paths_begin(&paths, many, 4 * (size_t)DN_MAX_PATHS + 4, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.message, "the graph has more than 100000 edges");
    free(many);
    dni_paths_done(&paths);
}

static void bad_lengths(void **state) {
    (void)state;
    static const char *const text[] = {"a-b"};
    for (unsigned length = 0; length <= 9; length += 9) {
        dn_encoder *encoder = NULL;
        dn_run run = dn_run_default();
        dn_error err = {0};
        assert_int_equal(texts_try_fit(text, 1, texts_spec(DN_TEXT_PATHS, length), NULL, 1, &run,
                                       &encoder, &err),
                         DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "text");
    }
}

/* ---- threads, chunks, bytes, memory ---- */
static const dn_text_weighting weightings[] = {DN_TEXT_SET, DN_TEXT_PATHS, DN_TEXT_CHARACTERS};

enum { MANY = 9000 };
static const char **many_graphs(char (**out_buffer)[48]) {
    char(*buffer)[48] = xcalloc(MANY, sizeof *buffer);
    const char **text = xcalloc(MANY, sizeof *text);
    uint64_t s = 77;
    for (size_t i = 0; i < MANY; i++) {
        size_t n = 0;
        for (uint64_t k = texts_random(&s) % 4; k > 0; k--) {
            const uint64_t a = texts_random(&s) % 50;
            n += (size_t)snprintf(buffer[i] + n, sizeof buffer[i] - n, "N%u-m%u ", (unsigned)a,
                                  (unsigned)(a + texts_random(&s) % 3));
        }
        text[i] = i % 13 == 0 ? NULL : buffer[i];
    }
    *out_buffer = buffer;
    return text;
}

static dni_writer bytes_of(const dn_encoder *encoder) {
    dni_writer writer;
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    assert_non_null(writer.bytes);
    return writer;
}

static void the_same_however_it_runs(void **state) {
    (void)state;
    char(*buffer)[48];
    const char **text = many_graphs(&buffer);
    for (size_t w = 0; w < 3; w++) {
        dni_writer first = {0};
        for (size_t way = 0; way < 4; way++) {
            dn_run run = way % 2 == 0 ? dn_run_default() : scattered_run();
            dn_encoder *encoder = NULL;
            OK(texts_try_fit(text, MANY, texts_spec(weightings[w], 3), NULL, way < 2 ? MANY : 777,
                             &run, &encoder, NULL));
            dni_writer writer = bytes_of(encoder);
            if (way == 0) {
                first = writer;
                dn_encoder_unref(encoder);
                continue;
            }
            assert_int_equal(writer.size, first.size);
            assert_memory_equal(writer.bytes, first.bytes, first.size);
            dni_writer_done(&writer);
            dn_encoder_unref(encoder);
        }
        dni_writer_done(&first);
    }
    free((void *)text);
    free(buffer);
}

/* An encoder that is written and read gives the same features. Bytes with the weighting and a
 * version that does not have it are refused as damaged. */
static void there_and_back(void **state) {
    (void)state;
    static const char *const text[] = {"a-b b-c", "c-d", NULL};
    for (size_t w = 0; w < 3; w++) {
        dn_encoder *encoder = texts_fit(text, 3, texts_spec(weightings[w], 3), NULL), *back = NULL;
        dni_writer writer = bytes_of(encoder);
        dni_reader reader = dni_reader_of(writer.bytes, writer.size);
        OK(dni_encoder_read(&reader, &back, NULL));
        assert_int_equal(dn_encoder_n_features(back), dn_encoder_n_features(encoder));
        assert_true(dn_encoder_is_sparse(back) == dn_encoder_is_sparse(encoder));
        double *x = texts_features(encoder, "a-b b-e e-f"),
               *z = texts_features(back, "a-b b-e e-f");
        assert_memory_equal(x, z, dn_encoder_n_features(encoder) * sizeof *x);
        free(x);
        free(z);
        dn_encoder_unref(back);
        for (unsigned char version = 2; version <= 3; version++) {
            writer.bytes[0] = version;
            reader = dni_reader_of(writer.bytes, writer.size);
            assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_ERR_CORRUPT);
        }
        dni_writer_done(&writer);
        dn_encoder_unref(encoder);
    }
}

static void memory_runs_out(void **state) {
    (void)state;
    static const char *const text[] = {"a-b b-c c-d e-f", "a-b c-f f-g", NULL, "x-y"};
    if (!alloc_fail_works()) {
        skip();
    }
    for (size_t w = 0; w < 3; w++) {
        struct corpus c;
        corpus_init(&c, text, 4, 4);
        dn_run run = dn_run_default();
        dn_encoder *encoder = NULL;
        const dn_encoder_spec spec = texts_spec(weightings[w], 3);
        dn_status status = DN_ERR_MEMORY;
        for (long k = 1; status != DN_OK; k++) {
            dn_error err = {0};
            alloc_fail_at = k;
            status = dn_encoder_fit(&c.source.source, &spec, NULL, NULL, &run, &encoder, &err);
            alloc_fail_at = 0;
            assert_true(status == DN_OK || status == DN_ERR_MEMORY);
            assert_int_equal(err.code, status);
        }
        status = DN_ERR_MEMORY;
        for (long k = 1; status != DN_OK; k++) {
            dn_text_work *work = NULL;
            const uint32_t *feature;
            const double *entry;
            size_t n;
            alloc_fail_at = k;
            status = dn_text_work_new(&work, NULL);
            if (status == DN_OK) {
                status = dn_encoder_text(encoder, 0, "a-b q-r r-s", 11, work, &feature, &entry, &n,
                                         NULL);
            }
            alloc_fail_at = 0;
            assert_true(status == DN_OK || status == DN_ERR_MEMORY);
            assert_true(k < 100);
            dn_text_work_free(work);
        }
        dn_encoder_unref(encoder);
        chunked_done(&c.source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_edges), cmocka_unit_test(too_many_paths),
        cmocka_unit_test(bad_lengths),     cmocka_unit_test(the_same_however_it_runs),
        cmocka_unit_test(there_and_back),  cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
