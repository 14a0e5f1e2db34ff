/* Model search: the rounds of a strategy, trial by trial. */
#include <discern/search.h>

#include "base/argument.h"
#include "number/number_text.h"
#include "search/search_combine.h"
#include "search/search_order.h"
#include "search/search_rank.h"
#include "search/search_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ETA = 3, /* halving: the share of candidates that is dropped after a round is 1 − 1/ETA */
    LEAST_ROWS = 1000 /* halving: the least number of rows of the first round */
};

struct search {
    const dn_search_request *request;
    const dn_run *whole;
    dn_run run;   /* without progress, with the time limit; its ctx is this struct */
    double until; /* end of the time, by dn_run.elapsed */
    dni_search_folds folds;
    bool smaller;         /* smaller values of the metric are better */
    dn_trial *trials;     /* [n_candidates + 1] the latest trial of each candidate, whose index is
                           * `candidate`; then that of the combination */
    double *values;       /* [(n_candidates + 1) × folds.n], then the members of the combination */
    size_t *order;        /* [n_candidates] candidates of the present round, ascending */
    size_t *family;       /* [n_candidates] see dni_search_order */
    size_t *leaders;      /* [n_candidates] a candidate of each family */
    size_t *arranged;     /* [n_candidates] `order` under a time limit */
    const size_t *list;   /* the candidates that are tried next: order, leaders or arranged */
    bool *tried;          /* [n_candidates + 1] */
    size_t n_done, n_all; /* trials */
    dn_error first;       /* the error of the first candidate that failed */
};

/* ---- the run ---- */
static const struct search *search_of(const dn_run *run) {
    return run->ctx;
}

static dn_status search_stop(const dn_run *run) {
    const struct search *s = search_of(run);
    const dn_status status = s->whole->stop == NULL ? DN_OK : s->whole->stop(s->whole);
    return status != DN_OK ? status : dn_run_elapsed(s->whole) > s->until ? DN_ERR_TIME : DN_OK;
}

static double search_elapsed(const dn_run *run) {
    return dn_run_elapsed(search_of(run)->whole);
}

static dn_status search_sum(const dn_run *run, const dn_rows *rows, const dn_sum *sum, double *out,
                            dn_error *err) {
    return dn_run_sum(search_of(run)->whole, rows, sum, out, err);
}

static dn_status search_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                             dn_error *err) {
    return dn_run_each(search_of(run)->whole, rows, fn, arg, err);
}

static void begin_run(struct search *s, const dn_run *whole) {
    const double seconds = s->request->known_only ? 0 : s->request->seconds;
    s->whole = whole;
    s->until = seconds > 0 ? dn_run_elapsed(whole) + seconds : (double)INFINITY;
    s->run = *whole;
    s->run.progress = NULL;
    s->run.snapshots = NULL;
    s->run.n_snapshots = 0;
    s->run.updates = false;
    s->run.stop = search_stop;
    s->run.elapsed = search_elapsed;
    s->run.sum = search_sum;
    s->run.each = search_each;
    s->run.ctx = s;
}

/* ---- checks ---- */
static dn_status refuse(dn_error *err, const char *field, const char *message) {
    return dni_request_refuse(field, message, err);
}

