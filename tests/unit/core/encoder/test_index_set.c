/* Index sets: compared with their definition; bytes; encoders with index filters compared with
 * encoders of narrower tables. */
#include "unit/core/encoder/vector_table.h"

#include "encoder/encoder_bytes.h"
#include "encoder/index_set.h"

enum { MAX_WIDTH = 300 };

/* ---- the set ---- */
static void same_indices(const dni_index_set *set, const bool *in, size_t width) {
    size_t n = 0;
    for (size_t index = 0; index < width; index++) {
        assert_int_equal(dni_index_set_find(set, index), in[index] ? n : SIZE_MAX);
        if (in[index]) {
            assert_int_equal(dni_index_set_at(set, n++), index);
        }
    }
    assert_int_equal(set->n, n);
    assert_int_equal(dni_index_set_find(set, width), SIZE_MAX);
    assert_int_equal(dni_index_set_find(set, SIZE_MAX - 1), SIZE_MAX);
}

/* A set that is written and read is equal. Truncated bytes are refused; changed bytes are refused
 * or give a valid set. */
static void there_and_back(const dni_index_set *set, const bool *in) {
    dni_writer writer;
    void *bytes;
    size_t size;
    dni_writer_init(&writer);
    dni_index_set_write(set, &writer);
    OK(dni_writer_take(&writer, &bytes, &size, NULL));
    assert_true(size <= 9 + set->width / 2 * 4 + 4); /* the shorter of the two lists is written */
    for (size_t cut = 0; cut <= size; cut++) {
        dni_index_set back = {0};
        unsigned char *exact = malloc(cut + 1);
        memcpy(exact, bytes, cut);
        dni_reader reader = dni_reader_of(exact, cut);
        dn_status status = dni_index_set_read(&reader, set->width, &(double){0}, &back, NULL);
        assert_int_equal(status, cut == size ? DN_OK : DN_ERR_CORRUPT);
        if (status == DN_OK) {
            same_indices(&back, in, set->width);
        }
        dni_index_set_done(&back);
        free(exact);
    }
    for (size_t i = 0; i < size; i++) {
        dni_index_set other = {0};
        ((unsigned char *)bytes)[i] ^= 0x41;
        dni_reader reader = dni_reader_of(bytes, size);
        dn_status status = dni_index_set_read(&reader, set->width, &(double){0}, &other, NULL);
        assert_true(status == DN_OK || status == DN_ERR_CORRUPT);
        assert_true(status != DN_OK || (other.n > 0 && other.n <= set->width &&
                                        dni_index_set_at(&other, other.n - 1) < set->width));
        dni_index_set_done(&other);
        ((unsigned char *)bytes)[i] ^= 0x41;
    }
    free(bytes);
}

static void sets(void **unused) {
    (void)unused;
    static const size_t widths[] = {1, 2, 7, 64, MAX_WIDTH};
    static const unsigned shares[] = {1, 2, 9, 40}; /* one index of a wide column */
    uint64_t s = 99;
    for (size_t k = 0; k < 5 * 4 * 2 * 3; k++) {
        const size_t width = widths[k % 5];
        const bool dropped = k / 5 % 2 == 1, together = k % 3 == 0; /* consecutive indices */
        bool in[MAX_WIDTH];
        uint32_t listed[MAX_WIDTH];
        size_t n = 0;
        for (size_t index = 0; index < width; index++) {
            const bool is = together ? index >= width / 3 && index < width / 2
                                     : vector_table_random(&s) % shares[k / 10 % 4] == 0;
            in[index] = is != dropped;
            if (is) {
                listed[n++] = (uint32_t)index;
            }
        }
        const dn_index_filter indices = {.kind = dropped ? DN_INDICES_DROPPED : DN_INDICES_KEPT,
                                         .index = listed,
                                         .n = n};
        if (n == (dropped ? width : 0)) {
            assert_false(dn_index_filter_is_valid(&indices, width));
            continue;
        }
        assert_true(dn_index_filter_is_valid(&indices, width));
        dni_index_set set;
        OK(dni_index_set_init(&set, &indices, width, NULL));
        assert_true(dni_index_set_bytes(&set) <= 16 * set.n + 16);
        same_indices(&set, in, width);
        there_and_back(&set, in);
        dni_index_set_done(&set);
    }
}

