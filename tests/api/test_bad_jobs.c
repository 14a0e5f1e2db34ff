/* Invalid jobs and predictions are refused with a list of all faults and their places. Nothing is
 * queued, no model is created. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Uploads the datasets of these tests and trains model "iris". */
static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    upload_file("digits", "digits.csv");
    status_check(call_upload("/v1/datasets/odd",
                             "x,constant,gone,half,note\n"
                             "1,a,,u,one\n2,a,,,two\n3,a,,v,three\n4,a,,,four\n"),
                 201);
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    keep_free();
    return 0;
}

static size_t jobs_now(void) {
    return count_at(call_get("/v1/jobs?limit=1000"), "/items");
}

/* The job is refused with 422 and has an error at each of the pointers, with and without dry_run.
 * Nothing is queued. */
static void refused(const char *spec, const char *first, const char *second) {
    size_t before = jobs_now();
    for (int dry = 0; dry < 2; dry++) {
        const struct response *r =
            problem_check(call_post(dry == 1 ? "/v1/jobs?dry_run=true" : "/v1/jobs", "%s", spec),
                          422, NULL);
        fault_check(r, first);
        if (second != NULL) {
            fault_check(r, second);
        }
    }
    assert_int_equal(jobs_now(), before);
}

#define JOB(more) "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'" more "}"

static void test_wrong_types_in_every_field(void **state) {
    (void)state;
    static const char *const values[] = {"1",       "'text'", "true",  "null", "[1]",
                                         "{'a':1}", "-1",     "1e999", "''"};
    /* member, pointer, indices of the values that are valid or can be */
    static const struct {
        const char *field, *pointer, *allowed;
    } fields[] = {
        {"'model':%s", "/model", "1"},
        {"'dataset':%s", "/dataset", ""},
        {"'target':%s", "/target", ""},
        {"'algorithm':%s", "/algorithm", ""},
        {"'params':%s", "/params",
         "35"}, /* an object has an unknown parameter (another fault), null is the default */
        {"'params':{'lambda':%s}", "/params/lambda", "03"},
        {"'params':{'solver':%s}", "/params/solver", "3"},
        {"'params':{'max_iterations':%s}", "/params/max_iterations", "03"},
        {"'features':%s", "/features", "35"},
        {"'features':{'include':%s}", "/features/include",
         "34"}, /* an item of the wrong type: the fault is at the item */
        {"'features':{'exclude':%s}", "/features/exclude", "34"},
        {"'features':{'standardize':%s}", "/features/standardize", "23"},
        {"'validation':%s", "/validation", "35"},
        {"'validation':{'holdout':%s}", "/validation/holdout", "3"},
        {"'seed':%s", "/seed", "03"},
        {"'limits':%s", "/limits", "35"},
        {"'limits':{'seconds':%s}", "/limits/seconds", "03"},
        {"'limits':{'memory_mib':%s}", "/limits/memory_mib", "03"},
        {"'limits':{'threads':%s}", "/limits/threads", "03"},
        {"'snapshots':%s", "/snapshots", "34"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            if (strchr(fields[i].allowed, (int)('0' + v)) != NULL) {
                continue;
            }
            /* no JSON number that a double can hold: the body is refused for every member */
            if (strcmp(values[v], "1e999") == 0) {
                const char *job = text("{%s}", text("'seed':%s", values[v]));
                const struct response *r = call_post("/v1/jobs", "%s", job);
                problem_check(r, r->status == 400 ? 400 : 422, NULL);
                continue;
            }
            /* the invalid member among valid ones */
            char field[200];
            const char *at = strstr(fields[i].field, "%s");
            (void)snprintf(field, sizeof field, "%.*s%s%s", (int)(at - fields[i].field),
                           fields[i].field, values[v], at + 2);
            const char *body =
                text("{%s%s%s%s%s}", i == 0 ? "" : "'model':'m',",
                     i == 1 ? "" : "'dataset':'iris',", i == 2 ? "" : "'target':'class',",
                     i == 3 ? "" : "'algorithm':'logistic',", field);
            const struct response *r =
                problem_check(call_post("/v1/jobs", "%s", body), 422, "invalid");
            fault_check(r, fields[i].pointer);
        }
    }
    problem_check(call_get("/v1/models/m"), 404, "unknown-model");
}