static dn_status check(const dn_search_request *r, const dn_run *run, dn_error *err) {
    dn_status status = dni_argument_not_null(r, "request", err);
    if (status == DN_OK) {
        status = dni_argument_struct(r->struct_size, sizeof *r, "request", err);
    }
    if (status == DN_OK) {
        status = dni_argument_not_null(r->training, "request->training", err);
    }
    if (status == DN_OK) {
        status = dni_argument_source(r->training->source, "request->training->source", err);
    }
    if (status == DN_OK) {
        status = dni_argument_run(run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (r->candidates == NULL || r->n_candidates == 0) {
        return refuse(err, "candidates", "there are no candidates");
    }
    for (size_t c = 0; c < r->n_candidates; c++) {
        const dn_params *params = r->candidates[c].params;
        if (params == NULL || (params->algorithm->flags & DN_ALGORITHM_TARGET) == 0) {
            return refuse(err, "candidates",
                          params == NULL ? "the params of a candidate must not be NULL"
                                         : "the algorithm of a candidate has no target");
        }
    }
    if (r->training->folds > 0) {
        return refuse(err, "folds", "the validation of a search must not be folds");
    }
    if (r->training->target == DN_NO_TARGET) {
        return refuse(err, "target", "a search needs a target");
    }
    if (r->marked && (r->folds > 0 || r->repeats > 1 || r->grouped || r->ordered)) {
        return refuse(err, "mark", "marks exclude folds, repeats, groups and an order");
    }
    if (r->marked && r->mark >= r->training->source->n_cols) {
        return refuse(err, "mark", "must be a column of the table");
    }
    if (!r->marked && r->folds != DN_LEAVE_ONE_OUT && (r->folds < 2 || r->folds > DN_MAX_FOLDS)) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "the number of folds must be from 2 to %d (got %zu)",
                                         DN_MAX_FOLDS, r->folds),
                            "folds", -1, err);
    }
    if (r->combine == 1 || r->combine > DN_MAX_MEMBERS) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "combine must be from 2 to %d, or 0 for none (got %zu)",
                                         DN_MAX_MEMBERS, r->combine),
                            "combine", -1, err);
    }
    if (dn_metric_name(r->metric) == NULL) {
        return refuse(err, "metric", "there is no such metric");
    }
    return DN_OK;
}

/* Returns the request whose folds are those of the search. */
static dn_train_request inner_request(const dn_search_request *r) {
    dn_train_request inner = *r->training;
    inner.params = r->candidates[0].params;
    inner.features = (dn_encoder_spec){0};
    inner.holdout = 0;
    inner.validation = NULL;
    inner.marked = false;
    inner.curves = false;
    inner.folds = r->folds;
    inner.repeats = r->repeats;
    if (r->training->grouped && !r->grouped) {
        inner.calibration_grouped = true;
        inner.calibration_group = r->training->group;
    }
    inner.grouped = r->grouped;
    inner.group = r->group;
    inner.ordered = r->ordered;
    inner.order = r->order;
    if (r->marked) {
        inner.folds = 1; /* that of the rows marked for the comparison */
        inner.mark = r->mark;
    }
    return inner;
}

/* ---- trials ---- */
static void report(struct search *s, const dn_trial *trial) {
    s->n_done++;
    if (s->request->trial != NULL) {
        s->request->trial(s->request->ctx, trial);
    }
    if (s->whole->progress != NULL) {
        const dn_progress progress = {.iteration = s->n_done,
                                      .max_iterations = s->n_all,
                                      .fraction = (double)s->n_done / (double)s->n_all,
                                      .loss = (double)NAN,
                                      .gradient_norm = (double)NAN,
                                      .train_error = (double)NAN};
        s->whole->progress(s->whole, &progress);
    }
}

/* Returns the known trial of a candidate; NULL: none. */
static const dn_trial *known_trial(const struct search *s, size_t candidate, double share) {
    for (size_t i = 0; i < s->request->n_known; i++) {
        const dn_trial *t = &s->request->known[i];
        if (t->candidate == candidate && t->share == share &&
            (t->n_values == 0 || t->n_values == s->folds.n)) {
            return t;
        }
    }
    return NULL;
}

static dn_search_member *members_of(const struct search *s) {
    return (dn_search_member *)(void *)(s->values + (s->request->n_candidates + 1) * s->folds.n);
}

