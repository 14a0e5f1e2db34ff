/* Runs a claimed job: opens the dataset, calls dn_train, stages the model's bytes, and writes the
 * job's end in one transaction. */
#include "jobs/training.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "jobs/budget.h"
#include "jobs/decision.h"
#include "jobs/documents.h"
#include "jobs/promotion.h"
#include "jobs/ranks/ranks.h"
#include "jobs/result.h"
#include "jobs/search/searching.h"
#include "jobs/staging.h"
#include "jobs/tables.h"
#include "jobs/team.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SECONDS 1e9 /* a longer limit in nanoseconds would overflow int64_t */

/* The state of one run; dn_run.ctx points to it. */
struct training {
    struct store *store;
    const struct jobs_settings *settings;
    const struct store_job *job;
    struct mailbox *mailbox;
    struct arena arena;
    struct jobs_request request;
    struct budget budget;
    struct team *team;
    struct buf curve;              /* the learning curve as JSON; empty: none */
    struct buf search;             /* what the search found, as JSON; empty: none */
    struct buf ranks;              /* the ranks that trained, as JSON; empty: none */
    struct handover_rows handed;   /* the held-out rows that they predicted */
    bool crashed;                  /* a rank has died */
    int64_t began_ns, deadline_ns; /* monotonic clock; deadline_ns 0: no time limit */
};

/* A trained model whose job has not ended yet, and the documents of the end. */
struct success {
    struct promotion_subject subject;
    struct result_predictions predictions;
    struct promotion promotion;
    const char *rule; /* document of the decision rule; NULL: none */
    struct buf result, info, warnings;
};

static double training_elapsed(const dn_run *run) {
    const struct training *t = run->ctx;
    return (double)(clock_monotonic_ns() - t->began_ns) * 1e-9;
}

static dn_status training_stop(const dn_run *run) {
    const struct training *t = run->ctx;
    if (mailbox_stopped(t->mailbox) != STOP_NOT) {
        return DN_ERR_STOPPED;
    }
    if (t->deadline_ns && clock_monotonic_ns() > t->deadline_ns) {
        return DN_ERR_TIME;
    }
    return DN_OK;
}

static void training_progress(const dn_run *run, const dn_progress *progress) {
    const struct training *t = run->ctx;
    mailbox_report(t->mailbox, progress, training_elapsed(run));
}

static dn_status training_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                               dn_error *err) {
    const struct training *t = run->ctx;
    return team_each(t->team, run, rows, fn, arg, err);
}

/* Waits before the next try: 0.25 s, 0.5 s … 15 s, in steps of 0.1 s. A drain ends the wait; a
 * cancellation and the loss of the job end it if there is a success to be written. */
