/* Runs the search of a job. */
#include "jobs/search/searching.h"

#include "base/json/json_write.h"
#include "base/log/log.h"
#include "jobs/documents.h"
#include "jobs/request/job_split.h"
#include "jobs/request/search/job_search.h"
#include "jobs/search/trial.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of a search; dn_run.ctx points to it. */
struct session {
    struct searching *searching;
    const dn_run *whole; /* the run of the job */
    struct buf trial;    /* the latest trial, a JSON object */
    struct buf text;     /* of its combination, if it is one */
};

/* ---- the run ---- */

static dn_status session_stop(const dn_run *run) {
    const struct session *s = run->ctx;
    return s->whole->stop(s->whole);
}

static double session_elapsed(const dn_run *run) {
    const struct session *s = run->ctx;
    return s->whole->elapsed(s->whole);
}

static dn_status session_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                              dn_error *err) {
    const struct session *s = run->ctx;
    return s->whole->each(s->whole, rows, fn, arg, err);
}

/* Called after each trial. */
static void session_progress(const dn_run *run, const dn_progress *progress) {
    struct session *s = run->ctx;
    if (buf_cstr(&s->trial) != NULL) {
        mailbox_report_trial(s->searching->mailbox, progress, buf_cstr(&s->trial),
                             session_elapsed(run));
    }
}

static dn_run run_of(struct session *s, const dn_run *whole) {
    dn_run run = *whole;
    s->whole = whole;
    run.stop = session_stop;
    run.elapsed = session_elapsed;
    run.each = session_each;
    run.progress = session_progress;
    run.snapshots = NULL;
    run.n_snapshots = 0;
    run.ctx = s;
    return run;
}

/* ---- trials ---- */

/* Returns the description of the candidate of a trial: its own text, or that of a combination,
 * which is written to *text. NULL if out of memory. */
static const char *describe(const dn_trial *trial, const struct jobs_search *search,
                            struct buf *text) {
    if (trial->candidate < search->n) {
        return search->list[trial->candidate].text;
    }
    buf_clear(text);
    trial_combination(trial->members, trial->n_members, search, text);
    return buf_cstr(text);
}

static void trial_ended(void *ctx, const dn_trial *trial) {
    struct session *s = ctx;
    const struct searching *r = s->searching;
    const char *text = describe(trial, r->request->search, &s->text);
    buf_clear(&s->trial);
    if (text != NULL) {
        trial_write(trial, text, r->before + s->whole->elapsed(s->whole), &s->trial);
    }
}

/* Whether a stored trial is of one of these candidates, or of a combination of them. */
static bool is_known(const char *document, const dn_trial *trial,
                     const struct jobs_search *search) {
    struct buf text = {0};
    bool good = trial->candidate < search->n + (search->combine > 0);
    for (size_t m = 0; m < trial->n_members; m++) {
        good = good && trial->members[m].candidate < search->n;
    }
    const char *description = good ? describe(trial, search, &text) : NULL;
    good = description != NULL && trial_is_of(document, trial->candidate, description);
    buf_done(&text);
    return good;
}

/* Reads a stored trial. Returns false if it is not one of these candidates. */
static bool read_trial(struct searching *s, const char *text, dn_trial *out) {
    const struct jobs_search *search = s->request->search;
    double elapsed;
    if (!trial_read(text, s->arena, out, &elapsed)) {
        log_warn("job.trial", log_int("job", s->job->id),
                 log_str("detail", "a stored trial is damaged and is repeated"));
        return false;
    }
    if (!is_known(text, out, search)) {
        return false;
    }
    s->before = fmax(s->before, elapsed);
    return true;
}

/* Reads the trials of earlier attempts. *good: whether one of them has a result. */
static bool read_known(struct searching *s, const dn_trial **out, size_t *out_n, bool *good,
                       struct problem *problem) {
    struct store_page page = {0};
    if (!store_job_trials(s->store, s->job->id, &(struct store_limit){0}, &page, problem)) {
        return false;
    }
    const struct store_history_row *rows = page.items;
    dn_trial *known = arena_alloc(s->arena, (page.n + 1) * sizeof *known);
    size_t n = 0;
    *good = false;
    for (size_t i = 0; known != NULL && i < page.n; i++) {
        if (read_trial(s, rows[i].doc, &known[n])) {
            *good = *good || known[n].status == DN_OK;
            n++;
        }
    }
    store_page_done(&page);
    *out = known;
    *out_n = n;
    return known != NULL || problem_no_memory(problem);
}

/* ---- the search ---- */

/* Describes the encoders of the candidates. */
static dn_candidate *candidates_of(const struct searching *s, const dn_encoder_spec *inputs) {
    const struct jobs_search *search = s->request->search;
    dn_candidate *out = arena_alloc(s->arena, (search->n + 1) * sizeof *out);
    for (size_t i = 0; out != NULL && i < search->n; i++) {
        const struct jobs_candidate *c = &search->list[i];
        out[i].params = c->params;
        out[i].features = jobs_features_spec(&search->encodings[c->encoding], inputs->columns,
                                             s->request->n_inputs);
        out[i].features.index_filters = inputs->index_filters;
    }
    return out;
}

