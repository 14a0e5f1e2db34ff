/* Rank statistics of one class against the rest.
 *
 * The rows are in descending order of score. Rows whose scores tie with the first score of a group
 * belong to the group. T and F are the weights of the rows of the class and of the other rows, up
 * to and including a group.
 *
 *   ROC area           Σ_groups ΔF (T_before + ½ΔT) / (T_all F_all): the probability that a row of
 *                      the class has the greater score, ties ½
 *   average precision  Σ_groups ΔT/T_all · T/(T + F)
 *
 *   its variance       Σ w²(V − A)² m/(m − 1) over the rows of the class, with V the share of the
 *                      other rows below the row (ties ½), w = v/T_all and m = 1/Σw²; and the same
 *                      over the other rows with the share of the rows of the class above
 *
 * Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006, algorithms 1 and
 * 2. DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988; in sorted order as Sun and Xu, IEEE
 * Signal Processing Letters 21, 2014. */
#include "evaluate/ranking.h"
#include "base/run_memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

dn_status dni_ranking_init(dni_ranking *ranking, const dn_metrics_options *options, dn_error *err) {
    size_t n = options->n_rows, columns = options->n_classes == 2 ? 1 : options->n_classes;
    dni_ranking r = {.run = options->run,
                     .n_columns = columns,
                     .capacity = n,
                     .probabilities =
                         options->probabilities && (columns > 1 || !options->class_scores)};
    if (n > DN_MAX_RANKED_SCORES / columns) {
        return dn_error_set(
            err, DN_ERR_BUDGET,
            "%zu rows with %zu scores each exceed the limit of %zu scores for ranking", n, columns,
            DN_MAX_RANKED_SCORES);
    }
    size_t numbers = columns + 1 + options->weighted; /* number of doubles per row: scores,
                                                       * scratch, weight */
    dn_status status = dni_run_alloc_raw(r.run, n, numbers * sizeof(double) + 3 * sizeof(uint32_t),
                                         "the scores to be ranked", &r.memory, err);
    if (status != DN_OK) {
        return status;
    }
    r.score = r.memory;
    r.scratch.key = r.score + columns * n;
    r.weight = options->weighted ? r.scratch.key + n : NULL;
    r.truth = (uint32_t *)(void *)(r.score + numbers * n);
    r.row = r.truth + n;
    r.scratch.row = r.row + n;
    *ranking = r;
    return DN_OK;
}

void dni_ranking_done(dni_ranking *ranking) {
    if (ranking->memory != NULL) {
        dn_run_free(ranking->run, ranking->memory);
    }
    *ranking = (dni_ranking){0};
}

void dni_ranking_add(dni_ranking *r, size_t truth, double weight, const double *scores) {
    size_t i = r->n++;
    r->truth[i] = (uint32_t)truth;
    if (r->weight != NULL) {
        r->weight[i] = weight;
    }
    for (size_t k = 0; k < r->n_columns; k++) {
        r->score[k * r->capacity + i] = scores[k];
        r->broken = r->broken || isnan(scores[k]);
    }
}

/* ---- iteration over groups ---- */
struct walk {
    const dni_ranking *ranking;
    const double *score; /* [n] descending */
    size_t at;
    uint32_t positive;
    /* greatest difference between the first score of a group and its other scores; for
     * probabilities relative to the first */
    double tie;
    double true_positive, false_positive; /* T and F, including the last group */
    double true_step, false_step;         /* ΔT and ΔF of the last group */
    double true_square, false_square;     /* Σ v² of the last group */
    double threshold;                     /* least score of the last group */
};

static struct walk walk_of(const dni_ranking *r, const double *score, uint32_t positive) {
    struct walk w = {.ranking = r, .score = score, .positive = positive};
    size_t first = 0, last = r->n;
    while (first < last && !isfinite(score[first])) {
        first++;
    }
    while (last > first && !isfinite(score[last - 1])) {
        last--;
    }
    if (r->probabilities) {
        w.tie = DNI_PROBABILITY_TIE * (double)r->n_columns;
    } else if (last > first) {
        w.tie = DNI_RANK_TIE * (score[first] - score[last - 1]);
    }
    return w;
}

/* Advances to the next group. Returns false at the end. */
static bool walk_next(struct walk *w) {
    const dni_ranking *r = w->ranking;
    if (w->at == r->n) {
        return false;
    }
    const double greatest = w->score[w->at];
    const double tie = r->probabilities ? w->tie * greatest : w->tie;
    w->true_step = w->false_step = w->true_square = w->false_square = 0;
    for (; w->at < r->n && (w->score[w->at] == greatest || greatest - w->score[w->at] <= tie);
         w->at++) {
        uint32_t row = r->row[w->at];
        double weight = r->weight == NULL ? 1 : r->weight[row];
        if (r->truth[row] == w->positive) {
            w->true_step += weight;
            w->true_square += weight * weight;
        } else {
            w->false_step += weight;
            w->false_square += weight * weight;
        }
        w->threshold = w->score[w->at];
    }
    w->true_positive += w->true_step;
    w->false_positive += w->false_step;
    return true;
}

