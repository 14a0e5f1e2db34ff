/* Compares two models that must be equal. */
#include "property.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 16 };

const struct sheet *property_sheet(const char *table) {
    if (strcmp(table, "two") ==
        0) { /* two overlapping classes: without a penalty the likelihood has a maximum */
        return sheet_without(sheet_read("iris.csv"), "setosa");
    }
    if (strcmp(table, "made") == 0) {
        return sheet_made(400, 3);
    }
    if (strcmp(table, "made2") == 0) {
        return sheet_made(300, 2);
    }
    return sheet_read(text("%s.csv", table));
}

int64_t property_post(const struct method *m, const char *model, const char *dataset,
                      bool weighted) {
    return job_post(
        "{'model':'%s','dataset':'%s','target':'class','algorithm':'%s','params':{%s}%s%s}", model,
        dataset, m->algorithm, m->params, m->more,
        weighted ? ",'weight':'weight','weights':'frequencies'" : "");
}

/* ---- one model ---- */

/* Predictions of a model for a sheet's rows. */
struct said {
    const struct response *job, *weights;
    const json_t *predictions;
    size_t n_classes;
};

static struct said ask(int64_t job, const char *model, const struct sheet *rows) {
    struct said s = {.job = job_wait(job)};
    if (strcmp(string_at(s.job, "/state"), "succeeded") != 0) {
        fail_msg("%s: %s", model, s.job->body);
    }
    s.weights = status_check(call_get("/v1/models/%s/weights", model), 200);
    const char *outputs = strstr(s.weights->body, "\"priors\"") != NULL ? ",log_density" : "";
    const struct response *r = call(&(struct request){
        .method = "POST",
        .path = text("/v1/models/%s/predict?output=label,scores,probabilities%s", model, outputs),
        .headers = HEADERS("Content-Type: text/csv"),
        .body = sheet_csv(rows, false),
    });
    s.predictions = value_at(status_check(r, 200), "/predictions");
    s.n_classes = count_at(s.weights, "/classes");
    assert_int_equal(json_array_size(s.predictions), rows->n_rows);
    return s;
}

static const json_t *said_of(const struct said *s, size_t row, const char *what) {
    return json_object_get(json_array_get(s->predictions, row), what);
}

