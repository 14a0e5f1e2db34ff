/* The members "request" and "resolved" of a job: what was posted and every value that is used. Both
 * can be posted again and make the same job. */
#include "lib/api.h"
#include "lib/database.h"

#include <stdlib.h>
#include <string.h>

static int open_daemon(void **state) {
    static const char *const flags[] = {"--job-memory", "512M", "--train-threads", "2", NULL};
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    status_check(
        call_upload("/v1/datasets/mixed",
                    "n,c,b,w,t,y\n1,red,true,1,x,a\n2,blue,false,2,x,b\n,green,true,1,y,a\n"
                    "4,,false,3,z,b\n5,red,true,1,x,a\n6,blue,true,0.5,y,b\n"),
        201);
    status_check(call_text("PUT", "/v1/datasets/sparse", "Content-Type: text/x-svmlight",
                           "1 1:1 3:2 5:1\n-1 2:1 3:1 4:2\n1 1:2 5:3\n-1 2:2 4:1\n"),
                 201);
    return 0;
}

/* Posts a member of a job as a body. Returns the new job after its end. */
static const struct response *repeat_job(const struct response *job, const char *member) {
    char *body = json_dumps(value_at(job, member), JSON_ENCODE_ANY);
    assert_non_null(body);
    const struct response *made =
        call_text("POST", "/v1/jobs", "Content-Type: application/json", body);
    free(body);
    return job_wait(whole_at(status_check(made, 202), "/id"));
}

static void assert_same(const struct response *a, const struct response *b, const char *member) {
    if (!json_equal(value_at(a, member), value_at(b, member))) {
        answer_fail(b, __FILE__, __LINE__, "%s differs from that of the first job", member);
    }
}

/* Requests with every kind of member. */
static const char *const requests[] = {
    "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}",
    "{'model':'m','dataset':'iris@1','target':'class','algorithm':'svm','params':{'kernel':"
    "{'type':'polynomial','degree':2},'C':2},'validation':{'folds':3},'seed':7}",
    "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic','params':{'lambda':0.1},"
    "'features':{'include':['petal_width','sepal_length'],'basis':[{'type':'gaussian','centres':2},"
    "{'type':'polynomial','columns':['petal_width'],'degree':3}]},'class_weight':"
    "{'virginica':2,'setosa':1,'versicolor':0.5},'limits':{'seconds':60,"
    "'threads':1,'memory_mib':64},'snapshots':[3,0],'validation':{'holdout':0.25,'curves':true}}",
    "{'model':'m','dataset':'mixed','target':'y','algorithm':'naive_bayes','weight':'w',"
    "'weights':'frequencies','features':{'exclude':['t'],'missing':'most_frequent'},"
    "'class_weight':'balanced','validation':{'dataset':'mixed'}}",
    "{'model':'m','dataset':'sparse','target':'label','algorithm':'logistic',"
    "'features':{'include':['f5','f1','f3']}}",
    "{'model':'m','dataset':'sparse','target':'label','algorithm':'logistic',"
    "'features':{'exclude':['f2','f4']}}",
    "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic','validation':{'folds':2,"
    "'group':'petal_width','repeats':2},'learning_curve':[1,0.5]}",
    "{'model':'m','dataset':'mixed','target':'y','algorithm':'naive_bayes','validation':{'column':"
    "'b'}}",
    "{'model':'m','dataset':'iris','algorithm':'one_class_svm','features':{'exclude':['class']}}",
    "{'model':'m','dataset':'iris','target':'class','algorithm':'perceptron',"
    "'params':{'mode':'sequential'},'snapshots':[1],'snapshots_of':'updates'}",
};

static void test_both_members_make_the_job_again(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const struct response *first = job_train("%s", requests[i]);
        const struct response *again = repeat_job(first, "/request");
        assert_same(first, again, "/request");
        assert_same(first, again, "/resolved");
        assert_same(first, again, "/result/metrics");
        again = repeat_job(first, "/resolved");
        assert_same(first, again, "/resolved");
        assert_same(first, again, "/result/metrics");
        assert_true(json_equal(value_at(again, "/request"), value_at(first, "/resolved")));
    }
}

static void test_resolved_names_every_value(void **state) {
    (void)state;
    const struct response *r = job_train("%s", requests[0]);
    assert_string_equal(string_at(r, "/resolved/dataset"), "iris@1");
    assert_string_equal(string_at(r, "/resolved/params/solver"), "newton");
    assert_json(r, "/resolved/features/include",
                "['sepal_length','sepal_width','petal_length','petal_width']");
    assert_json(r, "/resolved/features/exclude", "[]");
    assert_int_equal(whole_at(r, "/resolved/seed"), 1);
    assert_json(r, "/resolved/limits", "{'seconds':null,'memory_mib':512,'threads':2}");
    r = job_train("%s", requests[4]);
    assert_json(r, "/resolved/features/include", "['f1','f3','f5']");
    r = job_train("%s", requests[5]);
    assert_json(r, "/resolved/features/include", "['f']");
    assert_json(r, "/resolved/features/exclude", "['f2','f4']");
    r = job_train("%s", requests[3]);
    assert_string_equal(string_at(r, "/resolved/validation/dataset"), "mixed@1");
    r = job_train("%s", requests[8]);
    assert_null(json_find(r->json, "/resolved/target"));
}

