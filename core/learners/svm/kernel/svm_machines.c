/* What is left of solved parts: machines over shared support vectors, and reports. */
#include "learners/shared/kernel_params.h"
#include "learners/svm/kernel/svm_part.h"
#include "machine/machine_impl.h"
#include "machine/support.h"

#include <stdlib.h>
#include <string.h>

/* number[i] ← which support vector point i is, SIZE_MAX as UINT32_MAX: none. Returns how many. */
static size_t number_support(const dni_svm_fit *f, uint32_t *number) {
    size_t n = 0;
    memset(number, 0, f->points.n * sizeof *number);
    for (size_t p = 0; p < f->n_parts; p++) {
        for (size_t k = 0; k < f->parts[p].n; k++) {
            if (f->parts[p].alpha[k] > 0) {
                number[f->parts[p].list[k]] = 1;
            }
        }
    }
    for (size_t i = 0; i < f->points.n; i++) {
        number[i] = number[i] ? (uint32_t)n++ : UINT32_MAX;
    }
    return n;
}

/* By point: those of a part stand class by class. */
static int by_index(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t count_support(const dni_svm_part *part) {
    size_t n = 0;
    for (size_t k = 0; k < part->n; k++) {
        n += part->alpha[k] > 0;
    }
    return n;
}

static dn_status make_machine(const dni_svm_fit *f, const dni_svm_part *part,
                              const uint32_t *number, dn_support *support, dn_machine **out,
                              dn_error *err) {
    size_t n = count_support(part);
    dn_status status = dni_kernel_machine_new(support, n, out, err);
    if (status != DN_OK) {
        return status;
    }
    dn_kernel_machine *machine = dni_kernel_machine_of(*out);
    void *memory;
    status = dn_run_alloc(f->run, f->points.n + 1, sizeof(double), "the coefficients of a machine",
                          &memory, err);
    if (status != DN_OK) {
        dn_machine_free(*out);
        *out = NULL;
        return status;
    }
    double *coef = memory; /* by support vector */
    n = 0;
    for (size_t k = 0; k < part->n; k++) {
        if (!(part->alpha[k] > 0)) {
            continue;
        }
        const uint32_t i = number[part->list[k]];
        machine->index[n++] = i;
        coef[i] = (k < part->n_negative ? -1 : 1) * part->alpha[k];
    }
    qsort(machine->index, n, sizeof *machine->index, by_index);
    for (size_t k = 0; k < n; k++) {
        machine->coef[k] = coef[machine->index[k]];
    }
    machine->w0 = part->solution.w0;
    machine->norm = part->solution.norm;
    dn_run_free(f->run, memory);
    return DN_OK;
}

static dn_status make_machines(const dni_svm_fit *f, dn_machine **machines, size_t *out_support,
                               dn_error *err) {
    void *memory;
    dn_support *support = NULL;
    dn_status status = dn_run_alloc(f->run, f->points.n + 1, sizeof(uint32_t),
                                    "the numbers of the support vectors", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    *out_support = number_support(f, memory);
    status = dni_kernel_fit_support(&f->kernel, &f->points, memory, *out_support, &support, err);
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++) {
        status = make_machine(f, &f->parts[i], memory, support, &machines[i], err);
    }
    dni_support_unref(support);
    dn_run_free(f->run, memory);
    for (size_t i = 0; i < f->n_parts && status != DN_OK; i++) {
        dn_machine_free(machines[i]);
        machines[i] = NULL;
    }
    return status;
}

/* A linear kernel's machine is its weights: Σ c_i x_i; only here a solution gets its margin in the raw features. */
static dn_status make_linear(const dni_svm_fit *f, dn_machine **machines, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++) {
        const dni_svm_part *part = &f->parts[i];
        const size_t d = f->input->rows->n_cols;
        dni_linear_machine *machine = NULL;
        status = dni_linear_machine_new(2, d, false, &machines[i], err);
        if (status == DN_OK) {
            machine = dni_linear_machine_of(machines[i]);
        }
        for (size_t k = 0; status == DN_OK && k < part->n; k++) {
            const dn_matrix x = dni_svm_point(&f->points, part->list[k]);
            const double coef = (k < part->n_negative ? -1 : 1) * part->alpha[k];
            const size_t first = x.kind == DN_CSR ? x.row_start[0] : 0,
                         n = x.kind == DN_CSR ? x.row_start[1] - first : x.n_cols;
            for (size_t e = 0; coef != 0 && e < n; e++) {
                machine->w[x.kind == DN_CSR ? x.cols[first + e] : e] += coef * x.values[first + e];
            }
        }
        if (status == DN_OK) {
            machine->w0[0] = part->solution.w0;
            f->parts[i].solution.margin_raw = dni_svm_raw_margin(machine->w, f->input->scale, d);
        }
    }
    for (size_t i = 0; i < f->n_parts && status != DN_OK; i++) {
        dn_machine_free(machines[i]);
        machines[i] = NULL;
    }
    return status;
}

/* ---- reports ---- */
void dni_svm_part_report(const dni_svm_fit *f, const dni_svm_part *part, size_t n_support,
                         dn_report *report) {
    dn_report fresh = {.converged = part->converged,
                       .stop_reason = part->stop_reason,
                       .iterations = (size_t)part->iterations,
                       .objective = part->solution.primal,
                       .gradient_norm = (double)NAN};
    dn_report_text(&fresh, "solver", "smo");
    dn_report_number(&fresh, "tolerance", f->options->tolerance);
    dni_svm_report(&part->solution, f->options->C, dni_kernel_advice(&f->kernel), &fresh);
    dni_kernel_fit_report(&f->prepared, &f->kernel, &fresh);
    dn_report_number(&fresh, "distinct_rows", (double)part->n);
    dn_report_number(&fresh, "distinct_support_vectors", (double)count_support(part));
    if (f->n_parts > 1) {
        dn_report_number(&fresh, "shared_support_vectors", (double)n_support);
    }
    if (!f->definite) {
        dn_report_number(&fresh, "least_eigenvalue", f->least);
    }
    if (!f->definite) {
        dn_report_warn(
            &fresh,
            "the kernel is not positive semidefinite on these rows (least eigenvalue about %.3g): "
            "the solution satisfies the optimality "
            "conditions, but nothing certifies that it is the best; there is no duality gap",
            f->least);
    }
    if (!part->converged) {
        dn_report_warn(&fresh,
                       "after %.0f steps the optimality conditions are violated by %.3g (tolerance "
                       "%g)%s, a smaller C%s",
                       part->iterations, part->solution.kkt_violation, f->options->tolerance,
                       dni_kernel_fit_remedy(part->stop_reason),
                       dni_kernel_takes_scale(&f->kernel) ? ", or features.standardize" : "");
    }
    *report = fresh;
}

dn_status dni_svm_machines(const dni_svm_fit *f, dn_machine **machines, size_t *out_n_support,
                           dn_error *err) {
    *out_n_support = 0;
    return f->kernel.type == DN_KERNEL_LINEAR && !f->kernel.normalize
               ? make_linear(f, machines, err)
               : make_machines(f, machines, out_n_support, err);
}
