/* Text and sparse inputs of the encoder: every feature recomputed from the table, sparse columns against the same ones as numbers, however rows are delivered; names, other tables, bytes,
 * memory and its lack. */
#include "unit/core/data/lists.h"

#include "data/encoder_bytes.h"
#include "data/words.h"

static const size_t all_columns[] = {L_AGE, L_PLACES, L_KIND, L_NOTE};

static dn_status try_fit(lists *t, size_t way, const dn_encoder_spec *spec, const uint8_t *role, const double *weight, const dn_run *run,
                         dn_encoder **out, dn_error *err) {
    chunked source;
    lists_source(t, t->columns, L_COLUMNS, way, &source);
    dn_status status = dn_encoder_fit(&source.source, spec, role, weight, run, out, err);
    chunked_done(&source);
    return status;
}

static dn_encoder *fit(lists *t, size_t way, const dn_encoder_spec *spec, const uint8_t *role, const double *weight, const dn_run *run) {
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    if (try_fit(t, way, spec, role, weight, run, &encoder, &err) != DN_OK)
        fail_msg("%s", err.message);
    return encoder;
}

static dn_encoder_spec spec_of(dn_text_weighting weighting, size_t buckets, bool standardize, bool sparse) {
    return (dn_encoder_spec){.columns = all_columns,
                             .n_columns = 4,
                             .standardize = standardize,
                             .standardize_sparse = sparse,
                             .missing_indicator = true,
                             .text = {.weighting = weighting, .buckets = buckets}};
}

/* ---- what the features must be ------------------------------------------------------------------------------------------------------------- */
static double weight_of(const uint8_t *role, const double *weight, size_t i) {
    return role != NULL && role[i] != DN_ROW_TRAIN ? 0 : weight == NULL ? 1 : weight[i];
}

struct want {
    size_t n, d;
    double *x; /* [LISTS_ROWS × d] */
    double mean[LISTS_WIDTH], scale[LISTS_WIDTH];
};

/* Means and deviations of the places, by definition. */
static void want_places(const lists *t, const uint8_t *role, const double *weight, struct want *w) {
    for (size_t j = 0; j < LISTS_WIDTH; j++) {
        long double total = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < LISTS_ROWS; i++) {
            total += (long double)weight_of(role, weight, i);
            sum += (long double)weight_of(role, weight, i) * (long double)t->dense[j][i];
        }
        for (size_t i = 0; i < LISTS_ROWS; i++) {
            long double step = (long double)t->dense[j][i] - sum / total;
            squares += (long double)weight_of(role, weight, i) * step * step;
        }
        w->mean[j] = (double)(sum / total);
        w->scale[j] = (double)sqrtl(squares / total);
        w->scale[j] = w->scale[j] > 1e-14 ? w->scale[j] : 1;
    }
}

/* The words' features of all rows: columns first, first + 1 … of x; returns how many. */
static size_t want_words(const lists *t, const dn_text_spec *spec, const uint8_t *role, const double *weight, size_t first,
                         struct want *w) {
    size_t of[LISTS_WORDS], n = 0;
    double total = 0, df[64] = {0};
    for (size_t i = 0; i < LISTS_ROWS; i++)
        total += weight_of(role, weight, i);
    for (size_t word = 0; word < LISTS_WORDS; word++) {
        bool met = false;
        for (size_t i = 0; i < LISTS_ROWS; i++)
            met = met || (t->count[i][word] > 0 && weight_of(role, weight, i) > 0);
        of[word] = spec->buckets > 0 ? (size_t)(dni_word_hash(t->words[word], 3) % spec->buckets) : met ? n++ : SIZE_MAX;
    }
    n = spec->buckets > 0 ? spec->buckets : n;
    for (size_t i = 0; i < LISTS_ROWS; i++) {
        double *x = w->x + i * w->d + first;
        for (size_t word = 0; word < LISTS_WORDS; word++)
            if (of[word] != SIZE_MAX)
                x[of[word]] += t->count[i][word];
        for (size_t j = 0; j < n; j++)
            df[j] += x[j] > 0 ? weight_of(role, weight, i) : 0;
    }
    for (size_t i = 0; i < LISTS_ROWS; i++) {
        double *x = w->x + i * w->d + first, squares = 0;
        for (size_t j = 0; j < n; j++) {
            x[j] = spec->weighting == DN_TEXT_BINARY ? x[j] > 0 : spec->weighting == DN_TEXT_TFIDF ? x[j] * lists_idf(total, df[j]) : x[j];
            squares += x[j] * x[j];
        }
        for (size_t j = 0; j < n && spec->weighting == DN_TEXT_TFIDF && squares > 0; j++)
            x[j] /= sqrt(squares);
    }
    return n;
}

