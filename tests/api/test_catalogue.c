/* Each algorithm of /v1/algorithms trains with each value that the catalogue offers, on real data;
 * each number is accepted at the ends of its range and refused outside. The test contains no names
 * of algorithms: a new algorithm is tested without a change here. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Datasets for all methods, then for kernels of texts and graphs, then a matrix of kernel
 * values. */
static const char *const datasets[] = {"iris", "wine", "breast_cancer", "graphs", "gram"};
static const size_t n_classes[] = {3, 3, 2, 2, 2};
enum {
    N_DATASETS = sizeof datasets / sizeof datasets[0],
    THREE_CLASSES = 0,
    TWO_CLASSES = 2,
    N_TABLES = 3,
    N_GRAM = 12
};

static void upload_kernels(void) {
    const char *graphs = "edges,class\n", *gram = "";
    for (size_t i = 0; i < N_GRAM; i++) {
        graphs = text("%sa-b b-%c%s,%s\n", graphs, (char)('c' + i % 4), i % 2 ? " b-z" : "",
                      i % 2 ? "odd" : "even");
        gram = text("%sk%zu,", gram, i);
    }
    gram = text("%sclass\n", gram);
    for (size_t i = 0; i < N_GRAM; i++) {
        for (size_t j = 0; j < N_GRAM; j++) {
            gram = text("%s%.17g,", gram, exp(-pow((double)i - (double)j, 2) / 20));
        }
        gram = text("%s%s\n", gram, i < N_GRAM / 2 ? "low" : "high");
    }
    status_check(call_upload("/v1/datasets/graphs?types=edges:text", graphs), 201);
    status_check(call_upload("/v1/datasets/gram", gram), 201);
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_kernels();
    for (size_t i = 0; i < N_TABLES; i++) {
        upload_file(datasets[i], text("%s.csv", datasets[i]));
    }
    keep_free();
    return 0;
}

static const char *name_of(const json_t *object) {
    return json_string_value(json_object_get(object, "name"));
}

static bool is_type(const json_t *param, const char *type) {
    return strcmp(json_string_value(json_object_get(param, "type")), type) == 0;
}

/* What is set: a parameter, or a member of an object parameter of the given type. */
struct subject {
    const json_t *param;
    const char *owner, *type; /* NULL: a parameter, not a member */
};

/* The place below /params/. */
static const char *place_of(struct subject s) {
    return s.owner ? text("%s/%s", s.owner, name_of(s.param)) : name_of(s.param);
}

/* … as it is given. */
static const char *give(struct subject s, const char *value) {
    return !s.owner ? text("\"%s\":%s", name_of(s.param), value)
                    : text("\"%s\":{\"type\":\"%s\",\"%s\":%s}", s.owner, s.type, name_of(s.param),
                           value);
}

/* ---- one job ---- */

static const char *spec_of(const json_t *algorithm, size_t dataset, const char *params,
                           const char *limits) {
    const bool target = json_is_true(json_object_get(algorithm, "needs_target"));
    return text("{\"model\":\"m\",\"dataset\":\"%s\",%s,\"algorithm\":\"%s\",\"params\":{%s},"
                "\"limits\":{%s}}",
                datasets[dataset],
                target ? "\"target\":\"class\"" : "\"features\":{\"exclude\":[\"class\"]}",
                json_string_value(json_object_get(algorithm, "id")), params, limits);
}

/* Waits for the job. Returns whether it succeeded; a failed job must have a detail. */
static bool ends_well(const struct response *accepted, const char *spec) {
    const struct response *r = job_wait(whole_at(accepted, "/id"));
    if (strcmp(string_at(r, "/state"), "succeeded") == 0) {
        return true;
    }
    const char *detail = string_at(r, "/error/detail");
    if (strcmp(string_at(r, "/state"), "failed") != 0 || whole_at(r, "/error/status") >= 500 ||
        strlen(detail) < 20) {
        fail_msg("%s: %s", spec, r->body);
    }
    return false;
}

/* The parameter is refused with 422 and an error at its place, or at an item of its list, that
 * names it. */
static void is_refused(const struct response *r, const char *name, const char *spec) {
    bool there = false;
    size_t i;
    json_t *fault;
    if (r->status != 422) {
        fail_msg("%s is not refused: %d %s", spec, r->status, r->body);
    }
    json_array_foreach(value_at(r, "/errors"), i, fault) {
        const char *pointer = json_string_value(json_object_get(fault, "pointer"));
        const char *end =
            strncmp(pointer, "/params/", 8) == 0 && strncmp(pointer + 8, name, strlen(name)) == 0
                ? pointer + 8 + strlen(name)
                : "?";
        there = there || *end == '\0' || *end == '/';
    }
    if (!there || strstr(r->body, name) == NULL) {
        fail_msg("%s: the fault is not at /params/%s: %s", spec, name, r->body);
    }
}