/* Takes a known trial; that of a combination has passed can_be_members. */
static dn_trial take_known(struct search *s, const dn_trial *known, double *values) {
    dn_trial trial = *known;
    if (known->n_values > 0) {
        memcpy(values, known->values, known->n_values * sizeof *values);
        trial.values = values;
    }
    trial.members = NULL;
    trial.n_members = 0;
    if (known->candidate == s->request->n_candidates) {
        memcpy(members_of(s), known->members, known->n_members * sizeof *known->members);
        trial.members = members_of(s);
        trial.n_members = known->n_members;
    }
    s->n_done++;
    return trial;
}

/* Makes the trial of candidate c, or takes it from the known ones. */
static dn_status try_candidate(struct search *s, size_t c, double share, dn_error *err) {
    double *values = s->values + c * s->folds.n;
    const dn_trial *known = known_trial(s, c, share);
    dn_trial trial = {.candidate = c, .share = share};
    if (known != NULL) {
        trial = take_known(s, known, values);
    } else {
        dn_status status =
            s->request->known_only
                ? dn_error_set(err, DN_ERR_TIME, "there is no time for a further trial")
                : dn_run_stop(&s->run, err);
        if (status == DN_OK) {
            status = dni_search_try(&s->folds, &s->request->candidates[c], s->request->metric,
                                    values, NULL, &trial, err);
        }
        if (status != DN_OK) {
            return status;
        }
        report(s, &trial);
    }
    if (trial.status != DN_OK && s->first.code == DN_OK) {
        (void)dni_error_at(dn_error_set(&s->first, trial.status, "%s", trial.message), trial.field,
                           -1, &s->first);
    }
    s->trials[c] = trial;
    s->tried[c] = true;
    return DN_OK;
}

/* ---- rounds ---- */
static size_t n_rounds(const struct search *s) {
    const double folds = (double)s->folds.request.folds;
    size_t rounds = 1, candidates = s->request->n_candidates;
    /* the training rows of the smallest fit: the first block of an order, or all but one fold */
    double rows = (double)(s->request->marked ? s->folds.n_rows - s->folds.folds[0].n_held_out
                                              : s->folds.n_rows) *
                  (s->request->marked         ? 1
                   : s->folds.request.ordered ? 1 / (folds + 1)
                                              : (folds - 1) / folds);
    while (s->request->strategy == DN_SEARCH_HALVING && candidates > 1 &&
           rows >= (double)ETA * LEAST_ROWS) {
        candidates = (candidates + ETA - 1) / ETA;
        rows /= ETA;
        rounds++;
    }
    return rounds;
}

/* The number of trials of all rounds. */
static size_t count_trials(size_t n_candidates, size_t rounds) {
    size_t n = 0;
    for (; rounds > 0; rounds--) {
        n += n_candidates;
        n_candidates = (n_candidates + ETA - 1) / ETA;
    }
    return n;
}

/* Compares candidate numbers. */
static int ascending(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Keeps the best third of the candidates order[*n], in their given order. */
static dn_status drop_worst(struct search *s, size_t *n, dn_error *err) {
    dn_trial *ranked = malloc((*n + 1) * sizeof *ranked);
    if (ranked == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu trials", *n);
    }
    for (size_t i = 0; i < *n; i++) {
        ranked[i] = s->trials[s->order[i]];
    }
    dni_search_sort(ranked, *n, s->smaller);
    *n = (*n + ETA - 1) / ETA;
    for (size_t i = 0; i < *n; i++) {
        s->order[i] = ranked[i].candidate;
    }
    free(ranked);
    qsort(s->order, *n, sizeof *s->order, ascending);
    return DN_OK;
}

/* Tries the candidates s->list [n], except those that were tried in this round. */
static dn_status try_list(struct search *s, size_t n, double share, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        const size_t c = s->list[i];
        if (!s->tried[c] || s->trials[c].share != share) {
            status = try_candidate(s, c, share, err);
        }
    }
    return status;
}

