/* Reads decision rules, chooses their thresholds and writes their documents. */
#include "jobs/decision.h"

#include "base/json/json.h"
#include "base/json/json_write.h"
#include "jobs/documents.h"
#include "jobs/request/class_weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COST 1e100 /* sums of costs over rows are finite */

static const char *const goals[] = {"f1", "youden", "mcc", "accuracy", NULL};
static const dn_rule_goal goal_of[] = {DN_RULE_F1, DN_RULE_YOUDEN, DN_RULE_MCC, DN_RULE_ACCURACY};

/* ---- reading ---- */

/* out ← the JSON pointer parent/cost/name; name NULL: parent/cost. */
static const char *cost_pointer(const char *parent, const char *name, struct buf *out) {
    buf_clear(out);
    buf_printf(out, "%s/cost%s", parent, name != NULL ? "/" : "");
    for (const char *c = name; c != NULL && *c != '\0'; c++) {
        if (*c == '~' || *c == '/') {
            buf_puts(out, *c == '~' ? "~0" : "~1");
        } else {
            buf_putc(out, *c);
        }
    }
    const char *text = buf_cstr(out);
    return text != NULL ? text : parent;
}

static bool read_share(const json_t *object, const char *key, const char *parent, double *out,
                       struct problem *problem) {
    char number[DN_NUMBER_SIZE];
    if (!json_read_number(object, key, true, parent, out, problem)) {
        return false;
    }
    if (*out >= 0 && *out <= 1) {
        return true;
    }
    (void)dn_number_format(*out, number);
    return json_fault(problem, parent, key, "must be from 0 to 1, got %s", number);
}

static bool read_costs(const json_t *cost, const char *parent, struct problem *problem) {
    const size_t before = problem->n_errors + problem->n_dropped;
    const char *truth, *label;
    const json_t *row, *value;
    struct buf at = {0};
    if (!json_is_object(cost)) {
        return json_refuse_value(problem, parent, "cost",
                                 "an object with an object of costs for true classes", cost);
    }
    if (json_object_size(cost) == 0) {
        return json_fault(problem, parent, "cost",
                          "must have the costs of at least one true class");
    }
    json_object_foreach((json_t *)(uintptr_t)cost, truth, row) {
        if (!json_is_object(row)) {
            json_refuse_value(problem, cost_pointer(parent, NULL, &at), truth,
                              "an object of the costs of the labels", row);
            continue;
        }
        json_object_foreach((json_t *)(uintptr_t)row, label, value) {
            const double c = json_number_value(value);
            if (!json_is_number(value) || !(c >= 0) || c > MOST_COST) {
                json_refuse_value(problem, cost_pointer(parent, truth, &at), label,
                                  "a number from 0 to 1e100", value);
            }
        }
    }
    buf_done(&at);
    return problem->n_errors + problem->n_dropped == before;
}

