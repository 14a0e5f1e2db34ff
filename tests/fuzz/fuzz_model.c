/* Reads any bytes as a model. The fuzzer corrects the size and the checksums in the bytes, unless
 * byte 0 of the input is odd. A model that can be read must predict, must be evaluated and
 * described, and must be the same bytes after it is written, read and written again. */
#include "api/describe.h"
#include "base/hash.h"
#include "fuzz/support.h"

#include <math.h>

enum { SIZE_AT = 16, LEAST = 28 };

static void put_checksum(unsigned char *bytes, size_t size) {
    const uint32_t crc = hash_crc32(bytes, size - 4);
    for (size_t i = 0; i < 4; i++) {
        bytes[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

/* Corrects the checksums of the members of a combination, whose bytes begin as those of a model. */
static void put_members_right(unsigned char *bytes, size_t size) {
    for (size_t at = LEAST; at + LEAST <= size; at++) {
        uint64_t own = 0;
        if (memcmp(bytes + at, "DNMODEL\n", 8) != 0) {
            continue;
        }
        for (size_t i = 8; i-- > 0;) {
            own = own << 8 | bytes[at + SIZE_AT + i];
        }
        if (own >= LEAST && own <= size - at) {
            put_checksum(bytes + at, (size_t)own);
        }
    }
}

static void put_right(unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < 8; i++) {
        bytes[SIZE_AT + i] = (unsigned char)((uint64_t)size >> (8 * i));
    }
    put_members_right(bytes, size);
    put_checksum(bytes, size);
}

/* The entries of a row: for a text input the features of one or two words; for sparse inputs the
 * first and the last feature. */
struct entries {
    size_t start[2];
    uint32_t feature[64];
    double entry[64];
};

static void make_entries(const dn_encoder *encoder, struct entries *out) {
    static const char text[] = "free tea, FREE \xc3\xa9t\xc3\xa9 tonight w1 a",
                      graph[] = "a-b b-c free-a";
    dn_text_work *work = NULL;
    size_t n = 0;
    CHECK(dn_text_work_new(&work, NULL) == DN_OK);
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder) && n < 32; i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        const uint32_t *feature = NULL;
        const double *entry = NULL;
        size_t more = 0;
        if (input->type == DN_TEXT) {
            dn_status status = dn_encoder_text(encoder, i, text, sizeof text - 1, work, &feature,
                                               &entry, &more, NULL);
            if (status == DN_ERR_DATA) { /* the input is a text, not a graph */
                status = dn_encoder_text(encoder, i, graph, sizeof graph - 1, work, &feature,
                                         &entry, &more, NULL);
            }
            CHECK(status == DN_OK && more <= 32);
        }
        for (size_t e = 0; e < more; e++, n++) {
            CHECK(feature[e] >= input->first_feature &&
                  feature[e] < input->first_feature + input->n_features);
            out->feature[n] = feature[e];
            out->entry[n] = entry[e];
        }
        for (size_t place = 0; input->type == DN_SPARSE && place < input->width && place < 2;
             place++, n++) {
            out->feature[n] =
                (uint32_t)dn_encoder_sparse_feature(encoder, i,
                                                    (uint32_t)(place == 0 ? 0 : input->width - 1));
            out->entry[n] = 1.5;
        }
    }
    dn_text_work_free(work);
    out->start[0] = 0;
    out->start[1] = n;
}

