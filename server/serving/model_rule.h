/* Reads the stored decision rule of a version into its model. */
#ifndef SERVING_MODEL_RULE_H
#define SERVING_MODEL_RULE_H

#include <discern/discern.h>
#include <stdbool.h>

/* document: JSON as in server/jobs/decision.h; NULL and "null": no rule. Returns false if it is
 * damaged, or memory is short. */
bool model_rule_set(dn_model *model, const char *document);

#endif
