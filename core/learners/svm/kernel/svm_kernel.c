/* Machines with kernels: points once, a Gram matrix where it fits, the machines of a decision over them in the run's threads, and the support vectors that they share. */
#include "learners/svm/kernel/svm_kernel.h"
#include "base/tasks.h"
#include "learners/shared/smo/smo.h"
#include "learners/svm/kernel/svm_part.h"

/* ---- the parts ---- */
static void add_class(const dni_svm_fit *f, dni_svm_part *part, size_t k) {
    for (size_t i = f->points.start[k]; i < f->points.start[k + 1]; i++) {
        part->list[part->n++] = (uint32_t)i;
    }
}

static dn_status make_part(const dni_svm_fit *f, size_t i, dni_svm_part *part, dn_error *err) {
    const size_t K = f->points.n_classes;
    void *list, *numbers;
    dn_decision_machine(f->decision, K, i, &part->negative, &part->positive);
    if (part->positive == SIZE_MAX) {
        part->negative = 0;
        part->positive = 1;
    }
    size_t n = f->points.n;
    if (part->negative != SIZE_MAX) {
        n = f->points.start[part->negative + 1] - f->points.start[part->negative] +
            f->points.start[part->positive + 1] - f->points.start[part->positive];
    }
    dn_status status =
        dn_run_alloc(f->run, n + 1, sizeof *part->list, "the rows of a machine", &list, err);
    if (status != DN_OK) {
        return status;
    }
    part->list = list;
    for (size_t k = 0; k < K; k++) {
        if (k == part->negative || (part->negative == SIZE_MAX && k != part->positive)) {
            add_class(f, part, k);
        }
    }
    part->n_negative = part->n;
    add_class(f, part, part->positive);
    status = dn_run_alloc(f->run, 2 * n + 1, sizeof(double), "the dual variables of a machine",
                          &numbers, err);
    if (status != DN_OK) {
        return status;
    }
    part->alpha = numbers;
    part->g = part->alpha + n;
    return DN_OK;
}

static dn_status make_parts(dni_svm_fit *f, dn_error *err) {
    void *memory;
    f->n_parts = dn_decision_n_machines(f->decision, f->points.n_classes);
    dn_status status =
        dn_run_alloc(f->run, f->n_parts, sizeof *f->parts, "the machines", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    f->parts = memory;
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++) {
        status = make_part(f, i, &f->parts[i], err);
    }
    return status;
}

/* ---- training ---- */
static void tell(const dni_svm_fit *f, size_t done) {
    const dn_progress progress = {.iteration = done,
                                  .max_iterations = f->n_parts,
                                  .fraction = (double)done / (double)f->n_parts,
                                  .loss = (double)NAN,
                                  .gradient_norm = (double)NAN,
                                  .train_error = (double)NAN};
    if (f->run->progress != NULL) {
        f->run->progress(f->run, &progress);
    }
}

static dn_status train_task(void *arg, size_t i, size_t slot, dn_error *err) {
    dni_svm_fit *f = arg;
    const dn_run run = dni_task_run(f->run);
    dn_status status = dni_svm_part_train(f, i, &run, false, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t done = atomic_fetch_add(&f->n_done, 1) + 1;
    if (slot == 0) { /* parts end in any order, and progress is told by one thread */
        tell(f, done);
    }
    return DN_OK;
}

static dn_status train(dni_svm_fit *f, dn_error *err) {
    if (f->n_parts == 1) {
        return dni_svm_part_train(f, 0, f->run, true, err);
    }
    dn_status status = dni_tasks_run(f->run, f->n_parts, train_task, f, err);
    if (status == DN_OK) {
        tell(f, f->n_parts);
    }
    return status;
}

/* ---- the whole ---- */
static dn_status check_boxes(const dni_svm_fit *f, dn_error *err) {
    for (size_t i = 0; !dni_svm_is_hard(f) && i < f->points.n; i++) {
        if (!isfinite(f->options->C * f->points.weight[i])) {
            return dn_error_set(
                err, DN_ERR_NUMERIC,
                "C times the weights of the rows leaves the finite numbers (C is %g, a weight %g)",
                f->options->C, f->points.weight[i]);
        }
    }
    return DN_OK;
}

static dn_status prepare(dni_svm_fit *f, dn_error *err) {
    dn_status status = dni_kernel_fit_prepare(f->input, f->options->cache_bytes, f->run,
                                              &f->prepared, &f->kernel, &f->points, &f->gram, err);
    if (status == DN_OK) {
        status = check_boxes(f, err);
    }
    if (status == DN_OK) {
        status =
            dni_kernel_fit_definite(&f->points, &f->kernel, f->run, &f->definite, &f->least, err);
    }
    return status == DN_OK ? make_parts(f, err) : status;
}

static void done(dni_svm_fit *f) {
    for (size_t i = 0; f->parts != NULL && i < f->n_parts; i++) {
        dn_run_free(f->run, f->parts[i].list);
        dn_run_free(f->run, f->parts[i].alpha);
    }
    dn_run_free(f->run, f->parts);
    dni_kernel_fit_done(&f->prepared);
    dni_svm_points_done(&f->points);
}

/* The reports, one after the other: each of thousands is long. */
static dn_status tell_of_parts(const dni_svm_fit *f, dn_machine **machines, size_t n_support,
                               const dn_report_taker *taker, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++) {
        dn_report report = {0};
        dni_svm_part_report(f, &f->parts[i], n_support, &report);
        status = taker->take(taker->ctx, i, &report, err);
        dn_report_done(&report);
    }
    for (size_t i = 0; i < f->n_parts && status != DN_OK; i++) {
        dn_machine_free(machines[i]);
        machines[i] = NULL;
    }
    return status;
}

dn_status dni_svm_kernel_fit(const dn_fit_input *input, dn_decision decision,
                             const dni_svm_options *options, const dn_run *run,
                             dn_machine **machines, const dn_report_taker *taker, dn_error *err) {
    dni_svm_fit f = {.input = input, .options = options, .run = run, .decision = decision};
    size_t n_support = 0;
    dn_status status = prepare(&f, err);
    if (status == DN_OK) {
        status = train(&f, err);
    }
    if (status == DN_OK) {
        dni_kernel_fit_forget(&f.prepared, &f.points, &f.gram);
        status = dni_svm_machines(&f, machines, &n_support, err);
    }
    if (status == DN_OK) {
        status = tell_of_parts(&f, machines, n_support, taker, err);
    }
    done(&f);
    return status;
}

double dni_svm_kernel_memory(const dni_svm_options *options, const dn_kernel *kernel,
                             dn_decision decision, const dn_fit_shape *shape) {
    const size_t K = shape->n_classes, n = K > 2 ? dn_decision_n_machines(decision, K) : 1;
    const bool pairs =
        decision == DN_DECISION_ONE_VS_ONE || decision == DN_DECISION_ONE_VS_ONE_STRICT;
    const dni_kernel_machines machines = {.n = n,
                                          .per_row = n > 1 && pairs ? K - 1 : n,
                                          .at_once = n < shape->n_slots ? n : shape->n_slots};
    return dni_kernel_fit_memory(kernel, shape, options->cache_bytes, &machines);
}
