/* k nearest neighbours. The fit only stores the rows; prediction is in machine/neighbours.h. */
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "kernels/kernel_impl.h"
#include "learners/shared/learner.h"
#include "machine/neighbours.h"

#include <math.h>

/* ---- parameters ---- */
static const char *const metrics[] = {"euclidean", "manhattan", "chebyshev", "cosine", NULL};
static const char *const metric_meanings[] = {
    "|x - z|", "the sum of |x_j - z_j|", "the greatest |x_j - z_j|",
    "1 - x'z/(|x| |z|); rows of zeros have distance 0 from each other and 1 from all other rows",
    NULL};
static const dn_synonym metric_synonyms[] = {{"l1", "manhattan"},
                                             {"cityblock", "manhattan"},
                                             {"l2", "euclidean"},
                                             {"linf", "chebyshev"},
                                             {NULL, NULL}};
static const char *const votes[] = {"uniform", "inverse_distance", NULL};
static const char *const vote_meanings[] = {
    "the weight of its row",
    "the weight of its row divided by the distance; rows at distance 0 outvote all others", NULL};
static const dn_synonym vote_synonyms[] = {{"distance", "inverse_distance"}, {NULL, NULL}};

static const dn_param params[] = {
    {.name = "k",
     .type = DN_PARAM_INTEGER,
     .meaning = "Number of neighbours that vote. With fewer training rows all of them vote.",
     .default_number = 5,
     .minimum = 1,
     .maximum = 1e6,
     .complexity = -1},
    {.name = "metric",
     .type = DN_PARAM_CHOICE,
     .meaning = "The distance of two rows, computed from their encoded features x and z.",
     .default_choice = "euclidean",
     .choices = metrics,
     .choice_meanings = metric_meanings,
     .synonyms = metric_synonyms},
    {.name = "votes",
     .type = DN_PARAM_CHOICE,
     .meaning = "The weight of a neighbour's vote.",
     .default_choice = "uniform",
     .choices = votes,
     .choice_meanings = vote_meanings,
     .synonyms = vote_synonyms},
};

static dn_metric metric_of(const dn_params *p) {
    const char *word = dn_params_word(p, "metric");
    size_t i = 0;
    while (strcmp(dni_kernel_metrics[i], word) != 0) {
        i++;
    }
    return (dn_metric)i;
}

static dn_kernel kernel_of(const dn_params *p, size_t n_features) {
    return (dn_kernel){.type = DN_KERNEL_DISTANCE,
                       .metric = metric_of(p),
                       .width = 1,
                       .n_features = n_features};
}

/* ---- fit ---- */
typedef void visit_fn(void *arg, const dn_block *block);

/* Calls `visit` with every block of rows, in order, and polls the stop flag before each block. */
static dn_status visit_blocks(const dn_rows *rows, const dn_run *run, visit_fn *visit, void *arg,
                              dn_error *err) {
    for (size_t b = 0; b < rows->n_blocks; b++) {
        for (size_t k = 0; k < dn_rows_n_pieces(rows, b); k++) {
            dn_block block;
            dn_status status = dn_run_stop(run, err);
            if (status == DN_OK) {
                status = dn_rows_piece(rows, b, k, 0, &block, err);
            }
            if (status != DN_OK) {
                return status;
            }
            visit(arg, &block);
        }
    }
    return DN_OK;
}

struct fit {
    size_t n, n_entries; /* rows with a weight above 0, and their nonzero entries (sparse rows) */
    bool sparse;
    dni_support *support;
    dni_neighbours *machine;
    size_t stored; /* number of rows whose class and weight are stored so far */
};

static double weight_of(const dn_block *block, size_t i) {
    return block->weight == NULL ? 1 : block->weight[i];
}

static void count_rows(void *arg, const dn_block *block) {
    struct fit *fit = arg;
    const dn_matrix x = block->x;
    fit->sparse = x.kind == DN_CSR;
    for (size_t i = 0; i < x.n_rows; i++) {
        if (weight_of(block, i) > 0) {
            fit->n++;
            fit->n_entries += fit->sparse ? x.row_start[i + 1] - x.row_start[i] : 0;
        }
    }
}

