/* Reads, checks and writes the member "search" of a job. */
#include "jobs/request/search/job_search.h"

#include "jobs/documents.h"
#include "jobs/request/job_split.h"
#include "jobs/request/params.h"
#include "jobs/request/search/search_space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    USUAL_FOLDS = 5,
    SMALL_FOLDS = 10,    /* of candidates "auto" ... */
    SMALL_ROWS = 1000,   /* ... with fewer rows than this */
    USUAL_TRIALS = 60,   /* of strategy random */
    MOST_TRIALS = 1000,  /* of strategy random */
    HALVING_TRIALS = 30, /* strategy auto: halving with more combinations ... */
    HALVING_ROWS = 10000 /* ... and at least so many rows */
};
#define AUTO_SECONDS 600.0 /* time limit of candidates "auto" */
#define MAX_SECONDS 1e9

static const char parent[] = "/search", place[] = "/search/candidates";
static const char *const strategies[] = {"auto", "grid", "random", "halving", NULL};
enum { STRATEGY_AUTO, STRATEGY_GRID, STRATEGY_RANDOM, STRATEGY_HALVING };
static const char *const rules[] = {"best", "one_standard_error", NULL};

static bool is_auto(const json_t *candidates) {
    return json_is_string(candidates) && strcmp(json_string_value(candidates), "auto") == 0;
}

/* Writes a tree as text in the arena; NULL after setting the problem. */
static const char *text_of(const json_t *value, struct arena *arena, struct problem *problem) {
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    json_put_value(value, &w);
    const char *copy = buf_cstr(&text) != NULL ? arena_strdup(arena, buf_cstr(&text)) : NULL;
    buf_done(&text);
    if (copy == NULL) {
        (void)problem_no_memory(problem);
    }
    return copy;
}

/* ---- options ---- */

static void read_strategy(const json_t *object, struct jobs_search *s, struct problem *problem) {
    size_t strategy = STRATEGY_AUTO, rule = 0;
    int64_t trials = 0;
    json_read_choice(object, "strategy", false, parent, strategies, &strategy, problem);
    json_read_choice(object, "rule", false, parent, rules, &rule, problem);
    s->one_standard_error = rule == 1;
    s->halving = strategy == STRATEGY_HALVING || strategy == STRATEGY_AUTO;
    const bool given =
        json_read_int(object, "trials", false, parent, 1, MOST_TRIALS, &trials, problem);
    if (strategy == STRATEGY_RANDOM) {
        s->trials = given ? (size_t)trials : USUAL_TRIALS;
    } else if (given) {
        json_fault(problem, parent, "trials", "is for strategy random");
    }
}

/* Whether a metric of many rows is the mean of that of each row. */
static bool is_of_rows(size_t metric) {
    static const char *const names[] = {"accuracy",      "error",     "log_loss",
                                        "brier",         "hinge",     "squared_loss",
                                        "logistic_loss", "ambiguous", NULL};
    size_t i = 0;
    while (names[i] != NULL && strcmp(names[i], dn_metric_name(metric)) != 0) {
        i++;
    }
    return names[i] != NULL;
}

static void read_leave_one_out(const json_t *object, struct jobs_search *s,
                               struct problem *problem) {
    const json_t *repeats = json_object_get(object, "repeats");
    s->folds = DN_LEAVE_ONE_OUT;
    s->repeats = 1;
    if (repeats != NULL && !json_is_null(repeats)) {
        json_fault(problem, parent, "repeats", "needs a number of folds");
    } else if (s->split.by != JOBS_SPLIT_NONE) {
        json_fault(problem, parent, "folds",
                   "\"leave_one_out\" excludes group and order, and column");
    } else if (!is_of_rows(s->metric)) {
        json_fault(problem, parent, "folds",
                   "\"leave_one_out\" needs a metric of single rows, such as log_loss, brier or "
                   "accuracy; a row has no %s",
                   dn_metric_name(s->metric));
    }
}