static void test_bodies_that_are_no_job(void **state) {
    (void)state;
    problem_check(call_post("/v1/jobs", "{}"), 422, "invalid");
    const struct response *r = problem_check(call_post("/v1/jobs", "{}"), 422, "invalid");
    fault_check(r, "/model"), fault_check(r, "/dataset"), fault_check(r, "/algorithm"),
        fault_check(r, "/target");
    problem_check(call_post("/v1/jobs", "[]"), 422, "invalid");
    problem_check(call_post("/v1/jobs", "7"), 422, "invalid");
    problem_check(call_post("/v1/jobs", "%s", ""), 400, "bad-json");
    problem_check(call_post("/v1/jobs", "{'model':"), 400, "bad-json");
    problem_check(call_post("/v1/jobs", "{'model':'a','model':'b'}"), 400, "bad-json");
    problem_check(call_post("/v1/jobs", "a,b\n1,2\n"), 400, "bad-json");
    problem_check(call_post("/v1/jobs?dry=true", JOB("")), 400, "bad-request");
    problem_check(call_post("/v1/jobs?dry_run=maybe", JOB("")), 400, "bad-request");
}

static void test_unknown_names(void **state) {
    (void)state;
    refused("{'model':'m','dataset':'iris','target':'class','algorithm':'magic'}", "/algorithm",
            NULL);
    refused(JOB(",'params':{'momentum':0.9,'lambda':-1}"), "/params/momentum", "/params/lambda");
    refused("{'model':'m','dataset':'iris','target':'colour','algorithm':'logistic'}", "/target",
            NULL);
    refused(JOB(",'features':{'include':['petal_length','colour']}"), "/features/include/1", NULL);
    refused(JOB(",'features':{'exclude':['colour']}"), "/features/exclude/0", NULL);
    refused("{'model':'m','dataset':'nobody','target':'class','algorithm':'logistic'}", "/dataset",
            NULL);
    refused("{'model':'m','dataset':'iris@7','target':'class','algorithm':'logistic'}", "/dataset",
            NULL);
    refused("{'model':'m','dataset':'iris@0','target':'class','algorithm':'logistic'}", "/dataset",
            NULL);
    refused("{'model':'m','dataset':'iris@x','target':'class','algorithm':'logistic'}", "/dataset",
            NULL);
    refused(JOB(",'colour':'red'"), "/colour", NULL);
    refused(JOB(",'features':{'colour':'red'}"), "/features/colour", NULL);
    refused(JOB(",'limits':{'colour':'red'}"), "/limits/colour", NULL);
    refused("{'model':'a/b','dataset':'iris','target':'class','algorithm':'logistic'}", "/model",
            NULL);
    refused("{'model':'..','dataset':'../iris','target':'class','algorithm':'logistic'}", "/model",
            "/dataset");
    problem_check(call_get("/v1/algorithms/magic"), 404, "unknown-algorithm");
    problem_check(call_get("/v1/jobs/999999"), 404, "unknown-job");
    problem_check(call_get("/v1/models/nobody"), 404, "unknown-model");
    problem_check(call_get("/v1/models/iris/versions/9"), 404, "unknown-model");
    problem_check(call_post("/v1/models/nobody/predict", "{'instances':[[1,2,3,4]]}"), 404,
                  "unknown-model");
    problem_check(call_post("/v1/models/iris/versions/9/predict", "{'instances':[[1,2,3,4]]}"), 404,
                  "unknown-model");
    fault_check(problem_check(call_post("/v1/models/iris/evaluate", "{'dataset':'nobody'}"), 422,
                              NULL),
                "/dataset");
    fault_check(problem_check(call_put("/v1/models/iris/live", "{'version':9}"), 422, NULL),
                "/version");
    problem_check(call_get("/problems/nobody"), 404, "unknown-problem");
}

