/* Models for the tests of instances, each trained on a small table that the table reader has
 * read. */
#ifndef TESTS_MODEL_HELPER_H
#define TESTS_MODEL_HELPER_H

#include "table_helper.h"

/* The number "x"; "f1" … "f5", features of a sparse column; the text "words" with the vocabulary
 * hills, red, sea, sun; classes 0, 1, 2. The table is made of columns in memory, not read. */
dn_model *model_wide(void);

/* Inputs: two numbers, a category, a boolean; three string classes. */
dn_model *model_mixed_as(const char *multiclass, dn_unseen_rule unseen);

dn_model *model_mixed(void);

/* Inputs: two numbers; numeric classes. */
dn_model *model_numeric(void);

/* Input: one number; classes true and false. */
dn_model *model_boolean(void);

/* Input: one category, "a,b" or "c,d"; two classes. */
dn_model *model_one_text_column(void);

#endif