/* Memory depends on the number of indices, not on the width; a few bytes cannot request much
 * memory. */
static void wide_columns(void **unused) {
    (void)unused;
    static const uint32_t few[] = {0, 77, 4000000000U};
    dni_index_set set;
    OK(dni_index_set_init(&set, &(dn_index_filter){DN_INDICES_KEPT, few, 3}, UINT32_MAX, NULL));
    assert_true(dni_index_set_bytes(&set) <= 64);
    assert_true(dni_index_set_find(&set, 77) == 1 && dni_index_set_find(&set, 4000000000U) == 2);
    assert_true(dni_index_set_find(&set, 76) == SIZE_MAX &&
                dni_index_set_find(&set, UINT32_MAX - 1) == SIZE_MAX);
    dni_index_set_done(&set);
    static const unsigned char dropped[] = {DN_INDICES_DROPPED, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0};
    dni_reader reader = dni_reader_of(dropped, sizeof dropped);
    assert_int_equal(dni_index_set_read(&reader, UINT32_MAX, &(double){0}, &set, NULL),
                     DN_ERR_CORRUPT);
}

static void rules(void **unused) {
    (void)unused;
    static const uint32_t twice[] = {1, 1}, down[] = {2, 1}, good[] = {0, 4};
    assert_false(dn_index_filter_is_valid(&(dn_index_filter){DN_INDICES_KEPT, twice, 2}, 5));
    assert_false(dn_index_filter_is_valid(&(dn_index_filter){DN_INDICES_DROPPED, down, 2}, 5));
    assert_false(dn_index_filter_is_valid(&(dn_index_filter){DN_INDICES_KEPT, good, 2}, 4));
    assert_false(dn_index_filter_is_valid(&(dn_index_filter){DN_INDICES_KEPT, good, 0}, 4));
    assert_true(dn_index_filter_is_valid(&(dn_index_filter){DN_INDICES_KEPT, good, 2}, 5));
    vector_table *t = vector_table_new(2);
    const dn_index_filter beyond = {DN_INDICES_KEPT, (const uint32_t[]){VECTORS_WIDTH}, 1};
    dn_error err = {0};
    const dn_table_column column = t->columns[L_SPARSE].column;
    assert_int_equal(dn_encoder_check(&column, 1,
                                      &(dn_encoder_spec){.columns = (const size_t[]){0},
                                                         .n_columns = 1,
                                                         .index_filters = &beyond},
                                      &err),
                     DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "f");
    free(t);
}

/* ---- the encoder ---- */
static void dense_row(const dn_block *block, size_t row, double *x) {
    const size_t d = block->x.n_cols;
    if (block->x.kind == DN_DENSE) {
        memcpy(x, block->x.values + row * block->x.stride, d * sizeof *x);
        return;
    }
    memset(x, 0, d * sizeof *x);
    for (size_t e = block->x.row_start[row]; e < block->x.row_start[row + 1]; e++) {
        x[block->x.cols[e]] = block->x.values[e];
    }
}

static dn_encoder *copy_of(const dn_encoder *encoder) {
    dni_writer writer;
    void *bytes;
    size_t size;
    dn_encoder *back = NULL;
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    OK(dni_writer_take(&writer, &bytes, &size, NULL));
    dni_reader reader = dni_reader_of(bytes, size);
    OK(dni_encoder_read(&reader, &back, NULL));
    OK(dni_reader_end(&reader, "encoder", NULL));
    for (size_t cut = 0; cut < size; cut++) {
        dn_encoder *none = NULL;
        reader = dni_reader_of(bytes, cut);
        assert_int_equal(dni_encoder_read(&reader, &none, NULL), DN_ERR_CORRUPT);
    }
    free(bytes);
    return back;
}

