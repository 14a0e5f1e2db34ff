/* Jobs of support vector machines: kernels as objects, refused members with their places, the
 * parameters that the model shows; columns that a kernel cannot use; precomputed kernels; memory;
 * outliers. */
#include "base/memory/buf.h"
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const iris = "'model':'m','dataset':'iris','target':'class','algorithm':'svm'";

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/texts?types=note:text,edges:text",
                             "note,edges,n,class\n"
                             "good day,a-b b-c,1,p\nbad day,a-b b-d,2,q\ngood night,b-c "
                             "c-a,3,p\nbad luck,d-e e-f,4,q\n"),
                 201);
    status_check(
        call_upload("/v1/datasets/gram",
                    "a,b,c,d,class\n1,0.5,0,0,p\n0.5,1,0.25,0,q\n0,0.25,1,0.5,q\n0,0,0.5,1,p\n"),
        201);
    keep_free();
    return 0;
}

static const struct response *dry(const char *rest) {
    return call_post("/v1/jobs?dry_run=true", "{%s,%s}", iris, rest);
}

/* ---- objects ---- */

static void a_kernel_is_shown_as_it_is_given(void **state) {
    (void)state;
    const struct response *r = status_check(
        dry("'params':{'kernel':{'type':'polynomial','degree':3,'gamma':0.5,'coef0':0}}"), 200);
    assert_json(r, "/params/kernel",
                "{'type':'polynomial','degree':3,'gamma':0.5,'coef0':0,'normalize':false}");
    r = status_check(dry("'params':{'kernel':'polynomial'}"), 200);
    assert_json(r, "/params/kernel",
                "{'type':'polynomial','degree':2,'gamma':1,'coef0':1,'normalize':false}");
    r = status_check(dry("'params':{'kernel':{'normalize':true,'type':null}}"),
                     200); /* the default type */
    assert_json(r, "/params/kernel", "{'type':'linear','normalize':true}");
    r = status_check(dry("'params':{'kernel':null,'C':null}"), 200);
    assert_json(r, "/params/kernel", "{'type':'linear','normalize':false}");
    assert_json(r, "/params/C", "null");
    assert_json(dry("'params':{'C':'hard'}"), "/params/C", "null");
    assert_json(dry("'params':{'C':0.5}"), "/params/C", "0.5");
    r = status_check(dry("'params':{'kernel':{'type':'distance','metric':'manhattan','width':2}}"),
                     200);
    assert_json(r, "/params/kernel",
                "{'type':'distance','metric':'manhattan','width':2,'normalize':false}");
    assert_false(has(r, "/params/kernel.width"));
}

/* The parameters that a model shows can be sent in a job, and the new model shows the same. */
static void what_a_model_says_may_be_sent_back(void **state) {
    (void)state;
    job_train("{%s,'params':{'kernel':{'type':'rbf','width':1.5},'C':10}}", iris);
    const struct response *model = status_check(call_get("/v1/models/m"), 200);
    assert_json(model, "/params/kernel", "{'type':'rbf','width':1.5,'normalize':false}");
    char *params = keep(json_dumps(value_at(model, "/params"), 0), free);
    const struct response *first = status_check(call_get("/v1/models/m/weights"), 200);
    const struct response *r = call(&(struct request){
        .method = "POST",
        .path = "/v1/jobs",
        .headers = HEADERS("Content-Type: application/json"),
        .body = text("{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":"
                     "\"svm\",\"params\":%s}",
                     params)});
    assert_string_equal(string_at(job_wait(whole_at(status_check(r, 202), "/id")), "/state"),
                        "succeeded");
    const struct response *again = status_check(call_get("/v1/models/m/weights"), 200);
    assert_true(
        json_equal(value_at(first, "/support_vectors"), value_at(again, "/support_vectors")));
    assert_json(call_get("/v1/models/m"), "/version", "2");
}