static void check_predicts(const dn_model *model) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const dn_classes *classes = dn_model_classes(model);
    const size_t n_inputs = dn_encoder_n_inputs(encoder), n_scores = dn_model_n_scores(model),
                 n_features = dn_encoder_n_features(encoder);
    double *raw = malloc((n_inputs + 1) * sizeof *raw),
           *workspace = malloc((dn_model_workspace(model) + 1) * sizeof *workspace);
    double *scores = malloc((n_scores + 1) * sizeof *scores),
           *parts = malloc((n_scores * n_features + 1) * sizeof *parts);
    double *chances = malloc((classes->n + 1) * sizeof *chances), sum = 0;
    double *densities = malloc((2 * classes->n + 1) * sizeof *densities);
    bool *candidates = malloc(2 * classes->n * sizeof *candidates), outside = false;
    size_t label = SIZE_MAX;
    double distance = 0, density = 0;
    CHECK(chances != NULL && densities != NULL && raw != NULL && workspace != NULL &&
          scores != NULL && parts != NULL && candidates != NULL && classes->n >= 2);
    for (size_t i = 0; i < n_inputs; i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        raw[i] = i % 3 == 0 ? (double)NAN
                 : input->type == DN_CATEGORICAL
                     ? (input->levels.n > 0 ? (double)(input->levels.n - 1) : DN_UNSEEN)
                     : 1;
    }
    const bool dense = dn_model_has_density(model), sets = dn_model_conformal(model) != NULL;
    const dn_prediction rows = {.label = &label,
                                .probabilities = dn_model_has_probabilities(model) ? chances : NULL,
                                .scores = scores,
                                .candidates = candidates,
                                .distance = &distance,
                                .contributions = dn_model_has_contributions(model) ? parts : NULL,
                                .log_density = dense ? &density : NULL,
                                .class_log_density = dense ? densities : NULL,
                                .posterior = dense ? densities + classes->n : NULL,
                                .out_of_support = &outside,
                                .set = candidates + classes->n};
    struct entries entries;
    make_entries(encoder, &entries);
    struct buf out = {0};
    struct predictions_writer answer;
    const struct answer_head head = {.name = "m",
                                     .version = 1,
                                     .outputs = ANSWER_LABEL | ANSWER_SCORES | ANSWER_DISTANCE |
                                                ANSWER_CONTRIBUTIONS | ANSWER_AMBIGUOUS |
                                                ANSWER_LOG_DENSITY |
                                                (dense ? ANSWER_PRIOR | ANSWER_POSTERIOR : 0) |
                                                (sets ? ANSWER_SET : 0),
                                     .format = &format_json};
    predictions_writer_begin(&answer, &head, model, &rows, &out);
    if (dn_model_predict(model,
                         (dn_raw_rows){1, raw, entries.start, entries.feature, entries.entry},
                         workspace, &rows) == 1) { /* 0: a score is not finite */
        CHECK(label < classes->n || (label == DN_AMBIGUOUS && classes->n > 2));
        for (size_t k = 0;
             dn_model_calibration(model) != NULL && rows.probabilities != NULL && k < classes->n;
             k++) {
            CHECK(chances[k] >= 0 && chances[k] <= 1);
            sum += chances[k];
        }
        CHECK(sum == 0 || fabs(sum - 1) < 1e-6);
        predictions_writer_rows(&answer, 1, &rows);
    }
    predictions_writer_end(&answer, NULL, NULL);
    predictions_writer_done(&answer);
    CHECK(!out.failed);
    buf_done(&out);
    free(chances);
    free(densities);
    free(raw);
    free(workspace);
    free(scores);
    free(parts);
    free(candidates);
}

/* ---- evaluation ---- */
enum { N_ROWS = 3 };

/* Evaluates rows of raw numbers, with all metrics and curves. */
static void check_evaluates_raw(const dn_model *model) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const size_t n_inputs = dn_encoder_n_inputs(encoder);
    double *raw = calloc(N_ROWS * n_inputs + 1, sizeof *raw);
    struct entries entries;
    dn_metrics *metrics = NULL;
    CHECK(raw != NULL);
    for (size_t i = 0; i < N_ROWS * n_inputs; i++) {
        raw[i] = (double)(i % 5);
    }
    make_entries(encoder, &entries);
    const size_t start[N_ROWS + 1] = {0, entries.start[1], entries.start[1], entries.start[1]},
                                truth[N_ROWS] = {0, 1, 0};
    const dn_labelled_rows rows = {.raw = {N_ROWS, raw, start, entries.feature, entries.entry},
                                   .truth = truth};
    const dn_status status = dn_model_evaluate_raw(model, &rows, true, NULL, &metrics, NULL);
    CHECK(status == DN_OK || status == DN_ERR_DATA); /* DN_ERR_DATA: a score is not finite */
    dn_metrics_free(metrics);
    free(raw);
}

/* A table whose columns have the names and types of the inputs, and a target column. */
struct evaluation_table {
    dn_table_column *columns; /* [n_inputs + 1] */
    dn_column_view *views;    /* [n_inputs + 1] */
    dn_table_source *source;
};

static dn_column_view view_of(dn_column_type type) {
    static const double numbers[N_ROWS] = {1, 0, 1};
    static const uint32_t codes[N_ROWS] = {0, 1, 0}, string_start[] = {0, 8, 11};
    static const size_t row_start[N_ROWS + 1] = {0, 1, 1, 2};
    static const uint32_t index[] = {0, 0};
    return (dn_column_view){.type = type,
                            .n_rows = N_ROWS,
                            .number = numbers,
                            .code = codes,
                            .strings = {.n = 2, .start = string_start, .bytes = "free teaa-b"},
                            .row_start = row_start,
                            .index = index};
}