/* Reads "folds" and "repeats". The metric and the split are known. */
static void read_folds(const json_t *object, struct jobs_search *s, struct problem *problem) {
    static const char *const numbers[] = {"folds", "repeats", NULL};
    const char *word = json_string_value(json_object_get(object, "folds"));
    int64_t folds = USUAL_FOLDS, repeats = 1;
    if (word != NULL && strcmp(word, JOBS_LEAVE_ONE_OUT) == 0) {
        read_leave_one_out(object, s, problem);
        return;
    }
    for (size_t i = 0; s->split.by == JOBS_SPLIT_COLUMN && numbers[i] != NULL; i++) {
        const json_t *value = json_object_get(object, numbers[i]);
        if (value != NULL && !json_is_null(value)) {
            json_fault(problem, parent, "column",
                       "excludes %s: the column says which rows compare the candidates",
                       numbers[i]);
        }
    }
    if (s->split.by == JOBS_SPLIT_COLUMN) {
        return;
    }
    json_read_int(object, "folds", false, parent, 2, DN_MAX_FOLDS, &folds, problem);
    json_read_int(object, "repeats", false, parent, 1, DN_MAX_REPEATS, &repeats, problem);
    if (folds * repeats > DN_MAX_FOLDS) {
        json_fault(problem, parent, "repeats",
                   "%" PRId64 " repeats of %" PRId64 " folds are more than %d fits", repeats, folds,
                   DN_MAX_FOLDS);
    }
    s->folds = (size_t)folds;
    s->repeats = (size_t)repeats;
}

/* Refuses what needs standard errors, which the one fit of a column does not have. */
static void refuse_without_error(const struct jobs_search *s, struct problem *problem) {
    if (s->split.by == JOBS_SPLIT_COLUMN && (s->one_standard_error || s->combine > 0)) {
        json_fault(problem, parent, s->combine > 0 ? "combine" : "rule",
                   "needs folds: with column there is one fit of each candidate, and no standard "
                   "error");
    }
}

static void read_options(const json_t *object, struct arena *arena, struct jobs_search *s,
                         struct problem *problem) {
    static const char *const known[] = {"candidates", "metric",  "folds",   "repeats",  "group",
                                        "order",      "column",  "seconds", "strategy", "trials",
                                        "rule",       "combine", NULL};
    int64_t combine = 0;
    json_refuse_unknown(object, known, parent, problem);
    while (strcmp(dn_metric_name(s->metric), "log_loss") != 0) {
        s->metric++;
    }
    jobs_metric_read(object, parent, &s->metric, problem);
    json_read_int(object, "combine", false, parent, 2, DN_MAX_MEMBERS, &combine, problem);
    s->combine = (size_t)combine;
    jobs_split_read_search(object, arena, &s->split, problem);
    read_folds(object, s, problem);
    if (json_read_number(object, "seconds", false, parent, &s->seconds, problem) &&
        !(s->seconds > 0 && s->seconds <= MAX_SECONDS)) {
        json_fault(problem, parent, "seconds", "must be > 0 and <= %g, got %g", MAX_SECONDS,
                   s->seconds);
    }
    read_strategy(object, s, problem);
    refuse_without_error(s, problem);
}

void jobs_search_read(struct jobs_request *r, const json_t *root) {
    static const char *const others[] = {"algorithm", "params", "snapshots", "snapshots_of", NULL};
    const json_t *object = NULL;
    struct jobs_search *s = arena_alloc(r->arena, sizeof *s);
    if (s == NULL || dn_params_new(dn_algorithm_find("logistic"), &r->params, NULL) != DN_OK) {
        (void)problem_no_memory(r->problem);
        return;
    }
    *s = (struct jobs_search){0};
    r->search = s;
    r->algorithm = r->params->algorithm;
    for (size_t i = 0; others[i] != NULL; i++) {
        const json_t *value = json_object_get(root, others[i]);
        if (value != NULL && !json_is_null(value)) {
            json_fault(r->problem, "", others[i], "excludes search, which %s",
                       i < 2 ? "has the algorithms and parameters in its candidates"
                             : "keeps no snapshots");
        }
    }
    if (!json_read_object(root, "search", true, "", &object, r->problem)) {
        return;
    }
    read_options(object, r->arena, s, r->problem);
    const json_t *candidates = json_read_any(object, "candidates", true, parent, r->problem);
    if (candidates != NULL && !json_is_array(candidates) && !is_auto(candidates)) {
        json_refuse_value(r->problem, parent, "candidates", "\"auto\" or a list of objects",
                          candidates);
    }
    if (is_auto(candidates) && s->seconds == 0) {
        s->seconds = AUTO_SECONDS;
    }
}

/* ---- candidates ---- */