static void every_fault_has_its_place(void **state) {
    (void)state;
    static const struct {
        const char *params, *place, *words;
    } rows[] = {
        {"'kernel':{'type':'linear','width':2}", "/params/kernel/width",
         "belongs to kernels rbf, distance; kernel linear has normalize"},
        {"'kernel':{'width':2}", "/params/kernel/width", "kernel linear has normalize"},
        {"'kernel':{'type':'rbf','degree':2}", "/params/kernel/degree",
         "belongs to kernel polynomial; kernel rbf has width, normalize"},
        {"'kernel':{'type':'precomputed','normalize':true}", "/params/kernel/normalize",
         "kernel precomputed has no members"},
        {"'kernel':{'type':'rbf','width':0}", "/params/kernel/width",
         "must be a finite number > 0"},
        {"'kernel':{'type':'rbf','width':-1}", "/params/kernel/width", "got -1"},
        {"'kernel':{'type':'rbf','width':'wide'}", "/params/kernel/width", "or \\\"auto\\\""},
        {"'kernel':{'type':'rbf','width':[1]}", "/params/kernel/width", "a list of 1"},
        {"'kernel':{'type':'rbf','width':{'a':1}}", "/params/kernel/width", "got object"},
        {"'kernel':{'type':'rbf','widht':2}", "/params/kernel/widht", "known members: type, gamma"},
        {"'kernel':{'type':'polynomial','degree':0}", "/params/kernel/degree", ">= 1"},
        {"'kernel':{'type':'polynomial','degree':2.5}", "/params/kernel/degree", "integer"},
        {"'kernel':{'type':'polynomial','gamma':0}", "/params/kernel/gamma", "> 0"},
        {"'kernel':{'type':'sigmoid','scale':0}", "/params/kernel/scale", "must not be 0"},
        {"'kernel':{'type':'distance','metric':'taxi'}", "/params/kernel/metric", "manhattan"},
        {"'kernel':{'type':'shared_paths','length':9}", "/params/kernel/length", "<= 8"},
        {"'kernel':{'type':'gauss'}", "/params/kernel/type", "one of linear"},
        {"'kernel':{'type':'gauss'}", "/params/kernel/type", "did you mean rbf"},
        {"'kernel':'RBF'", "/params/kernel", "did you mean rbf"},
        {"'kernel':'poly'", "/params/kernel", "did you mean polynomial"},
        {"'kernel':'sigmiod'", "/params/kernel", "did you mean sigmoid"},
        {"'kernel':'edit'", "/params/kernel",
         "did you mean {\\\"type\\\": \\\"distance\\\", \\\"metric\\\": \\\"edit\\\"}"},
        {"'kernel':{'type':'distance','metric':'L1'}", "/params/kernel/metric",
         "did you mean manhattan"},
        {"'kernel':{'type':'rbf','gamma':0.5}", "/params/kernel/gamma",
         "is width = 1/sqrt(2 gamma)"},
        {"'kernel':{'type':'sigmoid','gamma':0.5}", "/params/kernel/gamma",
         "that of tanh(gamma x'z + coef0) is scale"},
        {"'gamma':0.5", "/params/gamma", "write \\\"kernel\\\": {\\\"type\\\": "},
        {"'gamma':0.5", "/params/gamma", "is width = 1/sqrt(2 gamma)"},
        {"'degree':3", "/params/degree", "\\\"degree\\\": "},
        {"'kernel':{'type':7}", "/params/kernel/type", "got 7"},
        {"'kernel':'gauss'", "/params/kernel", "one of linear"},
        {"'kernel':7", "/params/kernel", "got 7"},
        {"'kernel':true", "/params/kernel", "got true"},
        {"'kernel':[]", "/params/kernel", "a list of 0"},
        {"'kernel.width':2", "/params/kernel.width", "is a member of an object"},
        {"'kernel.width':null", "/params/kernel.width", "is a member of an object"},
        {"'kernel.depth':2", "/params/kernel.depth", "it has C, kernel, solver"},
        {"'C':{'type':'hard'}", "/params/C", "got object"},
        {"'C':0", "/params/C", "> 0 or null = \\\"hard\\\""},
        {"'C':-1", "/params/C", "> 0"},
        {"'kernel':{'type':'mahalanobis','covariance':[1,0,0,1]}", "/params/kernel/covariance",
         "4 rows of 4 numbers, a row for each feature (got 4 numbers in all)"},
        {"'kernel':{'type':'mahalanobis','covariance':[[1,0],[0,1]]}", "/params/kernel/covariance",
         "4 rows of 4 numbers"},
        {"'kernel':{'type':'mahalanobis','covariance':[[1,0],[0]]}", "/params/kernel/covariance/1",
         "lists of one length"},
        {"'kernel':{'type':'mahalanobis','covariance':[[1,0],7]}", "/params/kernel/covariance/1",
         "got number 7"},
        {"'kernel':{'type':'mahalanobis','covariance':[[1,0],[0,'x']]}",
         "/params/kernel/covariance/1/1", "finite numbers"},
        {"'kernel':{'type':'mahalanobis','covariance':[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0.5,0,1]]}",
         "/params/kernel/covariance", "symmetric"},
        {"'kernel':{'type':'mahalanobis','covariance':[[1,1,0,0],[1,1,0,0],[0,0,1,0],[0,0,0,1]]}",
         "/params/kernel/covariance", "positive definite"},
        {"'kernel':'rbf','solver':'interior_point'", "/params/solver", "smo or auto"},
        {"'kernel':'rbf','loss':'squared_hinge'", "/params/loss", "linear kernel"},
        {"'kernel':'rbf','intercept':'penalised'", "/params/intercept", "free or none"},
        {"'C':null,'loss':'squared_hinge'", "/params/loss", "needs a C"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct response *r =
            problem_check(dry(text("'params':{%s}", rows[i].params)), 422, "invalid");
        fault_check(r, rows[i].place);
        if (strstr(r->body, rows[i].words) == NULL) {
            fail_msg("%s: \"%s\" is not in %s", rows[i].params, rows[i].words, r->body);
        }
    }
    /* all faults in one answer */
    const struct response *r = dry("'params':{'C':0,'kernel':{'type':'rbf','width':-1,'deep':1}}");
    fault_check(fault_check(fault_check(r, "/params/C"), "/params/kernel/width"),
                "/params/kernel/deep");
}

static void a_matrix_is_a_list_of_lists(void **state) {
    (void)state;
    const struct response *r =
        status_check(dry("'params':{'kernel':{'type':'mahalanobis','covariance':[[2,0,0,0],[0,1,0,"
                         "0],[0,0,3,0],[0,0,0,1]]}}"),
                     200);
    assert_json(r, "/params/kernel/covariance", "[[2,0,0,0],[0,1,0,0],[0,0,3,0],[0,0,0,1]]");
    r = status_check(dry("'params':{'kernel':{'type':'mahalanobis','covariance':[2,0,0,0,0,1,0,0,0,"
                         "0,3,0,0,0,0,1]}}"),
                     200);
    assert_json(r, "/params/kernel/covariance", "[[2,0,0,0],[0,1,0,0],[0,0,3,0],[0,0,0,1]]");
    r = status_check(dry("'params':{'kernel':{'type':'mahalanobis','covariance':'estimated'}}"),
                     200);
    assert_json(r, "/params/kernel/covariance", "'estimated'");
}

/* ---- the catalogue ---- */

static const json_t *named(const json_t *list, const char *name) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) {
            return item;
        }
    }
    return NULL;
}