/* Results of one pass over all groups. */
struct areas {
    double positives, negatives; /* T_all, F_all */
    double roc, precision;       /* NaN: the class has no rows, or all rows */
    size_t n_groups;
};

static struct areas areas_of(const dni_ranking *r, const double *score, uint32_t positive) {
    struct walk w = walk_of(r, score, positive);
    struct areas a = {0};
    while (walk_next(&w)) {
        a.roc += w.false_step * (w.true_positive - w.true_step + w.true_step / 2);
        a.precision += w.true_step > 0
                           ? w.true_step * (w.true_positive / (w.true_positive + w.false_positive))
                           : 0;
        a.n_groups++;
    }
    a.positives = w.true_positive;
    a.negatives = w.false_positive;
    bool defined = a.positives > 0 && a.negatives > 0;
    a.roc = defined ? a.roc / a.negatives / a.positives : (double)NAN;
    a.precision = defined ? a.precision / a.positives : (double)NAN;
    return a;
}

/* Returns the variance of the ROC area a->roc. NaN: a class has only one row. */
static double variance_of(const dni_ranking *r, const double *score, uint32_t positive,
                          const struct areas *a) {
    struct walk w = walk_of(r, score, positive);
    double positives = 0, negatives = 0, true_squares = 0, false_squares = 0;
    while (walk_next(&w)) {
        const double below = a->negatives - w.false_positive + w.false_step / 2,
                     above = w.true_positive - w.true_step / 2,
                     of_true = below / a->negatives - a->roc,
                     of_false = above / a->positives - a->roc;
        positives += w.true_square * of_true * of_true;
        negatives += w.false_square * of_false * of_false;
        true_squares += w.true_square;
        false_squares += w.false_square;
    }
    const double T = a->positives, F = a->negatives, m = T * T / true_squares,
                 n = F * F / false_squares;
    if (!(m > 1 && n > 1)) {
        return (double)NAN;
    }
    return positives / (T * T) * m / (m - 1) + negatives / (F * F) * n / (n - 1);
}

/* ---- curves ---- */
/* Adds points to a curve. If there are more points than the curve may have, its range is divided
 * into `cells` equal parts, and the first point of each part is added. */
struct thinner {
    dn_curve *curve;
    bool all; /* true: all points are added */
    size_t cells;
    size_t cell;         /* the part of the last point that was added */
    dn_curve_point last; /* the last point passed to thinner_put */
    bool kept;           /* true: `last` has been added to the curve */
};

static dn_status thinner_init(struct thinner *t, dn_curve *curve, size_t n_points,
                              size_t max_points, double y, dn_error *err) {
    size_t capacity = n_points < max_points ? n_points : max_points;
    assert(capacity > 0);
    curve->points = calloc(capacity, sizeof *curve->points);
    if (curve->points == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "a curve needs memory which the system does not have");
    }
    curve->points[0] = (dn_curve_point){0, y, (double)INFINITY};
    curve->n_points = 1;
    *t = (struct thinner){.curve = curve,
                          .all = n_points <= max_points,
                          .cells = max_points - 2,
                          .kept = true};
    return DN_OK;
}

/* Passes a point to the thinner. position: the position of the point on the curve, from 0 to 1. */
static void thinner_put(struct thinner *t, dn_curve_point point, double position) {
    size_t cell = (size_t)(position * (double)t->cells);
    t->last = point;
    t->kept = t->all || cell > t->cell;
    if (!t->kept) {
        return;
    }
    t->cell = cell;
    t->curve->points[t->curve->n_points++] = point;
}

/* Adds the last point of the curve. */
static void thinner_end(struct thinner *t) {
    if (!t->kept) {
        t->curve->points[t->curve->n_points++] = t->last;
    }
}

/* *out ← the next corner of the ROC curve after the position of `w`: groups that continue the line
 * in the same direction are skipped. Returns false at the end of the curve. *more is kept between
 * calls: `w` is at the first group after *out. */
static bool next_corner(struct walk *w, bool *more, struct walk *out) {
    if (!*more && !walk_next(w)) {
        return false;
    }
    *out = *w;
    *more = false;
    while (walk_next(w)) {
        *more = out->false_step * w->true_step != w->false_step * out->true_step;
        if (*more) {
            return true;
        }
        *out = *w;
    }
    return true;
}