/* What expand needs. */
struct expansion {
    struct jobs_search *search;
    const json_t *common;
    const struct jobs_column *inputs;
    size_t n_inputs;
    uint64_t seed;
    struct arena *arena;
    struct problem *problem;
};

/* Adds the faults of one candidate, whose pointers begin at the candidate. Returns false. */
static bool add_faults(const struct problem *own, size_t item, struct problem *problem) {
    if (own->type != PROBLEM_INVALID) {
        return problem_set(problem, own->type, "%s", own->detail != NULL ? own->detail : "");
    }
    for (size_t i = 0; i < own->n_errors; i++) {
        struct buf pointer = {0};
        json_pointer_index(&pointer, place, item);
        buf_puts(&pointer, own->errors[i].pointer != NULL ? own->errors[i].pointer : "");
        problem_add(problem, PROBLEM_INVALID, buf_cstr(&pointer), "%s",
                    own->errors[i].detail != NULL ? own->errors[i].detail : "");
        buf_done(&pointer);
    }
    return false;
}

/* Parses the options of "features" for one candidate: its own, and the common ones that it does not
 * have. */
static json_t *merge_features(const json_t *common, const json_t *own, struct problem *problem) {
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    json_t *merged = NULL;
    const json_t *const both[] = {common, own};
    json_begin_object(&w);
    for (size_t k = 0; k < 2; k++) {
        for (void *at = json_object_iter((json_t *)(uintptr_t)both[k]); at != NULL;
             at = json_object_iter_next((json_t *)(uintptr_t)both[k], at)) {
            const char *key = json_object_iter_key(at);
            if (k == 1 || json_object_get(own, key) == NULL) {
                json_put_key(&w, key);
                json_put_value(json_object_iter_value(at), &w);
            }
        }
    }
    json_end_object(&w);
    if (buf_cstr(&text) != NULL) {
        merged = json_parse(text.data, text.size, problem);
    } else {
        (void)problem_no_memory(problem);
    }
    buf_done(&text);
    return merged;
}

static const char *encoding_text(const struct expansion *e, const struct jobs_features *f) {
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    json_begin_object(&w);
    jobs_features_write(f, e->inputs, e->n_inputs, &w);
    json_end_object(&w);
    const char *copy = buf_cstr(&text) != NULL ? arena_strdup(e->arena, buf_cstr(&text)) : NULL;
    buf_done(&text);
    return copy;
}

/* Finds the encoding, or adds it. texts: [n_encodings] each encoding as text */
static bool find_encoding(const struct expansion *e, const struct jobs_features *f,
                          const char **texts, size_t *out) {
    struct jobs_search *s = e->search;
    const char *text = encoding_text(e, f);
    size_t i = 0;
    if (text == NULL) {
        return problem_no_memory(e->problem);
    }
    while (i < s->n_encodings && strcmp(texts[i], text) != 0) {
        i++;
    }
    if (i == s->n_encodings) {
        texts[i] = text;
        s->encodings[i] = *f;
        s->n_encodings++;
    }
    *out = i;
    return true;
}

/* Reads one combination. Faults are relative to it. */
static bool read_candidate(const struct expansion *e, const json_t *root, const char **texts,
                           struct jobs_candidate *c, struct problem *own) {
    jobs_params_read(root, e->arena, &c->params, own);
    if (own->type != PROBLEM_NONE) {
        return false;
    }
    json_t *features = merge_features(e->common, json_object_get(root, "features"), own);
    struct jobs_features f = jobs_features_default(c->params);
    if (features != NULL) {
        jobs_features_read(features, "/features", e->inputs, e->n_inputs, e->arena, &f, own);
    }
    json_decref(features);
    if (f.automatic) {
        f.automatic = false;
        f.categorical = dn_params_drops_first(c->params) ? DN_DROP_FIRST : DN_ONE_HOT;
    }
    return own->type == PROBLEM_NONE &&
           (find_encoding(e, &f, texts, &c->encoding) || problem_no_memory(own));
}

/* Expands the candidates. Of the faults of the combinations of one object, those of the first
 * combination with a fault are reported. */
