/* Words for reports: the name of a feature, a list of names. */
#ifndef DNI_REPORT_H
#define DNI_REPORT_H

#include <discern/algorithm.h>

/* Removes part i; those behind it move up. */
void dni_report_drop_part(dn_report *report, size_t i);

/* Adds a copy of a warning; its text begins with "PREFIX: ". */
void dni_report_add_warning(dn_report *report, const dn_warning *from, const char *prefix);
/* Whether one of the first n warnings has the same code and machine. */
bool dni_report_has_warning(const dn_report *report, size_t n, const dn_warning *like);

/* A name cut to the room, between characters of UTF-8. */
void dni_copy_name(const char *name, char out[DN_FIELD_SIZE]);
/* Name of encoded feature j ("sex=female"; "#3" without an encoder), cut to the room. */
void dni_feature_name(const dn_fit_input *input, size_t j, char out[DN_FIELD_SIZE]);
/* Name of class k ("setosa"; "#2" without names), cut to the room. */
void dni_class_name(const dn_fit_input *input, size_t k, char out[DN_FIELD_SIZE]);
#define DNI_NAMES_SIZE 384
/* The name of thing j, cut to the room; false: it is not one of those to name. */
typedef bool dni_namer(const void *ctx, size_t j, char out[DN_FIELD_SIZE]);
/* `"a", "b" and 3 more`: of n things those that have a name, at most `most` of them by it. */
void dni_name_list(const void *ctx, size_t n, dni_namer *name, size_t most,
                   char out[DNI_NAMES_SIZE]);
/* The same of the features marked. */
void dni_feature_list(const dn_fit_input *input, const bool *marked, size_t most,
                      char out[DNI_NAMES_SIZE]);

#endif
