/* Text and sparse inputs: every feature recomputed from the table. */
#include "unit/core/encoder/vector_encoders.h"

#include "encoder/encoder_apply.h"
#include "encoder/encoder_bytes.h"
#include "text/words.h"

/* ---- expected features ---- */
static double weight_of(const uint8_t *role, const double *weight, size_t i) {
    return role != NULL && role[i] != DN_ROW_TRAIN ? 0 : weight == NULL ? 1 : weight[i];
}

struct want {
    size_t n, d;
    double *x; /* [VECTORS_ROWS × d] */
    double mean[VECTORS_WIDTH], scale[VECTORS_WIDTH];
};

/* Computes mean and deviation of each index of the sparse column. */
static void want_indices(const vector_table *t, const uint8_t *role, const double *weight,
                         struct want *w) {
    for (size_t j = 0; j < VECTORS_WIDTH; j++) {
        long double total = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < VECTORS_ROWS; i++) {
            total += (long double)weight_of(role, weight, i);
            sum += (long double)weight_of(role, weight, i) * (long double)t->dense[j][i];
        }
        for (size_t i = 0; i < VECTORS_ROWS; i++) {
            long double step = (long double)t->dense[j][i] - sum / total;
            squares += (long double)weight_of(role, weight, i) * step * step;
        }
        w->mean[j] = (double)(sum / total);
        w->scale[j] = (double)sqrtl(squares / total);
        w->scale[j] = w->scale[j] > 1e-14 ? w->scale[j] : 1;
    }
}

/* Computes the features of the words of all rows, from column `first` of x on; returns their
 * number. */
static size_t want_words(const vector_table *t, const dn_text_spec *spec, const uint8_t *role,
                         const double *weight, size_t first, struct want *w) {
    size_t of[VECTORS_WORDS], n = 0;
    double total = 0, df[64] = {0};
    for (size_t i = 0; i < VECTORS_ROWS; i++) {
        total += weight_of(role, weight, i);
    }
    for (size_t word = 0; word < VECTORS_WORDS; word++) {
        bool met = false;
        for (size_t i = 0; i < VECTORS_ROWS; i++) {
            met = met || (t->count[i][word] > 0 && weight_of(role, weight, i) > 0);
        }
        of[word] = spec->buckets > 0 ? (size_t)(dni_word_hash(t->words[word], 3) % spec->buckets)
                   : met             ? n++
                                     : SIZE_MAX;
    }
    n = spec->buckets > 0 ? spec->buckets : n;
    for (size_t i = 0; i < VECTORS_ROWS; i++) {
        double *x = w->x + i * w->d + first;
        for (size_t word = 0; word < VECTORS_WORDS; word++) {
            if (of[word] != SIZE_MAX) {
                x[of[word]] += t->count[i][word];
            }
        }
        for (size_t j = 0; j < n; j++) {
            df[j] += x[j] > 0 ? weight_of(role, weight, i) : 0;
        }
    }
    for (size_t i = 0; i < VECTORS_ROWS; i++) {
        double *x = w->x + i * w->d + first, squares = 0;
        for (size_t j = 0; j < n; j++) {
            x[j] = spec->weighting == DN_TEXT_BINARY  ? x[j] > 0
                   : spec->weighting == DN_TEXT_TFIDF ? x[j] * vector_table_idf(total, df[j])
                                                      : x[j];
            squares += x[j] * x[j];
        }
        for (size_t j = 0; j < n && spec->weighting == DN_TEXT_TFIDF && squares > 0; j++) {
            x[j] /= sqrt(squares);
        }
    }
    return n;
}