/* Whether the columns do not suit the object parameter, so that no other choice of values helps. */
static bool is_hopeless(const struct response *r, const char *object) {
    size_t i;
    json_t *fault;
    json_array_foreach(value_at(r, "/errors"), i, fault) {
        const char *pointer = json_string_value(json_object_get(fault, "pointer"));
        if (object != NULL && (strcmp(pointer, text("/params/%s", object)) == 0 ||
                               strncmp(pointer, "/features", 9) == 0)) {
            return true;
        }
    }
    return false;
}

/* Posts the job with the setting alone. If a rule between parameters forbids that, with every value
 * of one or two other choices. NULL: never accepted. */
static const struct response *post_somehow(const json_t *algorithm, size_t dataset,
                                           struct subject s, const char *setting,
                                           const char *limits, const char **out_spec) {
    const char *object = s.param != NULL && is_type(s.param, "object") ? name_of(s.param) : s.owner;
    enum { MOST = 64 };
    const char *others[MOST] = {""}, *owner[MOST] = {""};
    size_t n = 1, i, k;
    json_t *p, *choice;
    json_array_foreach(json_object_get(algorithm, "parameters"), i, p) {
        if (p == s.param || !is_type(p, "choice")) {
            continue;
        }
        json_array_foreach(json_object_get(p, "choices"), k, choice) {
            if (n == MOST) {
                break;
            }
            owner[n] = name_of(p);
            others[n++] = text(",\"%s\":\"%s\"", name_of(p), json_string_value(choice));
        }
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b <= a; b++) {
            if (b > 0 && (a == b || strcmp(owner[a], owner[b]) == 0)) {
                continue;
            }
            const char *spec =
                spec_of(algorithm, dataset, text("%s%s%s", setting, others[a], others[b]), limits);
            const struct response *r =
                call(&(struct request){.method = "POST",
                                       .path = "/v1/jobs",
                                       .headers = HEADERS("Content-Type: application/json"),
                                       .body = spec});
            *out_spec = spec;
            if (r->status == 202) {
                return r;
            }
            if (r->status != 422) {
                fail_msg("%s: %d %s", spec, r->status, r->body);
            }
            if (is_hopeless(r, object)) {
                return NULL;
            }
        }
    }
    return NULL;
}

/* ---- every offered value ---- */

/* Whether the model's parameters have the value; of an object every given member. */
static bool has_value(const json_t *params, const char *name, const json_t *value) {
    const char *key;
    json_t *member, *own = json_object_get(params, name);
    if (json_is_string(value) && strcmp(json_string_value(value), "auto") == 0) {
        return own != NULL;
    }
    if (!json_is_object(value) && json_is_object(own)) {
        return json_equal(json_object_get(own, "type"), value);
    }
    if (!json_is_object(value)) {
        return json_equal(own, value) || json_is_null(own); /* null stands for a word */
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        if (!has_value(own, key, member)) {
            return false;
        }
    }
    return true;
}

/* The model's description has the parameters of the request, and its metrics equal those of an
 * evaluation. */
static void check_model(const json_t *algorithm, size_t dataset, const json_t *given,
                        const char *spec) {
    const struct response *model = status_check(call_get("/v1/models/m"), 200);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)given, name, value) {
        if (!has_value(value_at(model, "/params"), name, value)) {
            fail_msg("%s: the model says %s", spec, json_dumps(value_at(model, "/params"), 0));
        }
    }
    if (!json_is_true(json_object_get(algorithm, "needs_target"))) {
        assert_json(model, "/target", "null");
        assert_json(model, "/metrics/train", "null");
        assert_true(real_at(model, "/details/outlier_share") >= 0 &&
                    real_at(model, "/details/outlier_share") <= 1);
        return;
    }
    const struct response *evaluated =
        status_check(call_post("/v1/models/m/evaluate", "{'dataset':'%s'}", datasets[dataset]),
                     200);
    if (real_at(evaluated, "/metrics/accuracy") != real_at(model, "/metrics/train/accuracy")) {
        fail_msg("%s: accuracy %.17g in training, %.17g evaluated", spec,
                 real_at(model, "/metrics/train/accuracy"),
                 real_at(evaluated, "/metrics/accuracy"));
    }
}