static struct want want_of(const lists *t, const dn_encoder *encoder, const dn_encoder_spec *spec, const uint8_t *role,
                           const double *weight) {
    struct want w = {.d = dn_encoder_n_features(encoder)};
    const dn_input *age = dn_encoder_input(encoder, 0), *places = dn_encoder_input(encoder, 1), *kind = dn_encoder_input(encoder, 2);
    w.x = xcalloc(LISTS_ROWS * w.d, sizeof *w.x);
    want_places(t, role, weight, &w);
    assert_true(age->first_feature == 0 && age->n_features == 2 && places->first_feature == 2 && places->n_features == LISTS_WIDTH);
    for (size_t i = 0; i < LISTS_ROWS; i++) {
        double *x = w.x + i * w.d, mean = spec->standardize ? dn_encoder_mean(encoder)[0] : 0,
               scale = spec->standardize ? dn_encoder_scale(encoder)[0] : 1;
        x[0] = ((isnan(t->age[i]) ? age->fill : t->age[i]) - mean) / scale;
        x[1] = isnan(t->age[i]);
        for (size_t j = 0; j < LISTS_WIDTH; j++)
            x[2 + j] = spec->standardize && spec->standardize_sparse ? (t->dense[j][i] - w.mean[j]) / w.scale[j] : t->dense[j][i];
        size_t level = t->kind[i] == NULL ? 3 : t->kind[i][0] == 'n' ? 0 : t->kind[i][0] == 'o' ? 1 : 2;
        x[kind->first_feature + level] = 1;
    }
    w.n = want_words(t, &spec->text, role, weight, 2 + LISTS_WIDTH + 4, &w);
    assert_int_equal(w.d, 2 + LISTS_WIDTH + 4 + w.n);
    return w;
}

/* Row `row` of a block, dense. */
static void row_of(const dn_block *block, size_t row, double *x) {
    size_t d = block->x.n_cols;
    if (block->x.kind == DN_DENSE) {
        memcpy(x, block->x.values + row * block->x.stride, d * sizeof *x);
        return;
    }
    memset(x, 0, d * sizeof *x);
    for (size_t e = block->x.row_start[row]; e < block->x.row_start[row + 1]; e++) {
        assert_true(block->x.cols[e] < d && (e == block->x.row_start[row] || block->x.cols[e] > block->x.cols[e - 1]));
        assert_true(block->x.values[e] != 0);
        x[block->x.cols[e]] = block->x.values[e];
    }
}

static void check_rows(const lists *t, dn_rows *rows, const struct want *w, const uint8_t *role, uint8_t wanted) {
    size_t i = 0, seen = 0;
    double *x = xcalloc(w->d, sizeof *x);
    for (size_t b = 0; b < rows->n_blocks; b++) {
        dn_block block;
        OK(dn_rows_block(rows, b, rows->n_slots == SIZE_MAX ? 0 : b % rows->n_slots, &block, NULL));
        for (size_t r = 0; r < block.x.n_rows; r++, i++, seen++) {
            while (role != NULL && role[i] != wanted)
                i++;
            row_of(&block, r, x);
            for (size_t j = 0; j < w->d; j++)
                if (!(fabs(x[j] - w->x[i * w->d + j]) <= 1e-12 * fmax(1, fabs(x[j]))))
                    fail_msg("row %zu feature %zu is %.17g, expected %.17g", i, j, x[j], w->x[i * w->d + j]);
            assert_true(block.target[r] == t->target[i] && block.weight[r] == t->weight[i]);
        }
    }
    assert_int_equal(seen, rows->n_rows);
    free(x);
}

