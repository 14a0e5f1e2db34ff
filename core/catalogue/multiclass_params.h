/* The parameters `multiclass`, `discriminants` and `decision`, which select the decision rule. */
#ifndef DNI_MULTICLASS_PARAMS_H
#define DNI_MULTICLASS_PARAMS_H

#include "catalogue/param_rows.h"

/* Maximum number of machines of a model; with one versus one at most 141 classes. */
#define DNI_MAX_MACHINES 10000

/* Choices of `multiclass` for an algorithm that can fit one model to more than two classes. The
 * first choice ("softmax" or "native") selects this model. */
extern const char *const dni_multiclass_softmax[], *const dni_multiclass_native[];
extern const char *const dni_multiclass_softmax_meanings[], *const dni_multiclass_native_meanings[];
/* Choices of `multiclass` for an algorithm that fits two classes only; the first is one_vs_rest. */
extern const char *const dni_multiclass_machines[], *const dni_multiclass_machines_meanings[];
extern const char *const dni_discriminants[], *const dni_discriminants_meanings[];

#define DNI_PARAM_MULTICLASS(list, standard)                                                       \
    DNI_PARAM_CHOICE("multiclass",                                                                 \
                     "How more than two classes are distinguished. With two classes all choices "  \
                     "are the same.",                                                              \
                     standard, list, list##_meanings)
#define DNI_PARAM_DISCRIMINANTS                                                                    \
    DNI_PARAM_CHOICE("discriminants",                                                              \
                     "For multiclass one_vs_rest_strict: which of the K classes have a score.",    \
                     "K", dni_discriminants, dni_discriminants_meanings)

/* The rule for labels (dn_labels). It has an effect only if the model has probabilities. */
extern const char *const dni_decisions[], *const dni_decisions_meanings[];
#define DNI_PARAM_DECISION                                                                         \
    DNI_PARAM_CHOICE("decision",                                                                   \
                     "How the class is predicted. The two choices differ only for calibrated "     \
                     "probabilities and for probabilities of one_vs_one machines. A row that is "  \
                     "ambiguous by its scores has no class with either choice.",                   \
                     "probabilities", dni_decisions, dni_decisions_meanings)

/* Checks `multiclass` and `discriminants` against each other. DN_ERR_ARGUMENT: `discriminants` is
 * K-1, and `multiclass` is not one_vs_rest_strict. */
DN_MUST_USE dn_status dni_multiclass_check(const dn_params *params, dn_error *err);

/* Implements a part of dn_params_check_classes. DN_ERR_ARGUMENT: the model would have more than
 * DNI_MAX_MACHINES machines. */
DN_MUST_USE dn_status dni_multiclass_check_classes(const dn_params *params, size_t n_classes,
                                                   dn_error *err);

#endif