/* Trains with the setting on every dataset: one of them must succeed. With TEST_SLOW the first
 * success is enough. If the setting is not accepted alone, other choices are added. */
static void train_with(const json_t *algorithm, struct subject s, const char *setting) {
    size_t succeeded = 0;
    const char *spec = NULL;
    json_t *given = keep(json_loads(text("{%s}", setting), 0, NULL), (void (*)(void *))json_decref);
    for (size_t d = 0; d < N_DATASETS && (succeeded == 0 || getenv("TEST_SLOW") == NULL); d++) {
        if (succeeded > 0 && d >= N_TABLES) {
            break;
        }
        const struct response *r = post_somehow(algorithm, d, s, setting, "\"seconds\":20", &spec);
        if (r == NULL || !ends_well(r, spec)) {
            continue;
        }
        succeeded++;
        check_model(algorithm, d, given, spec);
    }
    if (succeeded == 0) {
        fail_msg("%s with %s succeeds on none of the datasets, the last was %s",
                 json_string_value(json_object_get(algorithm, "id")), setting, spec);
    }
}

/* Tries each choice, the word, null, true and false. */
static void train_with_values(const json_t *algorithm, struct subject s) {
    size_t k;
    json_t *choice;
    const json_t *word = json_object_get(s.param, "word");
    const bool object = is_type(s.param, "object");
    json_array_foreach(json_object_get(s.param, "choices"), k, choice) {
        train_with(algorithm, s, give(s, text("\"%s\"", json_string_value(choice))));
        if (object && k == 0) {
            train_with(algorithm, s, give(s, text("{\"type\":\"%s\"}", json_string_value(choice))));
        }
    }
    if (json_is_string(word)) {
        train_with(algorithm, s, give(s, text("\"%s\"", json_string_value(word))));
    }
    if (json_object_get(s.param, "null_means") != NULL) {
        train_with(algorithm, s, give(s, "null"));
    }
    if (is_type(s.param, "boolean")) {
        train_with(algorithm, s, give(s, "true"));
        train_with(algorithm, s, give(s, "false"));
    }
}

/* Calls for a parameter: for itself, and for each of its members with each type that has the
 * member. */
static void each_subject(const json_t *algorithm, const json_t *param,
                         void (*check)(const json_t *algorithm, struct subject s)) {
    size_t m, k;
    json_t *member, *type;
    check(algorithm, (struct subject){.param = param});
    json_array_foreach(json_object_get(param, "members"), m, member) {
        assert_true(json_array_size(json_object_get(member, "applies_to")) > 0);
        json_array_foreach(json_object_get(member, "applies_to"), k, type)
            check(algorithm, (struct subject){.param = member,
                                              .owner = name_of(param),
                                              .type = json_string_value(type)});
    }
}

static json_t *catalogue(void) {
    return value_at(status_check(call_get("/v1/algorithms"), 200), "/items");
}

static void test_every_value_of_the_catalogue(void **state) {
    (void)state;
    const json_t *algorithms = catalogue();
    size_t i, j;
    json_t *algorithm, *param;
    assert_true(json_array_size(algorithms) > 0);
    json_array_foreach(algorithms, i, algorithm) {
        train_with(algorithm, (struct subject){0}, "");
        json_array_foreach(json_object_get(algorithm, "parameters"), j, param) {
            each_subject(algorithm, param, train_with_values);
            keep_free();
            algorithms = catalogue(); /* earlier answers were freed */
            algorithm = json_array_get(algorithms, i);
        }
    }
}

/* ---- numbers at and beyond the ends of their ranges ---- */

enum end { LEAST, MOST };

/* The end of the range, or the nearest number inside if the range is open; false: there is no
 * end. */
static bool end_of(const json_t *param, enum end end, double *out) {
    const json_t *bound = json_object_get(param, end == LEAST ? "minimum" : "maximum");
    const bool open = json_is_true(
        json_object_get(param, end == LEAST ? "exclusive_minimum" : "exclusive_maximum"));
    if (!json_is_number(bound)) {
        return false;
    }
    *out = json_number_value(bound);
    if (open) {
        *out = is_type(param, "integer")
                   ? *out + (end == LEAST ? 1 : -1)
                   : nextafter(*out, end == LEAST ? (double)INFINITY : -(double)INFINITY);
    }
    return true;
}

