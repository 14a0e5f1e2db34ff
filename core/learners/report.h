/* Words for reports: the name of a feature, a list of names. */
#ifndef DNI_LEARNERS_REPORT_H
#define DNI_LEARNERS_REPORT_H

#include <discern/algorithm.h>

/* Name of encoded feature j ("sex=female"; "#3" without an encoder), cut to the room. */
void dni_feature_name(const dn_fit_input *input, size_t j, char out[DN_FIELD_SIZE]);
/* Name of class k ("setosa"; "#2" without names), cut to the room. */
void dni_class_name(const dn_fit_input *input, size_t k, char out[DN_FIELD_SIZE]);
/* `"a", "b" and 3 more`: the features marked, at most `most` of them by name. */
#define DNI_NAMES_SIZE 384
void dni_feature_list(const dn_fit_input *input, const bool *marked, size_t most, char out[DNI_NAMES_SIZE]);

#endif