static void the_catalogue_has_the_object(void **state) {
    (void)state;
    const struct response *r = status_check(call_get("/v1/algorithms/svm"), 200);
    const json_t *kernel = named(value_at(r, "/parameters"), "kernel"),
                 *C = named(value_at(r, "/parameters"), "C");
    assert_string_equal(json_string_value(json_object_get(kernel, "type")), "object");
    assert_string_equal(json_string_value(json_object_get(C, "null_means")), "hard");
    assert_null(named(value_at(r, "/parameters"), "kernel.width"));
    const json_t *width = named(json_object_get(kernel, "members"), "width");
    json_check(json_object_get(width, "applies_to"), quoted("['rbf','distance']"), __FILE__,
               __LINE__);
    json_check(json_object_get(width, "default"), quoted("'auto'"), __FILE__, __LINE__);
    assert_true(json_is_true(json_object_get(width, "exclusive_minimum")));
    assert_string_equal(json_string_value(
                            json_object_get(named(json_object_get(kernel, "members"), "metric"),
                                            "type")),
                        "choice");
}

/* ---- columns ---- */

static const struct response *of(const char *dataset, const char *kernel, const char *include) {
    return call_post("/v1/jobs?dry_run=true",
                     "{'model':'m','dataset':'%s','target':'class','algorithm':'svm','params':{'"
                     "kernel':%s},'features':{%s}}",
                     dataset, kernel, include);
}