/* The nearest number outside the range. */
static double beyond(const json_t *param, enum end end, double inside) {
    const bool open = json_is_true(
        json_object_get(param, end == LEAST ? "exclusive_minimum" : "exclusive_maximum"));
    if (is_type(param, "integer")) {
        return inside + (end == LEAST ? -1 : 1);
    }
    if (open) {
        return json_number_value(json_object_get(param, end == LEAST ? "minimum" : "maximum"));
    }
    return inside == 0 ? (end == LEAST ? -1e-300 : 1e-300)
                       : nextafter(inside, end == LEAST ? -(double)INFINITY : (double)INFINITY);
}

/* The number as JSON; a list of equal numbers for a parameter that is a list. */
static const char *setting_of(struct subject s, double value, size_t dataset) {
    const char *number = text("%.17g", value), *list = number;
    for (size_t k = 1; k < n_classes[dataset]; k++) {
        list = text("%s,%s", list, number);
    }
    return give(s, is_type(s.param, "list") ? text("[%s]", list) : number);
}

static const struct response *post(const char *spec) {
    return call(&(struct request){.method = "POST",
                                  .path = "/v1/jobs",
                                  .headers = HEADERS("Content-Type: application/json"),
                                  .body = spec});
}

static void check_end(const json_t *algorithm, struct subject s, enum end end) {
    double inside;
    const char *spec = NULL;
    const json_t *param = s.param;
    for (size_t d = THREE_CLASSES; d <= TWO_CLASSES; d += TWO_CLASSES - THREE_CLASSES) {
        if (!end_of(param, end, &inside)) { /* no end: very large numbers */
            const struct response *r =
                post_somehow(algorithm, d, s, setting_of(s, end == LEAST ? -1e300 : 1e300, d),
                             "\"seconds\":0.3", &spec);
            if (r != NULL) {
                (void)ends_well(r, spec);
            }
            continue;
        }
        spec =
            spec_of(algorithm, d, setting_of(s, beyond(param, end, inside), d), "\"seconds\":0.3");
        is_refused(post(spec), place_of(s), spec);
        const char *setting = setting_of(s, inside, d);
        const struct response *r = post_somehow(algorithm, d, s, setting, "\"seconds\":0.3", &spec);
        if (r != NULL) {
            (void)ends_well(r, spec);
            /* the numbers of a list may have to fit each other, and the columns the type */
        } else if (!is_type(param, "list") && !s.owner) {
            fail_msg("no combination with %s is accepted, the last was %s", setting, spec);
        }
    }
}

/* Values that are not numbers are refused. */
static void check_types(const json_t *algorithm, struct subject s) {
    static const char *const wrong[] = {"true",      "\"much\"", "{\"most\":1}",
                                        "[[\"1\"]]", "[\"1\"]",  "1.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (strcmp(wrong[i], "1.5") == 0 && !is_type(s.param, "integer") &&
            !is_type(s.param, "choice") && !is_type(s.param, "boolean")) {
            continue;
        }
        if (strcmp(wrong[i], "true") == 0 && is_type(s.param, "boolean")) {
            continue;
        }
        const char *spec = spec_of(algorithm, 0, give(s, wrong[i]), "\"seconds\":0.3");
        is_refused(post(spec), place_of(s), spec);
    }
}

static void check_numbers(const json_t *algorithm, struct subject s) {
    check_types(algorithm, s);
    if (is_type(s.param, "number") || is_type(s.param, "integer") || is_type(s.param, "list")) {
        check_end(algorithm, s, LEAST);
        check_end(algorithm, s, MOST);
    }
}

/* A member is refused with each type that does not have it. */
static void check_foreign(const json_t *algorithm, const json_t *param) {
    size_t m, k, own;
    json_t *member, *type, *taker;
    json_array_foreach(json_object_get(param, "members"), m, member) {
        json_array_foreach(json_object_get(param, "choices"), k, type) {
            bool takes = false;
            json_array_foreach(json_object_get(member, "applies_to"), own, taker) takes =
                takes || json_equal(taker, type);
            const struct subject s = {.param = member,
                                      .owner = name_of(param),
                                      .type = json_string_value(type)};
            char *usual =
                keep(json_dumps(json_object_get(member, "default"), JSON_ENCODE_ANY), free);
            const char *spec = spec_of(algorithm, 0, give(s, usual), "\"seconds\":0.3");
            if (!takes) {
                is_refused(post(spec), place_of(s), spec);
            }
        }
    }
}