bool decision_read(const json_t *object, const char *parent, struct decision *out,
                   struct problem *problem) {
    static const char *const known[] = {"threshold", "maximise", "precision_at_least",
                                        "cost",      "reject",   "positive",
                                        NULL};
    enum { N_KINDS = 4 };
    const size_t before = problem->n_errors + problem->n_dropped;
    size_t given = 0, goal = 0, kind = N_KINDS;
    *out = (struct decision){.object = object, .positive = json_object_get(object, "positive")};
    json_refuse_unknown(object, known, parent, problem);
    for (size_t i = 0; i < N_KINDS; i++) {
        if (json_object_get(object, known[i]) != NULL) {
            kind = i;
            given++;
        }
    }
    out->rejects = json_object_get(object, "reject") != NULL;
    if (given > 1 || (given == 0 && !out->rejects)) {
        json_fault(problem, parent, NULL,
                   "must have one of the members threshold, maximise, precision_at_least and cost, "
                   "or reject alone; got %zu of them",
                   given);
        return false;
    }
    out->kind = kind == 0 ? DECISION_THRESHOLD : kind < 3 ? DECISION_GOAL : DECISION_COSTS;
    if (kind == 0) {
        (void)read_share(object, "threshold", parent, &out->threshold, problem);
    } else if (kind == 1) {
        if (json_read_choice(object, "maximise", true, parent, goals, &goal, problem)) {
            out->goal = goal_of[goal];
        }
    } else if (kind == 2) {
        out->goal = DN_RULE_PRECISION;
        (void)read_share(object, "precision_at_least", parent, &out->least, problem);
    } else if (kind == 3) {
        out->cost = json_object_get(object, "cost");
        (void)read_costs(out->cost, parent, problem);
    }
    if (out->rejects && json_read_number(object, "reject", true, parent, &out->reject, problem) &&
        !(out->reject >= 0)) {
        json_fault(problem, parent, "reject", "must be >= 0, got %g", out->reject);
    }
    if (out->rejects && out->kind != DECISION_COSTS) {
        json_fault(problem, parent, "reject", "goes with cost, or alone");
    }
    if (out->positive != NULL && out->kind == DECISION_COSTS) {
        json_fault(problem, parent, "positive",
                   "goes with threshold, maximise and precision_at_least");
    } else if (out->positive != NULL &&
               (json_is_object(out->positive) || json_is_array(out->positive) ||
                json_is_null(out->positive))) {
        json_refuse_value(problem, parent, "positive", "a class", out->positive);
    }
    return problem->n_errors + problem->n_dropped == before;
}

void decision_text(const json_t *object, struct buf *out) {
    struct json_writer w = json_writer_of(out);
    json_put_value(object, &w);
}

/* ---- classes ---- */

static size_t find_name(const char *name, const char *const *names, size_t n) {
    size_t k = 0;
    while (k < n && strcmp(names[k], name) != 0) {
        k++;
    }
    return k;
}

static void refuse_name(const char *parent, const char *key, const char *name,
                        const char *const *names, size_t n, struct problem *problem) {
    struct buf list = {0};
    for (size_t k = 0; k < n && k < 20; k++) {
        buf_printf(&list, "%s\"%.60s\"", k > 0 ? ", " : "", names[k]);
    }
    const char *text = buf_cstr(&list);
    json_fault(problem, parent, key, "\"%.100s\" is not a class; the classes are %s%s", name,
               text != NULL ? text : "", n > 20 ? ", …" : "");
    buf_done(&list);
}

bool decision_check(const struct decision *d, const char *parent, const char *const *names,
                    size_t n, struct problem *problem) {
    const size_t before = problem->n_errors + problem->n_dropped;
    char room[DN_NUMBER_SIZE];
    struct buf at = {0};
    const char *truth, *label;
    const json_t *row, *value;
    if (d->kind != DECISION_COSTS && n != 2) {
        json_fault(problem, parent, NULL,
                   "a threshold separates two classes, and there are %zu: give costs", n);
    }
    if (names != NULL && d->positive != NULL) {
        const char *name = jobs_class_text(d->positive, room);
        if (find_name(name, names, n) == n) {
            refuse_name(parent, "positive", name, names, n, problem);
        }
    }
    json_object_foreach((json_t *)(uintptr_t)d->cost, truth, row) {
        if (names != NULL && find_name(truth, names, n) == n) {
            refuse_name(cost_pointer(parent, NULL, &at), truth, truth, names, n, problem);
        }
        json_object_foreach((json_t *)(uintptr_t)row, label, value) {
            (void)value;
            if (names != NULL && find_name(label, names, n) == n) {
                refuse_name(cost_pointer(parent, truth, &at), label, label, names, n, problem);
            }
        }
    }
    buf_done(&at);
    return problem->n_errors + problem->n_dropped == before;
}

/* cost [n × n] ← the costs. A cost that is not given is 1 for a wrong label, 0 for the right one: a
 * cost of 0 would make the label free for the class, and a rule that gives one cost would label all
 * rows with a class that it does not name. */