static void texts_and_numbers(void **state) {
    (void)state;
    const char *const kernels[] = {"'shared_words'", "'shared_paths'",
                                   "{'type':'distance','metric':'edit'}"};
    for (size_t i = 0; i < 3; i++) {
        const char *column = i == 1 ? "'include':['edges']" : "'include':['note']";
        const struct response *r =
            problem_check(of("texts", kernels[i], "'include':['n']"), 422, "invalid");
        assert_non_null(strstr(r->body, "needs one text column"));
        fault_check(r, "/params/kernel");
        fault_check(problem_check(of("texts", kernels[i], ""), 422, "invalid"), "/params/kernel");
        fault_check(problem_check(of("texts", kernels[i], "'include':['note','edges']"), 422,
                                  "invalid"),
                    "/params/kernel");
        fault_check(problem_check(of("iris", kernels[i], ""), 422, "invalid"), "/params/kernel");
        status_check(of("texts", kernels[i], column), 200);
        fault_check(problem_check(of("texts", kernels[i], text("%s,'text':{'hash':16}", column)),
                                  422, "invalid"),
                    "/features/text");
    }
    fault_check(problem_check(of("texts", "'mahalanobis'", ""), 422, "invalid"), "/params/kernel");
    status_check(of("texts", "'rbf'", ""), 200); /* with word counts */
}

static void an_edge_list_is_read_by_the_job(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/broken?types=edges:text",
                             "edges,class\na-b,p\na-b b-c,q\na-b c,p\nb-c,q\n"),
                 201);
    const struct response *r = job_wait(job_post(
        "{'model':'m','dataset':'broken','target':'class','algorithm':'svm','params':{'kernel':"
        "'shared_paths'}}"));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_non_null(strstr(string_at(r, "/error/detail"), "row 2"));
    job_train("{'model':'graphs','dataset':'texts','target':'class','algorithm':'svm','params':{'"
              "kernel':'shared_paths'},'features':{"
              "'include':['edges']}}");
    r = problem_check(call_post("/v1/models/graphs/predict",
                                "{'instances':[{'edges':'a-b'},{'edges':'a--b'}]}"),
                      422, "invalid-instances");
    fault_check(r, "/instances/1/edges");
}

/* ---- precomputed kernels ---- */

static void a_precomputed_kernel_is_square(void **state) {
    (void)state;
    const struct response *r = status_check(of("gram", "'precomputed'", ""), 200);
    assert_json(r, "/features/standardize", "false");
    assert_json(r, "/features/missing/numeric", "'none'");
    r = problem_check(of("gram", "'precomputed'", "'exclude':['b']"), 422, "invalid");
    fault_check(r, "/params/kernel");
    assert_non_null(strstr(r->body, "as many columns as rows: 4 rows, 3 columns"));
    fault_check(problem_check(of("iris", "'precomputed'", ""), 422, "invalid"), "/params/kernel");
    fault_check(problem_check(of("gram", "'precomputed'", "'standardize':true"), 422, "invalid"),
                "/features/standardize");
    status_check(of("gram", "'precomputed'", "'standardize':false"), 200);
    fault_check(problem_check(of("gram", "'precomputed'", "'missing':{'indicator':true}"), 422,
                              "invalid"),
                "/features/missing/indicator");
    fault_check(problem_check(of("gram", "'precomputed'",
                                 "'basis':[{'type':'polynomial','degree':2}]"),
                              422, "invalid"),
                "/features/basis");
    fault_check(problem_check(of("texts", "'precomputed'", "'include':['n','note']"), 422,
                              "invalid"),
                "/features/include/1");
    status_check(call_upload("/v1/datasets/holes", "a,b,class\n1,,p\n0.5,1,q\n"), 201);
    fault_check(problem_check(of("holes", "'precomputed'", ""), 422, "invalid"), "/features");
    fault_check(problem_check(of("holes", "'precomputed'", "'include':['a','b']"), 422, "invalid"),
                "/features/include/1");
}