static void test_numbers_at_and_beyond_the_limits(void **state) {
    (void)state;
    const json_t *algorithms = catalogue();
    size_t i, j;
    json_t *algorithm, *param;
    json_array_foreach(algorithms, i, algorithm) {
        json_array_foreach(json_object_get(algorithm, "parameters"), j, param) {
            each_subject(algorithm, param, check_numbers);
            check_foreign(algorithm, param);
            keep_free();
            algorithms = catalogue();
            algorithm = json_array_get(algorithms, i);
        }
    }
}

/* Class weights and shares that do not match the classes are refused at the POST. */
static void test_lists_that_do_not_fit(void **state) {
    (void)state;
    const json_t *algorithms = catalogue();
    size_t i, j;
    json_t *algorithm, *param;
    json_array_foreach(algorithms, i, algorithm) {
        json_array_foreach(json_object_get(algorithm, "parameters"), j, param) {
            if (!is_type(param, "list") || !json_is_true(json_object_get(param, "distribution"))) {
                continue;
            }
            static const char *const wrong[] = {"[]",
                                                "[0.5,0.5]",
                                                "[0.25,0.25,0.25,0.25]",
                                                "[0.5,0.25,0.2]",
                                                "[0.5,0.25,null]",
                                                "[0.5,0.75,-0.25]"};
            for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
                const char *spec =
                    spec_of(algorithm, 0, text("\"%s\":%s", name_of(param), wrong[k]),
                            "\"seconds\":20");
                is_refused(post(spec), name_of(param), spec);
            }
            const char *spec = spec_of(algorithm, 0, text("\"%s\":[0.5,0.25,0.25]", name_of(param)),
                                       "\"seconds\":20");
            assert_true(ends_well(status_check(post(spec), 202), spec));
            assert_json(call_get("/v1/models/m"), text("/params/%s", name_of(param)),
                        "[0.5,0.25,0.25]");
        }
    }
}

/* Whether a job may have a choice of one parameter and another value than its default of a second
 * one. */
static bool accepts(const json_t *algorithm, const char *of, const json_t *choice,
                    const json_t *param) {
    const json_t *words = json_object_get(param, "choices"),
                 *usual = json_object_get(param, "default");
    const char *values[65];
    size_t n = 0, k;
    json_t *word;
    json_array_foreach(words, k, word) {
        if (n < 64 && !json_equal(word, usual)) {
            values[n++] = text("\"%s\"", json_string_value(word));
        }
    }
    if (words == NULL) {
        values[n++] = is_type(param, "boolean")   ? json_is_true(usual) ? "false" : "true"
                      : is_type(param, "integer") ? "7"
                                                  : "0.25";
    }
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const char *spec = spec_of(algorithm, TWO_CLASSES,
                                   text("\"%s\":\"%s\",\"%s\":%s", of, json_string_value(choice),
                                        name_of(param), values[i]),
                                   "");
        const struct response *r =
            call(&(struct request){.method = "POST",
                                   .path = "/v1/jobs?dry_run=true",
                                   .headers = HEADERS("Content-Type: application/json"),
                                   .body = spec});
        assert_true(r->status == 200 || r->status == 422);
        any = any || r->status == 200;
    }
    return any;
}

/* What a parameter needs is what the checks of a job say: it has another value with the choices that
 * are listed, and with no other one. */
static void test_what_parameters_need(void **state) {
    (void)state;
    size_t i, j, k, n = 0;
    json_t *algorithm, *param, *other, *choice;
    const char *of;
    json_t *needs;
    const json_t *algorithms = catalogue();
    json_array_foreach(algorithms, i, algorithm) {
        const json_t *params = json_object_get(algorithm, "parameters");
        json_array_foreach(params, j, param) {
            json_object_foreach(json_object_get(param, "needs"), of, needs) {
                const json_t *owner = NULL;
                size_t o;
                json_array_foreach(params, o, other) {
                    owner = strcmp(name_of(other), of) == 0 ? other : owner;
                }
                assert_non_null(owner);
                json_array_foreach(json_object_get(owner, "choices"), k, choice) {
                    bool listed = false;
                    json_array_foreach(needs, o, other) {
                        listed = listed || json_equal(other, choice);
                    }
                    if (accepts(algorithm, of, choice, param) != listed) {
                        fail_msg("%s of %s with %s %s: listed is %d", name_of(param),
                                 json_string_value(json_object_get(algorithm, "id")), of,
                                 json_string_value(choice), listed);
                    }
                    n++;
                }
            }
        }
    }
    assert_true(n > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_what_parameters_need),
        TEST(test_every_value_of_the_catalogue),
        TEST(test_numbers_at_and_beyond_the_limits),
        TEST(test_lists_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
