/* Parameters that select how an algorithm handles more than two classes. */
#include "catalogue/multiclass_params.h"
#include "base/argument.h"

#include <stdio.h>
#include <string.h>

#define REST "one_vs_rest", "one_vs_rest_strict", "one_vs_one", "one_vs_one_strict", NULL
#define REST_MEANINGS                                                                              \
    "K machines, each of one class against all others. The class with the greatest score is "      \
    "predicted",                                                                                   \
        "as one_vs_rest, but a class is predicted only if its score alone is positive. Otherwise " \
        "the row is ambiguous",                                                                    \
        ("K(K-1)/2 machines, one for each pair of classes. The class with the most votes is "      \
         "predicted; among equal votes, the class with the greatest sum of scores. The scores "    \
         "are in the order of the pairs (1, 2), (1, 3) ... (2, 3) ... and positive for the "       \
         "second class of the pair"),                                                              \
        "as one_vs_one, but a class is predicted only if it wins against every other class. "      \
        "Otherwise the row is ambiguous",                                                          \
        NULL

const char *const dni_multiclass_softmax[] = {"softmax", REST};
const char *const dni_multiclass_softmax_meanings[] = {
    "one model of all classes; its probabilities are the softmax of the scores", REST_MEANINGS};
const char *const dni_multiclass_native[] = {"native", REST};
const char *const dni_multiclass_native_meanings[] = {"one model of all classes", REST_MEANINGS};
const char *const dni_multiclass_machines[] = {REST};
const char *const dni_multiclass_machines_meanings[] = {REST_MEANINGS};
const char *const dni_discriminants[] = {"K", "K-1", NULL};
const char *const dni_discriminants_meanings[] = {
    "all classes. A row is ambiguous if no score or several scores are positive",
    "all classes except the last. The last class is predicted if no score is positive; a row is "
    "ambiguous if several are",
    NULL};

const char *const dni_decisions[] = {"probabilities", "scores", NULL};
const char *const dni_decisions_meanings[] = {
    "the most probable class",
    "the class that the rule of multiclass selects from the scores; near a boundary another class "
    "can be more probable",
    NULL};

dn_decision dn_params_decision(const dn_params *params) {
    if (!(params->algorithm->flags & DN_ALGORITHM_TARGET)) {
        return DN_DECISION_OUTLIER;
    }
    if (!dn_params_has(params, "multiclass")) {
        return DN_DECISION_NATIVE;
    }
    const char *word = dn_params_word(params, "multiclass");
    if (strcmp(word, "one_vs_rest") == 0) {
        return dn_params_has(params, "at_zero") &&
                       strcmp(dn_params_word(params, "at_zero"), "second") == 0
                   ? DN_DECISION_ONE_VS_REST_CLOSED
                   : DN_DECISION_ONE_VS_REST;
    }
    if (strcmp(word, "one_vs_rest_strict") == 0) {
        return strcmp(dn_params_word(params, "discriminants"), "K") == 0
                   ? DN_DECISION_ONE_VS_REST_STRICT
                   : DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT;
    }
    if (strcmp(word, "one_vs_one") == 0) {
        return DN_DECISION_ONE_VS_ONE;
    }
    return strcmp(word, "one_vs_one_strict") == 0 ? DN_DECISION_ONE_VS_ONE_STRICT
                                                  : DN_DECISION_NATIVE;
}

dn_status dni_multiclass_check(const dn_params *params, dn_error *err) {
    const char *multiclass = dn_params_word(params, "multiclass");
    if (strcmp(dn_params_word(params, "discriminants"), "K") == 0 ||
        strcmp(multiclass, "one_vs_rest_strict") == 0) {
        return DN_OK;
    }
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                     "parameter \"discriminants\" = \"K-1\" needs \"multiclass\" "
                                     "= \"one_vs_rest_strict\" (got \"%s\")",
                                     multiclass),
                        "discriminants", -1, err);
}

/* Lists the alternatives to one versus one for a message, such as "softmax or one_vs_rest". */
static const char *alternatives(const dn_params *params, char out[96]) {
    const char *const *choices = dn_algorithm_param(params->algorithm, "multiclass")->choices;
    const bool whole = strcmp(choices[0], "one_vs_rest") != 0;
    snprintf(out, 96, "%s%sone_vs_rest", whole ? choices[0] : "", whole ? " or " : "");
    return out;
}

dn_status dni_multiclass_check_classes(const dn_params *params, size_t n_classes, dn_error *err) {
    size_t n = dn_decision_n_machines(dn_params_decision(params), n_classes);
    char list[96];
    if (n <= DNI_MAX_MACHINES) {
        return DN_OK;
    }
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                     "parameter \"multiclass\" = \"%s\" needs %zu machines of two "
                                     "classes for %zu classes, but at most %d are allowed: use %s",
                                     dn_params_word(params, "multiclass"), n, n_classes,
                                     DNI_MAX_MACHINES, alternatives(params, list)),
                        "multiclass", -1, err);
}