static bool expand(const struct expansion *e, const json_t *candidates) {
    struct jobs_search *s = e->search;
    struct search_point *points = NULL;
    size_t n = 0, refused = SIZE_MAX;
    const struct search_space_options options = {.draws = s->trials, .seed = e->seed};
    if (!search_space_expand(candidates, place, &options, e->arena, &points, &n, e->problem)) {
        return false;
    }
    const char **texts = arena_alloc(e->arena, (n + 1) * sizeof *texts);
    s->list = arena_alloc(e->arena, (n + 1) * sizeof *s->list);
    s->encodings = arena_alloc(e->arena, (n + 1) * sizeof *s->encodings);
    if (texts == NULL || s->list == NULL || s->encodings == NULL) {
        return problem_no_memory(e->problem);
    }
    for (size_t i = 0; i < n && e->problem->type != PROBLEM_UNAVAILABLE; i++) {
        struct problem own = {0};
        if (points[i].item == refused) {
            continue;
        }
        json_t *root = json_parse(points[i].text, strlen(points[i].text), &own);
        struct jobs_candidate *c = &s->list[s->n++];
        *c = (struct jobs_candidate){.item = points[i].item, .text = points[i].text};
        if (root == NULL || !read_candidate(e, root, texts, c, &own)) {
            refused = points[i].item;
            (void)add_faults(&own, refused, e->problem);
        }
        json_decref(root);
        problem_done(&own);
    }
    return e->problem->type == PROBLEM_NONE;
}

/* ---- checks ---- */

/* Reads the encoding of a candidate for the parameters of the request. */
static void read_encoding(struct jobs_request *r, const struct jobs_candidate *c,
                          const json_t *common) {
    json_t *root = json_parse(c->text, strlen(c->text), r->problem);
    json_t *features =
        root != NULL ? merge_features(common, json_object_get(root, "features"), r->problem) : NULL;
    r->n_entries = 0;
    if (features != NULL) {
        jobs_encoding_read(r, features);
    }
    json_decref(features);
    json_decref(root);
}

/* Checks what depends on the parameters. */
static void check_params(struct jobs_request *r) {
    const char *rule = r->decision != NULL ? "decision" : "conformal";
    dn_error err;
    dn_error_clear(&err);
    if (!dn_params_have_metric(r->params, r->n_classes, r->search->metric)) {
        json_fault(r->problem, "/params", NULL,
                   "%s with these parameters has no %s for %zu classes, by which the candidates "
                   "are compared: choose another metric, or set calibrate if the algorithm has it",
                   r->algorithm->id, dn_metric_name(r->search->metric), r->n_classes);
    } else if ((r->decision != NULL || r->conformal.coverage > 0) &&
               !dn_params_have_probabilities(r->params, r->n_classes)) {
        json_fault(r->problem, "/params", NULL,
                   "%s with these parameters has no probabilities, which \"%s\" needs: set "
                   "calibrate if the algorithm has it",
                   r->algorithm->id, rule);
    } else if (dn_params_check_classes(r->params, r->n_classes, &err) != DN_OK) {
        jobs_params_fault(&err, r->problem);
    } else {
        (void)jobs_request_check_shape(r);
    }
}

/* Sets the request to candidate i and checks it. encoded: the candidate before it has the same
 * encoding, which the request has. Adds faults to r->problem, relative to the candidate. */
static void check_one(struct jobs_request *r, size_t i, bool encoded, const json_t *common) {
    const struct jobs_candidate *c = &r->search->list[i];
    dn_params_free(r->params);
    r->params = NULL;
    if (dn_params_copy(c->params, &r->params, NULL) != DN_OK) {
        (void)problem_no_memory(r->problem);
        return;
    }
    r->algorithm = r->params->algorithm;
    if (!encoded) {
        read_encoding(r, c, common);
    }
    if (r->problem->type == PROBLEM_NONE) {
        check_params(r);
    }
}

/* Whether candidate i has the object and the encoding of the one before it. */
static bool is_alike(const struct jobs_search *s, size_t i) {
    return i > 0 && s->list[i].item == s->list[i - 1].item &&
           s->list[i].encoding == s->list[i - 1].encoding;
}

/* Checks the candidates, and sets the request to the one that needs the most memory. Of each object
 * the faults of one candidate are reported. */