static dn_status roc_curve(const dni_ranking *r, const double *score, uint32_t positive,
                           const struct areas *a, size_t max_points, dn_curve *curve,
                           dn_error *err) {
    struct walk w = walk_of(r, score, positive), corner = w;
    bool more = false;
    size_t n = 1;
    while (next_corner(&w, &more, &corner)) {
        n++;
    }
    struct thinner t = {0};
    dn_status status = thinner_init(&t, curve, n, max_points, 0, err);
    if (status != DN_OK) {
        return status;
    }
    w = walk_of(r, score, positive);
    more = false;
    while (next_corner(&w, &more, &corner)) {
        double x = corner.false_positive / a->negatives, y = corner.true_positive / a->positives;
        thinner_put(&t, (dn_curve_point){x, y, corner.threshold}, (x + y) / 2);
    }
    thinner_end(&t);
    curve->area = a->roc;
    return DN_OK;
}

static dn_status precision_curve(const dni_ranking *r, const double *score, uint32_t positive,
                                 const struct areas *a, size_t max_points, dn_curve *curve,
                                 dn_error *err) {
    struct thinner t = {0};
    dn_status status = thinner_init(&t, curve, a->n_groups + 1, max_points, 1, err);
    if (status != DN_OK) {
        return status;
    }
    struct walk w = walk_of(r, score, positive);
    while (walk_next(&w)) {
        double recall = w.true_positive / a->positives;
        thinner_put(&t,
                    (dn_curve_point){recall, w.true_positive / (w.true_positive + w.false_positive),
                                     w.threshold},
                    recall);
    }
    thinner_end(&t);
    curve->area = a->precision;
    return DN_OK;
}

/* ---- all columns ---- */
/* Sorts a column and r->row. */
static dn_status sort_column(dni_ranking *r, size_t column, dn_error *err) {
    double *score = r->score + column * r->capacity;
    for (size_t i = 0; i < r->n; i++) {
        r->row[i] = (uint32_t)i;
    }
    const dn_status status = dn_run_stop(r->run, err);
    return status == DN_OK
               ? dni_sort_descending((dni_pairs){score, r->row}, r->n, r->scratch, r->run, err)
               : status;
}

dn_status dni_ranking_order(dni_ranking *r, size_t column, uint32_t last, uint32_t *order,
                            dn_error *err) {
    const dn_status status = sort_column(r, column, err);
    if (status != DN_OK) {
        return status;
    }
    memcpy(order, r->row, r->n * sizeof *order);
    for (struct walk w = walk_of(r, r->score + column * r->capacity, 0); walk_next(&w);) {
        order[w.at - 1] |= last;
    }
    return DN_OK;
}

static dn_status finish_column(dni_ranking *r, size_t column, size_t max_points, dn_curves *curves,
                               struct areas *out, double *out_interval, dn_error *err) {
    double *score = r->score + column * r->capacity;
    uint32_t positive = r->n_columns == 1 ? 1 : (uint32_t)column;
    dn_status status = sort_column(r, column, err);
    if (status != DN_OK) {
        return status;
    }
    *out = areas_of(r, score, positive);
    if (r->n_columns == 1 && !isnan(out->roc)) {
        const double half = DNI_NORMAL_95 * sqrt(variance_of(r, score, positive, out));
        out_interval[0] = isnan(half) ? half : fmax(0, out->roc - half);
        out_interval[1] = isnan(half) ? half : fmin(1, out->roc + half);
    }
    if (curves == NULL) {
        return DN_OK;
    }
    dn_curve *roc = &curves->roc[column], *precision = &curves->precision_recall[column];
    roc->area = precision->area = (double)NAN;
    if (isnan(out->roc)) {
        return DN_OK;
    }
    status = roc_curve(r, score, positive, out, max_points, roc, err);
    return status == DN_OK ? precision_curve(r, score, positive, out, max_points, precision, err)
                           : status;
}

dn_status dni_ranking_finish(dni_ranking *r, size_t max_points, dn_curves *curves, double *out_roc,
                             double *out_precision, double *out_interval, dn_error *err) {
    double roc = 0, precision = 0, count = 0;
    for (size_t k = 0; k < r->n_columns; k++) {
        struct areas a = {0};
        dn_status status = finish_column(r, k, max_points, curves, &a, out_interval, err);
        if (status != DN_OK) {
            return status;
        }
        if (isnan(a.roc)) {
            continue;
        }
        roc += a.roc;
        precision += a.precision;
        count += 1;
    }
    *out_roc = count > 0 ? roc / count : (double)NAN;
    *out_precision = count > 0 ? precision / count : (double)NAN;
    return DN_OK;
}
