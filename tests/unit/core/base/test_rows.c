/* Rows: blocks of a matrix, of an encoded table in memory, and of a streamed table have the same
 * bits for all chunks. */
#include "unit/core/table/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void over_a_matrix(void **unused) {
    (void)unused;
    static const size_t sizes[] = {
        0, 1, DN_BLOCK_ROWS - 1, DN_BLOCK_ROWS, DN_BLOCK_ROWS + 1, 3 * DN_BLOCK_ROWS};
    size_t most = 3 * DN_BLOCK_ROWS;
    double *values = malloc(2 * most * sizeof *values), *target = malloc(most * sizeof *target);
    for (size_t i = 0; i < 2 * most; i++) {
        values[i] = (double)i;
    }
    for (size_t i = 0; i < most; i++) {
        target[i] = (double)i;
    }
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k], seen = 0;
        dn_rows *rows = NULL;
        assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(values, n, 2), target, NULL, &rows,
                                             NULL),
                         DN_OK);
        assert_int_equal(rows->n_rows, n);
        assert_int_equal(rows->n_cols, 2);
        for (size_t i = 0; i < rows->n_blocks; i++) {
            dn_block block;
            assert_int_equal(dn_rows_block(rows, i, 99, &block, NULL), DN_OK);
            assert_int_equal(block.first_row, i * DN_BLOCK_ROWS);
            assert_true(block.x.n_rows > 0);
            assert_ptr_equal(block.x.values, values + 2 * block.first_row);
            assert_true(block.target[0] == (double)block.first_row);
            assert_null(block.weight);
            seen += block.x.n_rows;
        }
        assert_int_equal(seen, n);
        dn_rows_free(rows);
    }
    free(values);
    free(target);
    dn_rows_free(NULL);
}

static void over_a_sparse_matrix(void **unused) {
    (void)unused;
    enum { N = DN_BLOCK_ROWS + 5 };
    static size_t row_start[N + 1];
    static uint32_t cols[N];
    static double values[N], weight[N];
    for (size_t i = 0; i < N; i++) {
        row_start[i] = i;
        cols[i] = (uint32_t)(i % 3);
        values[i] = (double)i;
    }
    row_start[N] = N;
    dn_rows *rows = NULL;
    assert_int_equal(dn_rows_from_matrix(dn_matrix_csr(row_start, cols, values, N, 3), NULL, weight,
                                         &rows, NULL),
                     DN_OK);
    dn_block block;
    assert_int_equal(dn_rows_block(rows, 1, 0, &block, NULL), DN_OK);
    assert_int_equal(block.x.n_rows, 5);
    assert_int_equal(block.x.row_start[0], DN_BLOCK_ROWS);
    assert_true(block.x.values[block.x.row_start[4]] == N - 1);
    assert_ptr_equal(block.weight, weight + DN_BLOCK_ROWS);
    dn_matrix part = dn_matrix_rows(block.x, 2, 2);
    assert_int_equal(part.n_rows, 2);
    assert_int_equal(part.row_start[0], DN_BLOCK_ROWS + 2);
    dn_rows_free(rows);
}

/* The expected rows: each selected row encoded by dn_encoder_apply. */
static double *expected(const table *t, const dn_encoder *encoder, const uint8_t *role,
                        uint8_t wanted, size_t *out_n) {
    size_t d = dn_encoder_n_features(encoder), n = 0;
    double *out = malloc(TABLE_ROWS * d * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        double raw[T_COLUMNS];
        if (role != NULL && role[i] != wanted) {
            continue;
        }
        for (size_t k = 0; k < dn_encoder_n_inputs(encoder); k++) {
            const dn_input *input = dn_encoder_input(encoder, k);
            size_t c = 0;
            while (strcmp(t->columns[c].column.name, input->name) != 0) {
                c++;
            }
            const char *text = t->text[c][i];
            raw[k] = input->type != DN_CATEGORICAL ? t->number[c][i]
                     : text == NULL                ? (double)NAN
                                    : dn_encoder_level(encoder, k, text, strlen(text));
        }
        dn_encoder_apply(encoder, dn_raw_numbers(raw, 1), out + n * d);
        n++;
    }
    *out_n = n;
    return out;
}

