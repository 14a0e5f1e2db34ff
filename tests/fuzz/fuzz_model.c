/* The bytes of a model: any bytes, with their size and checksum put right so that the fuzzer gets
 * behind them (byte 0 of the input odd: left as they are). What is read as a model predicts, and is
 * written and read again as the same bytes. */
#include "base/hash.h"
#include "fuzz/support.h"

#include <math.h>

enum { SIZE_AT = 16, LEAST = 28 };

static void put_right(unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < 8; i++) {
        bytes[SIZE_AT + i] = (unsigned char)((uint64_t)size >> (8 * i));
    }
    const uint32_t crc = hash_crc32(bytes, size - 4);
    for (size_t i = 0; i < 4; i++) {
        bytes[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

/* The entries of a row: of a text that has a word or two, of the first and the last place of sparse
 * inputs. */
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
            if (status == DN_ERR_DATA) { /* it is no graph */
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
    bool *candidates = malloc(classes->n * sizeof *candidates), outside = false;
    size_t label = SIZE_MAX;
    double distance = 0, density = 0;
    CHECK(chances != NULL && raw != NULL && workspace != NULL && scores != NULL && parts != NULL &&
          candidates != NULL && classes->n >= 2);
    for (size_t i = 0; i < n_inputs; i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        raw[i] = i % 3 == 0 ? (double)NAN
                 : input->type == DN_CATEGORICAL
                     ? (input->levels.n > 0 ? (double)(input->levels.n - 1) : DN_UNSEEN)
                     : 1;
    }
    const dn_prediction rows = {.label = &label,
                                .probabilities = dn_model_has_probabilities(model) ? chances : NULL,
                                .scores = scores,
                                .candidates = candidates,
                                .distance = &distance,
                                .contributions = dn_model_has_contributions(model) ? parts : NULL,
                                .log_density = dn_model_has_density(model) ? &density : NULL,
                                .out_of_support = &outside};
    struct entries entries;
    make_entries(encoder, &entries);
    struct buf out = {0};
    struct predictions_writer answer;
    const struct answer_head head = {.name = "m",
                                     .version = 1,
                                     .outputs = ANSWER_LABEL | ANSWER_SCORES | ANSWER_DISTANCE |
                                                ANSWER_CONTRIBUTIONS | ANSWER_AMBIGUOUS |
                                                ANSWER_LOG_DENSITY,
                                     .format = &format_json};
    predictions_writer_begin(&answer, &head, model, &rows, &out);
    if (dn_model_predict(model,
                         (dn_raw_rows){1, raw, entries.start, entries.feature, entries.entry},
                         workspace, &rows) == 1) { /* 0: beyond what is finite */
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
    predictions_writer_end(&answer);
    predictions_writer_done(&answer);
    CHECK(!out.failed);
    buf_done(&out);
    free(chances);
    free(raw);
    free(workspace);
    free(scores);
    free(parts);
    free(candidates);
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
