/* Any number of threads gives equal bytes. A training is equal in every bit with 1, 2, 3 and 4
 * threads, alone or beside others, in every daemon; a prediction is equal alone and among hundreds.
 * The sums are split into blocks of 4,096 rows (core/include/discern/rows.h), so 20,000 rows give
 * five blocks. The JSON is compared with all digits; only times, versions and the model's name are
 * removed. */
#include "sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20000, ASKED = 300, ALONE = 4 };

/* Methods for the datasets "large" (three classes) and "large2" (two). Descents stop after a few
 * steps: a difference of one bit would be visible in the first. */
static const char *const methods[] = {
    "'dataset':'large','algorithm':'logistic'",
    "'dataset':'large2','algorithm':'logistic','params':{'solver':'newton','penalty':'l1'}",
    "'dataset':'large2','algorithm':'logistic','params':{'solver':'newton','penalty':'none'},'"
    "class_weight':'balanced'",
    "'dataset':'large','algorithm':'logistic','params':{'solver':'lbfgs','max_iterations':15},'"
    "snapshots':[1,10]",
    "'dataset':'large2','algorithm':'logistic','params':{'solver':'lbfgs','penalty':'elastic_net','"
    "max_iterations':15}",
    "'dataset':'large','algorithm':'logistic','params':{'solver':'gradient_descent','max_"
    "iterations':15},'snapshots':[1,10]",
    "'dataset':'large2','algorithm':'logistic','params':{'solver':'gradient_descent','loss':'"
    "squared_error','max_iterations':15}",
    "'dataset':'large','algorithm':'logistic','params':{'solver':'sgd','max_iterations':3},'"
    "snapshots':[1,3]",
    "'dataset':'large','algorithm':'logistic','params':{'multiclass':'one_vs_rest','solver':'lbfgs'"
    ",'max_iterations':5}",
    "'dataset':'large','algorithm':'logistic','params':{'multiclass':'one_vs_one'}",
    "'dataset':'large2','algorithm':'logistic','validation':{'folds':3}",
    "'dataset':'large2','algorithm':'logistic','validation':{'holdout':0.25},'seed':7",
    "'dataset':'large2','algorithm':'logistic','features':{'basis':[{'type':'polynomial','degree':"
    "2}]}",
    "'dataset':'large2','algorithm':'logistic','features':{'basis':[{'type':'gaussian','centres':5}"
    "]}",
    "'dataset':'large2','algorithm':'logistic','features':{'basis':[{'type':'random_fourier','"
    "features':12,'width':2}]},'params':{'solver':"
    "'lbfgs','"
    "max_iterations':10}",
    "'dataset':'large','algorithm':'logistic','features':{'basis':[{'type':'fisher'}]}",
    "'dataset':'large','algorithm':'least_squares'",
    "'dataset':'large','algorithm':'least_squares','params':{'lambda':0}",
    "'dataset':'large2','algorithm':'least_squares','params':{'solver':'gradient_descent','max_"
    "iterations':15,'init':'zero'}",
    "'dataset':'large2','algorithm':'perceptron','params':{'max_iterations':3}",
    "'dataset':'large','algorithm':'perceptron','params':{'mode':'batch','max_iterations':10},'"
    "snapshots':[3]",
    "'dataset':'large2','algorithm':'perceptron','params':{'mode':'batch','criterion':'squared','"
    "max_iterations':10}",
    "'dataset':'large2','algorithm':'perceptron','params':{'order':'shuffled','criterion':'"
    "relaxation','learning_rate':0.9,'max_iterations':3}",
    "'dataset':'large','algorithm':'fisher'",
    "'dataset':'large2','algorithm':'fisher','params':{'threshold':'min_error','shrinkage':'auto'}",
    "'dataset':'large','algorithm':'gaussian','params':{'shrinkage':'auto'}",
    "'dataset':'large','algorithm':'gaussian','params':{'covariance':'full','divisor':'unbiased'}",
    "'dataset':'large2','algorithm':'gaussian','params':{'covariance':'diagonal'}",
    "'dataset':'large','algorithm':'naive_bayes'",
};
enum { N_METHODS = sizeof methods / sizeof methods[0], N_BUDGETS = 3 };

/* ---- what is compared ---- */

/* Removes, at any depth, the members that may differ between runs. */
static void strip(json_t *value) {
    static const char *const names[] = {"seconds", "elapsed", "version", "model"};
    size_t i;
    const char *key;
    json_t *item;
    for (i = 0; json_is_object(value) && i < sizeof names / sizeof names[0]; i++) {
        (void)json_object_del(value, names[i]);
    }
    json_object_foreach(value, key, item) strip(item);
    json_array_foreach(value, i, item) strip(item);
}

/* All digits: %.17g distinguishes any two doubles. */
static const char *stripped(json_t *value) {
    strip(value);
    return keep(json_dumps(value, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS | JSON_ENCODE_ANY),
                free);
}

static json_t *predictions(const char *model, const char *csv) {
    const struct response *r = call(&(struct request){
        .method = "POST",
        .path = text("/v1/models/%s/predict?output=label,probabilities,scores,log_density,distance",
                     model),
        .headers = HEADERS("Content-Type: text/csv"),
        .body = csv,
    });
    return value_at(status_check(r, 200), "/predictions");
}