/* A target that is missing, constant or has only missing cells; no features. */
static void test_data_that_cannot_be_trained_on(void **state) {
    (void)state;
    refused("{'model':'m','dataset':'odd','target':'label','algorithm':'logistic'}", "/target",
            NULL);
    refused("{'model':'m','dataset':'odd','target':'constant','algorithm':'logistic'}", "/target",
            NULL);
    refused("{'model':'m','dataset':'odd','target':'gone','algorithm':'logistic'}", "/target",
            NULL);
    refused("{'model':'m','dataset':'odd','algorithm':'logistic'}", "/target", NULL);
    refused(JOB(",'features':{'include':[]}"), "/features", NULL);
    refused("{'model':'m','dataset':'odd','target':'half','algorithm':'logistic','features':{'"
            "include':['half']}}",
            "/features/include/0", NULL);
    refused("{'model':'m','dataset':'odd','target':'half','algorithm':'logistic','features':{'"
            "include':['gone']}}",
            "/features/include/0", NULL);
    refused("{'model':'m','dataset':'digits','target':'class','algorithm':'logistic','params':{'"
            "solver':'newton'},'limits':{'memory_mib':1}}",
            "/limits/memory_mib", NULL);
    /* half of the labels are missing: the rows with a label are enough, and the result has the
     * number of rows that were not used */
    const struct response *r = job_train("{'model':'half','dataset':'odd','target':'half','"
                                         "algorithm':'logistic','features':{'include':['x']}}");
    assert_int_equal(whole_at(r, "/result/rows/train"), 2);
    assert_int_equal(whole_at(r, "/result/rows/skipped"), 2);
}

/* The job is refused with 422, and the message contains all pieces. */
static void refused_saying(const char *spec, const char *place, const char *const *pieces) {
    refused(spec, place, NULL);
    const struct response *r = call_post("/v1/jobs", "%s", spec);
    for (; *pieces != NULL; pieces++) {
        if (strstr(r->body, *pieces) == NULL) {
            fail_msg("no \"%s\" in %s", *pieces, r->body);
        }
    }
}
#define SAYING(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Levels are stored in the model: too many levels, or too much text in them, are refused at the
 * POST. */
static void test_categories_too_large_for_a_model(void **state) {
    (void)state;
    enum { PEOPLE = 10001, ESSAYS = 12, LETTERS = 100000 };
    char *people = keep(malloc(PEOPLE * 24 + 16), free),
         *essays = keep(malloc((ESSAYS + 1) * (LETTERS + 16) + 16), free);
    assert_true(people != NULL && essays != NULL);
    char *end = people + sprintf(people, "id,n,y\n");
    for (int i = 0; i < PEOPLE; i++) {
        end += sprintf(end, "u%d,%d,%d\n", i, i, i % 2);
    }
    status_check(call_upload("/v1/datasets/people?types=id:categorical", people), 201);
    end = essays + sprintf(essays, "long,short,y\n");
    for (int i = 0; i <= ESSAYS; i++) { /* one essay occurs twice: the column is no identifier */
        memset(end, 'a' + i % ESSAYS, LETTERS);
        end += LETTERS;
        end += sprintf(end, ",s%d,%d\n", i % 3, i % 2);
    }
    status_check(call_upload("/v1/datasets/essays", essays), 201);
    const char *const *many =
        SAYING("\\\"id\\\"", "more than 10000 distinct values", "may have at most 10000");
    refused_saying("{'model':'m','dataset':'people','target':'y','algorithm':'logistic'}",
                   "/features", many);
    refused_saying("{'model':'m','dataset':'people','target':'y','algorithm':'logistic','features':"
                   "{'include':['n','id']}}",
                   "/features/include/1", many);
    many = SAYING("more than 10000 distinct values", "may be at most 1000");
    refused_saying("{'model':'m','dataset':'people','target':'id','algorithm':'logistic'}",
                   "/target", many);
    many = SAYING("more than 10000 different values", "at most 1000 of them");
    refused_saying("{'model':'m','dataset':'people','target':'n','algorithm':'logistic'}",
                   "/target", many);
    const char *dry = "{'model':'m','dataset':'people','target':'y','algorithm':'logistic','"
                      "features':{'exclude':['id']}}";
    status_check(call_post("/v1/jobs?dry_run=true", "%s", dry), 200);
    const char *const *large =
        SAYING("\\\"long\\\"", "12 distinct values of 1200000 bytes", "may have at most 1048576");
    refused_saying("{'model':'m','dataset':'essays','target':'y','algorithm':'logistic'}",
                   "/features", large);
    refused_saying("{'model':'m','dataset':'essays','target':'y','algorithm':'logistic','features':"
                   "{'include':['long']}}",
                   "/features/include/0", large);
    refused_saying("{'model':'m','dataset':'essays','target':'long','algorithm':'logistic'}",
                   "/target", large);
    dry = "{'model':'m','dataset':'essays','target':'y','algorithm':'logistic','features':{'"
          "include':['short']}}";
    status_check(call_post("/v1/jobs?dry_run=true", "%s", dry), 200);
}

