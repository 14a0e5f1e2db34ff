/* The outputs of a prediction for each row, their cost, and the memory for them. */
#include "api/predictions/outputs.h"
#include "api/predictions/plan.h"
#include "api/support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ROWS: maximum number of rows of a slice. NUMBERS: maximum number of results of a slice. The
 * results then fit the processor's cache. */
enum { ROWS = 1024, NUMBERS = 32 * 1024 };
/* Largest value of ?top=. */
enum { MAX_TOP = 1000 };
/* Maximum number of multiplications of a slice. */
#define AT_ONCE 5e8

static const struct {
    const char *name;
    unsigned bit;
} known[] = {{"label", ANSWER_LABEL},
             {"probabilities", ANSWER_PROBABILITIES},
             {"scores", ANSWER_SCORES},
             {"distance", ANSWER_DISTANCE},
             {"contributions", ANSWER_CONTRIBUTIONS},
             {"ambiguous", ANSWER_AMBIGUOUS},
             {"log_density", ANSWER_LOG_DENSITY},
             {"prior", ANSWER_PRIOR},
             {"posterior", ANSWER_POSTERIOR},
             {"set", ANSWER_SET}};
enum { N_KNOWN = sizeof known / sizeof known[0] };

/* Returns the bit of the output with this name; 0: unknown. */
static unsigned find(const char *at, size_t n) {
    for (size_t i = 0; i < N_KNOWN; i++) {
        if (strlen(known[i].name) == n && memcmp(known[i].name, at, n) == 0) {
            return known[i].bit;
        }
    }
    return 0;
}

bool api_outputs_parse(const char *text, unsigned *out) {
    unsigned bits = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        unsigned bit = find(at, n);
        if (!bit) {
            return false;
        }
        bits |= bit;
        at += n;
        if (!*at) {
            break;
        }
    }
    *out = bits;
    return true;
}

bool api_coordinates_read(struct http_call *call, dn_coordinates *out) {
    static const char *const names[] = {[DN_COORDINATES_DIRECTIONS] = "directions",
                                        [DN_COORDINATES_BASIS] = "basis",
                                        [DN_COORDINATES_HIDDEN] = "hidden",
                                        [DN_COORDINATES_SCORES] = "scores"};
    const char *text = http_query(call, "of");
    *out = DN_COORDINATES_DIRECTIONS;
    for (size_t i = 0; text != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (dn_coordinates)i;
            return true;
        }
    }
    if (text != NULL) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"of\" must be directions, basis, hidden or scores, got "
                  "\"%.60s\"",
                  text);
    }
    return text == NULL;
}

bool api_outputs_read(struct http_call *call, unsigned *out) {
    const char *text = http_query(call, "output");
    *out = API_OUTPUTS_USUAL;
    if (!text || api_outputs_parse(text, out)) {
        return true;
    }
    http_fail(call, PROBLEM_BAD_REQUEST,
              "query parameter \"output\" must be a list of label, probabilities, scores, "
              "distance, contributions, ambiguous, "
              "log_density, prior, posterior, set, got \"%.100s\"",
              text);
    return false;
}

bool api_decision_read(struct http_call *call, dn_labels *out) {
    const char *text = http_query(call, "decision");
    *out = text == NULL                  ? DN_LABELS_OF_MODEL
           : strcmp(text, "scores") == 0 ? DN_LABELS_SCORES
                                         : DN_LABELS_PROBABILITIES;
    if (text != NULL && *out != DN_LABELS_SCORES && strcmp(text, "probabilities") != 0) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"decision\" must be probabilities or scores, got \"%.60s\"",
                  text);
        return false;
    }
    return true;
}

bool api_threshold_read(struct http_call *call, bool decision, bool *given, double *out) {
    const char *text = http_query(call, "threshold");
    *given = text != NULL;
    if (text == NULL) {
        return true;
    }
    if (!dn_number_parse(text, strlen(text), out) || !(*out >= 0 && *out <= 1)) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"threshold\" must be a number from 0 to 1, got \"%.60s\"",
                  text);
        return false;
    }
    if (decision) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"threshold\" excludes \"decision\": each of them chooses the "
                  "labels");
        return false;
    }
    return true;
}

bool api_threshold_rule(const dn_model *model, double threshold, dn_rule *out,
                        struct problem *problem) {
    const dn_rule *own = dn_model_rule(model);
    const size_t n = dn_model_classes(model)->n;
    if (n != 2 || !dn_model_has_probabilities(model)) {
        return problem_set(
            problem, PROBLEM_BAD_REQUEST,
            n != 2 ? "query parameter \"threshold\" separates two classes, and the model has %zu"
                   : "query parameter \"threshold\" needs probabilities, and the model has none",
            n);
    }
    *out = (dn_rule){.n_classes = n,
                     .by_threshold = true,
                     .positive = own != NULL && own->by_threshold ? own->positive : 1,
                     .threshold = threshold};
    return true;
}