/* Makes the request of dn_search. Returns false after setting the problem. */
static bool search_request_of(struct searching *s, struct session *session,
                              const dn_train_request *training, dn_search_request *out,
                              struct problem *problem) {
    const struct jobs_search *search = s->request->search;
    bool good = false;
    *out = (dn_search_request){
        .training = training,
        .candidates = candidates_of(s, &training->features),
        .n_candidates = search->n,
        .metric = search->metric,
        .folds = search->folds,
        .repeats = search->repeats,
        .strategy = search->halving ? DN_SEARCH_HALVING : DN_SEARCH_ALL,
        .combine = search->combine,
        .rule = search->one_standard_error ? DN_SEARCH_ONE_STANDARD_ERROR : DN_SEARCH_BEST,
        .seconds = search->seconds,
        .trial = trial_ended,
        .ctx = session,
    };
    jobs_split_set_search(s->request, out);
    if (out->candidates == NULL) {
        return problem_no_memory(problem);
    }
    if (!read_known(s, &out->known, &out->n_known, &good, problem)) {
        return false;
    }
    if (search->seconds > 0 && s->before > 0) {
        out->seconds = fmax(search->seconds - s->before, 1e-9);
    }
    out->known_only = good && (s->last_attempt || s->job->search_cancelled ||
                               (search->seconds > 0 && search->seconds <= s->before));
    return true;
}

/* Returns the index of the trial of a candidate; n_trials: none. */
static size_t trial_index(const dn_search_result *result, size_t candidate) {
    size_t i = 0;
    while (i < result->n_trials && result->trials[i].candidate != candidate) {
        i++;
    }
    return i;
}

/* Returns the trial of a candidate that has one, as the winner and the best have. */
static const dn_trial *trial_of(const dn_search_result *result, size_t candidate) {
    const size_t i = trial_index(result, candidate);
    assert(i < result->n_trials);
    return &result->trials[i];
}

/* Lists the algorithms of the candidates without a trial, and the combination. */
static const char *list_untried(const struct searching *s, const dn_search_result *result) {
    const struct jobs_search *search = s->request->search;
    const dn_algorithm *last = NULL;
    struct buf text = {0};
    for (size_t i = 0; i < search->n; i++) {
        const dn_algorithm *algorithm = search->list[i].params->algorithm;
        bool tried = algorithm == last;
        for (size_t k = 0; k < result->n_trials && !tried; k++) {
            tried = result->trials[k].candidate == i;
        }
        if (!tried) {
            buf_printf(&text, "%s%s", last != NULL ? ", " : "", algorithm->id);
            last = algorithm;
        }
    }
    if (search->combine > 0 && trial_index(result, search->n) == result->n_trials) {
        buf_printf(&text, "%sthe combination", last != NULL ? ", " : "");
    }
    const char *list = buf_cstr(&text) != NULL ? arena_strdup(s->arena, buf_cstr(&text)) : NULL;
    buf_done(&text);
    return list != NULL ? list : "";
}

/* Sets the members of the combination that won. */
static bool take_members(const struct searching *s, const dn_trial *won,
                         const dn_search_request *search, dn_train_request *training) {
    dn_member *members = arena_alloc(s->arena, (won->n_members + 1) * sizeof *members);
    for (size_t m = 0; members != NULL && m < won->n_members; m++) {
        const dn_candidate *c = &search->candidates[won->members[m].candidate];
        members[m] = (dn_member){.params = c->params,
                                 .features = c->features,
                                 .share = won->members[m].share};
    }
    training->members = members;
    training->n_members = won->n_members;
    return members != NULL;
}

/* Makes the algorithm of the job that of a candidate, or a combination whose first member the
 * candidate is. */
static bool set_algorithm(struct searching *s, size_t candidate, bool combined,
                          dn_train_request *training, struct problem *problem) {
    struct jobs_request *r = s->request;
    const struct jobs_candidate *c = &r->search->list[candidate];
    dn_params *params = NULL;
    if ((combined ? dn_params_new(dn_algorithm_combination(), &params, NULL)
                  : dn_params_copy(c->params, &params, NULL)) != DN_OK) {
        return problem_no_memory(problem);
    }
    dn_params_free(r->params);
    r->params = params;
    r->algorithm = params->algorithm;
    r->features = r->search->encodings[c->encoding];
    training->params = params;
    training->features = s->candidates[candidate].features;
    return true;
}