/* All ways of counting words, standardised or not, of all rows or some, from memory and streamed, by one thread and several. */
static void recomputed(void **unused) {
    (void)unused;
    lists *t = lists_new(2);
    for (size_t kind = 0; kind < 18; kind++) {
        const dn_encoder_spec spec = spec_of((dn_text_weighting)(kind % 3), kind / 3 % 2 == 0 ? 0 : 13, kind >= 6, kind >= 12);
        const uint8_t *role = kind % 2 == 0 ? NULL : t->role;
        const double *weight = kind % 4 < 2 ? NULL : t->weight;
        dn_run scattered = scattered_run();
        dn_encoder *encoder = fit(t, kind % 4, &spec, role, weight, kind % 3 == 0 ? NULL : &scattered);
        struct want w = want_of(t, encoder, &spec, role, weight);
        assert_true(dn_encoder_is_sparse(encoder) == (kind < 12)); /* standardised, most places are not 0 */
        for (size_t way = 0; way < 8; way++) {
            chunked source;
            lists_source(t, t->columns, L_COLUMNS, way % 4, &source);
            dn_rows *rows = NULL;
            OK(dn_rows_from_source(&source.source, encoder, t->role, (enum dn_row_role)(way % 3), t->target, t->weight, way < 4,
                                   way % 2 == 0 ? NULL : &scattered, &rows, NULL));
            check_rows(t, rows, &w, t->role, (uint8_t)(way % 3));
            dn_rows_free(rows);
            chunked_done(&source);
        }
        dn_encoder_unref(encoder);
        free(w.x);
    }
    free(t);
}