static void check_candidates(struct jobs_request *r, const json_t *common) {
    const struct jobs_search *s = r->search;
    struct problem *all = r->problem;
    size_t most = 0, refused = SIZE_MAX;
    double memory = -1;
    for (size_t i = 0; i < s->n; i++) {
        struct problem own = {0};
        if (s->list[i].item == refused) {
            continue;
        }
        r->problem = &own;
        check_one(r, i, is_alike(s, i), common);
        const double needed = own.type == PROBLEM_NONE ? jobs_request_memory(r) : 0;
        r->problem = all;
        if (own.type != PROBLEM_NONE) {
            refused = s->list[i].item;
            (void)add_faults(&own, refused, all);
        }
        if (needed > memory) {
            memory = needed;
            most = i;
        }
        problem_done(&own);
    }
    if (all->type == PROBLEM_NONE) {
        check_one(r, most, false, common);
    }
}

/* Checks that there is something to combine. */
static void check_combination(struct jobs_request *r) {
    const struct jobs_search *s = r->search;
    const dn_algorithm *first = NULL;
    for (size_t i = 0; i < s->n && s->combine > 0; i++) {
        const dn_params *params = s->list[i].params;
        if (!dn_params_have_probabilities(params, r->n_classes)) {
            continue;
        }
        if (first != NULL && first != params->algorithm) {
            return;
        }
        first = params->algorithm;
    }
    if (s->combine > 0) {
        json_fault(r->problem, parent, "combine",
                   "needs candidates of at least two algorithms with probabilities, which %s",
                   first == NULL ? "none has: set calibrate if the algorithm has it"
                                 : "are combined; there is one");
    }
}

/* Checks that the folds can have rows. */
static void check_fold_rows(struct jobs_request *r) {
    const size_t folds = r->search->folds;
    const int64_t rows = r->data.n_rows - r->target_missing;
    const double searched = floor((double)rows * (1 - r->holdout));
    if (folds == DN_LEAVE_ONE_OUT) {
        if (searched > DN_MAX_FOLDS) {
            json_fault(r->problem, parent, "folds",
                       "\"leave_one_out\" is for at most %d rows, and %.0f are searched",
                       DN_MAX_FOLDS, searched);
        }
    } else if (rows < (int64_t)folds) {
        json_fault(r->problem, parent, "folds",
                   "must be at most the number of rows, %" PRId64 ", got %zu", rows, folds);
    } else if (searched < (double)folds) {
        json_fault(r->problem, "/validation", "holdout",
                   "leaves %.0f of %" PRId64 " rows to the search, and each of its %zu folds needs "
                   "at least one",
                   searched, rows, folds);
    }
}

/* Checks the division of the validation, which the folds of the search keep. A holdout takes a
 * group, or a value of the order. */
static void check_inherited(struct jobs_request *r) {
    const struct jobs_split *split = &r->split;
    const bool ordered = split->by == JOBS_SPLIT_ORDER;
    const size_t folds = r->search->folds, least = ordered ? folds + 1 : folds;
    if (split->column.name == NULL) {
        return;
    }
    const struct schema_column *c = &r->schema.columns[split->column.index];
    if (c->distinct >= 0 && c->distinct - (r->holdout > 0) < (int64_t)least) {
        json_fault(r->problem, parent, "folds",
                   "column \"%s\" of the validation has %" PRId64
                   " %s%s, and %zu folds need %zu: use fewer folds",
                   c->name, c->distinct, ordered ? "different values" : "groups",
                   r->holdout > 0 ? ", the holdout takes at least one" : "", folds, least);
    }
}

/* Candidates "auto" of a small table are compared on more folds, whose fits have more rows. */
static void choose_folds(struct jobs_request *r, const json_t *object) {
    const json_t *folds = json_object_get(object, "folds"),
                 *repeats = json_object_get(object, "repeats");
    const double rows = floor((double)(r->data.n_rows - r->target_missing) * (1 - r->holdout));
    if (is_auto(json_object_get(object, "candidates")) && (folds == NULL || json_is_null(folds)) &&
        (repeats == NULL || json_is_null(repeats)) && rows >= 10 * SMALL_FOLDS &&
        rows < SMALL_ROWS && jobs_split_of_search(r)->by == JOBS_SPLIT_NONE) {
        r->search->folds = SMALL_FOLDS;
    }
}

