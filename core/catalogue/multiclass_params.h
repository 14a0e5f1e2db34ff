/* The parameters `multiclass` and `discriminants`, and the decision they describe. */
#ifndef DNI_MULTICLASS_PARAMS_H
#define DNI_MULTICLASS_PARAMS_H

#include "catalogue/param_rows.h"

/* More machines than this are refused: 141 classes one versus one. */
#define DNI_MAX_MACHINES 10000

/* Rows of a parameter table: the choices of `multiclass` and of `discriminants`. `first` is the algorithm's own way to more than two classes ("softmax", "native"). */
extern const char *const dni_multiclass_softmax[], *const dni_multiclass_native[];
extern const char *const dni_multiclass_softmax_meanings[], *const dni_multiclass_native_meanings[];
/* For an algorithm that has no way of its own: one_vs_rest is the first. */
extern const char *const dni_multiclass_machines[], *const dni_multiclass_machines_meanings[];
extern const char *const dni_discriminants[], *const dni_discriminants_meanings[];

#define DNI_PARAM_MULTICLASS(list, standard)                                                       \
    DNI_PARAM_CHOICE("multiclass",                                                                 \
                     "How more than two classes are told apart; with two every way is the same.",  \
                     standard, list, list##_meanings)
#define DNI_PARAM_DISCRIMINANTS                                                                    \
    DNI_PARAM_CHOICE("discriminants",                                                              \
                     "For one_vs_rest_strict: how many classes have a discriminant.", "K",         \
                     dni_discriminants, dni_discriminants_meanings)

/* The rule between the two parameters, for an algorithm's check: `discriminants` K-1 belongs to one_vs_rest_strict. */
DN_MUST_USE dn_status dni_multiclass_check(const dn_params *params, dn_error *err);

/* Part of dn_params_check_classes: no more machines than DNI_MAX_MACHINES. */
DN_MUST_USE dn_status dni_multiclass_check_classes(const dn_params *params, size_t n_classes,
                                                   dn_error *err);

#endif