bool api_explain_read(struct http_call *call, unsigned outputs, struct api_explain *out) {
    const char *baseline = http_query(call, "baseline");
    int64_t top = 0;
    *out = (struct api_explain){0};
    if (baseline && strcmp(baseline, "mean") != 0 && strcmp(baseline, "none") != 0) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"baseline\" must be none or mean, got \"%.100s\"", baseline);
        return false;
    }
    if (!api_query_int(call, "top", 1, MAX_TOP, &top)) {
        return false;
    }
    if ((baseline || top > 0) && !(outputs & ANSWER_CONTRIBUTIONS)) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"%s\" needs \"contributions\" in query parameter \"output\"",
                  baseline ? "baseline" : "top");
        return false;
    }
    *out = (struct api_explain){baseline && strcmp(baseline, "mean") == 0, (size_t)top};
    return true;
}

unsigned api_outputs_of(const dn_model *model, unsigned asked) {
    if ((asked & ANSWER_PROBABILITIES) && !dn_model_has_probabilities(model)) {
        return (asked & ~(unsigned)ANSWER_PROBABILITIES) | ANSWER_SCORES;
    }
    return asked;
}

bool api_outputs_check(const struct serving_model *m, unsigned asked, struct problem *problem) {
    if ((asked & ANSWER_SET) && dn_model_conformal(m->model) == NULL) {
        return problem_set(problem, PROBLEM_CONFLICT,
                           "version %" PRId64
                           " of model \"%s\" has no sets of labels for the output \"set\": a job "
                           "with \"conformal\" trains a version that has them",
                           m->version, m->name);
    }
    if (!(asked & (ANSWER_PRIOR | ANSWER_POSTERIOR)) || dn_model_has_density(m->model)) {
        return true;
    }
    return problem_set(
        problem, PROBLEM_CONFLICT,
        "model \"%s\" has no densities of classes for the output \"%s\", which algorithms "
        "\"gaussian\" and \"naive_bayes\" give; it was trained by \"%s\"%s",
        m->name, asked & ANSWER_PRIOR ? "prior" : "posterior", dn_model_algorithm(m->model)->id,
        dn_model_n_machines(m->model) > 1 ? " and has several machines" : "");
}

/* ---- cost ---- */
/* Returns the cost of features that are functions of inputs: about one multiplication for each
 * input. */
static double expansion_cost(const dn_encoder *encoder) {
    size_t own = 0, n_inputs = dn_encoder_n_inputs(encoder),
           n_features = dn_encoder_n_features(encoder);
    for (size_t i = 0; i < n_inputs; i++) {
        own += dn_encoder_input(encoder, i)->n_features;
    }
    return n_features > own ? (double)(n_features - own) * (double)n_inputs : 0;
}

double api_outputs_cost(const dn_model *model, unsigned outputs) {
    const dn_decision decision = dn_model_decision(model);
    double K = (double)dn_model_classes(model)->n,
           d = (double)dn_encoder_n_features(dn_model_encoder(model));
    const double S = (double)dn_model_n_scores(model), machines = dn_model_cost(model);
    double cost = expansion_cost(dn_model_encoder(model)) + machines;
    if ((outputs & ANSWER_CONTRIBUTIONS) && dn_model_has_contributions(model)) {
        cost += 2 * machines + S * d;
    }
    if ((outputs & (ANSWER_LOG_DENSITY | ANSWER_POSTERIOR)) && dn_model_has_density(model)) {
        cost += 2 * K * d * d;
    }
    if (outputs & ANSWER_DISTANCE) {
        cost += K * d;
    }
    if ((outputs & (ANSWER_PROBABILITIES | ANSWER_LABEL | ANSWER_AMBIGUOUS | ANSWER_SET)) &&
        (decision == DN_DECISION_ONE_VS_ONE || decision == DN_DECISION_ONE_VS_ONE_STRICT)) {
        cost += 64 * K * K; /* iterations of pairwise coupling */
    }
    return cost;
}

/* ---- room ---- */
/* Whether a row can be ambiguous, so that it has no class. */
static bool can_be_ambiguous(const dn_model *model) {
    const dn_decision decision = dn_model_decision(model);
    return dn_model_classes(model)->n > 2 && (decision == DN_DECISION_ONE_VS_REST_STRICT ||
                                              decision == DN_DECISION_ONE_VS_ONE_STRICT ||
                                              decision == DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT);
}

/* The numbers of results of one row by kind, and the flags that it has. */
struct widths {
    size_t probabilities, scores, distance, contributions, log_density, class_log_density,
        posterior; /* numbers */
    size_t prior;  /* numbers of the prior, which the answer repeats for each row */
    bool label, candidates, set, support;
};

