/* For the tests of instances: a model trained on a small table, through this module's own reader.
 */
#ifndef TESTS_MODEL_HELPER_H
#define TESTS_MODEL_HELPER_H

#include "table_helper.h"

/* "x" a number, "f1" … "f5" places of a sparse column, "words" a text with the vocabulary hills,
 * red, sea, sun; classes 0, 1, 2. Made of columns in memory. */
dn_model *model_wide(void);

/* Two numbers, a category, a boolean; three classes of strings. */
dn_model *model_mixed_as(const char *multiclass, dn_unseen_rule unseen);

dn_model *model_mixed(void);

/* Two numbers; classes of numbers. */
dn_model *model_numeric(void);

/* One number; true and false. */
dn_model *model_boolean(void);

/* One category, "a,b" or "c,d"; two classes. */
dn_model *model_one_text_column(void);

#endif