/* ---- predict ---- */

/* Instances that are refused with an error at `place`, such as "/instances/1/petal_width". */
static void instances_refused(const char *instances, const char *place) {
    const struct response *r = call_post("/v1/models/iris/predict", "{'instances':%s}", instances);
    problem_check(r, 422, "invalid-instances");
    if (place != NULL) {
        fault_check(r, place);
    }
    if (strstr(instances, "petal_wid") != NULL ||
        (place != NULL && strcmp(place + strlen(place) - 2, "/3") == 0)) {
        assert_non_null(strstr(r->body, "petal_wid")); /* the message names the column */
    }
}

static void test_predict_with_wrong_instances(void **state) {
    (void)state;
    instances_refused("[[1,2,3]]", "/instances/0");
    instances_refused("[[1,2,3,4],[1,2,3,4,5]]", "/instances/1");
    instances_refused("[[]]", "/instances/0");
    instances_refused("[{'sepal_length':1,'sepal_width':2,'petal_length':3,'petal_widht':4}]",
                      "/instances/0/petal_widht");
    instances_refused("[[1,2,3,4],[1,2,3,'four']]", "/instances/1/3");
    instances_refused("[{'petal_width':'wide'}]", "/instances/0/petal_width");
    instances_refused("[{'petal_width':[1]}]", "/instances/0/petal_width");
    instances_refused("[{'petal_width':{}}]", "/instances/0/petal_width");
    instances_refused("[[1,2,3,true]]", "/instances/0/3");
    instances_refused("[[1,2,3,1e999]]", "/instances/0/3");
    instances_refused("[[1,2,3,-1e999]]", "/instances/0/3");
    instances_refused("[[1,2,3,'NaN']]", "/instances/0/3");
    instances_refused("[[1,2,3,'Infinity']]", "/instances/0/3");
    instances_refused("7", NULL);
    instances_refused("[7]", "/instances/0");
    instances_refused("{'a':1}", NULL);
    /* all faults are listed, not only the first */
    const struct response *r =
        call_post("/v1/models/iris/predict", "{'instances':[[1,2,3],[1,2,3,4],[1,2,'x','y']]}");
    problem_check(r, 422, "invalid-instances");
    fault_check(r, "/instances/0"), fault_check(r, "/instances/2/2"),
        fault_check(r, "/instances/2/3");
    /* not valid JSON, but a common mistake of clients: the row and the column are named */
    instances_refused("[[1,2,3,NaN]]", "/instances/0/3");
    instances_refused("[[1,2,3,Infinity]]", "/instances/0/3");
    problem_check(call_post("/v1/models/iris/predict", "{'instances':[[1,2,3"), 400, "bad-json");
    problem_check(call_post("/v1/models/iris/predict", "{}"), 422, NULL);
    problem_check(call_post("/v1/models/iris/predict", "{'rows':[[1,2,3,4]]}"), 422, NULL);
}

/* A column that no instance has is refused as a misspelling. A column that some instances have is
 * missing in the others. */
static void test_a_column_that_no_instance_names(void **state) {
    (void)state;
    const struct response *r =
        call_post("/v1/models/iris/predict",
                  "{'instances':[{'sepal_length':5,'sepal_width':3,'petal_length':1}]}");
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "petal_width"));
    r = call_post("/v1/models/iris/predict",
                  "{'instances':[{'sepal_length':5,'sepal_width':3,'petal_length':1},"
                  "{'sepal_length':5,'sepal_width':3,'petal_length':1,'petal_width':0.2}]}");
    assert_int_equal(count_at(status_check(r, 200), "/predictions"), 2);
}

