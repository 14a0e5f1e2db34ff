/* Serialization of models. The reader checks the checksum first, then every count against the
 * remaining bytes, then the invariants of the parts. */
#include "model/model_bytes.h"
#include "base/argument.h"
#include "base/bytes.h"
#include "base/crc32.h"
#include "catalogue/calibration_params.h"
#include "catalogue/multiclass_params.h"
#include "encoder/encoder_bytes.h"
#include "machine/machine_bytes.h"
#include "machine/machine_dispatch.h"
#include "machine/machine_kind.h"
#include "model/calibration.h"
#include "model/combination.h"
#include "model/conformal.h"
#include "model/model_duals.h"
#include "model/model_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAGIC_SIZE = 8,
    HEADER_SIZE = DNI_MODEL_HEAD_SIZE,
    CHECKSUM_SIZE = 4,
    SIZE_AT = DNI_MODEL_SIZE_AT
};
enum { VALUE_NUMBER = 0, VALUE_WORD = 1, VALUE_LIST = 2 };

/* ---- writing ---- */
static void write_algorithm(const dn_model *model, dni_writer *w) {
    const char *id = model->params->algorithm->id;
    dni_write_text(w, id, strlen(id));
    dni_write_u64(w, model->seed);
}

static void write_values(const dn_model *model, dni_writer *w) {
    const dn_params *params = model->params;
    const dn_algorithm *algorithm = params->algorithm;
    dni_write_u64(w, algorithm->n_params);
    for (size_t i = 0; i < algorithm->n_params; i++) {
        const dn_param_value *value = &params->values[i];
        dni_write_text(w, algorithm->params[i].name, strlen(algorithm->params[i].name));
        dni_write_u8(w, value->word != NULL   ? VALUE_WORD
                        : value->list != NULL ? VALUE_LIST
                                              : VALUE_NUMBER);
        if (value->word != NULL) {
            dni_write_text(w, value->word, strlen(value->word));
        } else if (value->list != NULL) {
            dni_write_u64(w, value->n_list);
            dni_write_f64s(w, value->list, value->n_list);
        } else {
            dni_write_f64(w, value->number);
        }
    }
}

static void write_target(const dn_model *model, dni_writer *w) {
    const dn_classes *classes = &model->classes.view;
    dni_write_text(w, model->target, strlen(model->target));
    dni_write_u8(w, (uint8_t)classes->type);
    dni_write_u64(w, classes->n);
    for (size_t k = 0; k < classes->n; k++) {
        const uint32_t *start = classes->names.start + k;
        if (classes->number != NULL) {
            dni_write_f64(w, classes->number[k]);
        } else {
            dni_write_text(w, classes->names.bytes + start[0], start[1] - start[0]);
        }
    }
}

static bool is_combined(const dn_params *params) {
    return params->algorithm == dn_algorithm_combination();
}

/* The encoder of a combined model is that of its members. */
static void write_encoder(const dn_model *model, dni_writer *w) {
    if (!is_combined(model->params)) {
        dni_encoder_write(model->encoder, w);
    }
}

/* Writes the members of a combined model (model_bytes.h). */
static void write_members(const dn_machine *machine, dni_writer *w) {
    const size_t n = dni_combination_n_members(machine);
    dni_write_u64(w, n);
    for (size_t m = 0; m < n; m++) {
        void *bytes = NULL;
        size_t size = 0;
        double share;
        const dn_model *member = dni_combination_member(machine, m, &share);
        w->failed = w->failed || dn_model_write(member, &bytes, &size, NULL) != DN_OK;
        dni_write_f64(w, share);
        dni_write_u64(w, size);
        dni_write_bytes(w, bytes, size);
        free(bytes);
    }
}

static void write_machines(const dn_model *model, dni_writer *w) {
    dni_write_u8(w, (uint8_t)model->decision);
    if (model->decision == DN_DECISION_OUTLIER) {
        dni_write_f64(w, model->machines[0]->threshold);
    }
    if (is_combined(model->params)) {
        write_members(model->machines[0], w);
        return;
    }
    for (size_t i = 0; i < model->n_machines; i++) {
        dni_machine_write(model->machines[i], i == 0 ? NULL : model->machines[0], w);
    }
}

