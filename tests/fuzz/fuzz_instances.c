/* Reads instances for small models. Byte 0 of the input: bit 0: the instances have labels; bits 1
 * and 2: the format (JSON, CSV, sniffed, name=value pairs; with bit 3: NDJSON, svmlight with
 * indices from 1, svmlight with indices from 0, lines in pieces); bit 4: the model has sparse
 * columns and a text column; bit 6: the reading of the training table of the small model is known;
 * bit 7: CSV has options as at an upload, by byte 1. The other bytes are the body. JSON that the
 * reader accepts must be accepted by Jansson, too, with as many instances and the same numbers.
 * Lines must give the same rows wherever the body is cut, and when it is read as a table. */
#include "fuzz/support.h"

#include <jansson.h>
#include <math.h>

/* model: the one of the others that this input is read for */
static dn_model *plain, *wide, *sparse, *model;
/* of the plain model: of a table with other columns, and the class between the inputs */
static struct instance_schema *mixed;

/* Trains a logistic regression of the last column on the other columns. The caller owns the
 * views. */
static dn_model *train(const dn_table_column *columns, const dn_column_view *views, size_t n_cols) {
    static const size_t inputs[] = {0, 1, 2};
    dn_table_source *source = NULL;
    dn_params *params = NULL;
    dn_train_result result = {0};
    CHECK(dn_table_source_from_columns(columns, views, n_cols, views[0].n_rows, &source, NULL) ==
          DN_OK);
    CHECK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL) == DN_OK);
    CHECK(dn_params_set_number(params, "lambda", 0.1, NULL) == DN_OK);
    const dn_run run = dn_run_default();
    const dn_train_request request = {.source = source,
                                      .params = params,
                                      .target = n_cols - 1,
                                      .features = {.columns = inputs, .n_columns = n_cols - 1}};
    CHECK(dn_train(&request, &run, &result, NULL) == DN_OK);
    dn_model *trained = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(params);
    dn_table_source_free(source);
    return trained;
}

/* Trains two models with three numeric classes: one of the number "x", the sparse column "f1" …
 * "f5" and the text "words", and one of the sparse column alone. */
static void train_wide(void) {
    enum { N = 6 };
    static const double x[N] = {1, 2, 3, 4, 5, 6}, y[N] = {0, 1, 2, 0, 1, 2},
                        value[] = {1, 2, -1, 0.5, 3, 1, 1};
    static const size_t row_start[N + 1] = {0, 1, 3, 4, 5, 6, 7};
    static const uint32_t place[] = {0, 1, 4, 2, 0, 1, 3},
                          code[N] = {0, 1, 2, 3, DN_CODE_MISSING, 1}, start[] = {0, 7, 10, 17, 22};
    static const dn_table_column columns[] = {
        {.name = "x", .type = DN_NUMERIC},
        {.name = "f", .type = DN_SPARSE, .width = 5, .first_index = 1},
        {.name = "words", .type = DN_TEXT},
        {.name = "kind", .type = DN_NUMERIC}};
    const dn_column_view views[] = {
        {.type = DN_NUMERIC, .n_rows = N, .number = x},
        {.type = DN_SPARSE, .n_rows = N, .number = value, .row_start = row_start, .index = place},
        {.type = DN_TEXT,
         .n_rows = N,
         .code = code,
         .strings = {.n = 4, .start = start, .bytes = "red sunseasun seahills"}},
        {.type = DN_NUMERIC, .n_rows = N, .number = y}};
    wide = train(columns, views, 4);
    sparse = train((const dn_table_column[]){columns[1], columns[3]},
                   (const dn_column_view[]){views[1], views[3]}, 2);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    plain = fuzz_model();
    mixed =
        instance_schema_new(plain, "{\"reading\":{\"delimiter\":\";\",\"decimal_comma\":[\"x\"],"
                                   "\"missing\":[\"-\",\"-9\"],\"columns\":[\"id\",\"x\","
                                   "\"kind\",\"y\",\"colour\",\"old\"]}}");
    CHECK(mixed != NULL);
    train_wide();
    return 0;
}

static void check_entries(const struct instance_rows *in) {
    const dn_encoder *encoder = dn_model_encoder(model);
    CHECK(in->n == 0 || (in->row_start != NULL) == (model != plain));
    for (size_t i = 0; in->row_start != NULL && i < in->n; i++) {
        CHECK(in->row_start[i] <= in->row_start[i + 1]);
        for (size_t k = in->row_start[i]; k < in->row_start[i + 1]; k++) {
            CHECK(in->feature[k] < dn_encoder_n_features(encoder) && isfinite(in->entry[k]) &&
                  in->entry[k] != 0);
            CHECK(k == in->row_start[i] || in->feature[k] > in->feature[k - 1]);
        }
    }
}

