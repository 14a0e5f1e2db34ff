/* Reads stored decision rules, and gives a model in memory the rule of its version. */
#ifndef SERVING_MODEL_RULE_H
#define SERVING_MODEL_RULE_H

#include "base/json/json_read.h"
#include <discern/discern.h>
#include <stdbool.h>

/* Reads a document, JSON as in server/jobs/decision.h, of a rule for n classes. Returns false if it
 * is damaged, or memory is short.
 *
 *   out_cost  out->cost, which the caller frees */
bool model_rule_read(const json_t *document, size_t n, dn_rule *out, double **out_cost);
/* document: JSON as in server/jobs/decision.h; NULL and "null": no rule. Returns false if it is
 * damaged, or memory is short. */
bool model_rule_set(dn_model *model, const char *document);

#endif
