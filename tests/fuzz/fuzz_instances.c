/* Instances of a small model. Byte 0 of the input: labelled or not, JSON, CSV, sniffed, or name=value pairs; the rest is the body. What JSON the reader takes, Jansson takes
 * too, with as many instances and the same numbers. */
#include "fuzz/support.h"

#include <jansson.h>
#include <math.h>

static dn_model *model;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    model = fuzz_model();
    return 0;
}

static void check_values(const struct wire_instances *in, bool labelled) {
    const dn_encoder *encoder = dn_model_encoder(model);
    CHECK(in->n > 0 && in->n_inputs == dn_encoder_n_inputs(encoder) && (in->label != NULL) == labelled);
    for (size_t i = 0; i < in->n; i++) {
        for (size_t j = 0; j < in->n_inputs; j++) {
            const double x = in->raw[i * in->n_inputs + j];
            const dn_input *input = dn_encoder_input(encoder, j);
            CHECK(!isinf(x));
            CHECK(isnan(x) || input->type == DN_NUMERIC || (input->type == DN_BOOLEAN && (x == 0 || x == 1)) ||
                  (input->type == DN_CATEGORICAL && (x == DN_UNSEEN || (x >= 0 && x < (double)input->levels.n))));
        }
        CHECK(!labelled || in->label[i] == SIZE_MAX || in->label[i] < dn_model_classes(model)->n);
    }
    double *workspace = malloc((dn_model_workspace(model) + 1) * sizeof *workspace), probabilities[3];
    size_t label = 0;
    CHECK(workspace != NULL);
    dn_model_predict(model, in->raw, 1, workspace, &(dn_prediction){.label = &label, .probabilities = probabilities});
    CHECK(label < 3 && probabilities[label] >= 0);
    struct buf out = {0};
    struct wire_predictions answer;
    wire_predictions_begin(&answer, model, "m", 1, WIRE_LABEL | WIRE_PROBABILITIES, &out);
    wire_predictions_rows(&answer, 1, &(dn_prediction){.label = &label, .probabilities = probabilities});
    wire_predictions_end(&answer);
    CHECK(!out.failed);
    buf_done(&out);
    free(workspace);
}

static void against_jansson(const struct wire_instances *in, const char *body, size_t size) {
    json_error_t error;
    if (size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0) {
        body += 3;
        size -= 3;
    }
    json_t *tree = json_loadb(body, size, JSON_DECODE_INT_AS_REAL, &error);
    CHECK(tree != NULL);
    const json_t *rows = json_is_array(tree) ? tree : json_object_get(tree, "instances");
    CHECK(json_array_size(rows) == in->n);
    for (size_t i = 0; i < in->n; i++) {
        const json_t *row = json_array_get(rows, i);
        for (size_t j = 0; j < 2; j++) { /* the two numeric inputs */
            const json_t *value = json_is_array(row) ? json_array_get(row, j) : json_object_get(row, j == 0 ? "x" : "y");
            const double x = in->raw[i * in->n_inputs + j];
            CHECK(json_is_number(value) ? x == json_number_value(value) : isnan(x) && (value == NULL || json_is_null(value)));
        }
    }
    json_decref(tree);
}

/* "name=value&name=value", both as they are */
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
    struct wire_instances in = {0};
    struct problem problem = {0};
    if (wire_instances_pairs(names, values, n, model, &in, &problem)) {
        check_values(&in, false);
        CHECK(in.n == 1);
    } else {
        CHECK(problem.type == PROBLEM_INVALID_INSTANCES);
    }
    problem_done(&problem);
    wire_instances_done(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    static const enum wire_instances_format formats[] = {WIRE_INSTANCES_JSON, WIRE_INSTANCES_CSV, WIRE_INSTANCES_SNIFF};
    const bool labelled = data[0] & 1;
    const unsigned which = data[0] >> 1 & 3;
    if (which == 3) {
        char *text = malloc(size);
        CHECK(text != NULL);
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        pairs(text);
        free(text);
        return 0;
    }
    struct wire_instances in = {0};
    struct problem problem = {0};
    char *body = fuzz_copy(data + 1, size - 1);
    if (wire_instances_read(body, size - 1, formats[which], model, labelled, &in, &problem)) {
        check_values(&in, labelled);
        if (formats[which] == WIRE_INSTANCES_JSON) {
            against_jansson(&in, body, size - 1);
        }
    } else {
        CHECK(problem.type == PROBLEM_INVALID_INSTANCES || problem.type == PROBLEM_BAD_JSON);
        CHECK(in.raw == NULL && in.label == NULL);
    }
    problem_done(&problem);
    wire_instances_done(&in);
    free(body);
    return 0;
}