static void check_rows(const table *t, dn_rows *rows, const double *want, size_t n, bool sparse,
                       const uint8_t *role, uint8_t wanted, bool with_target, bool with_weight) {
    size_t d = rows->n_cols, at = 0, source_row = 0;
    double row[T_COLUMNS + 250];
    assert_int_equal(rows->n_rows, n);
    assert_int_equal(rows->n_blocks, (n + DN_BLOCK_ROWS - 1) / DN_BLOCK_ROWS);
    for (size_t step = 0; step < rows->n_blocks; step++) {
        dn_block block;
        size_t slot = rows->n_slots == SIZE_MAX ? 0 : step % rows->n_slots;
        assert_int_equal(dn_rows_block(rows, step, slot, &block, NULL), DN_OK);
        assert_int_equal(block.first_row, at);
        assert_int_equal(block.x.kind, sparse ? DN_CSR : DN_DENSE);
        assert_int_equal(block.x.n_cols, d);
        assert_true(with_target == (block.target != NULL) && with_weight == (block.weight != NULL));
        for (size_t i = 0; i < block.x.n_rows; i++, at++, source_row++) {
            const double *x = block.x.values + i * block.x.stride;
            if (sparse) {
                memset(row, 0, sizeof row);
                for (size_t k = block.x.row_start[i]; k < block.x.row_start[i + 1]; k++) {
                    assert_true(block.x.cols[k] < d && (k == block.x.row_start[i] ||
                                                        block.x.cols[k] > block.x.cols[k - 1]));
                    assert_true(block.x.values[k] != 0);
                    row[block.x.cols[k]] = block.x.values[k];
                }
                x = row;
            }
            for (size_t j = 0; j < d; j++) {
                if (x[j] != want[at * d + j] ||
                    (!sparse && signbit(x[j]) != signbit(want[at * d + j]))) {
                    fail_msg("row %zu feature %zu: %.17g, expected %.17g", at, j, x[j],
                             want[at * d + j]);
                }
            }
            while (role != NULL && role[source_row] != wanted) {
                source_row++;
            }
            assert_true(!with_target || block.target[i] == t->target[source_row]);
            assert_true(!with_weight || block.weight[i] == t->weight[source_row]);
        }
    }
    assert_int_equal(at, n);
}

static void over_a_source_with(size_t cities, const dn_encoder_spec *given, bool sparse) {
    table *t = mixed_table_new(cities);
    size_t borders[TABLE_MAX_CHUNKS];
    dn_run runs[] = {dn_run_default(), scattered_run()};
    dn_encoder_spec spec = *given;
    spec.target = t->target;
    spec.n_classes = 3;
    for (size_t cut = 0; cut < TABLE_CUTS; cut++) {
        size_t n_chunks = mixed_table_cut(cut, borders), n = 0;
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n_chunks);
        dn_encoder *encoder =
            NULL; /* fitted to the training rows: the other rows have unseen levels */
        assert_int_equal(dn_encoder_fit(&source.source, &spec, t->role, NULL, NULL, &encoder, NULL),
                         DN_OK);
        for (int kind = 0; kind < 3; kind++) {
            const uint8_t *role = kind == 0 ? NULL : t->role;
            enum dn_row_role wanted = kind == 2 ? DN_ROW_VALIDATE : DN_ROW_TRAIN;
            double *want = expected(t, encoder, role, (uint8_t)wanted, &n);
            for (int memory = 0; memory < 2; memory++) {
                for (size_t r = 0; r < 2; r++) {
                    bool target = (kind + memory) % 2 == 0, weight = kind % 2 == 0;
                    dn_rows *rows = NULL;
                    dn_error err;
                    dn_error_clear(&err);
                    if (dn_rows_from_source(&source.source, encoder, role, wanted,
                                            target ? t->target : NULL, weight ? t->weight : NULL,
                                            memory == 1, &runs[r], &rows, &err) != DN_OK) {
                        fail_msg("%s", err.message);
                    }
                    assert_int_equal(rows->n_cols, dn_encoder_n_features(encoder));
                    check_rows(t, rows, want, n, sparse, role, (uint8_t)wanted, target, weight);
                    dn_rows_free(rows);
                }
            }
            free(want);
        }
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    free(t);
}