static void wait_for_retry(const struct training *t, int tries, bool success) {
    int64_t until =
        clock_monotonic_ns() + (tries < 6 ? (int64_t)250000000 << tries : (int64_t)15000000000);
    while (!mailbox_draining(t->mailbox) && !(success && mailbox_stopped(t->mailbox) != STOP_NOT) &&
           clock_monotonic_ns() < until) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

/* Stages a model's bytes. Retries until the store succeeds, the failure is permanent, or the
 * training is asked to stop. */
static bool stage_model(const struct training *t, const struct staging_model *model, int64_t *part,
                        int64_t *predictions, struct problem *problem) {
    const struct store_claim claim = store_job_claim_of(t->job);
    for (int tries = 0; !staging_write(t->store, &claim, model, part, predictions, problem);
         tries++) {
        log_error("job.stage", log_int("job", t->job->id), log_int("try", tries + 1),
                  log_str("detail", problem->detail));
        if (problem->permanent) {
            return false;
        }
        if (problem->type == PROBLEM_CONFLICT) {
            mailbox_stop(t->mailbox, STOP_LOST);
        }
        wait_for_retry(t, tries, true);
        if (mailbox_stopped(t->mailbox) != STOP_NOT) {
            return false;
        }
        problem_done(problem);
    }
    return true;
}

static void success_done(struct success *s) {
    promotion_done(&s->promotion);
    buf_done(&s->result);
    buf_done(&s->info);
    buf_done(&s->warnings);
}

/* Decides whether the model becomes live, and sets the documents of the end. On failure *s and *end
 * are unchanged. */
static bool describe(const struct training *t, struct success *s, struct store_job_end *end,
                     struct problem *problem) {
    struct success new = {.subject = s->subject, .predictions = s->predictions, .rule = s->rule};
    bool good = promotion_decide(&new.subject, &new.promotion, problem);
    if (good) {
        const dn_train_result *result = new.subject.result;
        const char *before = buf_cstr(&new.promotion.warnings);
        result_write(result, &new.promotion, &new.predictions, new.rule,
                     t->curve.size > 0 ? t->curve.data : NULL,
                     t->search.size > 0 ? t->search.data : NULL,
                     t->ranks.size > 0 ? t->ranks.data : NULL, &new.result);
        result_model_info_write(result, &t->request, new.subject.trained, t->job->id, &new.info);
        result_warnings_write(result, &t->request, before, &new.warnings);
        good = (buf_cstr(&new.result) && buf_cstr(&new.info) && buf_cstr(&new.warnings)) ||
               problem_no_memory(problem);
    }
    if (!good) {
        success_done(&new);
        return false;
    }
    success_done(s);
    *s = new;
    end->result = buf_cstr(&s->result);
    end->model_info = buf_cstr(&s->info);
    end->warnings = buf_cstr(&s->warnings);
    end->promotion =
        t->request.promotion.kind == JOBS_PROMOTE_ALWAYS ? NULL : &s->promotion.decision;
    return true;
}

/* Replaces a success by another end and drops the staged model. */
static void give_up_success(const struct training *t, struct store_job_end *end,
                            enum store_job_state state, const char *error) {
    store_part_drop(t->store, end->model_part);
    end->state = state;
    end->error = error;
    end->result = end->model_info = end->rule = NULL;
    end->model_part = end->model_bytes = end->prediction_bytes = 0;
    if (state == STORE_JOB_QUEUED) {
        end->progress = NULL;
    }
}

/* After a failure to write a success: replaces the success if the data are damaged or the model
 * exceeds the quota of its owner (the job fails), if a user cancelled the job, or if the daemon ends
 * or the staged model is lost (the job goes back to the queue and is trained again). Returns false
 * if the success is to be tried again. */
static bool replace_success(const struct training *t, struct store_job_end *end,
                            const struct problem *problem, struct buf *doc) {
    const enum stop_reason why = mailbox_stopped(t->mailbox);
    if (problem->permanent || problem->type == PROBLEM_QUOTA_EXCEEDED) {
        problem_write(problem, "", NULL, doc);
        give_up_success(t, end, STORE_JOB_FAILED, buf_cstr(doc));
    } else if (why == STOP_CANCELLED) {
        give_up_success(t, end, STORE_JOB_CANCELLED, NULL);
    } else if (why == STOP_DRAIN || store_part_failed(t->store, end->model_part)) {
        give_up_success(t, end, STORE_JOB_QUEUED, NULL);
    } else {
        return false;
    }
    return true;
}

/* Writes the job's end. Retries until the write succeeds or the claim is lost: space on a full disk
 * may become free, and a job that stayed "running" would pin its dataset until the next start. The
 * reporter renews the lease meanwhile. If the daemon ends before a write succeeds, the next start
 * queues the job again. If another version of the model became live since the decision, decides
 * again.
 *
 *   s  NULL: the job ends without a model */
static bool write_end(struct training *t, struct store_job_end *end, struct success *s,
                      int64_t *version) {
    struct buf doc = {0};
    bool good = false, over = false;
    for (int tries = 0; !over; tries++) {
        struct problem problem = {0};
        const bool success = end->state == STORE_JOB_SUCCEEDED;
        good = store_job_end(t->store, end, version, &problem);
        if (s != NULL && success && problem.type == PROBLEM_PRECONDITION_FAILED) {
            problem_done(&problem);
            if (describe(t, s, end, &problem)) {
                continue;
            }
        }
        over = good || problem.type == PROBLEM_CONFLICT ||
               (success && mailbox_stopped(t->mailbox) == STOP_LOST);
        if (!good) {
            log_error("job.end", log_int("job", end->claim.job), log_int("try", tries + 1),
                      log_str("state", store_job_state_name(end->state)),
                      log_str("detail", problem.detail));
        }
        if (over || (success && replace_success(t, end, &problem, &doc))) {
            /* done, or the other end is tried at once */
        } else if (mailbox_draining(t->mailbox)) {
            over = true;
        } else {
            wait_for_retry(t, tries, success);
        }
        problem_done(&problem);
    }
    if (!good && end->model_part != 0) {
        store_part_drop(t->store, end->model_part);
    }
    buf_done(&doc);
    return good;
}

/* Writes the job's end with the progress and history that were not delivered yet. s: as for
 * write_end. */
static void finish(struct training *t, struct store_job_end *end, struct success *s) {
    struct buf progress = {0};
    struct store_history_row *rows = NULL;
    size_t n_rows = 0;
    int64_t version = 0;
    const double elapsed = (double)(clock_monotonic_ns() - t->began_ns) * 1e-9;
    if (end->state == STORE_JOB_SUCCEEDED) {
        mailbox_complete(t->mailbox, elapsed);
    }
    mailbox_take(t->mailbox, &rows, &n_rows, &progress);
    end->claim = store_job_claim_of(t->job);
    end->progress = end->state == STORE_JOB_QUEUED ? NULL : buf_cstr(&progress);
    end->rows = rows;
    end->n_rows = n_rows;
    end->keep_versions = t->settings->keep_versions;
    if (t->settings->max_bytes != NULL && t->job->submitted_by != NULL) {
        end->max_bytes = t->settings->max_bytes(t->settings->max_bytes_arg, t->job->submitted_by);
    }
    if (write_end(t, end, s, &version)) {
        log_info("job.finished", log_int("job", end->claim.job),
                 log_str("state", store_job_state_name(end->state)),
                 log_str("model", t->job->model), log_int("version", version),
                 log_dbl("seconds", elapsed));
    }
    mailbox_rows_free(rows, n_rows);
    buf_done(&progress);
}

/* Writes the end of a run that made no model. */
static void finish_without(struct training *t, struct problem *problem) {
    enum stop_reason why = mailbox_stopped(t->mailbox);
    struct store_job_end end = {.state = STORE_JOB_FAILED};
    struct buf doc = {0};
    if (why == STOP_LOST) { /* another worker has claimed the job: write nothing */
        log_warn("job.lost", log_int("job", t->job->id));
    } else if (why == STOP_CANCELLED || why == STOP_DRAIN || problem->lost) {
        /* without the database the job waits until it can be trained again */
        end.state = why == STOP_CANCELLED ? STORE_JOB_CANCELLED : STORE_JOB_QUEUED;
        finish(t, &end, NULL);
    } else if (t->crashed && t->job->attempts < t->settings->attempts) {
        log_warn("job.crashed", log_int("job", t->job->id), log_int("attempt", t->job->attempts),
                 log_str("detail", problem->detail));
        end.state = STORE_JOB_QUEUED;
        end.crashed = true;
        finish(t, &end, NULL);
    } else {
        problem_write(problem, "", NULL, &doc);
        end.error = buf_cstr(&doc);
        finish(t, &end, NULL);
    }
    buf_done(&doc);
}

/* Returns the predictions of the held-out rows; NULL: there are none.
 *
 *   own  those of this process; NULL: none */
static const dn_held_out *predictions_of(const struct training *t, const dn_held_out *own) {
    return t->handed.bytes != NULL ? &t->handed.rows : own;
}

/* Stages the bytes of the trained model and writes the job's end, result, warnings and the model's
 * description. Frees and clears the predictions, so that the comparison with the live version has
 * their memory. */
static bool finish_with(struct training *t, const struct jobs_tables *tables,
                        const dn_train_request *request, const dn_run *run,
                        const dn_train_result *result, dn_held_out **predicted, const char *rule,
                        struct problem *problem) {
    void *bytes = NULL;
    size_t size = 0;
    const dn_held_out *rows = predictions_of(t, *predicted);
    dn_error err;
    dn_error_clear(&err);
    if (dn_model_write(result->model, &bytes, &size, &err) != DN_OK) {
        jobs_problem_from_core(&err, &t->request, problem);
        return false;
    }
    int64_t part = 0, prediction_bytes = 0;
    const struct result_predictions predictions = {.n = rows != NULL ? rows->n : 0,
                                                   .probabilities =
                                                       rows != NULL && rows->probabilities};
    const struct staging_model staged = {.bytes = bytes,
                                         .size = size,
                                         .held_out = {.rows = rows,
                                                      .model = result->model,
                                                      .folds = request->folds > 0}};
    bool good = stage_model(t, &staged, &part, &prediction_bytes, problem);
    free(bytes);
    dn_held_out_free(*predicted);
    *predicted = NULL;
    handover_rows_done(&t->handed);
    if (!good) {
        return false;
    }
    const bool held_out = request->holdout > 0 || request->folds > 0 || request->marked;
    struct success s = {.subject = {.store = t->store,
                                    .request = &t->request,
                                    .trained = &tables->dataset,
                                    .validated = tables->validation ? &tables->validation_dataset
                                                 : held_out         ? &tables->dataset
                                                                    : NULL,
                                    .training = request,
                                    .run = run,
                                    .result = result,
                                    .posted = t->job->warnings},
                        .predictions = predictions,
                        .rule = rule};
    struct store_job_end end = {.state = STORE_JOB_SUCCEEDED,
                                .model_part = part,
                                .model_bytes = (int64_t)size,
                                .prediction_bytes = prediction_bytes,
                                .rule = rule,
                                .algorithm =
                                    t->request.search != NULL ? t->request.algorithm->id : NULL};
    good = describe(t, &s, &end, problem);
    if (good) {
        finish(t, &end, &s);
    } else {
        store_part_drop(t->store, part);
    }
    success_done(&s);
    return good;
}

static dn_run run_of(struct training *t) {
    dn_run run = dn_run_default();
    run.seed = t->request.seed;
    run.allocator = &t->budget.allocator;
    run.n_slots = team_size(t->team);
    run.each = training_each;
    run.stop = training_stop;
    run.elapsed = training_elapsed;
    run.progress = training_progress;
    run.snapshots = t->request.snapshots;
    run.n_snapshots = t->request.n_snapshots;
    run.updates = t->request.of_updates;
    run.ctx = t;
    return run;
}

/* Computes the learning curve, if the job asks for one. */
static bool learn_curve(struct training *t, const dn_train_request *request, const dn_run *run,
                        dn_train_result *result, struct problem *problem) {
    const struct jobs_request *r = &t->request;
    struct json_writer w = json_writer_of(&t->curve);
    dn_learning_point *points = NULL;
    dn_error err;
    dn_error_clear(&err);
    if (r->n_shares == 0) {
        return true;
    }
    if (request->n_members > 0) {
        dn_report_warn(&result->report, DN_WARNING_OTHER,
                       "there is no learning curve: a combination has none");
        return true;
    }
    if (dn_learning_curve(request, r->shares, r->n_shares, run, &points, &err) != DN_OK) {
        jobs_problem_from_core(&err, r, problem);
        return false;
    }
    result_curve_write(points, r->n_shares, &w);
    dn_learning_curve_free(points);
    return buf_cstr(&t->curve) != NULL || problem_no_memory(problem);
}

/* Appends the document of the decision rule that the job asks for. If no threshold can be chosen,
 * the model gets no rule, and a warning has the reason. Returns false if memory is short. */
static bool make_rule(const struct training *t, dn_train_result *result, const dn_held_out *rows,
                      bool folds, struct buf *out, struct problem *problem) {
    struct problem why = {0};
    struct decision d;
    if (t->request.decision == NULL) {
        return true;
    }
    json_t *object = json_parse(t->request.decision, strlen(t->request.decision), &why);
    struct decision_rows held = {.folds = folds};
    if (rows != NULL) {
        held.n = rows->n;
        held.p = rows->values;
        held.truth = rows->truth;
        held.weight = rows->weight;
    }
    if (object != NULL && decision_read(object, "/decision", &d, &why) &&
        !decision_write(&d, "/decision", result->model, rows != NULL ? &held : NULL, out, &why)) {
        buf_clear(out);
        dn_report_warn(&result->report, DN_WARNING_OTHER, "the model has no decision rule: %s",
                       why.n_errors > 0 ? why.errors[0].detail : "");
    }
    const bool good = why.type == PROBLEM_NONE || why.type == PROBLEM_INVALID;
    if (!good) {
        problem_move(problem, &why);
    }
    problem_done(&why);
    json_decref(object);
    return good;
}

/* Sets the time limit: limits.seconds from now. */
static void begin_time(struct training *t) {
    const double seconds = t->request.limits.seconds;
    t->deadline_ns =
        seconds > 0 ? clock_monotonic_ns() + (int64_t)(fmin(seconds, MAX_SECONDS) * 1e9) : 0;
}

/* Searches for the algorithm of the job, if it asks for that. The time limit of the job then begins
 * again for the training of the winner. */
static bool search(struct training *t, struct searching *s, const dn_run *run,
                   dn_train_request *request, struct problem *problem) {
    if (t->request.search == NULL) {
        return true;
    }
    *s = (struct searching){.store = t->store,
                            .job = t->job,
                            .mailbox = t->mailbox,
                            .request = &t->request,
                            .arena = &t->arena,
                            .last_attempt =
                                t->job->attempts > 1 && t->job->attempts >= t->settings->attempts};
    if (!searching_run(s, run, request, problem)) {
        return false;
    }
    begin_time(t);
    return true;
}

/* Writes what the search found, if there was one. */
static bool describe_search(struct training *t, const struct searching *s, dn_train_result *result,
                            struct problem *problem) {
    if (t->request.search == NULL) {
        return true;
    }
    if (!s->complete) {
        dn_report_warn(&result->report, DN_WARNING_OTHER,
                       "the search is not complete%s: the winner is the best of %zu of %zu "
                       "candidates; without a trial: %s",
                       s->last_attempt ? ", since the daemon ended while it ran" : "", s->n_tried,
                       t->request.search->n, s->untried);
    }
    searching_write(s, result, &t->search);
    return buf_cstr(&t->search) != NULL || problem_no_memory(problem);
}

/* Trains. If a combination has won the search and cannot be trained, trains the best candidate. */
static bool fit(struct training *t, struct searching *searching, const dn_run *run,
                dn_train_request *request, dn_train_result *result, struct problem *problem) {
    dn_error err;
    dn_error_clear(&err);
    dn_status status = dn_train(request, run, result, &err);
    if (request->n_members > 0 &&
        (status == DN_ERR_BUDGET || status == DN_ERR_NUMERIC || status == DN_ERR_DATA)) {
        const dn_error why = err;
        dn_error_clear(&err);
        if (!searching_take_best(searching, request, problem)) {
            return false;
        }
        status = dn_train(request, run, result, &err);
        if (status == DN_OK) {
            dn_report_warn(&result->report, DN_WARNING_OTHER,
                           "the combination that won the search could not be trained, so this is "
                           "the best candidate: %.300s",
                           why.message);
        }
    }
    if (status != DN_OK) {
        jobs_problem_from_core(&err, &t->request, problem);
    }
    return status == DN_OK;
}

/* Trains by several ranks. */
static bool fit_by_ranks(struct training *t, dn_train_result *result, struct problem *problem) {
    const int64_t most = t->settings->ranks;
    const struct ranks_training training = {.launcher = t->settings->launcher,
                                            .job = t->job->id,
                                            .ranks = t->request.limits.ranks < most
                                                         ? t->request.limits.ranks
                                                         : most,
                                            .request = &t->request,
                                            .mailbox = t->mailbox,
                                            .began_ns = t->began_ns,
                                            .deadline_ns = t->deadline_ns};
    struct ranks_result out = {.result = result, .rows = &t->handed};
    const bool good = ranks_train(&training, &out, problem);
    t->crashed = out.lost;
    if (good) {
        struct json_writer w = json_writer_of(&t->ranks);
        json_begin_object(&w);
        json_kv_int(&w, "count", training.ranks);
        json_kv_int(&w, "exchanges", (int64_t)out.exchanges);
        json_kv_int(&w, "sent_bytes", (int64_t)out.sent_bytes);
        json_end_object(&w);
        if (buf_cstr(&t->ranks) == NULL) {
            dn_train_result_done(result);
            return problem_no_memory(problem);
        }
    }
    return good;
}

static bool train(struct training *t, const struct jobs_tables *tables, const dn_run *run,
                  struct problem *problem) {
    struct searching searching = {0};
    dn_train_request request;
    dn_held_out *held_out = NULL;
    struct buf rule = {0};
    if (!jobs_tables_request(tables, &t->request, run, &t->arena, &request, problem) ||
        !search(t, &searching, run, &request, problem)) {
        return false;
    }
    dn_train_result *result = calloc(1, sizeof *result);
    if (!result) {
        return problem_no_memory(problem);
    }
    request.held_out = t->request.held_out ? &held_out : NULL;
    bool good = t->request.limits.ranks > 1 && t->settings->launcher != NULL &&
                        !launcher_ended(t->settings->launcher)
                    ? fit_by_ranks(t, result, problem)
                    : fit(t, &searching, run, &request, result, problem);
    if (good) {
        good =
            describe_search(t, &searching, result, problem) &&
            learn_curve(t, &request, run, result, problem) &&
            make_rule(t, result, predictions_of(t, held_out), request.folds > 0, &rule, problem) &&
            finish_with(t, tables, &request, run, result, &held_out,
                        rule.size > 0 ? buf_cstr(&rule) : NULL, problem);
        buf_done(&rule);
        dn_held_out_free(held_out);
        dn_train_result_done(result);
    }
    free(result);
    return good;
}

static bool prepare_and_train(struct training *t, struct problem *problem) {
    struct jobs_tables tables = {0};
    if (!jobs_request_read_stored(t->job->spec, &t->arena, &t->request, problem)) {
        return false;
    }
    /* another daemon, with other limits, may have taken the request */
    jobs_limits_lower(&t->request.limits,
                      &(struct jobs_limits){.seconds = t->settings->seconds,
                                            .memory_bytes = t->settings->memory_bytes,
                                            .threads = t->settings->train_threads});
    begin_time(t);
    budget_init(&t->budget, jobs_training_memory(t->request.limits.memory_bytes));
    if (!team_start((size_t)t->request.limits.threads, &t->team, problem)) {
        return false;
    }
    const dn_run run = run_of(t);
    const bool good = jobs_tables_open(t->store, t->job, &t->request, team_size(t->team), &run,
                                       &t->arena, &tables, problem) &&
                      train(t, &tables, &run, problem);
    jobs_tables_close(&tables);
    team_stop(t->team);
    return good;
}

void training_run(struct store *store, const struct jobs_settings *settings,
                  const struct store_job *job, struct mailbox *mailbox) {
    struct training t = {.store = store,
                         .settings = settings,
                         .job = job,
                         .mailbox = mailbox,
                         .began_ns = clock_monotonic_ns()};
    struct problem problem = {0};
    arena_init(&t.arena, 0);
    const struct store_claim claim = store_job_claim_of(job);
    mailbox_open(mailbox, &claim);
    log_info("job.started", log_int("job", job->id), log_str("model", job->model),
             log_str("algorithm", job->algorithm), log_str("dataset", job->dataset),
             log_int("version", job->dataset_version), log_int("attempt", job->attempts));
    if (!prepare_and_train(&t, &problem)) {
        finish_without(&t, &problem);
    }
    mailbox_close(mailbox);
    problem_done(&problem);
    jobs_request_done(&t.request);
    buf_done(&t.curve);
    buf_done(&t.search);
    buf_done(&t.ranks);
    handover_rows_done(&t.handed);
    arena_done(&t.arena);
}