static void set_costs(const json_t *given, const char *const *names, size_t n, double *cost) {
    const char *truth, *label;
    const json_t *row, *value;
    for (size_t i = 0; i < n * n; i++) {
        cost[i] = i / n != i % n;
    }
    json_object_foreach((json_t *)(uintptr_t)given, truth, row) {
        json_object_foreach((json_t *)(uintptr_t)row, label, value) {
            cost[find_name(truth, names, n) * n + find_name(label, names, n)] =
                json_number_value(value);
        }
    }
}

/* ---- the rule ---- */

/* Sets the threshold by the goal; *value: what it reaches. */
static bool choose(const struct decision *d, const char *parent, const struct decision_rows *rows,
                   dn_rule *rule, double *value, struct problem *problem) {
    const char *key = d->goal == DN_RULE_PRECISION ? "precision_at_least" : "maximise";
    dn_error err;
    dn_error_clear(&err);
    bool found = false;
    if (rows == NULL) {
        return json_fault(problem, parent, key,
                          "needs predictions for held-out rows, and there are none: train with "
                          "validation.holdout or validation.folds");
    }
    double *p = malloc((rows->n + 1) * sizeof *p);
    bool *positive = malloc((rows->n + 1) * sizeof *positive);
    if (p == NULL || positive == NULL) {
        free(p);
        free(positive);
        return problem_no_memory(problem);
    }
    for (size_t i = 0; i < rows->n; i++) {
        p[i] = rows->p[2 * i + rule->positive];
        positive[i] = rows->truth[i] == rule->positive;
    }
    const dn_rule_rows given = {rows->n, p, positive, rows->weight};
    const dn_status status =
        dn_rule_choose(&given, d->goal, d->least, &rule->threshold, value, &found, &err);
    free(p);
    free(positive);
    if (status != DN_OK) {
        jobs_problem_from_core(&err, NULL, problem);
        return false;
    }
    return found || json_fault(problem, parent, key,
                               d->goal == DN_RULE_PRECISION
                                   ? "no threshold reaches this precision on the held-out rows"
                                   : "the held-out rows have one class only");
}

/* Sums over the held-out rows. */
struct tally {
    double weight, right, rejected, cost, cost_without; /* without: of the most probable class */
    double tp, fp, fn;                                  /* of the positive class */
};

static struct tally tally_rows(const dn_rule *rule, const struct decision_rows *rows) {
    struct tally t = {0};
    const size_t K = rule->n_classes;
    for (size_t i = 0; i < rows->n; i++) {
        const double *p = rows->p + i * K, v = rows->weight == NULL ? 1 : rows->weight[i];
        const size_t truth = rows->truth[i], label = dn_rule_label(rule, p);
        size_t most = 0;
        for (size_t k = 1; k < K; k++) {
            most = p[k] > p[most] ? k : most;
        }
        t.weight += v;
        t.right += label == truth ? v : 0;
        t.rejected += label == DN_AMBIGUOUS ? v : 0;
        t.cost += v * dn_rule_cost(rule, truth, label);
        t.cost_without += v * dn_rule_cost(rule, truth, most);
        t.tp += label == rule->positive && truth == label ? v : 0;
        t.fp += label == rule->positive && truth != label ? v : 0;
        t.fn += label != rule->positive && truth == rule->positive ? v : 0;
    }
    return t;
}