static void a_precomputed_kernel_is_symmetric(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/crooked",
                             "a,b,c,class\n1,0.5,0,p\n0.5,1,0.25,q\n0,0.5,1,q\n"),
                 201);
    const struct response *r =
        job_wait(job_post("{'model':'m','dataset':'crooked','target':'class','algorithm':'svm','"
                          "params':{'kernel':'precomputed'}}"));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_non_null(strstr(string_at(r, "/error/detail"), "symmetric"));
    assert_true(whole_at(r, "/error/status") < 500);
    status_check(call_upload("/v1/datasets/far",
                             "a,b,c,class\n1e308,0.5,0,p\n0.5,1,0,q\n0,0,1,q\n"),
                 201);
    r = job_wait(job_post("{'model':'m','dataset':'far','target':'class','algorithm':'svm','params'"
                          ":{'kernel':'precomputed'}}"));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_non_null(strstr(string_at(r, "/error/detail"),
                           "values from -1e37 to 1e37: row 0 has 1e+308 in column \"a\""));

    job_train("{'model':'gram','dataset':'gram','target':'class','algorithm':'svm','params':{'"
              "kernel':'precomputed'}}");
    problem_check(call_post("/v1/models/gram/predict", "{'instances':[[1,0,0]]}"), 422,
                  "invalid-instances");
    problem_check(call_post("/v1/models/gram/predict", "{'instances':[[1,0,0,0,0,0]]}"), 422,
                  "invalid-instances");
    status_check(call_post("/v1/models/gram/predict", "{'instances':[[1,0,0,0]]}"), 200);
    /* a missing kernel value has no replacement */
    r = problem_check(call_post("/v1/models/gram/predict",
                                "{'instances':[[1,0,0,0],[1,0,null,0]]}"),
                      422, "invalid-instances");
    assert_non_null(strstr(r->body, "instance 1 has no value for \\\"c\\\""));
    problem_check(call_post("/v1/models/gram/predict", "{'instances':[{'a':1,'b':0,'c':0}]}"), 422,
                  "invalid-instances");
    r = problem_check(call_post("/v1/models/gram/evaluate", "{'instances':[[1,0,null,0,'p']]}"),
                      422, "invalid-instances");
    assert_non_null(
        strstr(r->body, "of the rows that have a class, row 0 has no value for \\\"c\\\""));
    fault_check(r, "/instances/0");
}

/* Stored datasets with missing kernel values are refused too: in an evaluation, also with a model
 * that was just loaded, and in a validation. */
static void a_precomputed_kernel_needs_every_value(void **state) {
    (void)state;
    const char *const why = "row 1 has no value for \"c\"";
    status_check(call_upload("/v1/datasets/gaps", "a,b,c,d,class\n1,0,0,0,p\n0,1,,0,q\n"), 201);
    job_train("{'model':'whole','dataset':'gram','target':'class','algorithm':'svm','params':{'"
              "kernel':'precomputed'}}");
    status_check(call_post("/v1/models/whole/evaluate", "{'dataset':'gram'}"), 200);
    const struct response *r =
        problem_check(call_post("/v1/models/whole/evaluate", "{'dataset':'gaps'}"), 422, "invalid");
    fault_check(r, "/dataset");
    assert_non_null(strstr(string_at(r, "/errors/0/detail"), why));
    r = job_wait(job_post("{'model':'whole','dataset':'gram','target':'class','algorithm':'svm','"
                          "params':{'kernel':'precomputed'},"
                          "'validation':{'dataset':'gaps'}}"));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_string_equal(string_at(r, "/error/type"), "/problems/untrainable");
    assert_non_null(strstr(string_at(r, "/error/detail"), why));
}

/* The job succeeds with a warning. */
static void a_kernel_that_is_not_positive_semidefinite(void **state) {
    (void)state;
    const struct response *r =
        job_train("{%s,'params':{'kernel':{'type':'sigmoid','scale':2,'coef0':-1}}}", iris);
    const char *warnings = keep(json_dumps(value_at(r, "/warnings"), 0), free);
    assert_non_null(strstr(warnings, "positive semidefinite"));
    char *details = keep(json_dumps(value_at(r, "/result/details"), 0), free);
    assert_non_null(strstr(details, "\"certified\": false"));
}

/* With very many machines the job's result lists a limited number of them and their count; /weights
 * has all. */
static void many_machines_are_not_all_told_of(void **state) {
    (void)state;
    enum { CLASSES = 18, MACHINES = CLASSES * (CLASSES - 1) / 2, TOLD = 128 };
    char *csv = keep(malloc(4096), free);
    size_t size = (size_t)sprintf(csv, "x,y,class\n");
    for (size_t i = 0; i < (size_t)3 * CLASSES; i++) {
        size += (size_t)sprintf(csv + size, "%zu,%zu,c%02zu\n", i % CLASSES * 7 % CLASSES,
                                i % CLASSES + i % 2, i % CLASSES);
    }
    status_check(call_upload("/v1/datasets/many", csv), 201);
    const struct response *r = job_train("{'model':'many','dataset':'many','target':'class','"
                                         "algorithm':'svm','params':{'kernel':'rbf'}}");
    assert_int_equal(json_array_size(value_at(r, "/result/details/pairs")), TOLD);
    assert_int_equal(whole_at(r, "/result/details/n_machines"), MACHINES);
    assert_int_equal(whole_at(r, "/result/details/machines_omitted"), MACHINES - TOLD);
    assert_int_equal(whole_at(r, "/result/details/machines_not_converged"), 0);
    r = status_check(call_get("/v1/models/many/weights"), 200);
    assert_int_equal(json_array_size(value_at(r, "/machines")), MACHINES);
}

