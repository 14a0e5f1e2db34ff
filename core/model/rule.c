/* Labels by threshold, costs and rejection, and the choice of a threshold. */
#include "base/argument.h"
#include "model/model_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double dn_rule_cost(const dn_rule *rule, size_t truth, size_t label) {
    if (label == DN_AMBIGUOUS) {
        return rule->rejects ? rule->reject : 1;
    }
    return rule->cost == NULL || rule->by_threshold ? truth != label
                                                    : rule->cost[truth * rule->n_classes + label];
}

size_t dn_rule_label(const dn_rule *rule, const double *p) {
    const size_t K = rule->n_classes;
    size_t best = 0;
    double least = (double)INFINITY;
    if (rule->by_threshold) {
        return p[rule->positive] >= rule->threshold ? rule->positive : 1 - rule->positive;
    }
    for (size_t k = 0; k < K; k++) {
        double expected = 0;
        for (size_t j = 0; rule->cost != NULL && j < K; j++) {
            expected += p[j] * rule->cost[j * K + k];
        }
        expected = rule->cost == NULL ? 1 - p[k] : expected;
        if (expected < least) {
            least = expected;
            best = k;
        }
    }
    return rule->rejects && least > rule->reject ? DN_AMBIGUOUS : best;
}

/* ---- the choice of a threshold ---- */
struct scored {
    double p, weight;
    bool positive;
};

static int compare_scored(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    return (x->p < y->p) - (x->p > y->p);
}

/* Returns what the goal maximises; NaN: undefined. tp, fp: weights of the rows with a positive
 * label; n_true, n_false: of all rows of the two classes. */
static double value_of(dn_rule_goal goal, double tp, double fp, double n_true, double n_false) {
    const double fn = n_true - tp, tn = n_false - fp;
    switch (goal) {
    case DN_RULE_F1:
        return 2 * tp / (2 * tp + fp + fn);
    case DN_RULE_YOUDEN:
        return tp / n_true + tn / n_false - 1;
    case DN_RULE_MCC:
        return (tp * tn - fp * fn) / (sqrt(tp + fp) * sqrt(n_true) * sqrt(n_false) * sqrt(tn + fn));
    case DN_RULE_ACCURACY:
        return (tp + tn) / (n_true + n_false);
    case DN_RULE_PRECISION:
        return tp / n_true;
    }
    return (double)NAN;
}

dn_status dn_rule_choose(const dn_rule_rows *rows, dn_rule_goal goal, double least,
                         double *threshold, double *value, bool *found, dn_error *err) {
    if (rows == NULL || threshold == NULL || value == NULL || found == NULL) {
        return dni_argument_null(rows == NULL ? "rows" : "out", err);
    }
    struct scored *sorted = malloc((rows->n + 1) * sizeof *sorted);
    double n_true = 0, n_false = 0, tp = 0, fp = 0, best = 0, best_p = 0;
    bool any = false;
    if (sorted == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory to choose a threshold");
    }
    for (size_t i = 0; i < rows->n; i++) {
        const double v = rows->weight == NULL ? 1 : rows->weight[i];
        sorted[i] = (struct scored){rows->p[i], v, rows->positive[i]};
        n_true += rows->positive[i] ? v : 0;
        n_false += rows->positive[i] ? 0 : v;
    }
    qsort(sorted, rows->n, sizeof *sorted, compare_scored);
    for (size_t i = 0; i < rows->n && n_true > 0 && n_false > 0;) {
        const double p = sorted[i].p;
        for (; i < rows->n && sorted[i].p == p; i++) {
            tp += sorted[i].positive ? sorted[i].weight : 0;
            fp += sorted[i].positive ? 0 : sorted[i].weight;
        }
        const double now = value_of(goal, tp, fp, n_true, n_false);
        const bool allowed = goal != DN_RULE_PRECISION || (tp + fp > 0 && tp / (tp + fp) >= least);
        if (allowed && !isnan(now) && (!any || now > best)) {
            any = true;
            best = now;
            best_p = p;
        }
    }
    free(sorted);
    if (any) {
        *threshold = best_p;
        *value = best;
    }
    *found = any;
    return DN_OK;
}

/* ---- the rule of a model ---- */
static dn_status check_rule(const dn_model *model, const dn_rule *rule, dn_error *err) {
    const size_t K = model->classes.view.n;
    const char *fault = NULL;
    if (rule->n_classes != K) {
        fault = "the rule must have the classes of the model";
    } else if (!dn_model_has_probabilities(model)) {
        fault = "the model has no probabilities";
    } else if (rule->by_threshold &&
               (K != 2 || rule->positive > 1 || !(rule->threshold >= 0 && rule->threshold <= 1))) {
        fault = "a threshold must be from 0 to 1, of one of two classes";
    } else if (rule->rejects && !(rule->reject >= 0)) {
        fault = "the level of rejection must be >= 0";
    }
    for (size_t i = 0; fault == NULL && !rule->by_threshold && rule->cost != NULL && i < K * K;
         i++) {
        if (!(rule->cost[i] >= 0) || isinf(rule->cost[i])) {
            fault = "costs must be finite and >= 0";
        }
    }
    return fault == NULL ? DN_OK : dn_error_set(err, DN_ERR_ARGUMENT, "%s", fault);
}

dn_status dn_model_set_rule(dn_model *model, const dn_rule *rule, dn_error *err) {
    if (model == NULL) {
        return dni_argument_null("model", err);
    }
    dn_rule *own = NULL;
    if (rule != NULL) {
        const dn_status status = check_rule(model, rule, err);
        if (status != DN_OK) {
            return status;
        }
        const size_t K = rule->n_classes, n = rule->cost == NULL ? 0 : K * K;
        own = malloc(sizeof *own + n * sizeof(double));
        if (own == NULL) {
            return dn_error_set(err, DN_ERR_MEMORY, "no memory for the rule of a model");
        }
        *own = *rule;
        if (n > 0) {
            double *cost = (double *)(own + 1);
            memcpy(cost, rule->cost, n * sizeof *cost);
            own->cost = cost;
        }
    }
    free(model->rule);
    model->rule = own;
    return DN_OK;
}

const dn_rule *dn_model_rule(const dn_model *model) {
    return model->rule;
}
