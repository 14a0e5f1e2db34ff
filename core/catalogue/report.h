/* Reports of fits: parts, warnings, and names of features and classes for messages. */
#ifndef DNI_REPORT_H
#define DNI_REPORT_H

#include <discern/algorithm.h>

/* Removes part i. The parts after it move down by one index. */
void dni_report_drop_part(dn_report *report, size_t i);

/* Adds a copy of a warning; "prefix: " is put before its text. No effect if the report is full. */
void dni_report_add_warning(dn_report *report, const dn_warning *from, const char *prefix);
/* Returns true if one of the first n warnings has the same code and machine as `like`. */
bool dni_report_has_warning(const dn_report *report, size_t n, const dn_warning *like);

/* Copies a name. A name that is too long is truncated between two UTF-8 characters. */
void dni_copy_name(const char *name, char out[DN_FIELD_SIZE]);
/* Writes the name of encoded feature j, such as "sex=female"; "#3" without an encoder. Truncated
 * as by dni_copy_name. */
void dni_feature_name(const dn_fit_input *input, size_t j, char out[DN_FIELD_SIZE]);
/* Writes the name of class k, such as "setosa"; "#2" without class names. Truncated as by
 * dni_copy_name. */
void dni_class_name(const dn_fit_input *input, size_t k, char out[DN_FIELD_SIZE]);
#define DNI_NAMES_SIZE 384
/* Writes the name of item j. Returns false if the item is not part of the list. */
typedef bool dni_namer(const void *ctx, size_t j, char out[DN_FIELD_SIZE]);
/* Writes a list such as `"a", "b" and 3 more` of the items, among n, for which `name` returns
 * true. At most max_names names are written; the other items are counted. "": no item. */
void dni_name_list(const void *ctx, size_t n, dni_namer *name, size_t max_names,
                   char out[DNI_NAMES_SIZE]);
/* Writes a list as dni_name_list does, of the features for which marked[j] is true. */
void dni_feature_list(const dn_fit_input *input, const bool *marked, size_t max_names,
                      char out[DNI_NAMES_SIZE]);

#endif