static void store_rows(void *arg, const dn_block *block) {
    struct fit *fit = arg;
    for (size_t i = 0; i < block->x.n_rows; i++) {
        if (weight_of(block, i) > 0) {
            dni_support_add(fit->support, dn_matrix_rows(block->x, i, 1));
        }
    }
}

static void store_votes(void *arg, const dn_block *block) {
    struct fit *fit = arg;
    for (size_t i = 0; i < block->x.n_rows; i++) {
        if (weight_of(block, i) > 0) {
            fit->machine->class_of[fit->stored] = (uint32_t)block->target[i];
            fit->machine->weight[fit->stored++] = weight_of(block, i);
        }
    }
}

static void report_fit(const struct fit *fit, size_t wanted, dn_report *report) {
    *report = dni_report_closed_form();
    report->objective = (double)NAN;
    dn_report_number(report, "stored_rows", (double)fit->n);
    if (fit->n < wanted) {
        dn_report_warn(report, DN_WARNING_PARAMETER,
                       "parameter \"k\" is %zu, but there are %zu training rows: all of them vote",
                       wanted, fit->n);
    }
}

static dn_status fit_knn(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                         dn_report *report, dn_error *err) {
    const dn_kernel kernel = kernel_of(input->params, input->rows->n_cols);
    const size_t wanted = (size_t)dn_params_number(input->params, "k");
    struct fit fit = {0};
    dn_status status = visit_blocks(input->rows, run, count_rows, &fit, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_support_new(&kernel, fit.n, fit.sparse ? fit.n_entries : SIZE_MAX, run,
                             &fit.support, err);
    if (status != DN_OK) {
        return status;
    }
    status = visit_blocks(input->rows, run, store_rows, &fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_support_end(fit.support, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_neighbours_new(fit.support, input->n_classes, fit.n < wanted ? fit.n : wanted,
                                dni_params_is(input->params, "votes", "uniform")
                                    ? DNI_VOTES_UNIFORM
                                    : DNI_VOTES_INVERSE_DISTANCE,
                                out, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    fit.machine = dni_neighbours_of(*out);
    status = visit_blocks(input->rows, run, store_votes, &fit, err);
    if (status == DN_OK) {
        report_fit(&fit, wanted, report);
    }
cleanup:
    dni_support_unref(fit.support); /* the machine has its own reference */
    return status;
}

/* Bytes of the stored rows. Their arrays grow while rows are added, so this is an estimate and not
 * the size of a layout. */
static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const dn_kernel kernel = kernel_of(p, shape->n_features);
    return dni_support_estimate(&kernel, shape->n_rows, shape->n_entries) +
           dni_neighbours_memory(shape->n_rows);
}

static dn_kept_memory kept_memory(const dn_params *p, const dn_fit_shape *shape) {
    const dn_kernel kernel = kernel_of(p, shape->n_features);
    dn_kept_memory kept = dni_support_kept_memory(&kernel, shape);
    kept.machine += dni_neighbours_memory(shape->n_rows);
    return kept;
}

const dn_algorithm dni_algorithm_knn = {
    .id = "knn",
    .title = "k nearest neighbours",
    .summary = "A row gets the class that most of the k nearest training rows have. Nothing is "
               "assumed about the shape of the classes. The model keeps all training rows, and a "
               "prediction compares with each of them: for small tables with few columns. "
               "Probabilities are the shares of the votes.",
    .source = "Duda, Hart and Stork, Pattern Classification, section 4.5; Hastie, Tibshirani and "
              "Friedman, The Elements of Statistical Learning, section 13.3",
    .stopping_rule = "closed form: always",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STANDARDIZE |
             DN_ALGORITHM_STREAMS | DN_ALGORITHM_NONLINEAR | DN_ALGORITHM_NOT_ADDITIVE,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .memory = memory,
    .fit = fit_knn,
    .kept_memory = kept_memory,
};