static const size_t every_column[] = {T_PLAIN, T_HOLES,  T_STAMP, T_CONSTANT, T_EMPTY,
                                      T_FLAG,  T_COLOUR, T_CITY,  T_WHOLE,    T_LAST};

static void dense_over_a_source(void **unused) {
    (void)unused;
    dn_encoder_spec spec = {.columns = every_column, .n_columns = T_COLUMNS};
    over_a_source_with(3, &spec, false);
    spec.standardize = true;
    over_a_source_with(3, &spec, false);
}

static void sparse_over_a_source(void **unused) {
    (void)unused;
    static const size_t some[] = {T_CITY, T_WHOLE, T_LAST, T_COLOUR, T_FLAG};
    over_a_source_with(200,
                       &(dn_encoder_spec){.columns = every_column,
                                          .n_columns = T_COLUMNS,
                                          .standardize = true},
                       true);
    over_a_source_with(60, &(dn_encoder_spec){.columns = some, .n_columns = 5}, true);
}

/* With all options at once the rows equal those of dn_encoder_apply, which test_encoder_options.c
 * recomputes. */
static void with_options(void **unused) {
    (void)unused;
    for (int k = 0; k < 2; k++) {
        dn_encoder_spec spec = {.columns = every_column,
                                .n_columns = T_COLUMNS,
                                .standardize = k == 0,
                                .missing_number = DN_MISSING_FREQUENT_NUMBER,
                                .missing_category = DN_MISSING_FREQUENT_LEVEL,
                                .missing_indicator = true,
                                .categorical = DN_DROP_FIRST,
                                .unseen = k == 0 ? DN_UNSEEN_FREQUENT : DN_UNSEEN_ZEROS};
        over_a_source_with(3, &spec, false);
        over_a_source_with(200, &spec, true);
    }
}

static void with_bases(void **unused) {
    (void)unused;
    static const size_t two[] = {0, 8}, three[] = {1, 5, 9}, others[] = {2, 3};
    const dn_basis_spec bases[] = {
        {.kind = DN_BASIS_POLYNOMIAL,
         .columns = three,
         .n_columns = 3,
         .degree = 3,
         .interactions = true},
        {.kind = DN_BASIS_GAUSSIAN,
         .columns = two,
         .n_columns = 2,
         .keep = true,
         .standardize = true,
         .n_points = 4,
         .width = 1},
        {.kind = DN_BASIS_DISTANCE,
         .columns = others,
         .n_columns = 2,
         .points = (const double[]){1.7e9, 0, 1.7e9, 3},
         .n_points = 2},
        {.kind = DN_BASIS_RANDOM_FOURIER,
         .columns = two,
         .n_columns = 2,
         .standardize = true,
         .n_features = 5,
         .width = 2},
        {.kind = DN_BASIS_FISHER, .columns = two, .n_columns = 2, .standardize = true}};
    for (int k = 0; k < 2; k++) {
        dn_encoder_spec spec = {.columns = every_column,
                                .n_columns = T_COLUMNS,
                                .standardize = k == 0,
                                .missing_indicator = k == 1,
                                .bases = bases,
                                .n_bases = sizeof bases / sizeof *bases};
        over_a_source_with(3, &spec, false);
        over_a_source_with(200, &spec, true);
    }
}