static struct want want_of(const vector_table *t, const dn_encoder *encoder,
                           const dn_encoder_spec *spec, const uint8_t *role, const double *weight) {
    struct want w = {.d = dn_encoder_n_features(encoder)};
    const dn_input *age = dn_encoder_input(encoder, 0), *indices = dn_encoder_input(encoder, 1),
                   *kind = dn_encoder_input(encoder, 2);
    w.x = xcalloc(VECTORS_ROWS * w.d, sizeof *w.x);
    want_indices(t, role, weight, &w);
    assert_true(age->first_feature == 0 && age->n_features == 2 && indices->first_feature == 2 &&
                indices->n_features == VECTORS_WIDTH);
    for (size_t i = 0; i < VECTORS_ROWS; i++) {
        double *x = w.x + i * w.d, mean = spec->standardize ? dn_encoder_mean(encoder)[0] : 0,
               scale = spec->standardize ? dn_encoder_scale(encoder)[0] : 1;
        x[0] = ((isnan(t->age[i]) ? age->fill : t->age[i]) - mean) / scale;
        x[1] = isnan(t->age[i]);
        for (size_t j = 0; j < VECTORS_WIDTH; j++) {
            x[2 + j] = spec->standardize && spec->standardize_sparse
                           ? (t->dense[j][i] - w.mean[j]) / w.scale[j]
                           : t->dense[j][i];
        }
        size_t level = t->kind[i] == NULL     ? 3
                       : t->kind[i][0] == 'n' ? 0
                       : t->kind[i][0] == 'o' ? 1
                                              : 2;
        x[kind->first_feature + level] = 1;
    }
    w.n = want_words(t, &spec->text, role, weight, 2 + VECTORS_WIDTH + 4, &w);
    assert_int_equal(w.d, 2 + VECTORS_WIDTH + 4 + w.n);
    return w;
}

/* Copies row `row` of a block, dense. */
static void row_of(const dn_block *block, size_t row, double *x) {
    size_t d = block->x.n_cols;
    if (block->x.kind == DN_DENSE) {
        memcpy(x, block->x.values + row * block->x.stride, d * sizeof *x);
        return;
    }
    memset(x, 0, d * sizeof *x);
    for (size_t e = block->x.row_start[row]; e < block->x.row_start[row + 1]; e++) {
        assert_true(block->x.cols[e] < d &&
                    (e == block->x.row_start[row] || block->x.cols[e] > block->x.cols[e - 1]));
        assert_true(block->x.values[e] != 0);
        x[block->x.cols[e]] = block->x.values[e];
    }
}

static void check_rows(const vector_table *t, dn_rows *rows, const struct want *w,
                       const uint8_t *role, uint8_t wanted) {
    size_t i = 0, seen = 0;
    double *x = xcalloc(w->d, sizeof *x);
    for (size_t b = 0; b < rows->n_blocks; b++) {
        dn_block block;
        OK(dn_rows_block(rows, b, rows->n_slots == SIZE_MAX ? 0 : b % rows->n_slots, &block, NULL));
        for (size_t r = 0; r < block.x.n_rows; r++, i++, seen++) {
            while (role != NULL && role[i] != wanted) {
                i++;
            }
            row_of(&block, r, x);
            for (size_t j = 0; j < w->d; j++) {
                if (!(fabs(x[j] - w->x[i * w->d + j]) <= 1e-12 * fmax(1, fabs(x[j])))) {
                    fail_msg("row %zu feature %zu is %.17g, expected %.17g", i, j, x[j],
                             w->x[i * w->d + j]);
                }
            }
            assert_true(block.target[r] == t->target[i] && block.weight[r] == t->weight[i]);
        }
    }
    assert_int_equal(seen, rows->n_rows);
    free(x);
}

/* For all weightings of words; with and without standardisation; for all rows and training rows; in
 * memory and streamed. */
static void recomputed(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    for (size_t kind = 0; kind < 18; kind++) {
        const dn_encoder_spec spec =
            vectors_spec((dn_text_weighting)(kind % 3), kind / 3 % 2 == 0 ? 0 : 13, kind >= 6,
                         kind >= 12);
        const uint8_t *role = kind % 2 == 0 ? NULL : t->role;
        const double *weight = kind % 4 < 2 ? NULL : t->weight;
        dn_run scattered = scattered_run();
        dn_encoder *encoder =
            vectors_fit(t, kind % 4, &spec, role, weight, kind % 3 == 0 ? NULL : &scattered);
        struct want w = want_of(t, encoder, &spec, role, weight);
        assert_true(dn_encoder_is_sparse(encoder) ==
                    (kind < 12)); /* standardised indices are nonzero in most rows */
        for (size_t way = 0; way < 8; way++) {
            chunked source;
            vector_table_source(t, t->columns, L_COLUMNS, way % 4, &source);
            dn_rows *rows = NULL;
            OK(dn_rows_from_source(&source.source, encoder, t->role, (enum dn_row_role)(way % 3),
                                   t->target, t->weight, way < 4, way % 2 == 0 ? NULL : &scattered,
                                   &rows, NULL));
            check_rows(t, rows, &w, t->role, (uint8_t)(way % 3));
            dn_rows_free(rows);
            chunked_done(&source);
        }
        dn_encoder_unref(encoder);
        free(w.x);
    }
    free(t);
}