/* ---- memory ---- */

static void memory_is_reckoned_beforehand(void **state) {
    (void)state;
    upload_file("digits", "digits.csv");
    const struct response *r =
        problem_check(call_post("/v1/jobs", "{'model':'m','dataset':'digits','target':'class','"
                                            "algorithm':'svm','params':{'kernel':'rbf'},'limits':{"
                                            "'memory_mib':1}}"),
                      422, "invalid");
    fault_check(r, "/limits/memory_mib");
    assert_non_null(strstr(r->body, "would need about"));
    assert_non_null(strstr(r->body, "smaller params.cache_mib"));
    r = problem_check(
        call_post("/v1/jobs", "{'model':'m','dataset':'digits','target':'class','algorithm':'svm',"
                              "'params':{'solver':'interior_point'},'limits':{'memory_mib':1}}"),
        422, "invalid");
    assert_non_null(strstr(r->body, "would need about"));
    assert_null(strstr(r->body, "cache_mib"));
}

/* The message about memory names a part of the estimate: the part is not larger than the whole. */
static void a_part_is_no_larger_than_the_whole(void **state) {
    (void)state;
    enum { ROWS = 1000, WORDS = 200 };
    struct buf notes = {0};
    buf_puts(&notes, "note,class\n");
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < WORDS; k++) {
            buf_printf(&notes, "w%zu ", (i * WORDS + k) * 7919 % 30011);
        }
        buf_printf(&notes, ",%c\n", i % 2 ? 'a' : 'b');
    }
    status_check(call_upload("/v1/datasets/essays?types=note:text",
                             keep(buf_take(&notes, NULL), free)),
                 201);
    const struct response *r =
        problem_check(call_post("/v1/jobs", "{'model':'m','dataset':'essays','target':'class','"
                                            "algorithm':'mlp','limits':{'memory_mib':20}}"),
                      422, "invalid");
    double whole = 0, part = 0;
    const char *detail = string_at(r, "/errors/0/detail"), *own = strstr(detail, "; about ");
    assert_int_equal(sscanf(detail, "the training would need about %lf", &whole), 1);
    assert_true(own && sscanf(own, "; about %lf of it is the method's own", &part) == 1);
    assert_true(part > 0 && part <= whole);
}

static double foretold(const char *dataset, const char *kernel) {
    const struct response *r = call_post("/v1/jobs?dry_run=true",
                                         "{'model':'m','dataset':'%s','target':'class','algorithm':"
                                         "'svm','params':{'kernel':%s},'limits':{'threads':1}}",
                                         dataset, kernel);
    return real_at(status_check(r, 200), "/memory_bytes");
}

/* The estimate follows the entries of texts and sparse rows: not the number of possible features,
 * and not the longest text times the rows. */
static void memory_is_that_of_entries(void **state) {
    (void)state;
    enum { ROWS = 1000, LONG = 9000 };
    char *csv = keep(malloc(ROWS * 64 + LONG), free), *svm = keep(malloc(ROWS * 64), free);
    size_t size = (size_t)sprintf(csv, "note,class\n"), sparse = 0;
    for (size_t i = 0; i < ROWS; i++) {
        size += (size_t)sprintf(csv + size, "w%zu w%zu of w%zu,%c\n", i, i * 7 % ROWS,
                                i * 13 % ROWS, i % 2 ? 'a' : 'b');
        sparse += (size_t)sprintf(svm + sparse, "%d 1:1 %zu:0.5 %zu:0.25\n", i % 2 ? 1 : -1,
                                  2 + i * 17, 20000 + i);
    }
    for (size_t k = 0; k < LONG; k++) {
        csv[size++] = (char)('a' + k % 26);
    }
    (void)sprintf(csv + size, ",a\n");
    status_check(call_upload("/v1/datasets/notes?types=note:text", csv), 201);
    status_check(call_upload_bytes("/v1/datasets/places?label=class", svm, sparse,
                                   "Content-Type: text/x-svmlight"),
                 201);
    const double matrix = 8.0 * ROWS * ROWS, MIB = 1048576;
    assert_true(foretold("notes", "{'type':'distance','metric':'edit'}") <
                matrix + 9 * MIB); /* and the working memory for texts of 10,000 characters */
    assert_true(foretold("places", "'rbf'") < matrix + 2 * MIB);
}

