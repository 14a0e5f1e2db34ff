/* The catalogue is what the daemon does: every algorithm of /v1/algorithms trains with every value it offers, on real data; every number is taken at the ends of its range and refused
 * beyond. Nothing here names an algorithm: one that is added is walked too. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const datasets[] = {"iris", "wine", "breast_cancer"};
static const size_t n_classes[] = {3, 3, 2};
enum { N_DATASETS = sizeof datasets / sizeof datasets[0] };

static int prepare(void **state) {
    if (group_start(state) != 0)
        return -1;
    for (size_t i = 0; i < N_DATASETS; i++)
        upload_file(datasets[i], text("%s.csv", datasets[i]));
    keep_free();
    return 0;
}

static const char *name_of(const json_t *object) {
    return json_string_value(json_object_get(object, "name"));
}

static bool is_type(const json_t *param, const char *type) {
    return strcmp(json_string_value(json_object_get(param, "type")), type) == 0;
}

/* ---- one job ---------------------------------------------------------------------------------------------------------------------------- */

static const char *spec_of(const json_t *algorithm, size_t dataset, const char *params, const char *limits) {
    return text("{\"model\":\"m\",\"dataset\":\"%s\",\"target\":\"class\",\"algorithm\":\"%s\",\"params\":{%s},\"limits\":{%s}}",
                datasets[dataset], json_string_value(json_object_get(algorithm, "id")), params, limits);
}

/* The job runs to its end: it succeeds, or says why it cannot. Returns whether it succeeded. */
static bool ends_well(const struct response *accepted, const char *spec) {
    const struct response *r = job_wait(whole_at(accepted, "/id"));
    if (strcmp(string_at(r, "/state"), "succeeded") == 0)
        return true;
    const char *detail = string_at(r, "/error/detail");
    if (strcmp(string_at(r, "/state"), "failed") != 0 || whole_at(r, "/error/status") >= 500 || strlen(detail) < 20)
        fail_msg("%s: %s", spec, r->body);
    return false;
}

/* The parameter is refused: 422 with a fault at its place, or at an item of the list that it is, that names it. */
static void is_refused(const struct response *r, const char *name, const char *spec) {
    bool there = false;
    size_t i;
    json_t *fault;
    if (r->status != 422)
        fail_msg("%s is not refused: %d %s", spec, r->status, r->body);
    json_array_foreach(value_at(r, "/errors"), i, fault) {
        const char *pointer = json_string_value(json_object_get(fault, "pointer"));
        const char *end =
            strncmp(pointer, "/params/", 8) == 0 && strncmp(pointer + 8, name, strlen(name)) == 0 ? pointer + 8 + strlen(name) : "?";
        there = there || *end == '\0' || *end == '/';
    }
    if (!there || strstr(r->body, name) == NULL)
        fail_msg("%s: the fault is not at /params/%s: %s", spec, name, r->body);
}

/* Posts the job with the setting alone, and, where a rule between parameters forbids that, with every value of one or two other choices. NULL: never accepted. */
static const struct response *post_somehow(const json_t *algorithm, size_t dataset, const json_t *param, const char *setting,
                                           const char *limits, const char **out_spec) {
    enum { MOST = 64 };
    const char *others[MOST] = {""}, *owner[MOST] = {""};
    size_t n = 1, i, k;
    json_t *p, *choice;
    json_array_foreach(json_object_get(algorithm, "parameters"), i, p) {
        if (p == param || !is_type(p, "choice"))
            continue;
        json_array_foreach(json_object_get(p, "choices"), k, choice) {
            if (n == MOST)
                break;
            owner[n] = name_of(p);
            others[n++] = text(",\"%s\":\"%s\"", name_of(p), json_string_value(choice));
        }
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            if (b > 0 && (a == b || strcmp(owner[a], owner[b]) == 0))
                continue;
            const char *spec = spec_of(algorithm, dataset, text("%s%s%s", setting, others[a], others[b]), limits);
            const struct response *r = call(&(
                struct request){.method = "POST", .path = "/v1/jobs", .headers = HEADERS("Content-Type: application/json"), .body = spec});
            *out_spec = spec;
            if (r->status == 202)
                return r;
            if (r->status != 422)
                fail_msg("%s: %d %s", spec, r->status, r->body);
        }
    return NULL;
}

/* ---- every value that is offered -------------------------------------------------------------------------------------------------------- */