/* The text of the body, with its spaces, order and numbers, also after a restart and in events. */
static void test_the_body_is_kept_as_it_was_posted(void **state) {
    (void)state;
    const char *body = "\r\n{ \"seed\":10,\r\"model\":\"kept\", \"dataset\" : \"iris\",\n"
                       "\"target\":\"cl\\u0061ss\",\"algorithm\":\"logistic\" }\n";
    const struct response *r = call_text("POST", "/v1/jobs", NULL, body);
    const int64_t id = whole_at(status_check(r, 202), "/id");
    assert_non_null(strstr(r->body, body));
    assert_non_null(strstr(job_wait(id)->body, body));
    r = status_check(call_get("/v1/jobs/%lld/events", (long long)id), 200);
    const char *done = strstr(r->body, "event: done\n");
    assert_non_null(done);
    assert_null(strchr(done, '\r'));
    assert_non_null(strstr(done, "\"request\":  { \"seed\":10, \"model\":\"kept\","));
    assert_non_null(strstr(done, "\"iris\", \"target\":\"cl\\u0061ss\""));
    service_stop();
    service_restart(NULL);
    assert_non_null(
        strstr(status_check(call_get("/v1/jobs/%lld", (long long)id), 200)->body, body));
}

static void test_lists_have_neither_member(void **state) {
    (void)state;
    job_train("%s", requests[0]);
    const struct response *r = status_check(call_get("/v1/jobs?limit=1"), 200);
    assert_null(json_find(r->json, "/items/0/request"));
    assert_null(json_find(r->json, "/items/0/resolved"));
}

static void test_a_failed_job_can_be_posted_again(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/late", "x,w,y\n1,-1,\n2,1,a\n3,1,b\n4,0,a\n5,-2,b\n"),
                 201);
    const struct response *first =
        job_wait(job_post("{'model':'f','dataset':'late','target':'y','weight':'w',"
                          "'algorithm':'logistic'}"));
    assert_string_equal(string_at(first, "/state"), "failed");
    const struct response *again = repeat_job(first, "/request");
    assert_string_equal(string_at(again, "/state"), "failed");
    assert_same(first, again, "/error");
    assert_same(first, again, "/resolved");
    assert_same(first, repeat_job(first, "/resolved"), "/error");
}

/* A job of a release without the parameter `decision` has the labels of the scores. `resolved`
 * makes it again; the body that was posted would not. */
static void test_labels_of_an_earlier_release(void **state) {
    (void)state;
    const struct response *first =
        job_train("{'model':'old','dataset':'iris','target':'class','algorithm':'svm','params':"
                  "{'calibrate':'isotonic','decision':'scores'},'validation':{'holdout':0.5}}");
    const int64_t id = whole_at(first, "/id");
    for (int with_result = 1; with_result >= 0; with_result--) {
        const int changed = database_change(
            "UPDATE jobs SET spec = replace(spec, ',\"decision\":\"scores\"', ''), result = CASE "
            "%d "
            "WHEN 1 THEN replace(result, ',\"decision\":\"scores\"', '') END WHERE id = %lld",
            with_result, (long long)id);
        assert_int_equal(changed, 1);
        const struct response *r = status_check(call_get("/v1/jobs/%lld", (long long)id), 200);
        assert_json(r, "/resolved/params/decision", "'scores'");
        assert_json(r, "/request", "null");
        const struct response *again = repeat_job(r, "/resolved");
        assert_json(again, "/result/params/decision", "'scores'");
        assert_same(first, again, "/result/metrics");
    }
}

/* A byte order mark before the body is not a part of the job. */
static void test_byte_order_mark(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_text("POST", "/v1/jobs", NULL,
                               text("\xEF\xBB\xBF%s",
                                    quoted("{'model':'marked','dataset':'iris',"
                                           "'target':'class','algorithm':'fisher'}"))),
                     202);
    assert_json(r, "/request/model", "'marked'");
    r = job_wait(whole_at(r, "/id"));
    assert_json(r, "/request/model", "'marked'");
    assert_json(r, "/resolved/model", "'marked'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_both_members_make_the_job_again),   TEST(test_resolved_names_every_value),
        TEST(test_lists_have_neither_member),         TEST(test_a_failed_job_can_be_posted_again),
        TEST(test_the_body_is_kept_as_it_was_posted), TEST(test_byte_order_mark),
        TEST(test_labels_of_an_earlier_release),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