static void check_rows(struct jobs_request *r) {
    const struct jobs_search *s = r->search;
    const struct jobs_split *split = jobs_split_of_search(r);
    check_fold_rows(r);
    if (split == &s->split && split->by != JOBS_SPLIT_NONE) {
        jobs_split_check_search(r);
    } else if (s->folds == DN_LEAVE_ONE_OUT) {
        if (split->by == JOBS_SPLIT_GROUP || split->by == JOBS_SPLIT_ORDER) {
            json_fault(r->problem, parent, "folds",
                       "\"leave_one_out\" does not keep the %s of the validation: use a number of "
                       "folds",
                       split->by == JOBS_SPLIT_GROUP ? "groups" : "order");
        }
    } else if (split->by != JOBS_SPLIT_GROUP && split->by != JOBS_SPLIT_ORDER) {
        jobs_folds_warn(r, (int64_t)s->folds);
    } else {
        check_inherited(r);
    }
    if (split->by == JOBS_SPLIT_ORDER && s->repeats > 1) {
        json_fault(r->problem, parent, "repeats",
                   "must be 1 with order: the blocks of an order are always the same");
    }
    if (r->folds > 0) {
        json_fault(r->problem, "/validation", "folds",
                   "excludes search: the validation is outside of the folds of the search, and is "
                   "a holdout, a column or another dataset");
    }
}

/* Returns the options of "features" that concern all candidates: without the choice of inputs. */
static const char *common_text(struct jobs_request *r, const json_t *root) {
    const json_t *features = json_object_get(root, "features");
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    json_begin_object(&w);
    for (void *at = json_object_iter((json_t *)(uintptr_t)features); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)features, at)) {
        const char *key = json_object_iter_key(at);
        if (strcmp(key, "include") != 0 && strcmp(key, "exclude") != 0) {
            json_put_key(&w, key);
            json_put_value(json_object_iter_value(at), &w);
        }
    }
    json_end_object(&w);
    const char *copy = buf_cstr(&text) != NULL ? arena_strdup(r->arena, buf_cstr(&text)) : NULL;
    buf_done(&text);
    if (copy == NULL) {
        (void)problem_no_memory(r->problem);
    }
    return copy;
}

/* Chooses the strategy "auto". */
static void choose_strategy(struct jobs_request *r, const json_t *object) {
    const char *given = json_string_value(json_object_get(object, "strategy"));
    if (given == NULL || strcmp(given, strategies[STRATEGY_AUTO]) == 0) {
        r->search->halving = r->search->n > HALVING_TRIALS && r->data.n_rows >= HALVING_ROWS;
    }
}

/* Whether the columns and the memory allow candidate i. encoded: as for check_one */
static bool is_fit(struct jobs_request *r, size_t i, bool encoded, const json_t *common) {
    struct problem own = {0}, *all = r->problem;
    r->problem = &own;
    check_one(r, i, encoded, common);
    const bool fits =
        own.type == PROBLEM_NONE &&
        jobs_request_memory(r) <= (double)jobs_training_memory(r->limits.memory_bytes);
    r->problem = all;
    problem_done(&own);
    return fits;
}

/* Returns the candidates "auto" that the columns and the memory allow, as text; all of them if they
 * allow none, so that the checks say why. */
static const char *choose_fit(struct jobs_request *r, const json_t *candidates,
                              const json_t *common) {
    const struct jobs_search *s = r->search;
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    size_t n = 0;
    json_begin_array(&w);
    for (size_t i = 0, item = 0; item < json_array_size(candidates); item++) {
        bool fits = true;
        for (; i < s->n && s->list[i].item == item; i++) {
            fits = fits && is_fit(r, i, is_alike(s, i), common);
        }
        if (fits) {
            json_put_value(json_array_get(candidates, item), &w);
            n++;
        }
    }
    json_end_array(&w);
    const char *chosen = s->candidates;
    if (n > 0) {
        chosen = buf_cstr(&text) != NULL ? arena_strdup(r->arena, buf_cstr(&text)) : NULL;
    }
    buf_done(&text);
    if (chosen == NULL) {
        (void)problem_no_memory(r->problem);
    }
    return chosen;
}

static json_t *parse_candidates(const struct jobs_search *s, struct problem *problem) {
    return json_parse(s->candidates, strlen(s->candidates), problem);
}

static bool expand_for(struct jobs_request *r, const json_t *common, const json_t *candidates) {
    const struct expansion e = {.search = r->search,
                                .common = common,
                                .inputs = r->inputs,
                                .n_inputs = r->n_inputs,
                                .seed = r->seed,
                                .arena = r->arena,
                                .problem = r->problem};
    return expand(&e, candidates);
}