static void test_predict_with_wrong_csv(void **state) {
    (void)state;
    static const struct {
        const char *body, *place;
    } bodies[] = {
        {"1,2,3\n", "line 1"},
        {"1,2,3,4,5,6\n", "line 1"},
        {"1,2,3,4\n1,2,x,4\n", "line 2"},
        {"1,2,3,4\n1,2,nan?,4\n", "line 2"},
        {"sepal_length,sepal_width,petal_length,petal_widht\n1,2,3,4\n", "line 1"},
        {"sepal_length,sepal_width,petal_length,petal_width,petal_width\n1,2,3,4,4\n", "line 1"},
        {"1,2,3,1e999\n", "line 1"},
        {"1,2,3,inf\n", "line 1"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const struct response *r =
            call(&(struct request){.method = "POST",
                                   .path = "/v1/models/iris/predict",
                                   .headers = HEADERS("Content-Type: text/csv"),
                                   .body = bodies[i].body});
        fault_check(problem_check(r, 422, "invalid-instances"), bodies[i].place);
    }
}

static void test_predict_with_a_wrong_query(void **state) {
    (void)state;
#define THREE "/v1/models/iris/predict?sepal_length=5.1&sepal_width=3.5&petal_length=1.4"
    status_check(call_get(THREE "&petal_width=0.2"), 200);
    problem_check(call_get(THREE), 422, "invalid-instances");
    problem_check(call_get(THREE "&petal_widht=0.2"), 422, "invalid-instances");
    problem_check(call_get(THREE "&petal_width=0.2&petal_width=0.3"), 422, "invalid-instances");
    problem_check(call_get(THREE "&petal_width=wide"), 422, "invalid-instances");
    problem_check(call_get(THREE "&petal_width=1e999"), 422, "invalid-instances");
    problem_check(call_get(THREE "&petal_width=0.2&output=everything"), 400, "bad-request");
    const struct response *twice =
        problem_check(call_get(THREE "&petal_width=0.2&output=label&output=scores"), 400,
                      "bad-request");
    assert_non_null(strstr(twice->body, "more than once"));
    problem_check(call_get(THREE "&petal_width=0.2&output=label&output=label"), 400, "bad-request");
    problem_check(call_get("/v1/models/iris/predict"), 422, "invalid-instances");
    problem_check(call_post("/v1/models/iris/predict?output=", "{'instances':[[1,2,3,4]]}"), 400,
                  "bad-request");
    problem_check(call_post("/v1/models/iris/predict?outputs=label", "{'instances':[[1,2,3,4]]}"),
                  400, "bad-request");
}

static void test_evaluate_with_wrong_rows(void **state) {
    (void)state;
    const char *path = "/v1/models/iris/evaluate";
    problem_check(call_post(path, "{'dataset':'odd'}"), 422, NULL);
    problem_check(call_post(path, "{'dataset':7}"), 422, NULL);
    problem_check(call_post(path, "{'dataset':'iris','rows':3}"), 422, NULL);
    problem_check(call_post(path, "{'instances':[[1,2,3,4]]}"), 422, "invalid-instances");
    problem_check(call_post(path, "{'instances':[[1,2,3,4,'rose']]}"), 422, "invalid-instances");
    problem_check(call_post(path, "{'instances':[]}"), 422, NULL);
    problem_check(call_post(path, "{'instances':[[1,2,3,4,null]]}"), 422, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_wrong_types_in_every_field),
        TEST(test_bodies_that_are_no_job),
        TEST(test_unknown_names),
        TEST(test_data_that_cannot_be_trained_on),
        TEST(test_categories_too_large_for_a_model),
        TEST(test_predict_with_wrong_instances),
        TEST(test_a_column_that_no_instance_names),
        TEST(test_predict_with_wrong_csv),
        TEST(test_predict_with_a_wrong_query),
        TEST(test_evaluate_with_wrong_rows),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