/* ---- the same data as another type ---- */
/* A sparse column gives the same features as dense columns with the same numbers. */
static void sparse_is_dense(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    size_t indices[VECTORS_WIDTH];
    static const size_t sparse[] = {L_SPARSE};
    for (size_t j = 0; j < VECTORS_WIDTH; j++) {
        indices[j] = j;
    }
    for (int standardize = 0; standardize < 2; standardize++) {
        const dn_encoder_spec spec = {.columns = sparse,
                                      .n_columns = 1,
                                      .standardize = standardize,
                                      .standardize_sparse = standardize};
        const dn_encoder_spec plain = {.columns = indices,
                                       .n_columns = VECTORS_WIDTH,
                                       .standardize = standardize};
        dn_encoder *a = vectors_fit(t, 2, &spec, t->role, t->weight, NULL), *b = NULL;
        chunked source, numbers;
        vector_table_source(t, t->columns, L_COLUMNS, 2, &source);
        vector_table_source(t, t->numbers, VECTORS_WIDTH, 1, &numbers);
        OK(dn_encoder_fit(&numbers.source, &plain, t->role, t->weight, NULL, &b, NULL));
        assert_int_equal(dn_encoder_n_features(a), dn_encoder_n_features(b));
        assert_true((dn_encoder_mean(a) == NULL) == (standardize == 0));
        for (size_t j = 0; standardize && j < VECTORS_WIDTH; j++) {
            assert_near(dn_encoder_mean(a)[j] + 1, dn_encoder_mean(b)[j] + 1, 1e-14);
            assert_near(dn_encoder_scale(a)[j], dn_encoder_scale(b)[j], 1e-13);
        }
        dn_rows *x = NULL, *y = NULL;
        OK(dn_rows_from_source(&source.source, a, NULL, DN_ROW_TRAIN, NULL, NULL, true, NULL, &x,
                               NULL));
        OK(dn_rows_from_source(&numbers.source, b, NULL, DN_ROW_TRAIN, NULL, NULL, true, NULL, &y,
                               NULL));
        for (size_t i = 0; i < x->n_blocks; i++) {
            dn_block p, q;
            double u[VECTORS_WIDTH], v[VECTORS_WIDTH];
            OK(dn_rows_block(x, i, 0, &p, NULL));
            OK(dn_rows_block(y, i, 0, &q, NULL));
            assert_true(p.target == NULL && p.weight == NULL);
            assert_int_equal(p.x.kind, standardize ? DN_DENSE : DN_CSR);
            for (size_t r = 0; r < p.x.n_rows; r++) {
                row_of(&p, r, u);
                row_of(&q, r, v);
                for (size_t j = 0; j < VECTORS_WIDTH; j++) {
                    assert_true(standardize ? fabs(u[j] - v[j]) <= 1e-12 * fmax(1, fabs(v[j]))
                                            : u[j] == v[j]);
                }
            }
        }
        dn_rows_free(x);
        dn_rows_free(y);
        dn_encoder_unref(a);
        dn_encoder_unref(b);
        chunked_done(&source);
        chunked_done(&numbers);
    }
    free(t);
}

/* The column of another table may be narrower, wider, or begin with another index: indices are
 * matched by name. */
static void other_tables(void **unused) {
    (void)unused;
    static const size_t columns[] = {0};
    static const double own[] = {1, 2, 3, 4}, other[] = {5, 6, 7, 8};
    static const uint32_t own_indices[] = {0, 1, 2, 3}, other_indices[] = {0, 1, 4, 9};
    static const size_t start[] = {0, 4};
    static const size_t border[] = {0, 1};
    const chunked_column training = {
        .column = {.name = "f", .type = DN_SPARSE, .width = 5, .first_index = 2},
        .number = own,
        .row_start = start,
        .index = own_indices};
    chunked_column later = {.column = {.name = "f", .type = DN_SPARSE, .width = 10},
                            .number = other,
                            .row_start = start,
                            .index = other_indices};
    static const double want[][5] = {{0, 0, 7, 0, 0},
                                     {6, 0, 0, 7, 0},
                                     {5, 6, 0, 0, 7},
                                     {0, 0, 5, 6, 0}};
    static const uint32_t first[] = {0, 1, 2, 4};
    chunked source;
    dn_encoder *encoder = NULL;
    chunked_init(&source, &training, 1, 1, border, 1);
    OK(dn_encoder_fit(&source.source, &(dn_encoder_spec){.columns = columns, .n_columns = 1}, NULL,
                      NULL, NULL, &encoder, NULL));
    chunked_done(&source);
    assert_true(dn_encoder_sparse_feature(encoder, 0, 4) == 4 &&
                dn_encoder_sparse_feature(encoder, 0, 5) == SIZE_MAX);
    for (size_t k = 0; k < 4; k++) {
        later.column.first_index = first[k];
        chunked_init(&source, &later, 1, 1, border, 1);
        dn_rows *rows = NULL;
        dn_block block;
        double x[5];
        OK(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL, k % 2 == 0,
                               NULL, &rows, NULL));
        OK(dn_rows_block(rows, 0, 0, &block, NULL));
        row_of(&block, 0, x);
        assert_memory_equal(x, want[k], sizeof x);
        dn_rows_free(rows);
        chunked_done(&source);
    }
    dn_encoder_unref(encoder);
}

