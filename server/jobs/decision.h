/* The decision rule of a model version: what a client asks for, the rule that follows from it, and
 * its document.
 *
 * What is asked for: a threshold of one of two classes, the threshold that is best by a goal, costs
 * of labels, and a level of rejection. A threshold is chosen from predictions for held-out rows. */
#ifndef JOBS_DECISION_H
#define JOBS_DECISION_H

#include "base/json/json_read.h"
#include "base/memory/buf.h"
#include "base/problem.h"
#include <discern/discern.h>

enum decision_kind { DECISION_THRESHOLD, DECISION_GOAL, DECISION_COSTS };
struct decision {
    enum decision_kind kind;
    const json_t *object;   /* what was asked for; borrowed */
    const json_t *positive; /* the class of the threshold; NULL: the second class */
    double threshold;       /* THRESHOLD */
    dn_rule_goal goal;      /* GOAL */
    double least;           /* GOAL: the bound of DN_RULE_PRECISION */
    const json_t *cost;     /* COSTS: true class → label → cost; NULL: 0 and 1 */
    bool rejects;           /* COSTS */
    double reject;
};

/* Reads the members of `object` and the rules between them. parent: JSON pointer of the object.
 * Returns false after adding faults. */
bool decision_read(const json_t *object, const char *parent, struct decision *out,
                   struct problem *problem);
/* Appends the object as JSON text. */
void decision_text(const json_t *object, struct buf *out);
/* Checks the classes that it names. names [n]: the classes; NULL: unknown. Returns false after
 * adding faults. */
bool decision_check(const struct decision *d, const char *parent, const char *const *names,
                    size_t n, struct problem *problem);

/* Predictions for held-out rows, in any order. */
struct decision_rows {
    size_t n;
    const double *p;       /* [n × K] */
    const uint32_t *truth; /* [n] */
    const double *weight;  /* [n]; NULL: all 1 */
    bool folds;            /* held out by folds; otherwise by a holdout */
};
/* Appends the document of the rule for a model.
 *
 *   rows  NULL: none; then a threshold cannot be chosen
 *
 * Returns false after adding faults: a class is unknown, the model has no probabilities, there are
 * no rows to choose from, or no threshold reaches the bound. */
bool decision_write(const struct decision *d, const char *parent, const dn_model *model,
                    const struct decision_rows *rows, struct buf *out, struct problem *problem);

#endif