static void write_calibration(const dn_model *model, dni_writer *w) {
    if (dni_calibration_method(model->params) != DN_CALIBRATION_NONE) {
        dni_calibration_write(model->calibration, w);
    }
}

static void write_statistics(const dn_model *model, dni_writer *w) {
    dni_statistics_write(model->statistics, w);
}

static void write_means(const dn_model *model, dni_writer *w) {
    const size_t n = model->feature_mean == NULL ? 0 : model->n_features;
    dni_write_u64(w, n);
    dni_write_f64s(w, model->feature_mean, n);
}

static void write_duals(const dn_model *model, dni_writer *w) {
    dni_duals_write(model->machines, model->n_machines, w);
}

static void write_conformal(const dn_model *model, dni_writer *w) {
    if (is_combined(model->params)) {
        dni_write_u8(w, model->conformal != NULL);
    }
    if (model->conformal != NULL) {
        dni_conformal_write(model->conformal, w);
    }
}

/* ---- reading ---- */
/* The parts of a model that have been read so far. */
struct parts {
    uint32_t version; /* format version */
    bool is_member;   /* of a combined model, and so not itself one */
    dn_params *params;
    uint64_t seed;
    const char *target; /* points into the serialized model */
    size_t target_length;
    dni_classes classes;
    dn_encoder *encoder;
    dn_decision decision;
    dn_machine **machines; /* [n_machines] */
    size_t n_machines;
    dn_calibration *calibration;
    dni_statistics *statistics;
    double *feature_mean;
    dn_conformal *conformal;
};

static void parts_done(struct parts *p) {
    dn_params_free(p->params);
    dni_classes_done(&p->classes);
    dn_encoder_unref(p->encoder);
    dni_machines_free(p->machines, p->n_machines);
    dni_calibration_free(p->calibration);
    dni_statistics_free(p->statistics);
    free(p->feature_mean);
    free(p->conformal);
}

/* Reads a text into a NUL-terminated buffer. Returns false if it does not fit, is truncated or
 * contains NUL. */
