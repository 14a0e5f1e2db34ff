/* One description of the bytes serves both directions: code() copies a value to them or from them.
 * A struct is copied as it is but for its pointers, which are NULL in the bytes, then what they lead
 * to. Every length is compared with the bytes that are left before it is used. When reading, a
 * partial result can be freed after any failure. */
#include "jobs/ranks/handover.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct codec {
    struct buf *out; /* NULL: reads */
    const char *at;  /* [left] what is still to be read */
    size_t left;
    bool damaged, no_memory;
};

static bool failed(const struct codec *c) {
    return c->damaged || c->no_memory;
}

/* Writes the bytes of a value, or reads them. On failure the value is unchanged. */
static void code(struct codec *c, void *value, size_t size) {
    if (size == 0) {
        return; /* an array without elements may be NULL */
    }
    if (c->out != NULL) {
        buf_append(c->out, value, size);
    } else if (value != NULL && !failed(c) && size <= c->left) {
        memcpy(value, c->at, size);
        c->at += size;
        c->left -= size;
    } else {
        c->damaged = true;
    }
}

/* Returns the array when writing. When reading, returns memory for n elements, which follow; NULL
 * after a failure. */
static void *room(struct codec *c, void *array, size_t n, size_t size) {
    if (c->out != NULL) {
        return array;
    }
    if (failed(c) || n > c->left / size) {
        c->damaged = true;
        return NULL;
    }
    void *memory = calloc(n + 1, size);
    c->no_memory = memory == NULL;
    return memory;
}

/* A value that must be the same on both sides. */
static void same(struct codec *c, size_t own) {
    size_t value = own;
    code(c, &value, sizeof value);
    c->damaged = c->damaged || value != own;
}

static void code_head(struct codec *c) {
    char version[32] = DISCERN_VERSION;
    code(c, version, sizeof version);
    version[sizeof version - 1] = '\0';
    c->damaged = c->damaged || strcmp(version, DISCERN_VERSION) != 0;
    same(c, sizeof(dn_train_result));
    same(c, sizeof(dn_metrics));
    same(c, sizeof(dn_report_part));
    same(c, sizeof(dn_detail));
}

/* ---- the report ---- */
static void forget_lists(dn_detail *details, size_t n) {
    for (size_t i = 0; i < n; i++) {
        details[i].list = NULL;
    }
}

static void code_detail_heads(struct codec *c, dn_detail *details, size_t n) {
    for (size_t i = 0; i < n && !failed(c); i++) {
        dn_detail head = details[i];
        head.list = NULL;
        code(c, &head, sizeof head);
        if (c->out == NULL) {
            head.list = NULL;
            details[i] = head;
        }
    }
}

/* Whether the lists are there is in the bytes: when reading, the pointers are NULL. */
static void code_lists(struct codec *c, dn_detail *details, size_t n) {
    for (size_t i = 0; i < n && !failed(c); i++) {
        dn_detail *d = &details[i];
        unsigned char has = d->list != NULL;
        code(c, &has, sizeof has);
        if (c->out == NULL) {
            d->name[sizeof d->name - 1] = d->text[sizeof d->text - 1] = '\0';
            d->n_list = has ? d->n_list : 0;
        }
        if (has) {
            d->list = room(c, d->list, d->n_list, sizeof *d->list);
        }
        if (has && !failed(c)) {
            code(c, d->list, d->n_list * sizeof *d->list);
        }
    }
}

static void code_parts(struct codec *c, dn_report *report) {
    size_t n = report->n_parts;
    code(c, &n, sizeof n);
    c->damaged = c->damaged || n > DN_MAX_PARTS;
    report->parts = room(c, report->parts, n, sizeof *report->parts);
    for (size_t i = 0; i < n && !failed(c); i++) {
        dn_report_part *p = &report->parts[i], head = *p;
        head.details = NULL;
        code(c, &head, sizeof head);
        if (c->out == NULL) {
            head.details = NULL;
            *p = head;
            report->n_parts = i + 1;
            p->details = room(c, p->details, p->n_details, sizeof *p->details);
        }
        code_detail_heads(c, p->details, p->n_details);
        code_lists(c, p->details, p->n_details);
        if (failed(c) && p->details == NULL) {
            p->n_details = 0;
        }
    }
}

static void code_report(struct codec *c, dn_report *report) {
    code_lists(c, report->details, report->n_details);
    code_parts(c, report);
    for (size_t i = 0; c->out == NULL && i < report->n_warnings; i++) {
        report->warnings[i].text[DN_MESSAGE_SIZE - 1] = '\0';
    }
}