static void order_of_the_source_does_not_matter(void **unused) {
    (void)unused;
    table *t = mixed_table_new(5);
    size_t borders[] = {0, TABLE_ROWS}, n = 0;
    static const size_t columns[] = {T_LAST, T_COLOUR, T_PLAIN, T_CITY};
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, 1);
    dn_encoder_spec spec = {.columns = columns, .n_columns = 4, .standardize = true};
    dn_encoder *encoder = NULL;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_OK);
    double *want = expected(t, encoder, NULL, 0, &n);
    chunked_column reversed[T_COLUMNS];
    for (size_t i = 0; i < T_COLUMNS; i++) {
        reversed[i] = t->columns[T_COLUMNS - 1 - i];
    }
    chunked other;
    chunked_init(&other, reversed, T_COLUMNS, TABLE_ROWS, borders, 1);
    dn_rows *rows = NULL;
    assert_int_equal(dn_rows_from_source(&other.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         true, NULL, &rows, NULL),
                     DN_OK);
    check_rows(t, rows, want, n, false, NULL, 0, false, false);
    dn_rows_free(rows);
    free(want);

    dn_error err;
    dn_error_clear(&err);
    other.columns[T_COLUMNS - 1 - T_CITY].name = "ville";
    assert_int_equal(dn_rows_from_source(&other.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         true, NULL, &rows, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.field, "city");
    assert_string_equal(err.message, "there is no column \"city\"");
    dn_error_clear(&err);
    other.columns[T_COLUMNS - 1 - T_CITY] = (dn_table_column){.name = "city", .type = DN_TEXT};
    assert_int_equal(dn_rows_from_source(&other.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         true, NULL, &rows, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.message, "column \"city\" must be categorical (it is text)");
    dn_encoder_unref(encoder);
    chunked_done(&source);
    chunked_done(&other);
    free(t);
}

/* The error for an unseen category has its row. Rows with weight 0 and rows that are not selected
 * are not checked. */
static void refused_categories(void **unused) {
    (void)unused;
    table *t = mixed_table_new(200);
    size_t borders[TABLE_MAX_CHUNKS], n_chunks = mixed_table_cut(2, borders), n = 0;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->role[i] = i % 2 == 0 ? DN_ROW_TRAIN : DN_ROW_VALIDATE;
    }
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->weight[i] = 1;
    }
    for (int sparse = 0; sparse < 2; sparse++) {
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n_chunks);
        const size_t columns[] = {T_PLAIN, T_COLOUR, T_CITY};
        dn_encoder_spec spec = {.columns = columns,
                                .n_columns = 2 + (size_t)sparse,
                                .unseen = DN_UNSEEN_REFUSE};
        dn_encoder *encoder = NULL;
        t->text[T_COLOUR][7001] = "green";
        assert_int_equal(dn_encoder_fit(&source.source, &spec, t->role, NULL, NULL, &encoder, NULL),
                         DN_OK);
        assert_true(dn_encoder_refuses_unseen(encoder));
        t->text[T_COLOUR][7001] = "ultraviolet";
        for (int memory = 0; memory < 2; memory++) {
            dn_rows *rows = NULL;
            dn_error err = {0};
            dn_status status =
                dn_rows_from_source(&source.source, encoder, t->role, DN_ROW_VALIDATE, NULL,
                                    t->weight, memory == 1, NULL, &rows, &err);
            for (size_t i = 0; status == DN_OK && i < rows->n_blocks; i++) {
                dn_block block;
                status = dn_rows_block(rows, i, 0, &block, &err);
            }
            assert_int_equal(status, DN_ERR_DATA);
            assert_string_equal(
                err.message,
                "column \"colour\" is \"ultraviolet\", a category that no training row has");
            assert_string_equal(err.field, "colour");
            assert_int_equal(err.row, 7001);
            dn_rows_free(rows);
            rows = NULL;
            t->weight[7001] = 0;
            assert_int_equal(dn_rows_from_source(&source.source, encoder, t->role, DN_ROW_VALIDATE,
                                                 NULL, t->weight, memory == 1, NULL, &rows, NULL),
                             DN_OK);
            double *want = expected(t, encoder, t->role, DN_ROW_VALIDATE, &n);
            check_rows(t, rows, want, n, sparse == 1, t->role, DN_ROW_VALIDATE, false, true);
            free(want);
            dn_rows_free(rows);
            t->weight[7001] = 1;
        }
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    free(t);
}

/* The pieces of a block of wide dense rows are consecutive parts of the block. Tested for rows in
 * memory and streamed rows, all rows and selected rows; the pieces are not read in order. */