static double number(const json_t *array, size_t i) {
    const json_t *value = json_array_get(array, i);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static double largest_score(const struct said *s) {
    double largest = 0;
    for (size_t i = 0; i < json_array_size(s->predictions); i++) {
        for (size_t k = 0; k < json_array_size(said_of(s, i, "scores")); k++) {
            largest = fmax(largest, fabs(number(said_of(s, i, "scores"), k)));
        }
    }
    return largest;
}

/* ---- both ---- */

static void complain(const struct pair *p, const char *what, double a, double b, double most) {
    fail_msg("%s %s {%s}%s: %s is %.17g and %.17g, apart by %g, at most %g", p->method->table,
             p->method->algorithm, p->method->params, p->method->more, what, a, b, fabs(a - b),
             most);
}

static void same(const struct pair *p, const char *what, double a, double b, double most) {
    if (!(fabs(a - b) <= most)) {
        complain(p, what, a, b, most);
    }
}

static bool has_pairs(const struct pair *p) {
    return strstr(p->method->params, "one_vs_one") != NULL;
}

/* Finds the score of the second model that belongs to score k of the first, and its factor. */
static size_t counterpart(const struct pair *p, size_t k, size_t n, size_t n_classes,
                          double *sign) {
    *sign = 1;
    if (!p->reversed) {
        return k;
    }
    /* with reversed classes pair i < j, j positive, becomes pair n−1−j < n−1−i, n−1−i negative */
    if (n == 1 || (has_pairs(p) && n_classes > 2)) {
        size_t at = 0, wanted = SIZE_MAX, found = SIZE_MAX;
        *sign = -1;
        for (size_t pass = 0; pass < 2; pass++) {
            at = 0;
            for (size_t i = 0; i < n_classes; i++) {
                for (size_t j = i + 1; j < n_classes; j++, at++) {
                    if (pass == 0 && at == k) {
                        wanted = (n_classes - 1 - j) * MOST_CLASSES + (n_classes - 1 - i);
                    } else if (pass == 1 && i * MOST_CLASSES + j == wanted) {
                        found = at;
                    }
                }
            }
        }
        return found;
    }
    return n - 1 - k;
}

static void same_scores(const struct pair *p, const struct said *a, const struct said *b) {
    const double size = largest_score(a), most = p->method->tolerance * size;
    const double factor =
        p->scale != NULL && (p->method->except & SCORES_SCALED) ? largest_score(b) / size : 1;
    const bool offset = p->scale != NULL && (p->method->except & SCORES_OFFSET);
    for (size_t i = 0; i < p->one->n_rows; i++) {
        const json_t *u = said_of(a, i, "scores"), *v = said_of(b, i, "scores");
        const size_t n = json_array_size(u);
        assert_true(n > 0);
        assert_int_equal(json_array_size(v), n);
        for (size_t k = 0; k < n; k++) {
            double sign;
            const size_t l = counterpart(p, k, n, a->n_classes, &sign);
            const double base = offset ? number(u, 0) : 0, other_base = offset ? number(v, 0) : 0;
            same(p, text("score %zu of row %zu", k, i), sign * factor * (number(u, k) - base),
                 number(v, l) - other_base, most * factor);
        }
    }
}

static void same_probabilities(const struct pair *p, const struct said *a, const struct said *b) {
    const double most =
        p->method->tolerance * fmax(1, largest_score(a)); /* |dp| <= |dg| for every model here */
    /* logarithm of the factor by which the change of units scales a volume */
    double moved = 0;
    for (size_t j = 0; p->scale != NULL && j < p->one->n_cols; j++) {
        moved += sheet_is_number(p->one, j) ? log(fabs(p->scale[j])) : 0;
    }
    for (size_t i = 0; i < p->one->n_rows; i++) {
        const json_t *u = said_of(a, i, "probabilities"), *v = said_of(b, i, "probabilities");
        const size_t n = json_array_size(u);
        assert_int_equal(json_array_size(v), n);
        for (size_t k = 0; k < n; k++) {
            same(p, text("probability %zu of row %zu", k, i), number(u, k),
                 number(v, p->reversed ? n - 1 - k : k), most);
        }
        if (json_is_number(said_of(a, i, "log_density"))) {
            same(p, text("ln p of row %zu", i),
                 json_number_value(said_of(a, i, "log_density")) - moved,
                 json_number_value(said_of(b, i, "log_density")), most);
        }
    }
}

static void same_labels(const struct pair *p, const struct said *a, const struct said *b) {
    const json_t *classes = value_at(a->weights, "/classes"),
                 *others = value_at(b->weights, "/classes");
    if (!json_equal(classes, others)) {
        fail_msg("classes differ: %s %s", a->weights->body, b->weights->body);
    }
    for (size_t i = 0; i < p->one->n_rows; i++) {
        const json_t *label = said_of(a, i, "label"), *expected = label;
        for (size_t k = 0; p->reversed && k < a->n_classes; k++) {
            if (json_equal(json_array_get(classes, k), label)) {
                expected = json_array_get(classes, a->n_classes - 1 - k);
            }
        }
        if (!json_equal(expected, said_of(b, i, "label"))) {
            fail_msg("%s %s {%s}: the label of row %zu is %s and %s", p->method->table,
                     p->method->algorithm, p->method->params, i,
                     json_dumps(expected, JSON_ENCODE_ANY),
                     json_dumps(said_of(b, i, "label"), JSON_ENCODE_ANY));
        }
    }
}

/* The column of a numeric feature; SIZE_MAX: the feature is a level of a categorical column. */
static size_t column_of(const struct sheet *s, const char *feature) {
    for (size_t j = 0; j < s->n_cols; j++) {
        if (strcmp(s->names[j], feature) == 0 && sheet_is_number(s, j)) {
            return j;
        }
    }
    return SIZE_MAX;
}

static size_t find_feature(const json_t *features, const json_t *name) {
    size_t j = 0;
    while (j < json_array_size(features) && !json_equal(json_array_get(features, j), name)) {
        j++;
    }
    assert_true(j < json_array_size(features));
    return j;
}

/* Compares discriminant k of the first model and l of the second. A term common to all classes may
 * differ after a change of units: then the differences to the first discriminant are compared. */
static void same_discriminant(const struct pair *p, const struct said *a, const struct said *b,
                              size_t k, size_t l, double sign) {
    const json_t *features = value_at(a->weights, "/features"),
                 *others = value_at(b->weights, "/features");
    const json_t *u = value_at(a->weights, "/w"), *v = value_at(b->weights, "/w");
    const bool offset = p->scale != NULL && (p->method->except & SCORES_OFFSET);
    const bool scaled = p->scale != NULL && (p->method->except & SCORES_SCALED);
    double largest = 0, length = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < json_array_size(features); j++) {
            const char *name = json_string_value(json_array_get(features, j));
            const size_t column = column_of(p->one, name),
                         m = find_feature(others, json_array_get(features, j));
            const double size = column == SIZE_MAX ? 1 : sheet_largest(p->one, column);
            const double unit = p->scale != NULL && column != SIZE_MAX ? p->scale[column] : 1;
            const double w =
                sign * size *
                (number(json_array_get(u, k), j) - (offset ? number(json_array_get(u, 0), j) : 0));
            const double other =
                unit * size *
                (number(json_array_get(v, l), m) - (offset ? number(json_array_get(v, 0), m) : 0));
            if (pass == 1) {
                same(p, text("weight of %s", name), w * length, other,
                     p->method->tolerance * largest * length);
            } else if (fabs(w) > largest) {
                largest = fabs(w);
                length = scaled ? other / w : 1;
            }
        }
    }
    if (!(length > 0)) {
        fail_msg("%s: the direction is turned round", p->other_model);
    }
}