/* ---- the metrics ---- */
static void code_curve(struct codec *c, dn_curve *curve) {
    dn_curve copy = *curve;
    copy.points = NULL;
    code(c, &copy, sizeof copy);
    if (c->out == NULL && !failed(c)) {
        *curve = (dn_curve){.area = copy.area, .n_points = copy.n_points};
        curve->points = room(c, curve->points, curve->n_points, sizeof *curve->points);
    }
    if (curve->points != NULL) {
        code(c, curve->points, curve->n_points * sizeof *curve->points);
    }
}

static void code_curves(struct codec *c, dn_curves *curves) {
    dn_curves copy = *curves;
    copy.roc = copy.precision_recall = NULL;
    code(c, &copy, sizeof copy);
    c->damaged = c->damaged || copy.n_curves != curves->n_curves;
    copy.n_curves = curves->n_curves;
    copy.roc = curves->roc;
    copy.precision_recall = curves->precision_recall;
    if (c->out == NULL) {
        *curves = copy;
    }
    for (size_t k = 0; k < curves->n_curves && !failed(c); k++) {
        code_curve(c, &curves->roc[k]);
        code_curve(c, &curves->precision_recall[k]);
    }
}

/* What of the metrics is there. */
struct shape {
    size_t n_classes;
    unsigned char has, curves, sets;
};

static void new_metrics(struct codec *c, const struct shape *shape, dn_metrics **out) {
    static const dn_conformal sets;
    const dn_metrics_options options = {.struct_size = sizeof options,
                                        .n_classes = shape->n_classes,
                                        .curves = shape->curves != 0,
                                        .sets = shape->sets ? &sets : NULL};
    if (shape->n_classes > c->left / sizeof(dn_class_metrics) ||
        (shape->n_classes > 0 && shape->n_classes > c->left / sizeof(double) / shape->n_classes)) {
        c->damaged = true;
    } else if (dn_metrics_new(&options, out, NULL) != DN_OK) {
        c->no_memory = true;
    }
}

static void code_metrics(struct codec *c, dn_metrics **metrics) {
    dn_metrics *m = *metrics;
    struct shape shape = {.has = m != NULL};
    if (m != NULL) {
        shape = (struct shape){m->n_classes, 1, m->curves != NULL, m->sets != NULL};
    }
    code(c, &shape, sizeof shape);
    if (!shape.has || failed(c)) {
        return;
    }
    if (c->out == NULL) {
        new_metrics(c, &shape, metrics);
        m = *metrics;
    }
    if (m == NULL) {
        return;
    }
    dn_metrics copy = *m;
    copy.confusion = NULL;
    copy.per_class = NULL;
    copy.curves = NULL;
    copy.sets = NULL;
    code(c, &copy, sizeof copy);
    copy.n_classes = shape.n_classes;
    copy.confusion = m->confusion;
    copy.per_class = m->per_class;
    copy.curves = m->curves;
    copy.sets = m->sets;
    copy.warning[sizeof copy.warning - 1] = '\0';
    if (c->out == NULL) {
        *m = copy;
    }
    code(c, m->confusion, m->n_classes * m->n_classes * sizeof *m->confusion);
    code(c, m->per_class, m->n_classes * sizeof *m->per_class);
    if (m->sets != NULL) {
        code(c, m->sets, (m->n_classes + 1) * sizeof *m->sets);
    }
    if (m->curves != NULL) {
        code_curves(c, m->curves);
    }
}

/* ---- the predictions of held-out rows ---- */
struct rows_head {
    size_t n, n_values;
    unsigned char has, weighted, probabilities;
};

static void code_rows(struct codec *c, const dn_held_out *rows, struct handover_rows *out) {
    const dn_held_out from = rows != NULL ? *rows : (dn_held_out){0};
    struct rows_head head = {from.n, from.n_values, rows != NULL, from.weight != NULL,
                             from.probabilities};
    code(c, &head, sizeof head);
    if (!head.has || failed(c)) {
        return;
    }
    const size_t n = head.n;
    const struct array {
        const void *from;
        size_t size; /* of one element */
    } arrays[] = {{from.row, sizeof *from.row},
                  {from.values, head.n_values * sizeof *from.values},
                  {from.weight, head.weighted ? sizeof *from.weight : 0},
                  {from.fold, sizeof *from.fold},
                  {from.repeat, sizeof *from.repeat},
                  {from.truth, sizeof *from.truth},
                  {from.label, sizeof *from.label}};
    enum { N_ARRAYS = sizeof arrays / sizeof arrays[0] };
    size_t of_row = 0;
    for (size_t i = 0; i < N_ARRAYS; i++) {
        of_row += arrays[i].size;
    }
    if (c->out != NULL) {
        for (size_t i = 0; i < N_ARRAYS; i++) {
            buf_append(c->out, arrays[i].from, n * arrays[i].size);
        }
        return;
    }
    /* the first comparison keeps of_row from overflow, the second n * of_row */
    if (n > 0 && (head.n_values > c->left / sizeof(double) || n > c->left / of_row)) {
        c->damaged = true;
        return;
    }
    const size_t size = n * of_row;
    out->bytes = room(c, out->bytes, size, 1);
    if (failed(c)) {
        return;
    }
    code(c, out->bytes, size);
    const char *at[N_ARRAYS] = {out->bytes};
    for (size_t i = 1; i < N_ARRAYS; i++) {
        at[i] = at[i - 1] + n * arrays[i - 1].size;
    }
    out->rows = (dn_held_out){.n = n,
                              .n_values = head.n_values,
                              .probabilities = head.probabilities != 0,
                              .row = (const void *)at[0],
                              .values = (const void *)at[1],
                              .weight = head.weighted ? (const void *)at[2] : NULL,
                              .fold = (const void *)at[3],
                              .repeat = (const void *)at[4],
                              .truth = (const void *)at[5],
                              .label = (const void *)at[6]};
}