static void pieces(void **unused) {
    (void)unused;
    enum { ROWS = DN_BLOCK_ROWS + 700, COLUMNS = 300, PIECE = 1024 };
    assert_int_equal(dn_piece_rows(0), DN_BLOCK_ROWS);
    assert_int_equal(dn_piece_rows(128), DN_BLOCK_ROWS);
    assert_int_equal(dn_piece_rows(129), DN_BLOCK_ROWS / 2);
    assert_int_equal(dn_piece_rows(COLUMNS), PIECE);
    assert_int_equal(dn_piece_rows(SIZE_MAX), 256);
    static double numbers[ROWS], target[ROWS];
    static uint8_t role[ROWS];
    static dn_table_column columns[COLUMNS];
    static dn_column_view views[COLUMNS];
    static char names[COLUMNS][8];
    size_t every[COLUMNS], n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        numbers[i] = target[i] = (double)i;
        role[i] = i % 50 == 7 ? DN_ROW_SKIP : DN_ROW_TRAIN;
        n += role[i] == DN_ROW_TRAIN;
    }
    for (size_t j = 0; j < COLUMNS; j++) {
        snprintf(names[j], sizeof names[j], "x%u", (unsigned)j % 1000);
        columns[j] = (dn_table_column){.name = names[j], .type = DN_NUMERIC};
        views[j] = (dn_column_view){.type = DN_NUMERIC, .n_rows = ROWS, .number = numbers};
        every[j] = j;
    }
    dn_table_source *source = NULL;
    assert_int_equal(dn_table_source_from_columns(columns, views, COLUMNS, ROWS, &source, NULL),
                     DN_OK);
    dn_encoder *encoder = NULL;
    const dn_encoder_spec spec = {.columns = every, .n_columns = COLUMNS};
    assert_int_equal(dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, NULL), DN_OK);
    for (int way = 0; way < 4; way++) {
        const uint8_t *roles = way % 2 == 0 ? NULL : role;
        const size_t total = way % 2 == 0 ? ROWS : n;
        dn_rows *rows = NULL;
        assert_int_equal(dn_rows_from_source(source, encoder, roles, DN_ROW_TRAIN, target, NULL,
                                             way < 2, NULL, &rows, NULL),
                         DN_OK);
        assert_int_equal(dn_rows_n_pieces(rows, 0), 4);
        assert_int_equal(dn_rows_n_pieces(rows, 1), 1);
        size_t seen = 0;
        static const size_t order[][2] = {{0, 2}, {0, 0}, {1, 0}, {0, 3}, {0, 1}};
        for (size_t k = 0; k < 5; k++) {
            dn_block piece;
            assert_int_equal(dn_rows_piece(rows, order[k][0], order[k][1], 0, &piece, NULL), DN_OK);
            assert_int_equal(piece.first_row, order[k][0] * DN_BLOCK_ROWS + order[k][1] * PIECE);
            for (size_t t = 0; t < piece.x.n_rows; t++) {
                const double row = piece.target[t];
                const size_t before = roles == NULL ? 0 : (size_t)row / 50 + ((size_t)row % 50 > 7);
                assert_true((double)(piece.first_row + t + before) == row);
                assert_true(piece.x.values[t * piece.x.stride] == row &&
                            piece.x.values[t * piece.x.stride + COLUMNS - 1] == row);
            }
            seen += piece.x.n_rows;
        }
        assert_int_equal(seen, total);
        dn_block block; /* the whole block is still available */
        assert_int_equal(dn_rows_block(rows, 0, 0, &block, NULL), DN_OK);
        assert_true(block.x.n_rows == DN_BLOCK_ROWS && block.x.values[COLUMNS] == 1);
        dn_rows_free(rows);
    }
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

static void failures(void **unused) {
    (void)unused;
    table *t = mixed_table_new(200);
    size_t borders[TABLE_MAX_CHUNKS], n_chunks = mixed_table_cut(1, borders);
    for (int sparse = 0; sparse < 2; sparse++) {
        dn_encoder_spec spec = {.columns = every_column,
                                .n_columns = sparse ? T_COLUMNS : 6,
                                .standardize = true};
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n_chunks);
        dn_encoder *encoder = NULL;
        assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                         DN_OK);
        for (int memory = 0; memory < 2; memory++) {
            dn_status status = DN_ERR_BUDGET;
            size_t refused = 0;
            for (; status != DN_OK; refused++) {
                refusing allocator;
                refusing_init(&allocator, refused + 1);
                dn_run run = scattered_run();
                run.allocator = &allocator.allocator;
                dn_rows *rows = NULL;
                dn_error err;
                dn_error_clear(&err);
                status = dn_rows_from_source(&source.source, encoder, t->role, DN_ROW_TRAIN,
                                             t->target, t->weight, memory == 1, &run, &rows, &err);
                assert_true((rows != NULL) == (status == DN_OK));
                for (size_t i = 0; status == DN_OK && i < rows->n_blocks; i++) {
                    dn_block block;
                    status = dn_rows_block(rows, i, i % CHUNKED_SLOTS, &block, &err);
                }
                assert_true(status == DN_OK || status == DN_ERR_BUDGET);
                assert_int_equal(err.code, status);
                dn_rows_free(rows);
                assert_int_equal(allocator.live, 0);
            }
            assert_true(refused > 3);
        }
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    free(t);
}