static void same_weights(const struct pair *p, const struct said *a, const struct said *b) {
    assert_int_equal(count_at(a->weights, "/features"), count_at(b->weights, "/features"));
    if (!has(a->weights, "/w") || strcmp(string_at(a->weights, "/kind"), "linear") != 0) {
        return;
    }
    const size_t n = count_at(a->weights, "/w");
    assert_int_equal(count_at(b->weights, "/w"), n);
    for (size_t k = 0; k < n; k++) {
        double sign;
        const size_t l = counterpart(p, k, n, a->n_classes, &sign);
        same_discriminant(p, a, b, k, l, sign);
    }
}

static void same_metrics(const struct pair *p, const struct said *a, const struct said *b) {
    static const char *const exact[] = {"accuracy", "error", "balanced_accuracy", "mcc", "kappa"};
    static const char *const close[] = {"log_loss", "brier", "hinge", "squared_loss",
                                        "logistic_loss"};
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        const char *at = text("/result/metrics/train/%s", exact[i]);
        same(p, exact[i], real_at(a->job, at), real_at(b->job, at), 1e-12);
    }
    const bool scaled = (p->method->except & SCORES_SCALED) &&
                        p->scale != NULL; /* scaled scores have other losses */
    for (size_t i = 0; i < sizeof close / sizeof close[0] && !scaled; i++) {
        const json_t *u = value_at(a->job, text("/result/metrics/train/%s", close[i]));
        const json_t *v = value_at(b->job, text("/result/metrics/train/%s", close[i]));
        assert_int_equal(json_typeof(u) == JSON_NULL, json_typeof(v) == JSON_NULL);
        const double x = json_number_value(u), y = json_number_value(v),
                     s = fmax(1, largest_score(a));
        same(p, close[i], x, y,
             p->method->tolerance * s *
                 s); /* s²: the loss that grows fastest is the squared margin */
    }
    if (!p->reversed && p->scale == NULL) {
        same(p, "objective", real_at(a->job, "/result/objective"),
             real_at(b->job, "/result/objective"),
             p->method->tolerance * fmax(1, fabs(real_at(a->job, "/result/objective"))));
    }
}

void pair_check(const struct pair *p) {
    const struct said a = ask(p->one_job, p->one_model, p->one),
                      b = ask(p->other_job, p->other_model, p->other);
    same_labels(p, &a, &b);
    same_scores(p, &a, &b);
    same_probabilities(p, &a, &b);
    same_weights(p, &a, &b);
    same_metrics(p, &a, &b);
}