static void write_held_out(const dn_rule *rule, const struct decision_rows *rows,
                           struct json_writer *w) {
    if (rows == NULL) {
        json_kv_null(w, "held_out");
        return;
    }
    const struct tally t = tally_rows(rule, rows);
    json_kv_begin_object(w, "held_out");
    json_kv_string(w, "by", rows->folds ? "folds" : "holdout");
    json_kv_int(w, "rows", (int64_t)rows->n);
    json_kv_double(w, "accuracy", t.right / t.weight);
    if (rule->by_threshold) {
        json_kv_double(w, "precision", t.tp / (t.tp + t.fp));
        json_kv_double(w, "recall", t.tp / (t.tp + t.fn));
        json_kv_double(w, "f1", 2 * t.tp / (2 * t.tp + t.fp + t.fn));
    } else {
        json_kv_double(w, "cost", t.cost / t.weight);
        json_kv_double(w, "cost_of_most_probable", t.cost_without / t.weight);
        json_kv_double(w, "rejected_share", t.rejected / t.weight);
    }
    json_end_object(w);
}

static void write_rule(const struct decision *d, const dn_rule *rule, const dn_model *model,
                       double value, const struct decision_rows *rows, struct buf *out) {
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_put_key(&w, "rule");
    json_put_value(d->object, &w);
    if (rule->by_threshold) {
        json_put_key(&w, "positive");
        jobs_class_write(dn_model_classes(model), rule->positive, &w);
        json_kv_int(&w, "positive_index", (int64_t)rule->positive);
        json_kv_double(&w, "threshold", rule->threshold);
    }
    if (d->kind == DECISION_GOAL) {
        json_kv_double(&w, "value", value);
    }
    if (rule->cost != NULL) {
        json_kv_begin_array(&w, "costs");
        for (size_t i = 0; i < rule->n_classes; i++) {
            json_begin_array(&w);
            for (size_t k = 0; k < rule->n_classes; k++) {
                json_put_double(&w, rule->cost[i * rule->n_classes + k]);
            }
            json_end_array(&w);
        }
        json_end_array(&w);
    }
    if (rule->rejects) {
        json_kv_double(&w, "reject", rule->reject);
    }
    write_held_out(rule, rows, &w);
    json_end_object(&w);
}

bool decision_write(const struct decision *d, const char *parent, const dn_model *model,
                    const struct decision_rows *rows, struct buf *out, struct problem *problem) {
    const dn_classes *classes = dn_model_classes(model);
    const size_t K = classes->n;
    char room[DN_NUMBER_SIZE];
    double value = 0, *cost = NULL;
    bool good = false;
    char *text = malloc(classes->names.start[K] + K + 1);
    const char **names = malloc((K + 1) * sizeof(*names));
    if (text == NULL || names == NULL) {
        (void)problem_no_memory(problem);
        goto cleanup;
    }
    for (size_t k = 0, at = 0; k < K; k++) {
        const size_t n = classes->names.start[k + 1] - classes->names.start[k];
        memcpy(text + at, classes->names.bytes + classes->names.start[k], n);
        text[at + n] = '\0';
        names[k] = text + at;
        at += n + 1;
    }
    if (!dn_model_has_probabilities(model)) {
        json_fault(problem, parent, NULL,
                   "the model has no probabilities: train it with \"calibrate\" in params");
        goto cleanup;
    }
    if (!decision_check(d, parent, names, K, problem)) {
        goto cleanup;
    }
    dn_rule rule = {.n_classes = K,
                    .by_threshold = d->kind != DECISION_COSTS,
                    .positive = d->positive == NULL
                                    ? 1
                                    : find_name(jobs_class_text(d->positive, room), names, K),
                    .threshold = d->threshold,
                    .rejects = d->rejects,
                    .reject = d->reject};
    if (d->cost != NULL) {
        cost = malloc((K * K + 1) * sizeof *cost);
        if (cost == NULL) {
            (void)problem_no_memory(problem);
            goto cleanup;
        }
        set_costs(d->cost, names, K, cost);
        rule.cost = cost;
    }
    if (d->kind == DECISION_GOAL && !choose(d, parent, rows, &rule, &value, problem)) {
        goto cleanup;
    }
    write_rule(d, &rule, model, value, rows, out);
    good = !out->failed || problem_no_memory(problem);
cleanup:
    free(text);
    free(names);
    free(cost);
    return good;
}