/* What the model says of itself is what was asked, and what it is worth is what an evaluation finds. */
static void check_model(size_t dataset, const char *name, const json_t *value, const char *spec) {
    const struct response *model = status_check(call_get("/v1/models/m"), 200);
    const struct response *evaluated = status_check(call_post("/v1/models/m/evaluate", "{'dataset':'%s'}", datasets[dataset]), 200);
    if (name != NULL && !json_equal(json_object_get(value_at(model, "/params"), name), value) &&
        strcmp(json_is_string(value) ? json_string_value(value) : "", "auto") != 0)
        fail_msg("%s: the model says %s", spec, json_dumps(value_at(model, "/params"), 0));
    if (real_at(evaluated, "/metrics/accuracy") != real_at(model, "/metrics/train/accuracy"))
        fail_msg("%s: accuracy %.17g in training, %.17g evaluated", spec, real_at(model, "/metrics/train/accuracy"),
                 real_at(evaluated, "/metrics/accuracy"));
}

/* Trains with the value on every dataset: it must succeed on one of them at least. With TEST_SLOW, that one is enough. */
static void train_with(const json_t *algorithm, const json_t *param, const json_t *value) {
    size_t succeeded = 0;
    char *dumped = value != NULL ? keep(json_dumps(value, JSON_ENCODE_ANY), free) : NULL;
    const char *setting = value != NULL ? text("\"%s\":%s", name_of(param), dumped) : "";
    for (size_t d = 0; d < N_DATASETS && (succeeded == 0 || getenv("TEST_SLOW") == NULL); d++) {
        const char *spec = NULL;
        const struct response *r = post_somehow(algorithm, d, param, setting, "\"seconds\":20", &spec);
        if (r == NULL)
            fail_msg("no combination with %s is accepted, the last was %s", setting, spec);
        if (!ends_well(r, spec))
            continue;
        succeeded++;
        check_model(d, value != NULL ? name_of(param) : NULL, value, spec);
    }
    if (succeeded == 0)
        fail_msg("%s with %s succeeds on none of the datasets", json_string_value(json_object_get(algorithm, "id")), setting);
}

static json_t *catalogue(void) {
    return value_at(status_check(call_get("/v1/algorithms"), 200), "/items");
}

static void test_every_value_that_is_offered(void **state) {
    (void)state;
    const json_t *algorithms = catalogue();
    size_t i, j, k;
    json_t *algorithm, *param, *choice;
    assert_true(json_array_size(algorithms) > 0);
    json_array_foreach(algorithms, i, algorithm) {
        train_with(algorithm, NULL, NULL);
        json_array_foreach(json_object_get(algorithm, "parameters"), j, param) {
            json_array_foreach(json_object_get(param, "choices"), k, choice) train_with(algorithm, param, choice);
            if (json_is_string(json_object_get(param, "word")))
                train_with(algorithm, param, json_object_get(param, "word"));
            if (is_type(param, "boolean")) {
                train_with(algorithm, param, json_true());
                train_with(algorithm, param, json_false());
            }
            keep_free();
            algorithms = catalogue(); /* the answers that it was in are gone */
            algorithm = json_array_get(algorithms, i);
        }
    }
}

/* ---- numbers at and beyond the ends of their range --------------------------------------------------------------------------------------- */

enum end { LEAST, MOST };

/* The end itself, or the nearest number inside an open one; false: there is none. */
static bool end_of(const json_t *param, enum end end, double *out) {
    const json_t *bound = json_object_get(param, end == LEAST ? "minimum" : "maximum");
    const bool open = json_is_true(json_object_get(param, end == LEAST ? "exclusive_minimum" : "exclusive_maximum"));
    if (!json_is_number(bound))
        return false;
    *out = json_number_value(bound);
    if (open)
        *out = is_type(param, "integer") ? *out + (end == LEAST ? 1 : -1)
                                         : nextafter(*out, end == LEAST ? (double)INFINITY : -(double)INFINITY);
    return true;
}

/* The nearest number outside. */
static double beyond(const json_t *param, enum end end, double inside) {
    const bool open = json_is_true(json_object_get(param, end == LEAST ? "exclusive_minimum" : "exclusive_maximum"));
    if (is_type(param, "integer"))
        return inside + (end == LEAST ? -1 : 1);
    if (open)
        return json_number_value(json_object_get(param, end == LEAST ? "minimum" : "maximum"));
    return inside == 0 ? (end == LEAST ? -1e-300 : 1e-300) : nextafter(inside, end == LEAST ? -(double)INFINITY : (double)INFINITY);
}