/* All answers about a training. */
struct outcome {
    const char *result, *history, *weights, *predictions;
};

static struct outcome outcome_of(int64_t job, const char *model, const char *csv) {
    const struct response *r = job_wait(job);
    if (strcmp(string_at(r, "/state"), "succeeded") != 0) {
        fail_msg("%s: %s", model, r->body);
    }
    return (struct outcome){
        .result = stripped(value_at(r, "/result")),
        .history = stripped(
            value_at(status_check(call_get("/v1/jobs/%lld/history", (long long)job), 200), "")),
        .weights =
            stripped(value_at(status_check(call_get("/v1/models/%s/weights", model), 200), "")),
        .predictions = stripped(predictions(model, csv)),
    };
}

static void same_text(size_t method, const char *how, const char *what, const char *got,
                      const char *expected) {
    size_t at = 0;
    while (got[at] != '\0' && got[at] == expected[at]) {
        at++;
    }
    if (got[at] != expected[at]) {
        fail_msg("%s, %s: the %s differs from that of one thread:\n%.200s\n%.200s", methods[method],
                 how, what, got + (at > 100 ? at - 100 : 0), expected + (at > 100 ? at - 100 : 0));
    }
}

static void same_outcome(size_t method, const char *how, const struct outcome *got,
                         const struct outcome *expected) {
    same_text(method, how, "result", got->result, expected->result);
    same_text(method, how, "history", got->history, expected->history);
    same_text(method, how, "weights", got->weights, expected->weights);
    same_text(method, how, "predictions", got->predictions, expected->predictions);
}

/* ---- the tests ---- */

static const char *large(size_t n_classes) {
    const struct sheet *s = sheet_made(ROWS, n_classes);
    double *weight = keep(calloc(ROWS, sizeof *weight), free);
    for (size_t i = 0; i < ROWS; i++) {
        weight[i] = 0.25 * (double)(i * 7 % 9);
    }
    return sheet_csv(sheet_weighed(s, weight), true);
}

static void start_with(const char *const *flags, const char *three, const char *two) {
    service_start(flags);
    status_check(call_upload("/v1/datasets/large", three), 201);
    status_check(call_upload("/v1/datasets/large2", two), 201);
}

static const char *asked(void) {
    return sheet_csv(sheet_made(ASKED, 3), false);
}

static int64_t post(size_t method, const char *model, const char *limits) {
    return job_post("{'model':'%s','target':'class','weight':'weight',%s%s}", model,
                    methods[method], limits);
}

/* One daemon runs jobs with one, two and four threads at the same time; another daemon with other
 * settings runs them in the opposite order. */
static void test_any_budget_gives_the_same_bytes(void **state) {
    (void)state;
    static const int budgets[N_BUDGETS] = {1, 2, 4};
    static struct outcome one[N_METHODS];
    int64_t jobs[N_BUDGETS][N_METHODS];
    const char *csv = asked(), *three = large(3), *two = large(2);
    start_with(FLAGS("--train-threads", "4", "--workers", "3"), three, two);
    for (size_t i = 0; i < N_METHODS; i++) {
        for (size_t b = 0; b < N_BUDGETS; b++) {
            jobs[b][i] = post(i, text("m%zu-%d", i, budgets[b]),
                              text(",'limits':{'threads':%d}", budgets[b]));
        }
    }
    for (size_t i = 0; i < N_METHODS; i++) {
        one[i] = outcome_of(jobs[0][i], text("m%zu-1", i), csv);
        for (size_t b = 1; b < N_BUDGETS; b++) {
            const struct outcome other =
                outcome_of(jobs[b][i], text("m%zu-%d", i, budgets[b]), csv);
            same_outcome(i, text("%d threads", budgets[b]), &other, &one[i]);
        }
    }
    start_with(FLAGS("--train-threads", "3", "--workers", "1", "--http-threads", "1",
                     "--call-threads", "1", "--model-cache", "100K"),
               three, two);
    for (size_t i = N_METHODS; i-- > 0;) {
        jobs[0][i] = post(i, text("m%zu", i), "");
    }
    for (size_t i = 0; i < N_METHODS; i++) {
        const struct outcome other = outcome_of(jobs[0][i], text("m%zu", i), csv);
        same_outcome(i, "3 threads, the only job, another daemon", &other, &one[i]);
    }
}

/* Uses the daemon and the models of the test before. */
static void test_a_row_is_the_same_alone_and_among_many(void **state) {
    (void)state;
    const struct sheet *rows = sheet_made(ASKED, 3);
    const char *csv = asked();
    for (size_t i = 0; i < N_METHODS; i++) {
        const json_t *all = predictions(text("m%zu", i), csv);
        for (size_t row = 3; row < ASKED; row += ASKED / ALONE) {
            json_t *alone =
                predictions(text("m%zu", i), sheet_csv(sheet_rows(rows, &row, 1), false));
            same_text(i, text("row %zu alone", row), "prediction",
                      stripped(json_array_get(alone, 0)), stripped(json_array_get(all, row)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_any_budget_gives_the_same_bytes),
        TEST(test_a_row_is_the_same_alone_and_among_many),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