/* ---- the result ---- */
/* Clears the pointers, and the numbers of what is coded with its own number. */
static void clear_pointers(dn_train_result *result) {
    result->model = NULL;
    result->train = result->validation = NULL;
    result->folds = NULL;
    result->report.parts = NULL;
    result->report.n_parts = 0;
    forget_lists(result->report.details, DN_MAX_DETAILS);
}

/* Reads the struct. */
static void read_result(struct codec *c, dn_train_result *result, size_t *n_folds) {
    dn_train_result copy = {0};
    code(c, &copy, sizeof copy);
    if (copy.report.n_details > DN_MAX_DETAILS || copy.report.n_warnings > DN_MAX_WARNINGS) {
        c->damaged = true;
    }
    if (failed(c)) {
        return;
    }
    *n_folds = copy.n_folds;
    clear_pointers(&copy);
    copy.n_folds = 0;
    *result = copy;
    result->folds = room(c, result->folds, *n_folds, sizeof *result->folds);
    result->n_folds = failed(c) ? 0 : *n_folds;
}

static void code_contents(struct codec *c, dn_train_result *result, size_t n_folds) {
    code_report(c, &result->report);
    code_metrics(c, &result->train);
    code_metrics(c, &result->validation);
    for (size_t f = 0; f < n_folds && !failed(c); f++) {
        code_metrics(c, &result->folds[f]);
    }
}

dn_status handover_write(const dn_train_result *result, const dn_held_out *held_out,
                         struct buf *out, dn_error *err) {
    struct codec c = {.out = out};
    dn_train_result copy = *result, head = *result; /* code() takes no const */
    void *model = NULL;
    size_t size = 0;
    const dn_status status = dn_model_write(result->model, &model, &size, err);
    if (status != DN_OK) {
        return status;
    }
    clear_pointers(&head);
    code_head(&c);
    code(&c, &head, sizeof head);
    code_contents(&c, &copy, copy.n_folds);
    code(&c, &size, sizeof size);
    code(&c, model, size);
    code_rows(&c, held_out, NULL);
    free(model);
    return out->failed ? dn_error_set(err, DN_ERR_MEMORY, "out of memory") : DN_OK;
}

bool handover_read(const void *bytes, size_t size, dn_train_result *result,
                   struct handover_rows *rows, struct problem *problem) {
    struct codec c = {.at = bytes, .left = size};
    size_t n_folds = 0, model_size = 0;
    *result = (dn_train_result){0};
    *rows = (struct handover_rows){.bytes = NULL};
    code_head(&c);
    read_result(&c, result, &n_folds);
    if (!failed(&c)) {
        code_contents(&c, result, n_folds);
    }
    code(&c, &model_size, sizeof model_size);
    c.damaged = c.damaged || model_size > c.left;
    if (!failed(&c)) {
        const dn_status status = dn_model_read(c.at, model_size, &result->model, NULL);
        c.no_memory = status == DN_ERR_MEMORY;
        c.damaged = status != DN_OK && !c.no_memory;
        c.at += model_size;
        c.left -= model_size;
    }
    code_rows(&c, NULL, rows);
    c.damaged = c.damaged || (!c.no_memory && c.left > 0);
    if (failed(&c)) {
        dn_train_result_done(result);
        handover_rows_done(rows);
        return c.no_memory ? problem_no_memory(problem)
                           : problem_set(problem, PROBLEM_INTERNAL,
                                         "the result of discern-train is damaged, or it is not of "
                                         "the build of discernd");
    }
    return true;
}

void handover_rows_done(struct handover_rows *rows) {
    free(rows->bytes);
    *rows = (struct handover_rows){.bytes = NULL};
}