/* After a failure to read a block, the block can be read again. */
static void source_fails_and_recovers(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    size_t borders[TABLE_MAX_CHUNKS], n_chunks = mixed_table_cut(2, borders), n = 0;
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n_chunks);
    dn_encoder_spec spec = {.columns = every_column, .n_columns = T_COLUMNS};
    dn_encoder *encoder = NULL;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_OK);
    dn_rows *rows = NULL;
    assert_int_equal(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         false, NULL, &rows, NULL),
                     DN_OK);
    double *want = expected(t, encoder, NULL, 0, &n);
    for (size_t k = 1; k < 30; k++) {
        dn_block block;
        dn_error err;
        dn_error_clear(&err);
        source.calls = 0;
        source.fail_at = k;
        assert_int_equal(dn_rows_block(rows, k % 2, 0, &block, &err), DN_ERR_SOURCE);
        assert_string_equal(err.message, "the disk is gone");
        source.fail_at = 0;
    }
    check_rows(t, rows, want, n, false, NULL, 0, false, false);
    dn_rows_free(rows);
    rows = NULL;
    source.calls = 0;
    source.fail_at = 17;
    assert_int_equal(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         true, NULL, &rows, NULL),
                     DN_ERR_SOURCE);
    assert_null(rows);
    free(want);
    dn_encoder_unref(encoder);
    chunked_done(&source);
    free(t);
}

static void sizes_and_slots(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    size_t borders[] = {0, TABLE_ROWS};
    static const size_t two[] = {T_PLAIN, T_WHOLE};
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, 1);
    dn_encoder_spec spec = {.columns = two, .n_columns = 2};
    dn_encoder *encoder = NULL;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_OK);
    assert_int_equal(dn_encoder_rows_bytes(encoder, 1000), 1000 * (2 + 2) * 8);
    assert_true(dn_encoder_rows_bytes(encoder, SIZE_MAX / 8) == SIZE_MAX);
    /* a source with fewer slots than the run: one slot reads into memory; streaming is refused */
    dn_run run = scattered_run();
    run.n_slots = CHUNKED_SLOTS + 1;
    dn_rows *rows = NULL;
    dn_encoder *same = NULL;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, &run, &same, NULL), DN_OK);
    dn_encoder_unref(same);
    assert_int_equal(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         true, &run, &rows, NULL),
                     DN_OK);
    dn_rows_free(rows);
    assert_int_equal(dn_rows_from_source(&source.source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                         false, &run, &rows, NULL),
                     DN_ERR_ARGUMENT);
    /* no selected row: no block */
    memset(t->role, DN_ROW_SKIP, sizeof t->role);
    for (int memory = 0; memory < 2; memory++) {
        assert_int_equal(dn_rows_from_source(&source.source, encoder, t->role, DN_ROW_TRAIN, NULL,
                                             NULL, memory == 1, NULL, &rows, NULL),
                         DN_OK);
        assert_int_equal(rows->n_rows, 0);
        assert_int_equal(rows->n_blocks, 0);
        dn_rows_free(rows);
    }
    dn_encoder_unref(encoder);
    chunked_done(&source);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_a_matrix),
        cmocka_unit_test(over_a_sparse_matrix),
        cmocka_unit_test(dense_over_a_source),
        cmocka_unit_test(sparse_over_a_source),
        cmocka_unit_test(with_options),
        cmocka_unit_test(with_bases),
        cmocka_unit_test(refused_categories),
        cmocka_unit_test(order_of_the_source_does_not_matter),
        cmocka_unit_test(pieces),
        cmocka_unit_test(failures),
        cmocka_unit_test(source_fails_and_recovers),
        cmocka_unit_test(sizes_and_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
