/* Input columns that contain no information. */
#include "training/constant_inputs.h"
#include "catalogue/report.h"
#include "encoder/encoder_impl.h"
#include "machine/machine_dispatch.h"

struct listing {
    const dn_encoder *encoder;
    dn_input_remark wanted;
};

static bool name_input(const void *ctx, size_t i, char out[DN_FIELD_SIZE]) {
    const struct listing *l = ctx;
    const dn_input *input = dn_encoder_input(l->encoder, i);
    if (input->remark == l->wanted) {
        dni_copy_name(input->name, out);
    }
    return input->remark == l->wanted;
}

/* Writes the list of the inputs that have the remark `wanted` to `names`; "": no input has it. */
static const char *list(const dn_encoder *encoder, dn_input_remark wanted,
                        char names[DNI_NAMES_SIZE]) {
    const struct listing listing = {encoder, wanted};
    dni_name_list(&listing, dn_encoder_n_inputs(encoder), name_input, 8, names);
    return names;
}

void dni_warn_of_constant_inputs(const dn_model *model, size_t min_rows, dn_report *report) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const char *what = dn_model_decision(model) == DN_DECISION_OUTLIER ? "the rows" : "the classes";
    dn_linear linear;
    char names[DNI_NAMES_SIZE];
    if (*list(encoder, DN_INPUT_EMPTY, names) != '\0') {
        dn_report_warn(report, DN_WARNING_EMPTY_INPUT,
                       "no training row has a value of %s: it was ignored", names);
    }
    if (*list(encoder, DN_INPUT_WORDLESS, names) != '\0') {
        dn_report_warn(report, DN_WARNING_EMPTY_INPUT,
                       "no training row has a word in %s: it was ignored", names);
    }
    if (*list(encoder, DN_INPUT_RARE, names) != '\0') {
        dn_report_warn(
            report, DN_WARNING_RARE_WORDS,
            "no word of %s is in at least %zu training rows (\"min_rows\"): it was ignored", names,
            min_rows);
    }
    if (*list(encoder, DN_INPUT_CONSTANT, names) != '\0') {
        dn_report_warn(report, DN_WARNING_CONSTANT_INPUT,
                       "all training rows have the same value of %s: it does not distinguish %s%s",
                       names, what,
                       dn_encoder_standardizes(encoder) && dn_model_linear(model, &linear)
                           ? ", its weight is 0"
                           : "");
    }
    if (*list(encoder, DN_INPUT_ONE_LEVEL, names) != '\0') {
        dn_report_warn(report, DN_WARNING_CONSTANT_INPUT,
                       "all training rows have the same category of %s: it does not distinguish %s",
                       names, what);
    }
    size_t first, n = dn_encoder_n_constant(encoder, &first);
    if (n > 0) {
        char name[DN_FIELD_SIZE];
        dni_feature_name(&(dn_fit_input){.encoder = encoder}, first, name);
        dn_report_warn(report, DN_WARNING_CONSTANT_FEATURES,
                       "%zu of the features of the bases (the first: %s) have the same value in "
                       "all training rows: they do not distinguish %s",
                       n, name, what);
    }
}

static void clear(size_t feature, dn_machine *const *machines, size_t n_machines) {
    for (size_t m = 0; m < n_machines; m++) {
        dni_machine_clear_feature(machines[m], feature);
    }
}

void dni_clear_constant_weights(const dn_encoder *encoder, dn_machine *const *machines,
                                size_t n_machines) {
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        const unsigned char *active = encoder->active[i];
        for (size_t k = 0; active != NULL && k < input->n_features; k++) {
            if (((unsigned)active[k / 8] >> k % 8 & 1U) == 0) {
                clear(input->first_feature + k, machines, n_machines);
            }
        }
        if (dn_encoder_standardizes(encoder) && input->remark != DN_INPUT_VARIES &&
            dn_column_type_is_real(input->type) && !input->in_basis_only) {
            clear(input->first_feature, machines, n_machines);
        }
    }
}
