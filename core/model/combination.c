/* Combined models: the machine kind "combination". */
#include "model/combination.h"
#include "encoder/encoder_bytes.h"
#include "encoder/encoder_join.h"
#include "linalg/tile.h"
#include "machine/machine_kind.h"
#include "model/calibration.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_PROBABILITY 1e-15

struct member {
    dn_model *model; /* a reference */
    double share;
    size_t first; /* its first feature in x */
};

struct combination {
    dn_machine base;
    struct member *members; /* [n] */
    size_t n;
};

static struct combination *combination_of(const dn_machine *machine) {
    return (struct combination *)(uintptr_t)machine;
}

bool dni_machine_is_combination(const dn_machine *machine) {
    return machine->kind->id == DNI_KIND_COMBINATION;
}

/* ---- memory ---- */
static void combination_free(dn_machine *machine) {
    const struct combination *c = combination_of(machine);
    for (size_t m = 0; c->members != NULL && m < c->n; m++) {
        dn_model_unref(c->members[m].model);
    }
}

static double combination_memory(const dn_machine *machine) {
    const struct combination *c = combination_of(machine);
    double bytes = machine->bytes;
    for (size_t m = 0; m < c->n; m++) {
        bytes += (double)dn_model_memory(c->members[m].model);
    }
    return bytes;
}

static void combination_leave_run(dn_machine *machine) {
    const struct combination *c = combination_of(machine);
    for (size_t m = 0; m < c->n; m++) {
        dni_model_leave_run(c->members[m].model);
    }
}

/* ---- scores ---- */
double dni_log_share(double probability) {
    return probability < MIN_PROBABILITY ? log(MIN_PROBABILITY) : log(probability);
}

void dni_combine(const double *logs, const double *share, size_t n, size_t K, double *scores) {
    const size_t n_scores = K == 2 ? 1 : K;
    memset(scores, 0, n_scores * sizeof *scores);
    for (size_t m = 0; m < n; m++, logs += K) {
        for (size_t k = 0; k < n_scores; k++) {
            scores[k] += share[m] * (K == 2 ? logs[1] - logs[0] : logs[k]);
        }
    }
}

/* The workspace of a slot. */
struct work {
    double *scores;        /* [DNI_TILE_ROWS × n_scores] of a member */
    double *p, *logs;      /* [K], [n × K] */
    double *probabilities; /* dni_probabilities_work */
    double *machine;       /* of the machines of a member */
    uint32_t *cols;        /* [n_features of a member] columns of a sparse row */
};

struct work_sizes {
    size_t scores, probabilities, machine, cols; /* the maxima over the members, in doubles */
};

/* Members whose machines need encoded rows score tiles; others score single rows, for which they
 * need no preparation. */
static bool scores_tiles(const dn_model *model) {
    return dni_machine_stays_encoded(model->machines[0]);
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static struct work_sizes sizes_of(const struct combination *c) {
    struct work_sizes s = {0};
    for (size_t m = 0; m < c->n; m++) {
        const dn_model *model = c->members[m].model;
        s.scores = larger(s.scores, DNI_TILE_ROWS * model->n_scores);
        s.probabilities = larger(s.probabilities, dni_probabilities_work(model));
        s.machine =
            larger(s.machine, scores_tiles(model)
                                  ? dni_machines_work(model->machines, model->n_machines, 1)
                                  : dni_machines_rows_work(model->machines, model->n_machines));
        s.cols = larger(s.cols, model->n_features / 2 + 1);
    }
    return s;
}

static size_t slot_work(const struct combination *c) {
    const struct work_sizes s = sizes_of(c);
    return s.scores + (1 + c->n) * c->base.n_classes * DNI_TILE_ROWS + s.probabilities + s.machine +
           s.cols;
}

static struct work work_of(const struct combination *c, size_t slot, double *work) {
    const struct work_sizes s = sizes_of(c);
    struct work w = {.scores = work + slot * slot_work(c)};
    w.p = w.scores + s.scores;
    w.logs = w.p + c->base.n_classes;
    w.probabilities = w.logs + c->n * c->base.n_classes * DNI_TILE_ROWS;
    w.machine = w.probabilities + s.probabilities;
    w.cols = (uint32_t *)(void *)(w.machine + s.machine);
    return w;
}

static size_t combination_tile_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    (void)n;
    return n_slots * slot_work(combination_of(machines[0]));
}

/* Scores encoded rows of a member. */
static void score_rows(const dn_model *model, dn_matrix x, double *scores, double *work) {
    if (scores_tiles(model)) { /* without a run it cannot fail */
        (void)!dni_machines_score(model->machines, model->n_machines, x, NULL, 0, scores, work,
                                  NULL);
    } else {
        dni_machines_score_rows(model->machines, model->n_machines, x, scores, work);
    }
}

