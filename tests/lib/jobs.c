#include "lib/jobs.h"

#include "lib/answer.h"

#include <string.h>

enum { JOB_SECONDS = 600 };

static int64_t post_job(const char *spec) {
    const struct response *r = status_check(call_post("/v1/jobs", "%s", spec), 202);
    return whole_at(r, "/id");
}

int64_t job_post(const char *spec, ...) {
    va_list args;
    va_start(args, spec);
    const char *formatted = vtext(spec, args);
    va_end(args);
    return post_job(formatted);
}

static bool ended(const char *state) {
    return strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
}

const struct response *job_wait(int64_t id) {
    const struct response *r = NULL;
    for (double end = now() + JOB_SECONDS; now() < end;) {
        r = status_check(call_get("/v1/jobs/%lld?wait=30", (long long)id), 200);
        if (ended(string_at(r, "/state"))) {
            return r;
        }
    }
    fail_msg("job %lld does not end", (long long)id);
    return r;
}

const struct response *job_wait_state(int64_t id, const char *state) {
    const struct response *r = NULL;
    for (double end = now() + JOB_SECONDS; now() < end; pause_ms(10)) {
        r = status_check(call_get("/v1/jobs/%lld", (long long)id), 200);
        if (strcmp(string_at(r, "/state"), state) == 0) {
            return r;
        }
        if (ended(string_at(r, "/state"))) {
            break;
        }
    }
    answer_fail(r, __FILE__, __LINE__, "job %lld does not become %s", (long long)id, state);
    return r;
}

const struct response *job_train(const char *spec, ...) {
    va_list args;
    va_start(args, spec);
    const char *formatted = vtext(spec, args);
    va_end(args);
    const struct response *r = job_wait(post_job(formatted));
    if (strcmp(string_at(r, "/state"), "succeeded") != 0) {
        answer_fail(r, __FILE__, __LINE__, "the job did not succeed");
    }
    return r;
}

int64_t job_endless(const char *model) {
    return job_post("{'model':'%s','dataset':'digits','target':'class','algorithm':'logistic',"
                    "'params':{'solver':'gradient_descent','max_iterations':100000000,'learning_"
                    "rate':1e-12,'tolerance':1e-300}}",
                    model);
}