/* ---- one table, two ways to write it ----------------------------------------------------------------------------------------------------------- */
/* A sparse column gives what the same numbers in columns of their own give: to the bit as they are, to rounding when standardised. */
static void sparse_is_dense(void **unused) {
    (void)unused;
    lists *t = lists_new(2);
    size_t places[LISTS_WIDTH];
    static const size_t sparse[] = {L_PLACES};
    for (size_t j = 0; j < LISTS_WIDTH; j++)
        places[j] = j;
    for (int standardize = 0; standardize < 2; standardize++) {
        const dn_encoder_spec spec = {.columns = sparse, .n_columns = 1, .standardize = standardize, .standardize_sparse = standardize};
        const dn_encoder_spec plain = {.columns = places, .n_columns = LISTS_WIDTH, .standardize = standardize};
        dn_encoder *a = fit(t, 2, &spec, t->role, t->weight, NULL), *b = NULL;
        chunked source, numbers;
        lists_source(t, t->columns, L_COLUMNS, 2, &source);
        lists_source(t, t->numbers, LISTS_WIDTH, 1, &numbers);
        OK(dn_encoder_fit(&numbers.source, &plain, t->role, t->weight, NULL, &b, NULL));
        assert_int_equal(dn_encoder_n_features(a), dn_encoder_n_features(b));
        assert_true((dn_encoder_mean(a) == NULL) == (standardize == 0));
        for (size_t j = 0; standardize && j < LISTS_WIDTH; j++) {
            assert_near(dn_encoder_mean(a)[j] + 1, dn_encoder_mean(b)[j] + 1, 1e-14);
            assert_near(dn_encoder_scale(a)[j], dn_encoder_scale(b)[j], 1e-13);
        }
        dn_rows *x = NULL, *y = NULL;
        OK(dn_rows_from_source(&source.source, a, NULL, DN_ROW_TRAIN, NULL, NULL, true, NULL, &x, NULL));
        OK(dn_rows_from_source(&numbers.source, b, NULL, DN_ROW_TRAIN, NULL, NULL, true, NULL, &y, NULL));
        for (size_t i = 0; i < x->n_blocks; i++) {
            dn_block p, q;
            double u[LISTS_WIDTH], v[LISTS_WIDTH];
            OK(dn_rows_block(x, i, 0, &p, NULL));
            OK(dn_rows_block(y, i, 0, &q, NULL));
            assert_true(p.target == NULL && p.weight == NULL);
            assert_int_equal(p.x.kind, standardize ? DN_DENSE : DN_CSR);
            for (size_t r = 0; r < p.x.n_rows; r++) {
                row_of(&p, r, u);
                row_of(&q, r, v);
                for (size_t j = 0; j < LISTS_WIDTH; j++)
                    assert_true(standardize ? fabs(u[j] - v[j]) <= 1e-12 * fmax(1, fabs(v[j])) : u[j] == v[j]);
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

/* Another table's column may be narrower, wider, and begin elsewhere: places are known by their names. */
static void other_tables(void **unused) {
    (void)unused;
    static const size_t columns[] = {0};
    static const double own[] = {1, 2, 3, 4}, other[] = {5, 6, 7, 8};
    static const uint32_t own_place[] = {0, 1, 2, 3}, other_place[] = {0, 1, 4, 9};
    static const size_t start[] = {0, 4};
    static const size_t border[] = {0, 1};
    const chunked_column training = {.column = {.name = "f", .type = DN_SPARSE, .width = 5, .first_place = 2},
                                     .number = own,
                                     .row_start = start,
                                     .place = own_place};
    chunked_column later = {.column = {.name = "f", .type = DN_SPARSE, .width = 10},
                            .number = other,
                            .row_start = start,
                            .place = other_place};
    static const double want[][5] = {{0, 0, 7, 0, 0}, {6, 0, 0, 7, 0}, {5, 6, 0, 0, 7}, {0, 0, 5, 6, 0}};
    static const uint32_t first[] = {0, 1, 2, 4};
    chunked source;
    dn_encoder *encoder = NULL;
    chunked_init(&source, &training, 1, 1, border, 1);
    OK(dn_encoder_fit(&source.source, &(dn_encoder_spec){.columns = columns, .n_columns = 1}, NULL, NULL, NULL, &encoder, NULL));
    chunked_done(&source);
    assert_true(dn_encoder_place(encoder, 0, 4) == 4 && dn_encoder_place(encoder, 0, 5) == SIZE_MAX);
    for (size_t k = 0; k < 4; k++) {
        later.column.first_place = first[k];
        chunked_init(&source, &later, 1, 1, border, 1);
        dn_rows *rows = NULL;
        dn_block block;
        double x[5];
        OK(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL, k % 2 == 0, NULL, &rows, NULL));
        OK(dn_rows_block(rows, 0, 0, &block, NULL));
        row_of(&block, 0, x);
        assert_memory_equal(x, want[k], sizeof x);
        dn_rows_free(rows);
        chunked_done(&source);
    }
    dn_encoder_unref(encoder);
}

/* A column that came out categorical is text for a model that has learned words of it. */
static void categories_as_text(void **unused) {
    (void)unused;
    lists *t = lists_new(2);
    static const size_t columns[] = {L_NOTE};
    dn_encoder *encoder = fit(t, 0, &(dn_encoder_spec){.columns = columns, .n_columns = 1}, NULL, NULL, NULL);
    dn_rows *rows[2] = {NULL, NULL};
    chunked source[2];
    for (size_t k = 0; k < 2; k++) {
        lists_source(t, t->columns, L_COLUMNS, 1, &source[k]);
        source[k].columns[L_NOTE].type = k == 0 ? DN_TEXT : DN_CATEGORICAL;
        t->columns[L_NOTE].column.type = source[k].columns[L_NOTE].type;
        OK(dn_rows_from_source(&source[k].source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL, true, NULL, &rows[k], NULL));
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
    assert_int_equal(dn_rows_from_source(&source[1].source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL, true, NULL, &none, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "column \"note\" must be text (it is numeric)");
    for (size_t k = 0; k < 2; k++) {
        dn_rows_free(rows[k]);
        chunked_done(&source[k]);
    }
    dn_encoder_unref(encoder);
    free(t);
}

/* ---- names ---------------------------------------------------------------------------------------------------------------------------------------- */
static void names(void **unused) {
    (void)unused;
    static const char *const text[] = {"free Tea", "a_b 17"}, *const kind[] = {"17", "18"};
    static const double numbers[] = {1, 2, 3, 4};
    static const size_t start[] = {0, 1, 2}, border[] = {0, 2};
    static const uint32_t place[] = {0, 1};
    const chunked_column table[] = {
        {.column = {.name = "f", .type = DN_SPARSE, .width = 2, .first_place = 1}, .number = numbers, .row_start = start, .place = place},
        {.column = {.name = "f1", .type = DN_NUMERIC}, .number = numbers},
        {.column = {.name = "f2x", .type = DN_NUMERIC}, .number = numbers},
        {.column = {.name = "g7", .type = DN_SPARSE, .width = 1}, .number = numbers, .row_start = start, .place = (uint32_t[]){0, 0}},
        {.column = {.name = "note", .type = DN_TEXT}, .text = text},
        {.column = {.name = "note:free", .type = DN_NUMERIC}, .number = numbers},
        {.column = {.name = "g7=", .type = DN_CATEGORICAL}, .text = kind}};
    static const char *const want[] = {"f1",       "f2",        "\"f1\"",   "f2x",           "\"g7\"0",    "note:17",
                                       "note:a_b", "note:free", "note:tea", "\"note:free\"", "\"g7=\"=17", "\"g7=\"=18"};
    static const char *const hashed[] = {"note:#0", "note:#1", "note:#2"};
    static const size_t columns[] = {0, 1, 2, 3, 4, 5, 6};
    for (int buckets = 0; buckets < 2; buckets++) {
        chunked source;
        dn_encoder *encoder = NULL;
        chunked_init(&source, table, 7, 2, border, 1);
        const dn_encoder_spec spec = {.columns = columns, .n_columns = 7, .text = {.buckets = buckets ? 3 : 0}};
        OK(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL));
        assert_int_equal(dn_encoder_n_features(encoder), buckets ? 11 : 12);
        for (size_t j = 0; j < dn_encoder_n_features(encoder); j++) {
            char name[64];
            const char *expected = !buckets || j < 5 ? want[j] : j < 8 ? hashed[j - 5] : want[j + 1];
            assert_int_equal(dn_encoder_feature_name(encoder, j, name, sizeof name), strlen(expected));
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

/* ---- raw rows ------------------------------------------------------------------------------------------------------------------------------------ */
/* Raw rows with entries give what the table's rows give. */
static void raw_rows(void **unused) {
    (void)unused;
    lists *t = lists_new(2);
    dn_text_work *work = NULL;
    OK(dn_text_work_new(&work, NULL));
    for (int kind = 0; kind < 6; kind++) {
        const dn_encoder_spec spec = spec_of((dn_text_weighting)(kind % 3), kind < 3 ? 0 : 5, kind % 2 == 1, kind == 5);
        dn_encoder *encoder = fit(t, 1, &spec, t->role, NULL, NULL);
        struct want w = want_of(t, encoder, &spec, t->role, NULL);
        enum { N = 50 };
        double value[N * 4], entry[N * 128], *x = xcalloc(N * w.d, sizeof *x);
        uint32_t feature[N * 128];
        size_t start[N + 1] = {7}, at = 7; /* need not begin with 0 */
        for (size_t i = 0; i < N; i++) {
            value[4 * i] = t->age[i];
            value[4 * i + 1] = value[4 * i + 3] = (double)NAN; /* not looked at */
            value[4 * i + 2] = t->kind[i] == NULL ? (double)NAN : dn_encoder_level(encoder, 2, t->kind[i], strlen(t->kind[i]));
            for (size_t e = t->row_start[i]; e < t->row_start[i + 1]; e++, at++) {
                feature[at] = (uint32_t)dn_encoder_place(encoder, 1, t->place[e]);
                entry[at] = t->entry[e];
            }
            const uint32_t *words;
            const double *counts;
            size_t n;
            OK(dn_encoder_text(encoder, 3, t->note[i], t->note[i] == NULL ? 0 : strlen(t->note[i]), work, &words, &counts, &n, NULL));
            memcpy(feature + at, words, n * sizeof *words);
            memcpy(entry + at, counts, n * sizeof *counts);
            start[i + 1] = at += n;
        }
        const dn_raw_rows rows = {.n = N, .value = value, .row_start = start, .feature = feature, .entry = entry};
        dn_encoder_apply(encoder, rows, x);
        assert_close(x, w.x, N * w.d, 1e-13);
        memset(x, 0x55, N * w.d * sizeof *x);
        for (size_t i = 0; i < N; i += 7)
            dn_encoder_apply(encoder, dn_raw_part(rows, 4, i, N - i < 7 ? N - i : 7), x + i * w.d);
        assert_close(x, w.x, N * w.d, 1e-13);
        dni_encoder_expand(encoder, dn_raw_part(rows, 4, 3, 1), x);
        for (size_t j = 0; j < LISTS_WIDTH; j++)
            assert_true(x[2 + j] == t->dense[j][3]);
        dn_encoder_apply(encoder, dn_raw_numbers(value, 1), x); /* no entries: nothing but zeros, standardised where they are */
        for (size_t j = 0; j < LISTS_WIDTH; j++)
            assert_true(kind == 5 ? fabs(x[2 + j] + w.mean[j] / w.scale[j]) < 1e-12 : x[2 + j] == 0);
        free(x);
        free(w.x);
        dn_encoder_unref(encoder);
    }
    dn_text_work_free(work);
    free(t);
}

/* ---- bytes ----------------------------------------------------------------------------------------------------------------------------------------- */
static void bytes_and_back(void **unused) {
    (void)unused;
    lists *t = lists_new(2);
    for (int kind = 0; kind < 4; kind++) {
        const dn_encoder_spec spec = spec_of(kind % 2 == 0 ? DN_TEXT_COUNTS : DN_TEXT_TFIDF, kind < 2 ? 0 : 3, kind > 0, kind == 3);
        dn_encoder *encoder = fit(t, 1, &spec, t->role, NULL, NULL), *back = NULL;
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
        for (size_t i = 0; i < size; i++)
            for (unsigned bit = 0; bit < 9; bit++) {
                dn_encoder *other = NULL;
                copy[i] = (unsigned char)(bit < 8 ? copy[i] ^ (1u << bit) : 255);
                reader = dni_reader_of(copy, size);
                dn_status status = dni_encoder_read(&reader, &other, NULL);
                assert_true(status == DN_OK || status == DN_ERR_CORRUPT || status == DN_ERR_VERSION);
                char name[600];
                for (size_t j = 0; status == DN_OK && j < dn_encoder_n_features(other); j += 1 + dn_encoder_n_features(other) / 50)
                    (void)dn_encoder_feature_name(other, j, name, sizeof name);
                dn_encoder_unref(other);
                copy[i] = ((unsigned char *)bytes)[i];
            }
        free(copy);
        free(bytes);
        free(more);
        dn_encoder_unref(encoder);
        dn_encoder_unref(back);
    }
    free(t);
}

/* A few bytes cannot stand for features without end. */
static void bytes_of_no_model(void **unused) {
    (void)unused;
    dni_writer w;
    dni_writer_init(&w);
    dni_write_u8(&w, 3);
    dni_write_u8(&w, 1 | 8); /* everything standardised */
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

/* ---- refusals, failures ------------------------------------------------------------------------------------------------------------------------- */
static void refusals(void **unused) {
    (void)unused;
    static const size_t columns[] = {0};
    static const size_t border[] = {0, 1}, start[] = {0, 1};
    static const uint32_t place[] = {2};
    const double number[] = {(double)INFINITY};
    dn_table_column wide = {.name = "f", .type = DN_SPARSE, .width = DN_MAX_DENSE_PLACES + 1};
    const dn_encoder_spec spec = {.columns = columns, .n_columns = 1, .standardize = true, .standardize_sparse = true};
    dn_error err = {0};
    assert_int_equal(dn_encoder_check(&wide, 1, &spec, &err), DN_ERR_DATA);
    assert_string_equal(err.field, "f");
    assert_non_null(strstr(err.message, "16384"));
    wide.width--;
    OK(dn_encoder_check(&wide, 1, &spec, NULL));
    wide.width += 2;
    OK(dn_encoder_check(&wide, 1, &(dn_encoder_spec){.columns = columns, .n_columns = 1, .standardize = true}, NULL));

    const dn_table_column column = {.name = "f", .type = DN_SPARSE, .width = 3, .first_place = 1};
    const dn_column_view view = {.type = DN_SPARSE, .n_rows = 1, .number = number, .row_start = start, .place = place};
    dn_table_source *source = NULL;
    OK(dn_table_source_from_columns(&column, &view, 1, border[1], &source, NULL));
    dn_encoder *encoder = NULL;
    dn_error_clear(&err);
    assert_int_equal(dn_encoder_fit(source, &(dn_encoder_spec){.columns = columns, .n_columns = 1}, NULL, NULL, NULL, &encoder, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.message, "column \"f3\" must be a finite number (got inf)");
    assert_true(err.row == 0 && encoder == NULL);
    dn_table_source_free(source);
}

/* Every call to the source and to the allocator fails once: an error each time, nothing lost, nothing left. */
static void failures(void **unused) {
    (void)unused;
    lists *t = lists_new(2);
    const dn_encoder_spec spec = spec_of(DN_TEXT_TFIDF, 0, true, true), sparse = spec_of(DN_TEXT_COUNTS, 0, true, false);
    dn_encoder *encoder = fit(t, 1, &sparse, NULL, NULL, NULL);
    for (int way = 0; way < 4; way++) {
        dn_status status = DN_ERR_BUDGET;
        size_t n = 0;
        for (; status != DN_OK; n++) {
            refusing memory;
            refusing_init(&memory, n + 1);
            dn_run run = scattered_run();
            run.allocator = &memory.allocator;
            chunked source;
            lists_source(t, t->columns, L_COLUMNS, 1, &source);
            source.fail_at = way == 3 ? n + 1 : 0;
            memory.refuse = way == 3 ? 0 : n + 1;
            dn_error err = {0};
            dn_encoder *fitted = NULL;
            dn_rows *rows = NULL;
            if (way == 0 || way == 3)
                status = dn_encoder_fit(&source.source, &spec, t->role, t->weight, &run, &fitted, &err);
            else
                status =
                    dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, t->target, t->weight, way == 1, &run, &rows, &err);
            dn_block block;
            for (size_t b = 0; status == DN_OK && rows != NULL && b < rows->n_blocks; b++)
                status = dn_rows_block(rows, b, b % 4, &block, &err);
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

/* ---- memory ------------------------------------------------------------------------------------------------------------------------------------------ */
struct counted {
    size_t live, most;
};

static void *counted_allocate(void *ctx, size_t size) {
    struct counted *c = ctx;
    size_t *memory = malloc(size + 64);
    if (memory == NULL)
        return NULL;
    *memory = size;
    c->live += size;
    c->most = c->live > c->most ? c->live : c->most;
    return (char *)memory + 64;
}

static void counted_release(void *ctx, void *memory) {
    struct counted *c = ctx;
    if (memory == NULL)
        return;
    size_t *start = (size_t *)(void *)((char *)memory - 64);
    c->live -= *start;
    free(start);
}

/* Rows in memory take 12 bytes an entry, whatever the number of features; a block that is streamed as much of its own. What is said before is so. */
static void bytes_of_rows(void **unused) {
    (void)unused;
    lists *t = lists_new(2);
    static const size_t columns[] = {L_PLACES, L_NOTE};
    const dn_encoder_spec spec = {.columns = columns, .n_columns = 2, .text = {.buckets = 1000000}};
    dn_encoder *encoder = fit(t, 0, &spec, NULL, NULL, NULL);
    chunked source;
    lists_source(t, t->columns, L_COLUMNS, 2, &source);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        struct counted counted = {0};
        const dn_allocator allocator = {.allocate = counted_allocate, .release = counted_release, .ctx = &counted, .budgeted = true};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dn_rows *rows = NULL;
        OK(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, t->target, t->weight, in_memory, &run, &rows, NULL));
        size_t entries = 0, kept = counted.live;
        for (size_t b = 0; b < rows->n_blocks; b++) {
            dn_block block;
            OK(dn_rows_block(rows, b, 0, &block, NULL));
            entries += block.x.row_start[block.x.n_rows] - block.x.row_start[0];
        }
        const double exact = 12.0 * (double)entries + 24.0 * LISTS_ROWS, said = (double)dn_encoder_rows_bytes(encoder, LISTS_ROWS);
        assert_true(fabs(said - exact) <= 0.001 * exact); /* all rows are training rows */
        if (in_memory)
            assert_true((double)kept >= exact && (double)kept <= exact + 4096);
        else
            assert_true((double)counted.most <= 0.7 * exact + 200000); /* a block is 4,096 of 9,001 rows, with room to grow */
        dn_rows_free(rows);
        assert_int_equal(counted.live, 0);
    }
    assert_true(dn_encoder_rows_bytes(encoder, SIZE_MAX / 8) == SIZE_MAX);
    dn_encoder_unref(encoder);
    chunked_done(&source);
    free(t);
}

/* Beyond 16,384 features of text and sparse columns rows are sparse, however full; nothing is held for each of a million places. */
static void very_wide(void **unused) {
    (void)unused;
    enum { WIDTH = 4000000 };
    static const size_t columns[] = {0}, start[] = {0, 2, 2, 5};
    static const uint32_t place[] = {5, WIDTH - 1, 0, 5, 99999};
    static const double number[] = {1, 2, 3, 4, 5};
    const dn_table_column column = {.name = "f", .type = DN_SPARSE, .width = WIDTH, .first_place = 1};
    const dn_column_view view = {.type = DN_SPARSE, .n_rows = 3, .number = number, .row_start = start, .place = place};
    dn_table_source *source = NULL;
    OK(dn_table_source_from_columns(&column, &view, 1, 3, &source, NULL));
    dn_encoder *encoder = NULL;
    OK(dn_encoder_fit(source, &(dn_encoder_spec){.columns = columns, .n_columns = 1, .standardize = true}, NULL, NULL, NULL, &encoder,
                      NULL));
    assert_int_equal(dn_encoder_n_features(encoder), WIDTH);
    assert_true(dn_encoder_is_sparse(encoder) && dn_encoder_mean(encoder) == NULL);
    assert_true(fabs(dn_encoder_entries(encoder) - 5.0 / 3) < 1e-15);
    assert_true(dni_encoder_memory(encoder) < 1000000);
    char name[32];
    dn_encoder_feature_name(encoder, WIDTH - 1, name, sizeof name);
    assert_string_equal(name, "f4000000");
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recomputed),     cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(other_tables),   cmocka_unit_test(categories_as_text),
        cmocka_unit_test(names),          cmocka_unit_test(raw_rows),
        cmocka_unit_test(bytes_and_back), cmocka_unit_test(bytes_of_no_model),
        cmocka_unit_test(refusals),       cmocka_unit_test(failures),
        cmocka_unit_test(bytes_of_rows),  cmocka_unit_test(very_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