/* Compares all rows of both encoders, in memory and streamed, with one thread and several. */
static void same_rows(vector_table *t, const dn_encoder *a, const dn_encoder *b, bool exact) {
    dn_run scattered = scattered_run();
    for (size_t way = 0; way < 4; way++) {
        chunked source, numbers;
        dn_rows *x = NULL, *y = NULL;
        vector_table_source(t, t->columns, L_COLUMNS, way, &source);
        vector_table_source(t, t->numbers, VECTORS_WIDTH, 1, &numbers);
        OK(dn_rows_from_source(&source.source, a, t->role, DN_ROW_TRAIN, NULL, NULL, way % 2 == 0,
                               way < 2 ? NULL : &scattered, &x, NULL));
        OK(dn_rows_from_source(&numbers.source, b, t->role, DN_ROW_TRAIN, NULL, NULL, true, NULL,
                               &y, NULL));
        assert_int_equal(x->n_rows, y->n_rows);
        for (size_t i = 0; i < x->n_blocks; i++) {
            dn_block p, q;
            double u[VECTORS_WIDTH], v[VECTORS_WIDTH];
            OK(dn_rows_block(x, i, 0, &p, NULL));
            OK(dn_rows_block(y, i, 0, &q, NULL));
            for (size_t r = 0; r < p.x.n_rows; r++) {
                dense_row(&p, r, u);
                dense_row(&q, r, v);
                for (size_t j = 0; j < x->n_cols; j++) {
                    assert_true(exact ? u[j] == v[j]
                                      : fabs(u[j] - v[j]) <= 1e-12 * fmax(1, fabs(v[j])));
                }
            }
        }
        dn_rows_free(x);
        dn_rows_free(y);
        chunked_done(&source);
        chunked_done(&numbers);
    }
}

static void same_names(const dn_encoder *a, const dn_encoder *b) {
    char name[2][64];
    assert_int_equal(dn_encoder_n_features(a), dn_encoder_n_features(b));
    for (size_t j = 0; j < dn_encoder_n_features(a); j++) {
        dn_encoder_feature_name(a, j, name[0], sizeof name[0]);
        dn_encoder_feature_name(b, j, name[1], sizeof name[1]);
        assert_string_equal(name[0], name[1]);
    }
}

/* An encoder with an index filter gives the features of a table that has only the columns of the
 * filter. */
static void chosen_are_columns(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    static const uint32_t few[] = {0, 3, 10, 11, 12, 59};
    enum { FEW = sizeof few / sizeof *few };
    static const size_t sparse[] = {L_SPARSE};
    for (int kind = 0; kind < 4; kind++) {
        const bool dropped = kind % 2 == 1, standardize = kind >= 2;
        const dn_index_filter indices = {dropped ? DN_INDICES_DROPPED : DN_INDICES_KEPT, few, FEW};
        size_t columns[VECTORS_WIDTH], n = 0;
        for (size_t j = 0, k = 0; j < VECTORS_WIDTH; j++) {
            const bool listed = k < FEW && few[k] == j;
            k += listed;
            if (listed != dropped) {
                columns[n++] = j;
            }
        }
        const dn_encoder_spec spec = {.columns = sparse,
                                      .n_columns = 1,
                                      .index_filters = &indices,
                                      .standardize = standardize,
                                      .standardize_sparse = standardize};
        const dn_encoder_spec plain = {.columns = columns,
                                       .n_columns = n,
                                       .standardize = standardize};
        chunked source, numbers;
        dn_encoder *a = NULL, *b = NULL;
        vector_table_source(t, t->columns, L_COLUMNS, 2, &source);
        vector_table_source(t, t->numbers, VECTORS_WIDTH, 1, &numbers);
        OK(dn_encoder_fit(&source.source, &spec, t->role, NULL, NULL, &a, NULL));
        OK(dn_encoder_fit(&numbers.source, &plain, t->role, NULL, NULL, &b, NULL));
        dn_encoder *back = copy_of(a);
        same_names(a, b);
        same_names(back, b);
        assert_int_equal(dn_encoder_input(back, 0)->width, VECTORS_WIDTH);
        for (size_t j = 0, k = 0; j < VECTORS_WIDTH; j++) {
            const bool is = k < n && columns[k] == j;
            assert_int_equal(dn_encoder_sparse_feature(back, 0, (uint32_t)j), is ? k : SIZE_MAX);
            if (is) {
                assert_int_equal(dn_encoder_sparse_index(back, 0, k++), j);
            }
        }
        same_rows(t, a, b, !standardize);
        same_rows(t, back, b, !standardize);
        dn_encoder_unref(a);
        dn_encoder_unref(b);
        dn_encoder_unref(back);
        chunked_done(&source);
        chunked_done(&numbers);
    }
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sets), cmocka_unit_test(wide_columns),
                                       cmocka_unit_test(rules),
                                       cmocka_unit_test(chosen_are_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
