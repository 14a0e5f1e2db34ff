/* The predictions of held-out rows: arrays that grow to a fixed capacity, and are sorted at the
 * end. */
#include "evaluate/held_out_rows.h"
#include "base/layout.h"
#include "catalogue/calibration_params.h"
#include <discern/decision.h>

#include <stdlib.h>
#include <string.h>

/* The arrays of dn_held_out. */
struct arrays {
    size_t *row;
    uint32_t *fold, *repeat, *truth, *label;
    double *weight, *values;
    double *moved; /* [n_values] the values of a prediction while others are moved */
};

struct held_out {
    dn_held_out base; /* first member, so that a dn_held_out * can be cast to struct held_out * */
    struct arrays arrays;
    size_t capacity;
    uint32_t fold, repeat; /* of the predictions to be added */
    const dn_allocator *allocator;
    void *memory;
};

static void held_out_layout(dni_layout *layout, const void *shape, void *out) {
    const dni_held_out_shape *s = shape;
    struct arrays *a = out;
    a->row = dni_layout_array(layout, s->n_rows, sizeof *a->row);
    a->fold = dni_layout_array(layout, s->n_rows, sizeof *a->fold);
    a->repeat = dni_layout_array(layout, s->n_rows, sizeof *a->repeat);
    a->truth = dni_layout_array(layout, s->n_rows, sizeof *a->truth);
    a->label = dni_layout_array(layout, s->n_rows, sizeof *a->label);
    a->weight = s->weighted ? dni_layout_doubles(layout, s->n_rows) : NULL;
    a->values = dni_layout_matrix(layout, s->n_rows, s->n_values);
    a->moved = dni_layout_doubles(layout, s->n_values);
}

bool dn_params_have_probabilities(const dn_params *params, size_t n_classes) {
    return ((params->algorithm->flags & DN_ALGORITHM_PROBABILITIES) != 0 ||
            dni_calibration_method(params) != DN_CALIBRATION_NONE) &&
           dn_decision_has_probabilities(dn_params_decision(params), n_classes);
}

size_t dn_held_out_values(const dn_params *params, size_t n_classes) {
    return dn_params_have_probabilities(params, n_classes)
               ? n_classes
               : dn_decision_n_scores(dn_params_decision(params), n_classes);
}

dn_status dni_held_out_new(const dni_held_out_shape *shape, const dn_run *run, dn_held_out **out,
                           dn_error *err) {
    struct held_out *h = malloc(sizeof *h);
    if (h == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the predictions of held-out rows");
    }
    *h = (struct held_out){.capacity = shape->n_rows, .allocator = run->allocator};
    const dn_status status = dni_layout_take(run, held_out_layout, shape, &h->arrays,
                                             "the predictions of held-out rows", &h->memory, err);
    if (status != DN_OK) {
        free(h);
        return status;
    }
    h->base = (dn_held_out){.n_values = shape->n_values,
                            .probabilities = shape->probabilities,
                            .row = h->arrays.row,
                            .fold = h->arrays.fold,
                            .repeat = h->arrays.repeat,
                            .truth = h->arrays.truth,
                            .label = h->arrays.label,
                            .weight = h->arrays.weight,
                            .values = h->arrays.values};
    *out = &h->base;
    return DN_OK;
}

void dn_held_out_free(dn_held_out *held_out) {
    struct held_out *h = (struct held_out *)held_out;
    if (h != NULL) {
        const dn_run run = {.allocator = h->allocator};
        dn_run_free(&run, h->memory);
        free(h);
    }
}

void dni_held_out_begin(dn_held_out *held_out, size_t fold, size_t repeat) {
    struct held_out *h = (struct held_out *)held_out;
    h->fold = (uint32_t)fold;
    h->repeat = (uint32_t)repeat;
}