/* Makes the winner the algorithm of the job. */
static bool take_winner(struct searching *s, const dn_search_result *result,
                        const dn_search_request *search, dn_train_request *training,
                        struct problem *problem) {
    const struct jobs_request *r = s->request;
    const bool combined = result->winner == r->search->n;
    const dn_trial *won = trial_of(result, result->winner), *best = trial_of(result, result->best);
    const size_t combination = trial_index(result, r->search->n);
    const bool has_combination = combination < result->n_trials;
    struct buf text = {0};
    const char *description = describe(won, r->search, &text);
    s->candidates = search->candidates;
    s->winner = description != NULL ? arena_strdup(s->arena, description) : NULL;
    buf_done(&text);
    if (s->winner == NULL || (combined && !take_members(s, won, search, training))) {
        return problem_no_memory(problem);
    }
    if (!set_algorithm(s, combined ? won->members[0].candidate : result->winner, combined, training,
                       problem)) {
        return false;
    }
    s->candidate = result->winner;
    s->n_tried = result->n_trials - (has_combination ? 1 : 0);
    s->n_rows = result->n_rows;
    s->complete = result->complete;
    s->untried = result->complete ? "" : list_untried(s, result);
    s->mean = won->mean;
    s->error = won->error;
    s->combined = has_combination ? result->trials[combination].mean : (double)NAN;
    s->best = combined ? r->search->list[result->best].text : NULL;
    s->best_candidate = result->best;
    s->best_mean = best->mean;
    s->best_error = best->error;
    return true;
}

bool searching_take_best(struct searching *s, dn_train_request *training, struct problem *problem) {
    if (!set_algorithm(s, s->best_candidate, false, training, problem)) {
        return false;
    }
    training->members = NULL;
    training->n_members = 0;
    s->winner = s->best;
    s->candidate = s->best_candidate;
    s->mean = s->best_mean;
    s->error = s->best_error;
    s->best = NULL;
    return true;
}

/* From now on a cancellation is for the training of the winner. If the store fails, an earlier one
 * is for it too. */
static void end_search(const struct searching *s) {
    const struct store_claim claim = store_job_claim_of(s->job);
    struct problem problem = {0};
    if (!store_job_end_search(s->store, &claim, &problem)) {
        log_warn("job.search", log_int("job", s->job->id), log_str("detail", problem.detail));
    }
    problem_done(&problem);
    mailbox_end_search(s->mailbox);
}

bool searching_run(struct searching *s, const dn_run *run, dn_train_request *training,
                   struct problem *problem) {
    struct session session = {.searching = s};
    const dn_run own = run_of(&session, run);
    dn_search_request request;
    dn_search_result result = {0};
    dn_error err;
    dn_error_clear(&err);
    if (!jobs_search_expand(s->request, s->arena, problem) ||
        !search_request_of(s, &session, training, &request, problem)) {
        return false;
    }
    bool good = dn_search(&request, &own, &result, &err) == DN_OK;
    if (!good && err.code == DN_ERR_TIME && request.seconds > 0 &&
        own.elapsed(&own) >= request.seconds) {
        problem_set(problem, PROBLEM_JOB_TIME,
                    "the time limit of the search, %g s (search.seconds), ended before its first "
                    "trial",
                    s->request->search->seconds);
    } else if (!good) {
        jobs_problem_from_core(&err, s->request, problem);
    } else {
        const enum stop_reason why = mailbox_stopped(s->mailbox);
        good = why != STOP_DRAIN && why != STOP_LOST &&
               take_winner(s, &result, &request, training, problem);
    }
    if (good) {
        end_search(s);
        log_info("job.searched", log_int("job", s->job->id),
                 log_int("tried", (int64_t)result.n_trials), log_int("complete", result.complete),
                 log_str("algorithm", s->request->algorithm->id));
    }
    dn_search_result_done(&result);
    buf_done(&session.trial);
    buf_done(&session.text);
    return good;
}

void searching_write(const struct searching *s, const dn_train_result *result, struct buf *out) {
    const struct jobs_search *search = s->request->search;
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_string(&w, "metric", dn_metric_name(search->metric));
    json_kv_string(&w, "rule", search->one_standard_error ? "one_standard_error" : "best");
    json_kv_int(&w, "combinations", (int64_t)search->n);
    json_kv_int(&w, "tried", (int64_t)s->n_tried);
    json_kv_bool(&w, "complete", s->complete);
    json_kv_int(&w, "rows", (int64_t)s->n_rows);
    json_kv_begin_object(&w, "winner");
    json_kv_int(&w, "candidate", (int64_t)s->candidate);
    json_put_raw(&w, s->winner + 1, strlen(s->winner) - 2);
    json_end_object(&w);
    if (search->combine > 0) {
        json_kv_double(&w, "combination", s->combined);
    }
    json_kv_begin_object(&w, "inner");
    json_kv_double(&w, "mean", s->mean);
    json_kv_double(&w, "standard_error", s->error);
    json_end_object(&w);
    json_kv_double(&w, "outer",
                   result->validation != NULL ? dn_metric_value(result->validation, search->metric)
                                              : (double)NAN);
    json_end_object(&w);
}