static bool read_name(dni_reader *r, char *out, size_t size) {
    size_t length;
    const char *text = dni_read_text(r, &length);
    if (text == NULL || length >= size || memchr(text, '\0', length) != NULL) {
        return false;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

static dn_status read_algorithm(dni_reader *r, struct parts *p, dn_error *err) {
    char id[64];
    if (!read_name(r, id, sizeof id)) {
        return dni_machine_corrupt("the name of the algorithm is missing", err);
    }
    const dn_algorithm *combination = dn_algorithm_combination(),
                       *algorithm =
                           strcmp(id, combination->id) == 0 ? combination : dn_algorithm_find(id);
    if (algorithm == NULL) {
        return dn_error_set(
            err, DN_ERR_VERSION,
            "the model was made by algorithm \"%s\", which this library does not have", id);
    }
    if (algorithm == combination && (p->is_member || p->version < DNI_MODEL_WITH_MEMBERS)) {
        return dni_machine_corrupt("it must not be a combination", err);
    }
    p->seed = dni_read_u64(r);
    return dn_params_new(algorithm, &p->params, err);
}

/* Reads a list of numbers. Sets the parameter `name`, if the algorithm has this parameter. */
static dn_status read_list(dni_reader *r, dn_params *params, const char *name, dn_error *err) {
    const size_t n = dni_read_count(r, 8);
    double *list = malloc((n + 1) * sizeof *list);
    dn_status status = DN_ERR_MEMORY;
    if (list != NULL) {
        const bool whole = !r->failed && n <= DN_MAX_LIST && dni_read_f64s(r, list, n);
        status = !whole                        ? DN_ERR_ARGUMENT
                 : dn_params_has(params, name) ? dn_params_set_list(params, name, list, n, NULL)
                                               : DN_OK;
    }
    free(list);
    return status == DN_ERR_MEMORY ? dn_error_set(err, status, "no memory for a list of numbers")
           : status == DN_ERR_ARGUMENT
               ? dni_machine_corrupt("the value of a parameter is missing or out of range", err)
               : status;
}

/* Reads the value of a parameter. Values of parameters that no longer exist are skipped. */
static dn_status read_value(dni_reader *r, dn_params *params, const char *name, dn_error *err) {
    uint8_t kind = dni_read_u8(r);
    char word[64];
    double number = 0;
    if (kind == VALUE_LIST) {
        return read_list(r, params, name, err);
    }
    if (kind == VALUE_WORD ? !read_name(r, word, sizeof word) : kind != VALUE_NUMBER) {
        return dni_machine_corrupt("the value of a parameter is missing", err);
    }
    if (kind == VALUE_NUMBER) {
        number = dni_read_f64(r);
    }
    if (r->failed || !dn_params_has(params, name)) {
        return DN_OK;
    }
    bool set = false;
    if (kind == VALUE_WORD) {
        set = dn_params_set_word(params, name, word, NULL) == DN_OK;
    } else {
        set = dn_params_set_number(params, name, number, NULL) == DN_OK ||
              ((number == 0 || number == 1) &&
               dn_params_set_boolean(params, name, number == 1, NULL) == DN_OK);
    }
    return set ? DN_OK : dni_machine_corrupt("the value of a parameter is out of range", err);
}

static dn_status read_values(dni_reader *r, struct parts *p, dn_error *err) {
    size_t n = dni_read_count(r, 8 + 1 + 8);
    /* models of versions without this parameter keep the labels that they had */
    if (dn_params_has(p->params, "decision") &&
        dn_params_set_word(p->params, "decision", "scores", NULL) != DN_OK) {
        return dni_machine_corrupt("the parameters are truncated", err);
    }
    for (size_t i = 0; i < n && !r->failed; i++) {
        char name[64];
        if (!read_name(r, name, sizeof name)) {
            return dni_machine_corrupt("the name of a parameter is missing", err);
        }
        dn_status status = read_value(r, p->params, name, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return r->failed ? dni_machine_corrupt("the parameters are truncated", err) : DN_OK;
}

static dn_status read_number_classes(dni_reader *r, dn_column_type type, size_t n, dni_classes *out,
                                     dn_error *err) {
    double *number = malloc(n * sizeof *number);
    if (number == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu classes", n);
    }
    dn_status status = dni_read_f64s(r, number, n)
                           ? dni_classes_from_numbers(type, number, n, out, err)
                           : dni_machine_corrupt("the classes are truncated", err);
    free(number);
    return status;
}

static dn_status read_string_classes(dni_reader *r, dn_column_type type, size_t n, dni_classes *out,
                                     dn_error *err) {
    dni_string_set names = {0};
    dn_status status = DN_OK;
    for (size_t k = 0; k < n && status == DN_OK; k++) {
        size_t length;
        uint32_t index;
        const char *text = dni_read_text(r, &length);
        status = text == NULL ? dni_machine_corrupt("the classes are truncated", err)
                              : dni_string_set_append(&names, text, length, &index, err);
    }
    if (status == DN_OK) {
        status = dni_classes_from_strings(type, dni_string_set_view(&names), out, err);
    }
    dni_string_set_done(&names);
    return status;
}

static dn_status read_target(dni_reader *r, struct parts *p, dn_error *err) {
    p->target = dni_read_text(r, &p->target_length);
    uint8_t type = dni_read_u8(r);
    size_t n = dni_read_count(r, 8);
    if (r->failed || p->target == NULL || memchr(p->target, '\0', p->target_length) != NULL) {
        return dni_machine_corrupt("the name of the target is missing", err);
    }
    const bool has_target = (p->params->algorithm->flags & DN_ALGORITHM_TARGET) != 0;
    if (n < 2) {
        return dni_machine_corrupt("it has fewer than two classes", err);
    }
    if (type > DN_TEXT || (!has_target && n != 2)) {
        return dni_machine_corrupt("the classes do not match the algorithm", err);
    }
    return dni_classes_numeric((dn_column_type)type)
               ? read_number_classes(r, (dn_column_type)type, n, &p->classes, err)
               : read_string_classes(r, (dn_column_type)type, n, &p->classes, err);
}

static dn_status read_encoder(dni_reader *r, struct parts *p, dn_error *err) {
    return is_combined(p->params) ? DN_OK : dni_encoder_read(r, &p->encoder, err);
}

static dn_status read_model(const void *bytes, size_t size, bool is_member, dn_model **out,
                            dn_error *err);

static dn_status read_member(dni_reader *r, const dn_classes *classes, dn_model **out,
                             double *share, dn_error *err) {
    *share = dni_read_f64(r);
    const size_t size = dni_read_count(r, 1);
    const void *bytes = dni_read_bytes(r, size);
    if (bytes == NULL) {
        return dni_machine_corrupt("a member of the combination is truncated", err);
    }
    if (!isfinite(*share) || *share < 0) {
        return dni_machine_corrupt("a share of the combination is out of range", err);
    }
    const dn_status status = read_model(bytes, size, true, out, err);
    return status == DN_OK && !dni_classes_equal(&(*out)->classes.view, classes)
               ? dni_machine_corrupt("a member of the combination has other classes", err)
               : status;
}

/* Makes the machine and the encoder of a combined model from the members that were read. */
static dn_status combine_members(struct parts *p, dn_model *const *members, const double *share,
                                 size_t n, dn_error *err) {
    dn_error why;
    dn_error_clear(&why);
    const dn_status status =
        dni_combination_new(members, share, n, &p->machines[0], &p->encoder, &why);
    if (status == DN_ERR_ARGUMENT || status == DN_ERR_DATA) {
        return dni_machine_corrupt(why.message, err);
    }
    if (status != DN_OK && err != NULL) {
        *err = why;
    }
    return status;
}

static dn_status read_members(dni_reader *r, struct parts *p, dn_error *err) {
    dn_model *members[DN_MAX_MEMBERS] = {NULL};
    double share[DN_MAX_MEMBERS], sum = 0;
    const size_t n = dni_read_count(r, 8 + 8);
    dn_status status = DN_OK;
    if (r->failed || n < 2 || n > DN_MAX_MEMBERS) {
        return dni_machine_corrupt("the number of members is out of range", err);
    }
    for (size_t m = 0; m < n && status == DN_OK; m++) {
        status = read_member(r, &p->classes.view, &members[m], &share[m], err);
        sum += share[m];
    }
    if (status == DN_OK) {
        status = sum > 0 ? combine_members(p, members, share, n, err)
                         : dni_machine_corrupt("all shares of the combination are 0", err);
    }
    for (size_t m = 0; m < n; m++) {
        dn_model_unref(members[m]);
    }
    return status;
}

static dn_status read_machines(dni_reader *r, struct parts *p, dn_error *err) {
    const size_t K = p->classes.view.n;
    uint8_t decision = dni_read_u8(r);
    if (r->failed || decision > DN_DECISION_ONE_VS_REST_CLOSED ||
        (dn_decision)decision != dn_params_decision(p->params)) {
        return dni_machine_corrupt("the decision rule is unknown", err);
    }
    p->decision = (dn_decision)decision;
    double threshold = 0;
    if (p->decision == DN_DECISION_OUTLIER) {
        threshold = dni_read_f64(r);
    }
    if (r->failed || !isfinite(threshold) || threshold < 0 ||
        (p->decision == DN_DECISION_OUTLIER && K != 2)) {
        return dni_machine_corrupt("the threshold of outliers is out of range", err);
    }
    size_t n = dn_decision_n_machines(p->decision, K);
    if (n > r->left / 17) { /* a machine has at least 17 bytes */
        return dni_machine_corrupt("the machines are truncated", err);
    }
    p->machines = calloc(n, sizeof *p->machines);
    if (p->machines == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu machines", n);
    }
    p->n_machines = n;
    if (is_combined(p->params)) {
        return read_members(r, p, err);
    }
    const size_t d = dn_encoder_n_features(p->encoder);
    bool native = K == 2 || p->decision == DN_DECISION_NATIVE;
    dn_status status = DN_OK;
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        status = dni_machine_read(r, native ? K : 2, d, i == 0 ? NULL : p->machines[0],
                                  &p->machines[i], err);
    }
    if (status == DN_OK) {
        dni_machine_set_threshold(p->machines[0], threshold);
    }
    return status;
}

static dn_status read_calibration(dni_reader *r, struct parts *p, dn_error *err) {
    return dni_calibration_method(p->params) == DN_CALIBRATION_NONE
               ? DN_OK
               : dni_calibration_read(r, dn_decision_n_scores(p->decision, p->classes.view.n),
                                      &p->calibration, err);
}

static dn_status read_statistics(dni_reader *r, struct parts *p, dn_error *err) {
    const size_t K = p->classes.view.n;
    const bool linear = p->n_machines == 1 && dni_machine_is_linear(p->machines[0]);
    return p->version < DNI_MODEL_WITH_STATISTICS
               ? DN_OK
               : dni_statistics_read(r,
                                     !linear  ? 0
                                     : K == 2 ? 1
                                              : K,
                                     p->encoder, &p->statistics, err);
}

static dn_status read_means(dni_reader *r, struct parts *p, dn_error *err) {
    if (p->version < DNI_MODEL_WITH_MEANS) {
        return DN_OK;
    }
    const size_t n = dni_read_count(r, 8);
    if (r->failed || (n != 0 && n != dn_encoder_n_features(p->encoder))) {
        return dni_machine_corrupt("the number of feature means is wrong", err);
    }
    if (n == 0) {
        return DN_OK;
    }
    p->feature_mean = malloc(n * sizeof *p->feature_mean);
    if (p->feature_mean == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the means of %zu features", n);
    }
    bool finite = dni_read_f64s(r, p->feature_mean, n);
    for (size_t j = 0; finite && j < n; j++) {
        finite = isfinite(p->feature_mean[j]);
    }
    return finite ? DN_OK : dni_machine_corrupt("a feature mean is missing or not finite", err);
}

static dn_status read_duals(dni_reader *r, struct parts *p, dn_error *err) {
    return p->version < DNI_MODEL_WITH_DUALS ? DN_OK
                                             : dni_duals_read(r, p->machines, p->n_machines, err);
}

static dn_status read_conformal(dni_reader *r, struct parts *p, dn_error *err) {
    uint8_t present = 1;
    if (is_combined(p->params)) {
        present = dni_read_u8(r);
    }
    if (present > 1) {
        return dni_machine_corrupt("the mark of the sets of labels is out of range", err);
    }
    if (p->version < DNI_MODEL_WITH_SETS || present == 0) {
        return DN_OK;
    }
    return dni_conformal_read(r, p->classes.view.n, &p->conformal, err);
}

/* Checks magic, version, size and checksum. *out becomes a reader of the bytes between the header
 * and the checksum. */
static dn_status open_bytes(const unsigned char *b, size_t size, dni_reader *out, dn_error *err) {
    if (size < HEADER_SIZE + CHECKSUM_SIZE || memcmp(b, DNI_MODEL_MAGIC, MAGIC_SIZE) != 0) {
        return dni_machine_corrupt("the first 8 bytes are not those of a model", err);
    }
    uint32_t version = dni_get_u32(b + MAGIC_SIZE);
    if (version > DNI_MODEL_VERSION) {
        return dn_error_set(
            err, DN_ERR_VERSION,
            "the model has format version %lu, but this library reads only versions up to %d",
            (unsigned long)version, DNI_MODEL_VERSION);
    }
    if (version == 1) { /* version 1 is not supported */
        return dn_error_set(
            err, DN_ERR_VERSION,
            "the model has format version 1, which this library does not read: train it again");
    }
    if (version == 0 || dni_get_u32(b + MAGIC_SIZE + 4) != 0) {
        return dni_machine_corrupt("the header is invalid", err);
    }
    if (dni_get_u64(b + SIZE_AT) != size) {
        return dni_machine_corrupt("the size differs from the size in the header", err);
    }
    if (dni_get_u32(b + size - CHECKSUM_SIZE) != dni_crc32(0, b, size - CHECKSUM_SIZE)) {
        return dni_machine_corrupt("the checksum is wrong", err);
    }
    *out = dni_reader_of(b + HEADER_SIZE, size - HEADER_SIZE - CHECKSUM_SIZE);
    return DN_OK;
}

/* ---- all sections ---- */
/* The sections between the header and the checksum, in the order of model_bytes.h. */
static const struct {
    void (*write)(const dn_model *model, dni_writer *writer);
    dn_status (*read)(dni_reader *reader, struct parts *out, dn_error *err);
} sections[] = {
    {write_algorithm, read_algorithm},   {write_values, read_values},
    {write_target, read_target},         {write_encoder, read_encoder},
    {write_machines, read_machines},     {write_calibration, read_calibration},
    {write_statistics, read_statistics}, {write_means, read_means},
    {write_duals, read_duals},           {write_conformal, read_conformal},
};
enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

dn_status dn_model_write(const dn_model *model, void **out, size_t *out_size, dn_error *err) {
    if (model == NULL || out == NULL || out_size == NULL) {
        return dni_argument_null(model == NULL ? "model" : out == NULL ? "out" : "out_size", err);
    }
    dni_writer w;
    void *bytes;
    size_t size;
    dni_writer_init(&w);
    dni_write_bytes(&w, DNI_MODEL_MAGIC, MAGIC_SIZE);
    dni_write_u32(&w, is_combined(model->params) ? DNI_MODEL_WITH_MEMBERS
                      : model->conformal != NULL ? DNI_MODEL_WITH_SETS
                                                 : DNI_MODEL_WITHOUT_SETS);
    dni_write_u32(&w, 0);
    dni_write_u64(&w, 0); /* total size; set after all parts are written */
    for (size_t i = 0; i < N_SECTIONS; i++) {
        sections[i].write(model, &w);
    }
    dni_write_u32(&w, 0); /* checksum; set after all parts are written */
    dn_status status = dni_writer_take(&w, &bytes, &size, err);
    dni_writer_done(&w);
    if (status != DN_OK) {
        return status;
    }
    unsigned char *b = bytes;
    for (unsigned i = 0; i < 8; i++) {
        b[SIZE_AT + i] = (unsigned char)((uint64_t)size >> (8 * i));
    }
    uint32_t crc = dni_crc32(0, b, size - CHECKSUM_SIZE);
    for (unsigned i = 0; i < 4; i++) {
        b[size - CHECKSUM_SIZE + i] = (unsigned char)(crc >> (8 * i));
    }
    *out = bytes;
    *out_size = size;
    return DN_OK;
}

/* Makes a model of the parts, which the model then owns. */
static dn_status make_model(struct parts *p, dn_model **out, dn_error *err) {
    const dni_model_parts parts = {p->params,     p->seed,        p->target,     p->target_length,
                                   &p->classes,   p->encoder,     p->decision,   p->machines,
                                   p->n_machines, p->calibration, p->statistics, p->feature_mean};
    dn_error error = {0};
    dn_model *model = NULL;
    const dn_status status = dni_model_new(&parts, &model, &error);
    if (status == DN_OK) {
        p->encoder = NULL;
        p->machines = NULL;
        p->calibration = NULL;
        p->statistics = NULL;
        p->feature_mean = NULL;
        if (p->conformal != NULL && !dn_model_has_probabilities(model)) {
            dn_model_unref(model);
            return dni_machine_corrupt("it has sets of labels without probabilities", err);
        }
        model->conformal = p->conformal;
        p->conformal = NULL;
        *out = model;
        return DN_OK;
    }
    return status == DN_ERR_NUMERIC
               ? dni_machine_corrupt("a weight of the raw columns is not finite", err)
               : dn_error_set(err, status, "%s", error.message);
}

static dn_status read_model(const void *bytes, size_t size, bool is_member, dn_model **out,
                            dn_error *err) {
    dni_reader r;
    struct parts p = {.is_member = is_member};
    dn_status status = open_bytes(bytes, size, &r, err);
    if (status == DN_OK) {
        p.version = dni_get_u32((const unsigned char *)bytes + MAGIC_SIZE);
    }
    for (size_t i = 0; i < N_SECTIONS && status == DN_OK; i++) {
        status = sections[i].read(&r, &p, err);
    }
    if (status == DN_OK) {
        status = dni_reader_end(&r, "model", err);
    }
    if (status == DN_OK) {
        status = make_model(&p, out, err);
    }
    parts_done(&p);
    return status;
}

dn_status dn_model_read(const void *bytes, size_t size, dn_model **out, dn_error *err) {
    if (out == NULL || (bytes == NULL && size > 0)) {
        return dni_argument_null(out == NULL ? "out" : "bytes", err);
    }
    return read_model(bytes, size, false, out, err);
}
