/* Splits of groups of rows.
 *
 * The folds minimise the sum of the squared shares Σ_f [Σ_k (n_fk/N_k)² + (n_f/N)²] greedily, where
 * n_fk is the number of rows of class k in fold f, and N_k that in all folds. Equal shares have the
 * least sum. Adding a group g to fold f adds 2 (Σ_k n_fk g_k/N_k² + n_f |g|/N²) and terms that do
 * not depend on f. */
#include "task/split_groups.h"
#include "base/layout.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

/* A group in the order of assignment. */
struct turn {
    size_t group, size, rank; /* rank: random */
};

struct work {
    size_t *row;       /* [n_rows] rows that are not ignored, by group */
    size_t *start;     /* [n_groups + 1] first row of each group in `row` */
    struct turn *turn; /* [n_groups] the groups that may be held out */
    size_t *order;     /* [n_groups] */
    double *count;     /* [n_strata] rows of each class */
    double *held;      /* [n_folds × n_strata] rows of each class in each fold */
    double *held_rows; /* [n_folds] */
    double *own;       /* [n_strata] rows of each class in one group */
    uint8_t *only;     /* [n_groups] the group has all rows of a class */
    size_t n_turns;
    double n; /* number of rows that are not ignored */
    void *memory;
};

struct shape {
    size_t n_rows, n_strata, n_groups, n_folds;
};

static void work_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct work *w = out;
    w->row = dni_layout_array(layout, s->n_rows, sizeof *w->row);
    w->start = dni_layout_array(layout, s->n_groups + 1, sizeof *w->start);
    w->turn = dni_layout_array(layout, s->n_groups, sizeof *w->turn);
    w->order = dni_layout_array(layout, s->n_groups, sizeof *w->order);
    w->count = dni_layout_doubles(layout, s->n_strata);
    w->held = dni_layout_doubles(layout, s->n_folds * s->n_strata);
    w->held_rows = dni_layout_doubles(layout, s->n_folds);
    w->own = dni_layout_doubles(layout, s->n_strata);
    w->only = dni_layout_array(layout, s->n_groups, sizeof *w->only);
}

double dni_split_groups_memory(size_t n_rows, size_t n_strata, size_t n_folds) {
    const struct shape shape = {n_rows, n_strata, n_rows, n_folds};
    struct work work;
    return dni_layout_bytes(work_layout, &shape, &work);
}

static size_t class_of(const dni_grouped *rows, size_t row) {
    return (size_t)rows->stratum[row];
}

/* Sorts the rows by group (counting sort) and counts the rows of the classes. */
static void sort_rows(const dni_grouped *rows, struct work *w) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        if (!isnan(rows->stratum[i])) {
            w->start[rows->group[i]]++;
            w->count[class_of(rows, i)]++;
            w->n++;
        }
    }
    for (size_t g = 0, first = 0; g < rows->n_groups; g++) {
        const size_t n = w->start[g];
        w->start[g] = first;
        first += n;
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        if (!isnan(rows->stratum[i])) {
            w->row[w->start[rows->group[i]]++] = i;
        }
    }
    for (size_t g = rows->n_groups; g > 0; g--) {
        w->start[g] = w->start[g - 1];
    }
    w->start[0] = 0;
}

/* Adds factor to own[k] for each row of class k of a group. */
static void add_own(const dni_grouped *rows, struct work *w, size_t g, double factor) {
    for (size_t i = w->start[g]; i < w->start[g + 1]; i++) {
        w->own[class_of(rows, w->row[i])] += factor;
    }
}

/* Sets only[g]. */
static void find_only(const dni_grouped *rows, struct work *w, size_t g) {
    add_own(rows, w, g, 1);
    for (size_t i = w->start[g]; i < w->start[g + 1]; i++) {
        const size_t k = class_of(rows, w->row[i]);
        w->only[g] = (uint8_t)(w->only[g] || w->own[k] == w->count[k]);
    }
    add_own(rows, w, g, -1);
}

static int larger_first(const void *a, const void *b) {
    const struct turn *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size)
                              : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Allocates the working memory and lists the groups that may be held out, in random order. */
static dn_status begin(const dni_grouped *rows, size_t n_folds, uint64_t stream, const dn_run *run,
                       struct work *w, dn_error *err) {
    const struct shape shape = {rows->n_rows, rows->n_strata, rows->n_groups, n_folds};
    dni_random random;
    *w = (struct work){0};
    dn_status status =
        dni_layout_take(run, work_layout, &shape, w, "the groups of the rows", &w->memory, err);
    if (status != DN_OK) {
        return status;
    }
    sort_rows(rows, w);
    for (size_t g = 0; g < rows->n_groups; g++) {
        find_only(rows, w, g);
        w->order[g] = g;
    }
    dni_random_init(&random, run->seed, stream);
    dni_random_shuffle(&random, w->order, rows->n_groups);
    for (size_t i = 0; i < rows->n_groups; i++) {
        const size_t g = w->order[i], size = w->start[g + 1] - w->start[g];
        if (size > 0 && !w->only[g]) {
            w->turn[w->n_turns++] = (struct turn){.group = g, .size = size, .rank = i};
        }
    }
    return DN_OK;
}