static void check_values(const struct instance_rows *in, bool labelled) {
    const dn_encoder *encoder = dn_model_encoder(model);
    CHECK(in->n > 0 && in->n_inputs == dn_encoder_n_inputs(encoder) &&
          (in->label != NULL) == labelled);
    check_entries(in);
    for (size_t i = 0; i < in->n; i++) {
        for (size_t j = 0; j < in->n_inputs; j++) {
            const double x = in->raw[i * in->n_inputs + j];
            const dn_input *input = dn_encoder_input(encoder, j);
            CHECK(!isinf(x));
            CHECK(isnan(x) || input->type == DN_NUMERIC ||
                  (input->type == DN_BOOLEAN && (x == 0 || x == 1)) ||
                  (input->type == DN_CATEGORICAL &&
                   (x == DN_UNSEEN || (x >= 0 && x < (double)input->levels.n))));
        }
        CHECK(!labelled || in->label[i] == SIZE_MAX || in->label[i] < dn_model_classes(model)->n);
    }
    double *workspace = malloc((dn_model_workspace(model) + 1) * sizeof *workspace),
           probabilities[3];
    size_t label = 0;
    CHECK(workspace != NULL);
    const dn_prediction said = {.label = &label, .probabilities = probabilities};
    const size_t n =
        dn_model_predict(model, instance_rows_view(in, in->n - 1, 1), workspace, &said);
    CHECK(label < 3 && (n == 0 || probabilities[label] >= 0));
    for (size_t f = 0; n == 1 && formats[f] != NULL; f++) {
        if (formats[f]->answers == NULL) {
            continue;
        }
        struct buf out = {0};
        struct predictions_writer answer;
        const struct answer_head about = {.name = "m",
                                          .version = 1,
                                          .outputs = ANSWER_LABEL | ANSWER_PROBABILITIES,
                                          .format = formats[f]};
        predictions_writer_begin(&answer, &about, model, &said, &out);
        predictions_writer_rows(&answer, 1, &said);
        predictions_writer_end(&answer, NULL, NULL);
        predictions_writer_done(&answer);
        CHECK(!out.failed);
        buf_done(&out);
    }
    free(workspace);
}

/* ---- lines ---- */
static void put_block(const struct instance_lines *lines, struct buf *out) {
    const struct instance_rows *block = instance_lines_block(lines);
    for (size_t i = 0; i < block->n; i++) {
        buf_printf(out, "%d:", (int)instance_lines_line_of(lines, i));
        for (size_t j = 0; j < block->n_inputs; j++) {
            buf_printf(out, " %a", block->raw[i * block->n_inputs + j]);
        }
        for (size_t k = block->row_start != NULL ? block->row_start[i] : 0;
             block->row_start != NULL && k < block->row_start[i + 1]; k++) {
            buf_printf(out, " %u=%a", block->feature[k], block->entry[k]);
        }
        buf_putc(out, '\n');
    }
}

/* Reads the lines in pieces and appends their rows as text. Returns the number of rows; *refused:
 * the number of refused lines. */
static size_t read_lines(const char *body, size_t size, uint64_t cuts, size_t *refused,
                         struct buf *out) {
    struct problem problem = {0};
    struct instance_lines *lines =
        instance_lines_new(model, &(struct instances_options){0}, 3, 200, &problem);
    size_t n = 0, at = 0, upto = 0;
    CHECK(lines != NULL);
    *refused = 0;
    do {
        enum instance_lines_state state = INSTANCE_LINES_FULL;
        upto = cuts == 0 ? size : upto + 1 + fuzz_random(&cuts) % 40;
        upto = upto < size ? upto : size;
        while (state != INSTANCE_LINES_MORE) {
            size_t used = 0;
            char *piece = fuzz_copy(body + at, upto - at);
            state = instance_lines_read(lines, piece, upto - at, upto == size, &used, &problem);
            free(piece);
            CHECK(used <= upto - at && state != INSTANCE_LINES_FAILED &&
                  instance_lines_block(lines)->n <= 3);
            at += used;
            n += instance_lines_block(lines)->n;
            check_entries(instance_lines_block(lines));
            put_block(lines, out);
            instance_lines_clear(lines);
            if (state == INSTANCE_LINES_FAULT) {
                CHECK(problem.type == PROBLEM_INVALID_INSTANCES && problem.n_errors > 0);
                ++*refused;
                buf_printf(out, "%d refused: %s\n", (int)instance_lines_at(lines),
                           problem.errors[0].detail);
                problem_done(&problem);
            }
        }
    } while (upto < size);
    CHECK(at == size);
    instance_lines_free(lines);
    return n;
}

static void lines(const char *body, size_t size) {
    struct buf whole = {0}, cut = {0};
    size_t refused = 0, refused_cut = 0;
    const size_t n = read_lines(body, size, 0, &refused, &whole);
    CHECK(n == read_lines(body, size, size + 1, &refused_cut, &cut) && refused == refused_cut);
    CHECK(whole.size == cut.size &&
          (whole.size == 0 || memcmp(whole.data, cut.data, whole.size) == 0));
    struct instance_rows in = {0};
    struct problem problem = {0};
    const struct instances_options options = {.format = &format_ndjson};
    if (instances_read(body, size, &options, model, &in, &problem)) {
        /* a line of a table may be longer, so the table can have more rows */
        CHECK(in.n >= n && (in.n == n || refused > 0));
    }
    problem_done(&problem);
    instance_rows_done(&in);
    buf_done(&whole);
    buf_done(&cut);
}