/* Tries the candidates s->order [n]; under a time limit in the order of search_order.h. */
static dn_status run_round(struct search *s, size_t n, double share, dn_error *err) {
    const dni_search_order o = {s->family, s->trials, s->tried, s->smaller};
    s->list = s->order;
    if (s->request->seconds > 0) {
        size_t n_leaders = dni_search_leaders(&o, s->order, n, s->leaders);
        s->list = s->leaders;
        dn_status status = try_list(s, n_leaders, share, err);
        if (status != DN_OK) {
            return status;
        }
        n_leaders = dni_search_leaders(&o, s->order, n, s->leaders);
        dni_search_arrange(&o, s->order, n, s->leaders, n_leaders, s->arranged);
        s->list = s->arranged;
    }
    return try_list(s, n, share, err);
}

/* Numbers the families of the candidates. */
static void find_families(struct search *s) {
    const dn_candidate *candidates = s->request->candidates;
    for (size_t c = 1; c < s->request->n_candidates; c++) {
        const dn_candidate *a = &candidates[c - 1], *b = &candidates[c];
        s->family[c] = s->family[c - 1] + (a->params->algorithm != b->params->algorithm ||
                                           !dni_search_same_features(&a->features, &b->features));
    }
}

static dn_status run_rounds(struct search *s, dn_error *err) {
    const size_t rounds = n_rounds(s);
    size_t n = s->request->n_candidates;
    s->n_all = count_trials(n, rounds) + (s->request->combine > 0);
    for (size_t i = 0; i < n; i++) {
        s->order[i] = i;
    }
    for (size_t round = 0; round < rounds; round++) {
        const double share = pow(ETA, -(double)(rounds - 1 - round));
        dn_status status = round > 0 ? drop_worst(s, &n, err) : DN_OK;
        status = status == DN_OK ? run_round(s, n, share, err) : status;
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* ---- the combination ---- */
static bool can_be_members(const struct search *s, const dn_trial *t) {
    bool good = t->n_members <= s->request->combine && (t->status != DN_OK || t->n_members >= 2);
    for (size_t m = 0; good && m < t->n_members; m++) {
        good = t->members[m].candidate < s->request->n_candidates && t->members[m].share > 0 &&
               isfinite(t->members[m].share);
    }
    return good;
}

/* Makes the trial of the combination of the candidates that were tried, or takes it from the known
 * ones. */
static dn_status try_combination(struct search *s, dn_error *err) {
    const size_t c = s->request->n_candidates;
    const dn_trial *known = known_trial(s, c, 1);
    double *values = s->values + c * s->folds.n;
    dn_trial trial = {.candidate = c, .share = 1};
    if (known != NULL && can_be_members(s, known)) {
        trial = take_known(s, known, values);
    } else if (s->request->known_only) {
        return dn_error_set(err, DN_ERR_TIME, "there is no time for a further trial");
    } else {
        dn_trial *ranked = malloc((c + 1) * sizeof *ranked);
        size_t n = 0;
        if (ranked == NULL) {
            return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu trials", c);
        }
        for (size_t i = 0; i < c; i++) {
            if (s->tried[i]) {
                ranked[n++] = s->trials[i];
            }
        }
        dni_search_sort(ranked, n, s->smaller);
        const dn_status status = dni_search_combine(&s->folds, s->request, ranked, n, values,
                                                    members_of(s), &trial, err);
        free(ranked);
        if (status != DN_OK) {
            return status;
        }
        report(s, &trial);
    }
    s->trials[c] = trial;
    s->tried[c] = true;
    return DN_OK;
}

/* Whether there is a combination to try: some candidate succeeded. */
static bool combines(const struct search *s) {
    bool any = false;
    for (size_t c = 0; c < s->request->n_candidates && s->request->combine > 0; c++) {
        any = any || (s->tried[c] && s->trials[c].status == DN_OK);
    }
    return any;
}

/* ---- the result ---- */
static dn_status finish(struct search *s, dn_status ended, dn_error *err, dn_search_result *out) {
    size_t n = 0;
    for (size_t c = 0; c <= s->request->n_candidates; c++) {
        if (s->tried[c]) {
            s->trials[n++] = s->trials[c];
        }
    }
    dni_search_sort(s->trials, n, s->smaller);
    if (n == 0 || s->trials[0].status != DN_OK) {
        if (ended == DN_OK && err != NULL) {
            *err = s->first;
        }
        return ended == DN_OK ? s->first.code : ended;
    }
    const size_t n_candidates = s->request->n_candidates,
                 best = dni_search_choose(s->trials, n, s->request->candidates, n_candidates,
                                          s->request->rule, s->smaller),
                 winner = dni_search_combination_wins(s->trials, n_candidates) ? 0 : best;
    *out = (dn_search_result){.trials = s->trials,
                              .n_trials = n,
                              .winner = s->trials[winner].candidate,
                              .best = s->trials[best].candidate,
                              .complete = ended == DN_OK,
                              .n_rows = s->folds.n_rows,
                              .memory = s->values};
    s->trials = NULL;
    s->values = NULL;
    return DN_OK;
}

dn_status dn_search(const dn_search_request *request, const dn_run *run, dn_search_result *out,
                    dn_error *err) {
    const dn_run fallback = dn_run_default();
    dn_error stopped;
    dn_error_clear(&stopped);
    dn_status status = check(request, run, err);
    if (status == DN_OK) {
        status = dni_argument_not_null(out, "out", err);
    }
    if (status != DN_OK) {
        return status;
    }
    const size_t n = request->n_candidates;
    const dn_train_request inner = inner_request(request);
    struct search s = {.request = request, .smaller = dn_metric_is_loss(request->metric)};
    dn_error_clear(&s.first);
    status = dni_division_check(&inner, err);
    if (status != DN_OK) {
        return status;
    }
    begin_run(&s, run == NULL ? &fallback : run);
    status =
        dni_search_folds_init(&s.folds, request->training, &inner, request->marked, &s.run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    s.trials = calloc(n + 1, sizeof *s.trials);
    s.values = calloc(1, (n + 1) * s.folds.n * sizeof *s.values +
                             request->combine * sizeof(dn_search_member));
    s.order = calloc(n, sizeof *s.order);
    s.tried = calloc(n + 1, sizeof *s.tried);
    s.family = calloc(n, sizeof *s.family);
    s.leaders = calloc(n, sizeof *s.leaders);
    s.arranged = calloc(n, sizeof *s.arranged);
    if (s.trials == NULL || s.values == NULL || s.order == NULL || s.tried == NULL ||
        s.family == NULL || s.leaders == NULL || s.arranged == NULL) {
        status = dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu candidates", n);
        goto cleanup;
    }
    find_families(&s);
    status = run_rounds(&s, &stopped);
    if (status == DN_OK && combines(&s)) {
        status = try_combination(&s, &stopped);
    }
    if (status != DN_OK && status != DN_ERR_STOPPED && status != DN_ERR_TIME) {
        if (err != NULL) {
            *err = stopped;
        }
        goto cleanup;
    }
    if (status != DN_OK && err != NULL) {
        *err = stopped;
    }
    status = finish(&s, status, err, out);
    if (status == DN_OK && err != NULL) {
        dn_error_clear(err);
    }
cleanup:
    dni_search_folds_done(&s.folds);
    free(s.trials);
    free(s.values);
    free(s.order);
    free(s.tried);
    free(s.family);
    free(s.leaders);
    free(s.arranged);
    return status;
}

double dn_search_memory(const dn_train_request *training, size_t folds, size_t repeats,
                        size_t combine, size_t n_rows, size_t n_classes) {
    const size_t n_repeats = repeats > 1 ? repeats : 1;
    return dni_search_folds_memory(training, folds, n_repeats, n_rows, n_classes) +
           dni_combination_memory(combine, folds, n_repeats, n_rows, n_classes);
}

void dn_search_result_done(dn_search_result *result) {
    free(result->trials);
    free(result->memory);
    *result = (dn_search_result){0};
}