/* ---- outliers ---- */

static void outliers_have_no_target(void **state) {
    (void)state;
    static const struct {
        const char *rest, *place;
    } rows[] = {
        {"'target':'class'", "/target"},
        {"'class_weight':'balanced'", "/class_weight"},
        {"'validation':{'holdout':0.2,'curves':true}", "/validation/curves"},
        {"'validation':{'folds':151}", "/validation/folds"},
        {"'features':{'basis':[{'type':'fisher','columns':['petal_length','petal_width']}]}",
         "/features/basis"},
        {"'params':{'nu':0}", "/params/nu"},
        {"'params':{'nu':1e-160}", "/params/nu"},
        {"'params':{'nu':1.5}", "/params/nu"},
        {"'params':{'C':1}", "/params/C"},
        {"'params':{'kernel':{'type':'rbf','degree':1}}", "/params/kernel/degree"},
        {"'validation':{'dataset':'texts'}", "/validation/dataset"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fault_check(
            problem_check(call_post("/v1/jobs",
                                    "{'model':'o','dataset':'iris','algorithm':'one_class_svm',%s}",
                                    rows[i].rest),
                          422, "invalid"),
            rows[i].place);
    }
    static const char *const share = "{'model':'o','dataset':'iris','algorithm':'one_class_svm','"
                                     "features':{'exclude':['class']},'params':{'nu':%s}}";
    const struct response *r =
        problem_check(call_post("/v1/jobs?dry_run=true", share, "9e-10"), 422, "invalid");
    assert_non_null(strstr(string_at(r, "/errors/0/detail"),
                           "must be a finite number >= 1e-9 and <= 1 (got 9e-10)"));
    r = status_check(call_post("/v1/jobs?dry_run=true", share, "1e-9"), 200);
    assert_json(r, "/target", "null");
    assert_json(status_check(call_get("/v1/algorithms/one_class_svm"), 200), "/needs_target",
                "false");
}

#define COUNTING                                                                                   \
    "{'model':'o','dataset':'iris','algorithm':'one_class_svm','params':{'nu':0.2},'features':{'"  \
    "exclude':['class']},'validation':%s}"
/* The job's number of outliers equals the number of rows that the model labels as outliers. */
static void outliers_are_counted(void **state) {
    (void)state;
    const struct response *r = job_train(COUNTING, "{'holdout':0.2}");
    assert_json(r, "/result/metrics", "{'train':null,'validation':null}");
    assert_int_equal(whole_at(r, "/result/rows/train"), 120);
    assert_int_equal(whole_at(r, "/result/rows/validation"), 30);
    assert_true(real_at(r, "/result/details/outlier_share") ==
                real_at(r, "/result/details/outliers") / 120);
    assert_true(real_at(r, "/result/details/validation_outlier_share") ==
                real_at(r, "/result/details/validation_outliers") / 30);
    assert_true(real_at(r, "/result/details/outlier_share") <= 0.2);
    r = job_train(COUNTING, "{'folds':5}");
    assert_int_equal(count_at(r, "/result/details/fold_outlier_shares"), 5);
    assert_true(real_at(r, "/result/details/validation_outlier_share") ==
                real_at(r, "/result/details/validation_outliers") / 150);
    r = job_train(COUNTING, "{'dataset':'iris'}");
    assert_true(real_at(r, "/result/details/validation_outliers") ==
                real_at(r, "/result/details/outliers"));

    const struct response *model = status_check(call_get("/v1/models/o"), 200);
    assert_json(model, "/target", "null");
    assert_json(model, "/classes", "['inlier','outlier']");
    assert_json(status_check(call_get("/v1/models"), 200), "/items/0/name", "'gram'");
    const struct response *rows = status_check(
        call_get("/v1/datasets/iris/"
                 "rows?limit=150&columns=sepal_length,sepal_width,petal_length,petal_width"),
        200);
    json_t *asked = keep(json_pack("{sO}", "instances", value_at(rows, "/items")),
                         (void (*)(void *))json_decref);
    char *body = keep(json_dumps(asked, JSON_COMPACT), free);
    const struct response *p =
        status_check(call(&(struct request){.method = "POST",
                                            .path = "/v1/models/o/predict?output=label,scores",
                                            .headers = HEADERS("Content-Type: application/json"),
                                            .body = body}),
                     200);
    size_t outliers = 0, i;
    json_t *row;
    json_array_foreach(value_at(p, "/predictions"), i, row) {
        const bool out = strcmp(json_string_value(json_object_get(row, "label")), "outlier") == 0;
        const double f = json_number_value(json_array_get(json_object_get(row, "scores"), 0));
        outliers += out;
        assert_true(out ? f < 0 : f > -1e-3);
    }
    assert_true(real_at(r, "/result/details/outliers") == (double)outliers);
}

static void the_truth_is_a_column(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/points",
                             "x,y,truth\n0,0,inlier\n1,0,inlier\n0,1,inlier\n1,1,inlier\n0.5,0.5,"
                             "inlier\n0.2,0.7,inlier\n"),
                 201);
    job_train("{'model':'points','dataset':'points','algorithm':'one_class_svm','features':{'"
              "include':['x','y'],'standardize':false},"
              "'params':{'nu':0.2,'kernel':{'type':'rbf','width':1}}}");
    status_check(call_upload("/v1/datasets/judged",
                             "x,y,truth,truth2\n0.5,0.4,inlier,a\n0.6,0.5,inlier,b\n9,9,outlier,"
                             "a\n-7,3,outlier,b\n0.4,0.6,outlier,a\n"),
                 201);
    const char *path = "/v1/models/points/evaluate";
    fault_check(problem_check(call_post(path, "{'dataset':'judged'}"), 422, "invalid"), "/target");
    fault_check(problem_check(call_post(path, "{'dataset':'judged','target':'no'}"), 422,
                              "invalid"),
                "/target");
    fault_check(problem_check(call_post(path, "{'dataset':'judged','target':'x'}"), 422, "invalid"),
                "/target");
    fault_check(problem_check(call_post(path, "{'dataset':'judged','target':3}"), 422, "invalid"),
                "/target");
    fault_check(problem_check(call_post(path, "{'dataset':'judged','target':'truth2'}"), 422,
                              "invalid"),
                "/target");
    fault_check(problem_check(call_post(path, "{'instances':[[1,2,'inlier']]}"), 422, "invalid"),
                "/target");
    const struct response *r =
        status_check(call_post(path, "{'dataset':'judged','target':'truth'}"), 200);
    assert_json(r, "/metrics/confusion", "{'classes':['inlier','outlier'],'matrix':[[2,0],[1,2]]}");
    assert_close(real_at(r, "/metrics/per_class/1/recall"), 2.0 / 3, 1e-12);
    assert_true(real_at(r, "/metrics/roc_auc") >= 2.0 / 3); /* by −f: the distant rows are found */
    const struct response *same =
        status_check(call_post("/v1/models/points/evaluate?target=truth", "{'dataset':'judged'}"),
                     200);
    assert_true(json_equal(r->json, same->json));
    same = status_check(call_post("/v1/models/points/evaluate?target=is",
                                  "{'instances':[{'x':0.5,'y':0.4,'is':'inlier'},{'x':9,'y':9,'is':"
                                  "'outlier'}]}"),
                        200);
    assert_json(same, "/metrics/confusion/matrix", "[[1,0],[0,1]]");
    r = problem_check(call_post("/v1/models/points/evaluate?target=is",
                                "{'instances':[{'x':0.5,'y':0.4,'is':'odd'}]}"),
                      422, "invalid-instances");
    fault_check(r, "/instances/0/is");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_kernel_is_shown_as_it_is_given),
        TEST(what_a_model_says_may_be_sent_back),
        TEST(every_fault_has_its_place),
        TEST(a_matrix_is_a_list_of_lists),
        TEST(the_catalogue_has_the_object),
        TEST(texts_and_numbers),
        TEST(an_edge_list_is_read_by_the_job),
        TEST(a_precomputed_kernel_is_square),
        TEST(a_precomputed_kernel_is_symmetric),
        TEST(a_precomputed_kernel_needs_every_value),
        TEST(a_kernel_that_is_not_positive_semidefinite),
        TEST(many_machines_are_not_all_told_of),
        TEST(memory_is_reckoned_beforehand),
        TEST(a_part_is_no_larger_than_the_whole),
        TEST(memory_is_that_of_entries),
        TEST(outliers_have_no_target),
        TEST(outliers_are_counted),
        TEST(the_truth_is_a_column),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