/* The index in `columns` of the column whose name is this one letter; SIZE_MAX: no column has this
 * name. */
static size_t listed_at(const json_t *columns, char name) {
    for (size_t j = 0; j < json_array_size(columns); j++) {
        const json_t *column = json_array_get(columns, j);
        const char *own =
            json_string_value(json_is_object(column) ? json_object_get(column, "name") : column);
        own += own != NULL ? strspn(own, " \t\r\n") : 0;
        if (own != NULL && own[0] == name && own[1 + strspn(own + 1, " \t\r\n")] == '\0') {
            return j;
        }
    }
    return SIZE_MAX;
}

static void against_jansson(const struct instance_rows *in, const char *body, size_t size) {
    json_error_t error;
    if (size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0) {
        body += 3;
        size -= 3;
    }
    json_t *tree = json_loadb(body, size, JSON_DECODE_INT_AS_REAL, &error);
    CHECK(tree != NULL);
    const json_t *columns = json_object_get(tree, "columns");
    const json_t *rows =
        json_is_array(tree) ? tree : json_object_get(tree, columns != NULL ? "rows" : "instances");
    CHECK(json_array_size(rows) == in->n);
    for (size_t i = 0; i < in->n; i++) {
        const json_t *row = json_array_get(rows, i);
        for (size_t j = 0; j < 2; j++) { /* the two numeric inputs */
            const size_t at = columns != NULL ? listed_at(columns, j == 0 ? 'x' : 'y') : j;
            const json_t *value = json_is_array(row) ? json_array_get(row, at)
                                                     : json_object_get(row, j == 0 ? "x" : "y");
            const double x = in->raw[i * in->n_inputs + j];
            CHECK(json_is_number(value) ? x == json_number_value(value)
                                        : isnan(x) && (value == NULL || json_is_null(value)));
        }
    }
    json_decref(tree);
}

/* Splits "name=value&name=value" into names and values, without decoding them. */
static void pairs(char *text) {
    const char *names[16], *values[16];
    size_t n = 0;
    for (char *at = strtok(text, "&"); at != NULL && n < 16; at = strtok(NULL, "&")) {
        char *equal = strchr(at, '=');
        names[n] = at;
        values[n++] = equal != NULL ? equal + 1 : "";
        if (equal != NULL) {
            *equal = '\0';
        }
    }
    struct instance_rows in = {0};
    struct problem problem = {0};
    if (instances_read_pairs(names, values, n, model, NULL, NULL, true, &in, &problem)) {
        check_values(&in, false);
        CHECK(in.n == 1);
    } else {
        CHECK(problem.type == PROBLEM_INVALID_INSTANCES);
    }
    problem_done(&problem);
    instance_rows_done(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    static const struct format *const chosen[] = {
        &format_json, &format_csv, NULL, 0, &format_ndjson, &format_svmlight, &format_svmlight};
    const unsigned which = (data[0] >> 1 & 3) + (data[0] & 8 ? 4 : 0);
    const struct format *format = which < 7 ? chosen[which] : 0;
    const unsigned by = size > 1 && data[0] & 128 ? data[1] : 0;
    const struct table_options table = {.header = by % 3,
                                        .header_lines = by >> 2 & 3,
                                        .skip_rows = by >> 4 & 1,
                                        .rename = by & 32,
                                        .names = by & 64 ? "x,y,\"old\",z,colour" : NULL,
                                        .delimiter = by & 128 ? ';' : '\0'};
    struct instances_options options = {.format = format == &format_csv && data[0] & 32
                                                      ? &format_tsv
                                                      : format,
                                        .table = data[0] & 128 ? &table : NULL,
                                        .labelled = data[0] & 1,
                                        .zero_based = which == 6};
    model = options.format == &format_svmlight && data[0] & 16 ? sparse
            : data[0] & 16                                     ? wide
                                                               : plain;
    options.schema = model == plain && data[0] & 64 ? mixed : NULL;
    char *body = fuzz_copy(data + 1, size - 1);
    if (which == 3) {
        char *text = calloc(1, size);
        CHECK(text != NULL);
        memcpy(text, body, size - 1);
        pairs(text);
        free(text);
        free(body);
        return 0;
    }
    if (which == 7) {
        lines(body, size - 1);
        free(body);
        return 0;
    }
    struct instance_rows in = {0};
    struct problem problem = {0};
    if (instances_read(body, size - 1, &options, model, &in, &problem)) {
        check_values(&in, options.labelled);
        if (options.format == &format_json && model == plain && options.schema == NULL) {
            against_jansson(&in, body, size - 1);
        }
    } else {
        CHECK(problem.type == PROBLEM_INVALID_INSTANCES || problem.type == PROBLEM_BAD_JSON);
        CHECK(in.raw == NULL && in.label == NULL);
    }
    problem_done(&problem);
    instance_rows_done(&in);
    free(body);
    return 0;
}