/* Returns true if holding out group g in fold f, besides the groups that are in it, leaves a
 * training row of each class. */
static bool leaves_classes(const dni_grouped *rows, struct work *w, size_t g, size_t f) {
    const double *held = w->held + f * rows->n_strata;
    bool good = true;
    add_own(rows, w, g, 1);
    for (size_t i = w->start[g]; i < w->start[g + 1]; i++) {
        const size_t k = class_of(rows, w->row[i]);
        good = good && held[k] + w->own[k] < w->count[k];
    }
    add_own(rows, w, g, -1);
    return good;
}

/* ---- folds ---- */
/* Returns the part of the cost of group g in fold f that depends on f. */
static double fold_cost(const dni_grouped *rows, const struct work *w, size_t g, size_t f) {
    const double *held = w->held + f * rows->n_strata;
    double cost = w->held_rows[f] * (double)(w->start[g + 1] - w->start[g]) / (w->n * w->n);
    for (size_t i = w->start[g]; i < w->start[g + 1]; i++) {
        const size_t k = class_of(rows, w->row[i]);
        cost += held[k] / (w->count[k] * w->count[k]);
    }
    return cost;
}

static void put_in_fold(const dni_grouped *rows, struct work *w, size_t g, size_t f,
                        uint16_t *fold) {
    for (size_t i = w->start[g]; i < w->start[g + 1]; i++) {
        fold[w->row[i]] = (uint16_t)f;
        w->held[f * rows->n_strata + class_of(rows, w->row[i])]++;
        w->held_rows[f]++;
    }
}

dn_status dni_split_groups_folds(const dni_grouped *rows, size_t n_folds, uint64_t stream,
                                 const dn_run *run, uint16_t *fold, size_t *out_held,
                                 dn_error *err) {
    struct work w;
    dn_status status = begin(rows, n_folds, stream, run, &w, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        fold[i] = (uint16_t)n_folds;
    }
    size_t held = 0;
    qsort(w.turn, w.n_turns, sizeof *w.turn, larger_first);
    for (size_t t = 0; t < w.n_turns && status == DN_OK; t++) {
        const size_t g = w.turn[t].group;
        size_t best = SIZE_MAX;
        double least = (double)INFINITY;
        for (size_t f = 0; f < n_folds; f++) {
            const double cost = fold_cost(rows, &w, g, f);
            if (cost < least && leaves_classes(rows, &w, g, f)) {
                least = cost;
                best = f;
            }
        }
        if (best != SIZE_MAX) {
            put_in_fold(rows, &w, g, best, fold);
            held++;
        }
        status = dn_run_stop(run, err);
    }
    *out_held = held;
    dn_run_free(run, w.memory);
    return status;
}

/* ---- holdout ---- */
/* Returns the change of the objective Σ_k (n_k/N_k − h)² + (n/N − h)² if a group is held out. */
static double holdout_change(const dni_grouped *rows, struct work *w, size_t g, double holdout) {
    const double size = (double)(w->start[g + 1] - w->start[g]);
    double change = size * (size + 2 * (w->held_rows[0] - holdout * w->n)) / (w->n * w->n);
    add_own(rows, w, g, 1);
    for (size_t i = w->start[g]; i < w->start[g + 1]; i++) {
        const size_t k = class_of(rows, w->row[i]);
        const double own = w->own[k], count = w->count[k];
        change += own * (own + 2 * (w->held[k] - holdout * count)) / (count * count);
        w->own[k] = 0; /* a class is counted once */
    }
    return change;
}

static void hold_out(const dni_grouped *rows, struct work *w, size_t g, uint8_t *role) {
    for (size_t i = w->start[g]; i < w->start[g + 1]; i++) {
        role[w->row[i]] = DN_ROW_VALIDATE;
        w->held[class_of(rows, w->row[i])]++;
        w->held_rows[0]++;
    }
}

dn_status dni_split_groups_holdout(const dni_grouped *rows, double holdout, const dn_run *run,
                                   uint8_t *role, dni_split *out, dn_error *err) {
    struct work w;
    dn_status status = begin(rows, 1, DNI_STREAM_HOLDOUT, run, &w, err);
    if (status != DN_OK) {
        return status;
    }
    size_t best = SIZE_MAX;
    double least = (double)INFINITY;
    for (size_t i = 0; i < rows->n_rows; i++) {
        role[i] = (uint8_t)(isnan(rows->stratum[i]) ? DN_ROW_SKIP : DN_ROW_TRAIN);
    }
    for (size_t t = 0; t < w.n_turns; t++) {
        const size_t g = w.turn[t].group;
        const double change = holdout_change(rows, &w, g, holdout);
        if (change < 0 && leaves_classes(rows, &w, g, 0)) {
            hold_out(rows, &w, g, role);
        } else if (change < least) {
            least = change;
            best = g;
        }
    }
    if (w.held_rows[0] == 0 && best != SIZE_MAX) {
        hold_out(rows, &w, best, role);
    }
    *out = (dni_split){.n_validation = (size_t)w.held_rows[0],
                       .n_train = (size_t)(w.n - w.held_rows[0]),
                       .n_skipped = rows->n_rows - (size_t)w.n};
    dn_run_free(run, w.memory);
    return DN_OK;
}