/* A categorical column can be read by a text input. */
static void categories_as_text(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    static const size_t columns[] = {L_NOTE};
    dn_encoder *encoder =
        vectors_fit(t, 0, &(dn_encoder_spec){.columns = columns, .n_columns = 1}, NULL, NULL, NULL);
    dn_rows *rows[2] = {NULL, NULL};
    chunked source[2];
    for (size_t k = 0; k < 2; k++) {
        vector_table_source(t, t->columns, L_COLUMNS, 1, &source[k]);
        source[k].columns[L_NOTE].type = k == 0 ? DN_TEXT : DN_CATEGORICAL;
        t->columns[L_NOTE].column.type = source[k].columns[L_NOTE].type;
        OK(dn_rows_from_source(&source[k].source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL, true,
                               NULL, &rows[k], NULL));
    }
    for (size_t b = 0; b < rows[0]->n_blocks; b++) {
        dn_block p, q;
        OK(dn_rows_block(rows[0], b, 0, &p, NULL));
        OK(dn_rows_block(rows[1], b, 0, &q, NULL));
        assert_memory_equal(p.x.row_start, q.x.row_start, (p.x.n_rows + 1) * sizeof *p.x.row_start);
        assert_memory_equal(p.x.values, q.x.values, p.x.row_start[p.x.n_rows] * sizeof *p.x.values);
    }
    dn_error err = {0};
    dn_rows *none = NULL;
    source[1].columns[L_NOTE].type = DN_NUMERIC;
    assert_int_equal(dn_rows_from_source(&source[1].source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         true, NULL, &none, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.message, "column \"note\" must be text (it is numeric)");
    for (size_t k = 0; k < 2; k++) {
        dn_rows_free(rows[k]);
        chunked_done(&source[k]);
    }
    dn_encoder_unref(encoder);
    free(t);
}

/* ---- names ---- */
static void names(void **unused) {
    (void)unused;
    static const char *const text[] = {"free Tea", "a_b 17"}, *const kind[] = {"17", "18"};
    static const double numbers[] = {1, 2, 3, 4};
    static const size_t start[] = {0, 1, 2}, border[] = {0, 2};
    static const uint32_t index[] = {0, 1};
    const chunked_column table[] = {
        {.column = {.name = "f", .type = DN_SPARSE, .width = 2, .first_index = 1},
         .number = numbers,
         .row_start = start,
         .index = index},
        {.column = {.name = "f1", .type = DN_NUMERIC}, .number = numbers},
        {.column = {.name = "f2x", .type = DN_NUMERIC}, .number = numbers},
        {.column = {.name = "g7", .type = DN_SPARSE, .width = 1},
         .number = numbers,
         .row_start = start,
         .index = (uint32_t[]){0, 0}},
        {.column = {.name = "note", .type = DN_TEXT}, .text = text},
        {.column = {.name = "note:free", .type = DN_NUMERIC}, .number = numbers},
        {.column = {.name = "g7=", .type = DN_CATEGORICAL}, .text = kind}};
    static const char *const want[] = {
        "f1",       "f2",        "\"f1\"",   "f2x",           "\"g7\"0",    "note:17",
        "note:a_b", "note:free", "note:tea", "\"note:free\"", "\"g7=\"=17", "\"g7=\"=18"};
    static const char *const hashed[] = {"note:#0", "note:#1", "note:#2"};
    static const size_t columns[] = {0, 1, 2, 3, 4, 5, 6};
    for (int buckets = 0; buckets < 2; buckets++) {
        chunked source;
        dn_encoder *encoder = NULL;
        chunked_init(&source, table, 7, 2, border, 1);
        const dn_encoder_spec spec = {.columns = columns,
                                      .n_columns = 7,
                                      .text = {.buckets = buckets ? 3 : 0}};
        OK(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL));
        assert_int_equal(dn_encoder_n_features(encoder), buckets ? 11 : 12);
        for (size_t j = 0; j < dn_encoder_n_features(encoder); j++) {
            char name[64];
            const char *expected = !buckets || j < 5 ? want[j]
                                   : j < 8           ? hashed[j - 5]
                                                     : want[j + 1];
            assert_int_equal(dn_encoder_feature_name(encoder, j, name, sizeof name),
                             strlen(expected));
            assert_string_equal(name, expected);
            assert_int_equal(dn_encoder_feature_name(encoder, j, NULL, 0), strlen(expected));
        }
        const double *idf;
        assert_int_equal(dn_encoder_words(encoder, 4, &idf).n, buckets ? 0 : 4);
        assert_null(idf);
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
}

/* ---- raw rows ---- */
/* Raw rows give the same features as the rows of the table. */
static void raw_rows(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    dn_text_work *work = NULL;
    OK(dn_text_work_new(&work, NULL));
    for (int kind = 0; kind < 6; kind++) {
        const dn_encoder_spec spec =
            vectors_spec((dn_text_weighting)(kind % 3), kind < 3 ? 0 : 5, kind % 2 == 1, kind == 5);
        dn_encoder *encoder = vectors_fit(t, 1, &spec, t->role, NULL, NULL);
        struct want w = want_of(t, encoder, &spec, t->role, NULL);
        enum { N = 50 };
        double value[N * 4], entry[N * 128], *x = xcalloc(N * w.d, sizeof *x);
        uint32_t feature[N * 128];
        size_t start[N + 1] = {7}, at = 7; /* row_start may begin with any number */
        for (size_t i = 0; i < N; i++) {
            value[4 * i] = t->age[i];
            /* values of vector inputs are not read */
            value[4 * i + 1] = value[4 * i + 3] = (double)NAN;
            value[4 * i + 2] = t->kind[i] == NULL
                                   ? (double)NAN
                                   : dn_encoder_level(encoder, 2, t->kind[i], strlen(t->kind[i]));
            for (size_t e = t->row_start[i]; e < t->row_start[i + 1]; e++, at++) {
                feature[at] = (uint32_t)dn_encoder_sparse_feature(encoder, 1, t->index[e]);
                entry[at] = t->entry[e];
            }
            const uint32_t *words;
            const double *counts;
            size_t n;
            OK(dn_encoder_text(encoder, 3, t->note[i], t->note[i] == NULL ? 0 : strlen(t->note[i]),
                               work, &words, &counts, &n, NULL));
            memcpy(feature + at, words, n * sizeof *words);
            memcpy(entry + at, counts, n * sizeof *counts);
            start[i + 1] = at += n;
        }
        const dn_raw_rows rows = {
            .n = N, .value = value, .row_start = start, .feature = feature, .entry = entry};
        dn_encoder_apply(encoder, rows, x);
        assert_close(x, w.x, N * w.d, 1e-13);
        memset(x, 0x55, N * w.d * sizeof *x);
        for (size_t i = 0; i < N; i += 7) {
            dn_encoder_apply(encoder, dn_raw_part(rows, 4, i, N - i < 7 ? N - i : 7), x + i * w.d);
        }
        assert_close(x, w.x, N * w.d, 1e-13);
        dni_encoder_expand(encoder, dn_raw_part(rows, 4, 3, 1), x);
        for (size_t j = 0; j < VECTORS_WIDTH; j++) {
            assert_true(x[2 + j] == t->dense[j][3]);
        }
        dn_encoder_apply(encoder, dn_raw_numbers(value, 1),
                         x); /* without entries: zeros, or standardised zeros */
        for (size_t j = 0; j < VECTORS_WIDTH; j++) {
            assert_true(kind == 5 ? fabs(x[2 + j] + w.mean[j] / w.scale[j]) < 1e-12
                                  : x[2 + j] == 0);
        }
        free(x);
        free(w.x);
        dn_encoder_unref(encoder);
    }
    dn_text_work_free(work);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recomputed),   cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(other_tables), cmocka_unit_test(categories_as_text),
        cmocka_unit_test(names),        cmocka_unit_test(raw_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