static struct widths widths_of(const dn_model *model, unsigned outputs) {
    const size_t n_scores = dn_model_n_scores(model),
                 n_features = dn_encoder_n_features(dn_model_encoder(model)),
                 n_classes = dn_model_classes(model)->n;
    const bool densities = (outputs & ANSWER_LOG_DENSITY) && dn_model_has_density(model);
    return (struct widths){.probabilities = outputs & ANSWER_PROBABILITIES ? n_classes : 0,
                           .scores = outputs & ANSWER_SCORES ? n_scores : 0,
                           .distance = (outputs & ANSWER_DISTANCE) != 0,
                           .contributions =
                               (outputs & ANSWER_CONTRIBUTIONS) && dn_model_has_contributions(model)
                                   ? n_scores * n_features
                                   : 0,
                           .log_density = densities,
                           .class_log_density = densities ? n_classes : 0,
                           .posterior = outputs & ANSWER_POSTERIOR ? n_classes : 0,
                           .prior = outputs & ANSWER_PRIOR ? n_classes : 0,
                           .label = (outputs & (ANSWER_LABEL | ANSWER_AMBIGUOUS)) != 0,
                           .candidates = (outputs & (ANSWER_LABEL | ANSWER_AMBIGUOUS)) &&
                                         can_be_ambiguous(model),
                           .set = (outputs & ANSWER_SET) != 0,
                           .support = dn_model_can_be_impossible(model)};
}

/* Returns the next n_rows × width numbers of the memory and advances *at; NULL if width is 0. */
static double *take(double **at, size_t n_rows, size_t width) {
    double *taken = width > 0 ? *at : NULL;
    *at += n_rows * width;
    return taken;
}

bool outputs_room_init(struct outputs_room *room, const struct serving_model *m, unsigned outputs,
                       size_t n_rows, struct problem *problem) {
    const dn_model *model = m->model;
    const struct widths w = widths_of(model, outputs);
    const size_t n_classes = dn_model_classes(model)->n,
                 n_workspace = predict_plan_of(m)->n_workspace;
    const size_t numbers = w.probabilities + w.scores + w.distance + w.contributions +
                           w.log_density + w.class_log_density + w.posterior;
    const size_t n_candidates = w.candidates ? n_classes : 0,
                 flags_each = 1 + n_candidates + (w.set ? n_classes : 0),
                 each = numbers + w.prior + flags_each;
    if (each > OUTPUTS_MAX_NUMBERS) {
        return problem_set(
            problem, PROBLEM_ANSWER_TOO_LONG,
            "the %zu numbers of an instance are more than the %d that one answer may hold%s", each,
            OUTPUTS_MAX_NUMBERS, w.contributions > 0 ? ": ask for less than contributions" : "");
    }
    size_t n = NUMBERS / each;
    n = n < 1 ? 1 : n > ROWS ? ROWS : n;
    n = n < n_rows || n_rows == 0 ? n : n_rows;
    const double cost =
        n > 1 ? api_outputs_cost(model, outputs)
              : 0; /* limits the time between two checks whether the client has left */
    n = cost * (double)n <= AT_ONCE ? n : cost >= AT_ONCE ? 1 : (size_t)(AT_ONCE / cost);
    /* doubles first, then types with weaker alignment */
    const size_t size =
        n * numbers * sizeof(double) + n * sizeof(size_t) + n * flags_each * sizeof(bool);
    /* malloc, not calloc: glibc's calloc does not use the cache of the thread. */
    void *memory = malloc(n_workspace * sizeof(double) + size + 1);
    if (!memory) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for %zu predictions", n);
    }
    double *at = memory;
    memset(at + n_workspace, 0, size);
    *room = (struct outputs_room){
        .n = n, .each = each, .memory = memory, .size = size, .workspace = at};
    at += n_workspace;
    room->rows.probabilities = take(&at, n, w.probabilities);
    room->rows.scores = take(&at, n, w.scores);
    room->rows.distance = take(&at, n, w.distance);
    room->rows.contributions = take(&at, n, w.contributions);
    room->rows.log_density = take(&at, n, w.log_density);
    room->rows.class_log_density = take(&at, n, w.class_log_density);
    room->rows.posterior = take(&at, n, w.posterior);
    size_t *label = (size_t *)at;
    bool *flags = (bool *)(label + n);
    room->rows.label = w.label ? label : NULL;
    room->rows.out_of_support = w.support ? flags : NULL;
    room->rows.candidates = w.candidates ? flags + n : NULL;
    room->rows.set = w.set ? flags + n + n * n_candidates : NULL;
    return true;
}

void outputs_room_done(struct outputs_room *room) {
    free(room->memory);
    *room = (struct outputs_room){0};
}