void jobs_search_check(struct jobs_request *r, const json_t *root) {
    struct jobs_search *s = r->search;
    const json_t *object = json_object_get(root, "search"),
                 *given = json_object_get(object, "candidates");
    json_t *candidates = NULL, *common = NULL;
    if (r->problem->type != PROBLEM_NONE) {
        return;
    }
    choose_folds(r, object);
    check_rows(r);
    s->common = common_text(r, root);
    common = s->common != NULL ? json_parse(s->common, strlen(s->common), r->problem) : NULL;
    s->candidates = r->problem->type != PROBLEM_NONE ? NULL
                    : is_auto(given)                 ? jobs_search_auto(r)
                                                     : text_of(given, r->arena, r->problem);
    candidates = s->candidates != NULL ? parse_candidates(s, r->problem) : NULL;
    bool good = candidates != NULL && expand_for(r, common, candidates);
    if (good && is_auto(given)) {
        s->candidates = choose_fit(r, candidates, common);
        json_decref(candidates);
        candidates = s->candidates != NULL ? parse_candidates(s, r->problem) : NULL;
        jobs_search_done(s);
        good = candidates != NULL && expand_for(r, common, candidates);
    }
    if (good) {
        check_candidates(r, common);
        check_combination(r);
        choose_strategy(r, object);
    }
    json_decref(candidates);
    json_decref(common);
}

void jobs_search_done(struct jobs_search *search) {
    for (size_t i = 0; search != NULL && i < search->n; i++) {
        dn_params_free(search->list[i].params);
    }
    if (search != NULL) {
        search->n = search->n_encodings = 0;
    }
}

/* ---- the stored form ---- */

void jobs_search_write(const struct jobs_request *r, bool stored, struct json_writer *w) {
    const struct jobs_search *s = r->search;
    json_kv_begin_object(w, "search");
    json_kv_raw(w, "candidates", s->candidates);
    json_kv_string(w, "metric", dn_metric_name(s->metric));
    if (s->folds == DN_LEAVE_ONE_OUT) {
        json_kv_string(w, "folds", JOBS_LEAVE_ONE_OUT);
    } else if (s->split.by != JOBS_SPLIT_COLUMN) {
        json_kv_int(w, "folds", (int64_t)s->folds);
        json_kv_int(w, "repeats", (int64_t)s->repeats);
    }
    jobs_split_write(&s->split, w);
    if (s->seconds > 0) {
        json_kv_double(w, "seconds", s->seconds);
    }
    json_kv_string(w, "strategy",
                   strategies[s->trials > 0 ? STRATEGY_RANDOM
                              : s->halving  ? STRATEGY_HALVING
                                            : STRATEGY_GRID]);
    if (s->trials > 0) {
        json_kv_int(w, "trials", (int64_t)s->trials);
    }
    json_kv_string(w, "rule", rules[s->one_standard_error]);
    if (s->combine > 0) {
        json_kv_int(w, "combine", (int64_t)s->combine);
    }
    json_end_object(w);
    if (stored) {
        json_kv_raw(w, "search_features", s->common);
    }
}

bool jobs_search_read_stored(const json_t *root, struct arena *arena, struct jobs_request *r,
                             struct problem *problem) {
    const json_t *object = json_object_get(root, "search"),
                 *common = json_object_get(root, "search_features");
    struct jobs_search *s = NULL;
    if (object == NULL || json_is_null(object)) {
        return true;
    }
    s = arena_alloc(arena, sizeof *s);
    if (s == NULL) {
        return problem_no_memory(problem);
    }
    *s = (struct jobs_search){0};
    r->search = s;
    read_options(object, arena, s, problem);
    s->candidates = text_of(json_object_get(object, "candidates"), arena, problem);
    s->common = text_of(common, arena, problem);
    return problem->type == PROBLEM_NONE;
}

bool jobs_search_expand(struct jobs_request *r, struct arena *arena, struct problem *problem) {
    struct jobs_search *s = r->search;
    json_t *candidates = parse_candidates(s, problem),
           *common = json_parse(s->common, strlen(s->common), problem);
    const struct expansion e = {.search = s,
                                .common = common,
                                .inputs = r->inputs,
                                .n_inputs = r->n_inputs,
                                .seed = r->seed,
                                .arena = arena,
                                .problem = problem};
    const bool good = candidates != NULL && common != NULL && expand(&e, candidates);
    json_decref(candidates);
    json_decref(common);
    return good;
}