/* A number of JSON in every case, as a list of as many equal ones where the parameter is one. */
static const char *setting_of(const json_t *param, double value, size_t dataset) {
    const char *number = text("%.17g", value);
    if (!is_type(param, "list"))
        return text("\"%s\":%s", name_of(param), number);
    const char *list = number;
    for (size_t k = 1; k < n_classes[dataset]; k++)
        list = text("%s,%s", list, number);
    return text("\"%s\":[%s]", name_of(param), list);
}

static const struct response *post(const char *spec) {
    return call(
        &(struct request){.method = "POST", .path = "/v1/jobs", .headers = HEADERS("Content-Type: application/json"), .body = spec});
}

static void check_end(const json_t *algorithm, const json_t *param, enum end end) {
    double inside;
    const char *spec = NULL;
    for (size_t d = 0; d < N_DATASETS; d += N_DATASETS - 1) { /* three classes, and two */
        if (!end_of(param, end, &inside)) {                   /* no end: very large numbers */
            const struct response *r =
                post_somehow(algorithm, d, param, setting_of(param, end == LEAST ? -1e300 : 1e300, d), "\"seconds\":0.3", &spec);
            if (r != NULL)
                (void)ends_well(r, spec);
            continue;
        }
        spec = spec_of(algorithm, d, setting_of(param, beyond(param, end, inside), d), "\"seconds\":0.3");
        is_refused(post(spec), name_of(param), spec);
        const char *setting = setting_of(param, inside, d);
        const struct response *r = post_somehow(algorithm, d, param, setting, "\"seconds\":0.3", &spec);
        if (r != NULL)
            (void)ends_well(r, spec);
        else if (!is_type(param, "list")) /* a list's numbers may have to fit each other */
            fail_msg("no combination with %s is accepted, the last was %s", setting, spec);
    }
}

/* What is no such number at all. */
static void check_types(const json_t *algorithm, const json_t *param) {
    static const char *const wrong[] = {"true", "\"much\"", "{}", "[[1]]", "[\"1\"]", "1.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (strcmp(wrong[i], "1.5") == 0 && !is_type(param, "integer") && !is_type(param, "choice") && !is_type(param, "boolean"))
            continue;
        if (strcmp(wrong[i], "true") == 0 && is_type(param, "boolean"))
            continue;
        const char *spec = spec_of(algorithm, 0, text("\"%s\":%s", name_of(param), wrong[i]), "\"seconds\":0.3");
        is_refused(post(spec), name_of(param), spec);
    }
}

static void test_numbers_at_and_beyond_the_ends(void **state) {
    (void)state;
    const json_t *algorithms = catalogue();
    size_t i, j;
    json_t *algorithm, *param;
    json_array_foreach(algorithms, i, algorithm) {
        json_array_foreach(json_object_get(algorithm, "parameters"), j, param) {
            check_types(algorithm, param);
            if (is_type(param, "number") || is_type(param, "integer") || is_type(param, "list")) {
                check_end(algorithm, param, LEAST);
                check_end(algorithm, param, MOST);
            }
            keep_free();
            algorithms = catalogue();
            algorithm = json_array_get(algorithms, i);
        }
    }
}

/* Shares of the classes are known to be wrong before the job runs. */
static void test_lists_that_do_not_fit(void **state) {
    (void)state;
    const json_t *algorithms = catalogue();
    size_t i, j;
    json_t *algorithm, *param;
    json_array_foreach(algorithms, i, algorithm) {
        json_array_foreach(json_object_get(algorithm, "parameters"), j, param) {
            if (!is_type(param, "list") || !json_is_true(json_object_get(param, "distribution")))
                continue;
            static const char *const wrong[] = {
                "[]", "[0.5,0.5]", "[0.25,0.25,0.25,0.25]", "[0.5,0.25,0.2]", "[0.5,0.25,null]", "[0.5,0.75,-0.25]"};
            for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
                const char *spec = spec_of(algorithm, 0, text("\"%s\":%s", name_of(param), wrong[k]), "\"seconds\":20");
                is_refused(post(spec), name_of(param), spec);
            }
            const char *spec = spec_of(algorithm, 0, text("\"%s\":[0.5,0.25,0.25]", name_of(param)), "\"seconds\":20");
            assert_true(ends_well(status_check(post(spec), 202), spec));
            assert_json(call_get("/v1/models/m"), text("/params/%s", name_of(param)), "[0.5,0.25,0.25]");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_every_value_that_is_offered),
        TEST(test_numbers_at_and_beyond_the_ends),
        TEST(test_lists_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