void dni_held_out_add(dn_held_out *held_out, const dni_held_out_rows *rows) {
    struct held_out *h = (struct held_out *)held_out;
    const struct arrays *a = &h->arrays;
    for (size_t i = 0; i < rows->n && h->base.n < h->capacity; i++) {
        const size_t at = h->base.n++;
        a->row[at] = rows->row[i];
        a->fold[at] = h->fold;
        a->repeat[at] = h->repeat;
        a->truth[at] = (uint32_t)rows->truth[i];
        a->label[at] = rows->predicted[i] == DN_AMBIGUOUS ? DN_HELD_OUT_AMBIGUOUS
                                                          : (uint32_t)rows->predicted[i];
        if (a->weight != NULL) {
            a->weight[at] = rows->weight == NULL ? 1 : rows->weight[i];
        }
        memcpy(a->values + at * h->base.n_values, rows->values + i * h->base.n_values,
               h->base.n_values * sizeof *a->values);
    }
}

void dni_held_out_cut(dn_held_out *held_out, size_t n) {
    if (n < held_out->n) {
        held_out->n = n;
    }
}

/* ---- sorting ---- */
/* The place of a prediction. */
struct key {
    uint32_t repeat, from;
    size_t row;
};

static int compare_keys(const void *a, const void *b) {
    const struct key *x = a, *y = b;
    return x->repeat != y->repeat ? (x->repeat > y->repeat) - (x->repeat < y->repeat)
                                  : (x->row > y->row) - (x->row < y->row);
}

/* A prediction without its values. */
struct prediction {
    size_t row;
    uint32_t fold, repeat, truth, label;
    double weight;
};

static struct prediction take(const struct arrays *a, size_t i) {
    return (struct prediction){.row = a->row[i],
                               .fold = a->fold[i],
                               .repeat = a->repeat[i],
                               .truth = a->truth[i],
                               .label = a->label[i],
                               .weight = a->weight == NULL ? 1 : a->weight[i]};
}

static void put(const struct arrays *a, size_t i, struct prediction p) {
    a->row[i] = p.row;
    a->fold[i] = p.fold;
    a->repeat[i] = p.repeat;
    a->truth[i] = p.truth;
    a->label[i] = p.label;
    if (a->weight != NULL) {
        a->weight[i] = p.weight;
    }
}

/* Moves the predictions of the cycle of the permutation that begins at `start`: prediction i
 * becomes that of key[i].from. */
static void move_cycle(const struct held_out *h, struct key *key, size_t start) {
    const struct arrays *a = &h->arrays;
    const size_t n = h->base.n_values, bytes = n * sizeof *a->values;
    const struct prediction first = take(a, start);
    size_t i = start;
    memcpy(a->moved, a->values + start * n, bytes);
    while (key[i].from != start) {
        const size_t from = key[i].from;
        put(a, i, take(a, from));
        memcpy(a->values + i * n, a->values + from * n, bytes);
        key[i].from = (uint32_t)i;
        i = from;
    }
    put(a, i, first);
    memcpy(a->values + i * n, a->moved, bytes);
    key[i].from = (uint32_t)i;
}

dn_status dni_held_out_sort(dn_held_out *held_out, const dn_run *run, dn_error *err) {
    struct held_out *h = (struct held_out *)held_out;
    void *memory = NULL;
    const dn_status status =
        dn_run_alloc(run, held_out->n, sizeof(struct key), "sorting the predictions", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    struct key *key = memory;
    for (size_t i = 0; i < held_out->n; i++) {
        key[i] = (struct key){h->arrays.repeat[i], (uint32_t)i, h->arrays.row[i]};
    }
    qsort(key, held_out->n, sizeof *key, compare_keys);
    for (size_t i = 0; i < held_out->n; i++) {
        move_cycle(h, key, i);
    }
    dn_run_free(run, memory);
    return DN_OK;
}

double dni_held_out_memory(const dni_held_out_shape *shape) {
    struct arrays arrays;
    return dni_layout_bytes(held_out_layout, shape, &arrays) +
           (double)shape->n_rows * sizeof(struct key);
}