/* Returns the first entry of a row whose column is `first` or greater. */
static size_t find_entry(dn_matrix x, size_t row, size_t first) {
    size_t low = x.row_start[row], high = x.row_start[row + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (x.cols[middle] < first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Scores the part of the rows that belongs to a member: w->scores [x.n_rows × n_scores]. */
static void score_member(const struct member *m, dn_matrix x, const struct work *w) {
    const size_t d = m->model->n_features;
    if (x.kind == DN_DENSE) {
        x.values += m->first;
        x.n_cols = d;
        score_rows(m->model, x, w->scores, w->machine);
        return;
    }
    for (size_t i = 0; i < x.n_rows; i++) {
        const size_t first = find_entry(x, i, m->first), end = find_entry(x, i, m->first + d),
                     start[] = {0, end - first};
        for (size_t e = first; e < end; e++) {
            w->cols[e - first] = (uint32_t)(x.cols[e] - m->first);
        }
        score_rows(m->model, dn_matrix_csr(start, w->cols, x.values + first, 1, d),
                   w->scores + i * m->model->n_scores, w->machine);
    }
}

static dn_status combination_score_tile(dn_machine *const *machines, size_t n, dn_matrix x,
                                        const dn_run *run, size_t slot, double *scores,
                                        double *work, dn_error *err) {
    const struct combination *c = combination_of(machines[0]);
    const size_t K = c->base.n_classes;
    const struct work w = work_of(c, slot, work);
    double share[DN_MAX_MEMBERS];
    (void)n;
    for (size_t m = 0; m < c->n; m++) {
        const dn_model *model = c->members[m].model;
        const dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        share[m] = c->members[m].share;
        score_member(&c->members[m], x, &w);
        for (size_t i = 0; i < x.n_rows; i++) {
            const double *g = w.scores + i * model->n_scores;
            const bool valid = dni_model_scores_valid(model, g);
            if (valid) {
                dni_model_probabilities(model, g, w.p, w.probabilities);
            }
            for (size_t k = 0; k < K; k++) {
                w.logs[(i * c->n + m) * K + k] = valid ? dni_log_share(w.p[k]) : (double)NAN;
            }
        }
    }
    for (size_t i = 0; i < x.n_rows; i++) {
        dni_combine(w.logs + i * c->n * K, share, c->n, K, scores + i * (K == 2 ? 1 : K));
    }
    return DN_OK;
}

static size_t combination_tile_rows(const dn_machine *machine) {
    const struct combination *c = combination_of(machine);
    size_t least = DNI_TILE_ROWS;
    for (size_t m = 0; m < c->n; m++) {
        const size_t own = dni_machines_tile_rows(c->members[m].model->machines[0]);
        least = own < least ? own : least;
    }
    return least;
}

static bool combination_is_precomputed(const dn_machine *machine) {
    const struct combination *c = combination_of(machine);
    bool any = false;
    for (size_t m = 0; m < c->n; m++) {
        any = any || dn_model_is_precomputed(c->members[m].model);
    }
    return any;
}

static double combination_cost(dn_machine *const *machines, size_t n) {
    const struct combination *c = combination_of(machines[0]);
    double cost = 0;
    (void)n;
    for (size_t m = 0; m < c->n; m++) {
        cost += dn_model_cost(c->members[m].model);
    }
    return cost;
}

/* ---- description ---- */
static dn_status combination_describe(const dn_machine *machine, const dn_encoder *encoder,
                                      const dn_visitor *visitor, dn_error *err) {
    const struct combination *c = combination_of(machine);
    (void)encoder;
    (void)err;
    visitor->begin_array(visitor->ctx, "members");
    for (size_t m = 0; m < c->n; m++) {
        const dn_model *model = c->members[m].model;
        const char *id = model->params->algorithm->id;
        visitor->begin_object(visitor->ctx, NULL);
        visitor->text(visitor->ctx, "algorithm", id, strlen(id));
        visitor->number(visitor->ctx, "share", c->members[m].share);
        visitor->integer(visitor->ctx, "first_feature", (int64_t)c->members[m].first);
        visitor->integer(visitor->ctx, "features", (int64_t)model->n_features);
        visitor->end_object(visitor->ctx);
    }
    visitor->end_array(visitor->ctx);
    return DN_OK;
}

/* Its bytes are those of its members: the model writes and reads them. */
static const dni_machine_kind combination_kind = {
    .id = DNI_KIND_COMBINATION,
    .name = "combination",
    .matrices = "",
    .flags = DNI_MACHINE_FINITE,
    .free_parts = combination_free,
    .memory = combination_memory,
    .leave_run = combination_leave_run,
    .tile_work = combination_tile_work,
    .score_tile = combination_score_tile,
    .tile_rows = combination_tile_rows,
    .is_precomputed = combination_is_precomputed,
    .cost = combination_cost,
    .describe = combination_describe,
};

/* ---- creation ---- */
static dn_status check_members(dn_model *const *members, size_t n, dn_error *err) {
    for (size_t m = 0; m < n; m++) {
        const char *what =
            !dn_model_has_probabilities(members[m])               ? "has no probabilities"
            : dni_machine_is_combination(members[m]->machines[0]) ? "is itself a combination"
            : !dni_classes_equal(&members[0]->classes.view, &members[m]->classes.view)
                ? "has other classes than the first one"
                : NULL;
        if (what != NULL) {
            return dn_error_set(err, DN_ERR_ARGUMENT, "member %zu of a combination %s", m + 1,
                                what);
        }
    }
    return DN_OK;
}

/* The different encoders of the members. */
struct layout {
    dn_encoder *parts[DN_MAX_MEMBERS];
    size_t n_parts, n_features;
    size_t first[DN_MAX_MEMBERS]; /* [n members] */
    void *bytes[DN_MAX_MEMBERS];  /* [n_parts] serialized */
    size_t size[DN_MAX_MEMBERS];
};

static void layout_done(struct layout *layout) {
    for (size_t p = 0; p < layout->n_parts; p++) {
        free(layout->bytes[p]);
    }
}

static dn_status lay_out(dn_model *const *members, size_t n, struct layout *out, dn_error *err) {
    for (size_t m = 0; m < n; m++) {
        dni_writer writer;
        void *bytes;
        size_t size, p = 0, first = 0;
        dni_writer_init(&writer);
        dni_encoder_write(members[m]->encoder, &writer);
        const dn_status status = dni_writer_take(&writer, &bytes, &size, err);
        dni_writer_done(&writer);
        if (status != DN_OK) {
            return status;
        }
        while (p < out->n_parts &&
               (out->size[p] != size || memcmp(out->bytes[p], bytes, size) != 0)) {
            first += dn_encoder_n_features(out->parts[p++]);
        }
        out->first[m] = first;
        if (p < out->n_parts) {
            free(bytes);
            continue;
        }
        out->bytes[p] = bytes;
        out->size[p] = size;
        out->parts[out->n_parts++] = members[m]->encoder;
        out->n_features += members[m]->n_features;
    }
    return DN_OK;
}

static dn_status make_machine(dn_model *const *members, const double *share, size_t n,
                              const struct layout *layout, dn_machine **out, dn_error *err) {
    const size_t K = members[0]->classes.view.n;
    struct combination *c = dni_machine_alloc(&combination_kind, sizeof *c, K, layout->n_features);
    if (c == NULL) {
        return dni_machine_no_memory(K, layout->n_features, err);
    }
    c->members = dni_machine_array(&c->base, n, sizeof *c->members);
    for (; c->members != NULL && c->n < n; c->n++) {
        c->members[c->n] = (struct member){.model = dn_model_ref(members[c->n]),
                                           .share = share[c->n],
                                           .first = layout->first[c->n]};
    }
    return dni_machine_created(&c->base, out, err);
}

dn_status dni_combination_new(dn_model *const *members, const double *share, size_t n,
                              dn_machine **out, dn_encoder **out_encoder, dn_error *err) {
    struct layout layout = {0};
    dn_encoder *encoder = NULL;
    assert(n >= 2 && n <= DN_MAX_MEMBERS);
    dn_status status = check_members(members, n, err);
    if (status == DN_OK) {
        status = lay_out(members, n, &layout, err);
    }
    if (status == DN_OK && layout.n_parts > 1) {
        status = dni_encoder_join(layout.parts, layout.n_parts, &encoder, err);
    } else if (status == DN_OK) {
        encoder = dn_encoder_ref(layout.parts[0]);
    }
    if (status == DN_OK) {
        status = make_machine(members, share, n, &layout, out, err);
    }
    layout_done(&layout);
    if (status != DN_OK) {
        dn_encoder_unref(encoder);
        return status;
    }
    *out_encoder = encoder;
    return DN_OK;
}

const dn_model *dn_model_member(const dn_model *model, size_t i, double *share) {
    const dn_machine *machine = model->machines[0];
    return dni_machine_is_combination(machine) && i < combination_of(machine)->n
               ? dni_combination_member(machine, i, share)
               : NULL;
}

size_t dni_combination_n_members(const dn_machine *machine) {
    return combination_of(machine)->n;
}

const dn_model *dni_combination_member(const dn_machine *machine, size_t m, double *out_share) {
    const struct member *member = &combination_of(machine)->members[m];
    *out_share = member->share;
    return member->model;
}