/* Makes the table. t->source is NULL if two columns have the same name. */
static void table_init(struct evaluation_table *t, const dn_model *model) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const size_t n = dn_encoder_n_inputs(encoder);
    t->columns = calloc(n + 1, sizeof *t->columns);
    t->views = calloc(n + 1, sizeof *t->views);
    t->source = NULL;
    CHECK(t->columns != NULL && t->views != NULL);
    for (size_t i = 0; i < n; i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        t->columns[i] = (dn_table_column){.name = input->name,
                                          .type = input->type,
                                          .width = input->width,
                                          .first_index = input->first_index};
        t->views[i] = view_of(input->type);
        if (input->type == DN_SPARSE && input->width == 0) {
            static const size_t no_entries[N_ROWS + 1] = {0};
            t->views[i].row_start = no_entries;
        }
    }
    const char *target = dn_model_target(model);
    t->columns[n] = (dn_table_column){.name = target == NULL ? "y" : target, .type = DN_NUMERIC};
    t->views[n] = view_of(DN_NUMERIC);
    const dn_status status =
        dn_table_source_from_columns(t->columns, t->views, n + 1, N_ROWS, &t->source, NULL);
    CHECK((status == DN_OK) == (t->source != NULL));
}

/* Evaluates the model on a table, whose rows are encoded for the machines that need encoded
 * features. */
static void check_evaluates_table(const dn_model *model) {
    struct evaluation_table table;
    table_init(&table, model);
    if (table.source != NULL) {
        dn_metrics *metrics = NULL;
        dn_error error;
        dn_error_clear(&error);
        const dn_status status =
            dn_model_evaluate(model, table.source, NULL, NULL, &metrics, &error);
        CHECK(status == DN_OK || error.message[0] != '\0');
        dn_metrics_free(metrics);
    }
    dn_table_source_free(table.source);
    free(table.columns);
    free(table.views);
}

/* Computes the coordinates of a row, if the model has them. */
static void transform_row(const dn_model *model, dn_coordinates of) {
    const size_t n_components = dn_model_n_components(model, of);
    if (n_components == 0) {
        return;
    }
    const size_t n_inputs = dn_encoder_n_inputs(dn_model_encoder(model));
    double *raw = calloc(n_inputs + 1, sizeof *raw),
           *workspace = calloc(dn_model_workspace(model) + 1, sizeof *workspace),
           *components = calloc(n_components, sizeof *components);
    struct entries entries;
    CHECK(raw != NULL && workspace != NULL && components != NULL);
    make_entries(dn_model_encoder(model), &entries);
    (void)dn_model_transform(model, of,
                             (dn_raw_rows){1, raw, entries.start, entries.feature, entries.entry},
                             workspace, components);
    free(raw);
    free(workspace);
    free(components);
}

/* ---- description ---- */
/* Writes the machines as JSON as in the answer of GET …/weights. */
static void check_describes(const dn_model *model) {
    struct buf out = {0};
    struct json_writer writer;
    writer = json_writer_of(&out);
    json_begin_object(&writer);
    const dn_visitor visitor = api_json_visitor(&writer, true);
    dn_linear linear;
    if (dn_model_linear(model, &linear)) {
        CHECK(linear.n_scores == dn_model_n_scores(model));
        json_put_vector(&writer, "w", linear.w, linear.n_scores * linear.n_features);
        json_put_vector(&writer, "w0", linear.w0, linear.n_scores);
    }
    CHECK(dn_model_describe(model, &visitor, NULL) == DN_OK);
    for (size_t i = 0; i < dn_model_n_machines(model); i++) {
        CHECK(dn_model_describe_machine(model, i, &visitor, NULL) == DN_OK);
    }
    for (int of = DN_COORDINATES_DIRECTIONS; of <= DN_COORDINATES_SCORES; of++) {
        transform_row(model, (dn_coordinates)of);
    }
    json_end_object(&writer);
    CHECK(!out.failed);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 + LEAST) {
        return 0;
    }
    dn_error error;
    dn_error_clear(&error);
    dn_model *model = NULL, *second = NULL;
    char *bytes = fuzz_copy(data + 1, size - 1);
    if ((data[0] & 1) == 0) {
        put_right((unsigned char *)bytes, size - 1);
    }
    const dn_status status = dn_model_read(bytes, size - 1, &model, &error);
    CHECK(status == DN_OK || (model == NULL && error.message[0] != '\0'));
    if (status == DN_OK) {
        void *first = NULL, *again = NULL;
        size_t n_first = 0, n_again = 0;
        check_predicts(model);
        check_evaluates_raw(model);
        check_evaluates_table(model);
        check_describes(model);
        CHECK(dn_model_write(model, &first, &n_first, NULL) == DN_OK);
        CHECK(dn_model_read(first, n_first, &second, NULL) == DN_OK);
        CHECK(dn_model_write(second, &again, &n_again, NULL) == DN_OK);
        CHECK(n_first == n_again && memcmp(first, again, n_first) == 0);
        free(first);
        free(again);
        dn_model_unref(second);
        dn_model_unref(model);
    }
    free(bytes);
    return 0;
}
