/* Naive Bayes: within a class the inputs count as independent, so that the logarithm of the density is a sum over them.
 *
 *   g_k = ln P(C_k) + Σ_j ln p(x_j | C_k)
 *   number        ln N(x_j; m_jk, σ²_jk), weighted mean and variance (divisor Σv) of the class's rows; σ² at least the floor
 *   boolean       p_jk = (N1_jk + α)/(N_k + 2α), N1_jk = Σv x_j over the class's rows, N_k = Σv
 *   category      θ_jk = (N_jk + α)/(N_k + αL) for each of the L levels of an input; one that training never saw adds nothing
 *
 * Alpaydın, Introduction to Machine Learning, sections 5.7 and 4.5; Bishop, PRML, section 4.2.3. Closed form: two passes over the rows. */
#include "learners/likelihood.h"
#include "learners/priors.h"
#include "learners/registry.h"
#include "learners/report.h"
#include "learners/scatter.h"
#include "predict/machine.h"

#include <math.h>
#include <string.h>

static const dn_param params[] = {
    {.name = "smoothing",
     .type = DN_PARAM_NUMBER,
     .meaning = "Rows of each value that a class is imagined to have beside its own, for boolean and categorical inputs. 0: a value that a "
                "class has never shown is impossible in it.",
     .default_number = 1,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    {.name = "variance_floor",
     .type = DN_PARAM_NUMBER,
     .meaning =
         "The least variance of a numeric column within a class, as a share of the largest variance that any numeric column has over "
         "all training rows; smaller ones are raised to it, the others stay as they are. 0: no floor.",
     .default_number = 1e-9,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    DNI_PARAM_PRIORS,
};

struct bayes {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_scatter scatter; /* diagonal */
    size_t n_classes, d;
    double smoothing;
    double floor;  /* of variances */
    bool *raised;  /* [d] columns with a variance below the floor */
    double *count; /* [d] levels of the input whose level the feature is; 0 for others */
};

/* How each feature enters: by the type of the input it comes from; a number where no input is known. */
static dn_status choose_factors(struct bayes *b, dn_naive_bayes *out, dn_error *err) {
    const dn_encoder *encoder = b->input->encoder;
    memset(out->factor, DN_FACTOR_GAUSSIAN, b->d);
    for (size_t i = 0; encoder != NULL && i < dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        size_t first = input->first_feature, n = input->n_features;
        if (input->type == DN_CATEGORICAL) {
            size_t levels = input->levels.n + input->missing_level;
            if (n < levels) {
                dn_status status = dn_error_set(err, DN_ERR_ARGUMENT,
                                                "naive_bayes needs a feature for every level of \"%.64s\", which the encoding drop_first "
                                                "does not give: choose one_hot",
                                                input->name);
                dn_error_set_field(err, "categorical");
                return status;
            }
            memset(out->factor + first, DN_FACTOR_COUNT, n);
            for (size_t j = first; j < first + n; j++)
                b->count[j] = (double)levels;
        } else {
            if (!input->taken && input->type == DN_BOOLEAN)
                out->factor[first] = DN_FACTOR_BERNOULLI;
            if (input->indicator)
                out->factor[first + n - 1] = DN_FACTOR_BERNOULLI;
        }
    }
    return DN_OK;
}

static dn_status no_variance(const struct bayes *b, size_t k, size_t j, dn_error *err) {
    char class_name[DN_FIELD_SIZE], column[DN_FIELD_SIZE];
    dni_class_name(b->input, k, class_name);
    dni_feature_name(b->input, j, column);
    bool floored = dn_params_number(b->input->params, "variance_floor") > 0; /* a share of a largest variance which is 0, too */
    dn_status status =
        dn_error_set(err, DN_ERR_DATA,
                     floored ? "column \"%s\" is the same in every row of class \"%s\", a variance of 0, and no numeric "
                               "column varies more, so that variance_floor has nothing to be a share of: exclude the column"
                             : "column \"%s\" is the same in every row of class \"%s\", a variance of 0: exclude the column, "
                               "or set variance_floor above 0",
                     column, class_name);
    dn_error_set_field(err, column);
    return status;
}

static dn_status fit_gaussian(struct bayes *b, size_t j, double *mean, double *variance, dn_error *err) {
    const dni_scatter *s = &b->scatter;
    for (size_t k = 0; k < b->n_classes; k++) {
        double own = s->scatter[k * b->d + j] / s->class_weight[k];
        mean[k] = s->class_mean[k * b->d + j];
        variance[k] = fmax(own, b->floor);
        b->raised[j] = b->raised[j] || own < b->floor;
        if (!(variance[k] > 0))
            return no_variance(b, k, j, err);
    }
    return DN_OK;
}

/* Σv x_j of class k. */
static double count_of(const struct bayes *b, size_t k, size_t j) {
    return fmax(b->scatter.class_mean[k * b->d + j], 0) * b->scatter.class_weight[k];
}

static void fit_bernoulli(const struct bayes *b, size_t j, double *yes, double *no) {
    for (size_t k = 0; k < b->n_classes; k++) {
        double rows = b->scatter.class_weight[k], ones = count_of(b, k, j), total = rows + 2 * b->smoothing;
        yes[k] = log((ones + b->smoothing) / total);
        no[k] = log((fmax(rows - ones, 0) + b->smoothing) / total);
    }
}

static void fit_level(const struct bayes *b, size_t j, double *share) {
    for (size_t k = 0; k < b->n_classes; k++)
        share[k] = log((count_of(b, k, j) + b->smoothing) / (b->scatter.class_weight[k] + b->smoothing * b->count[j]));
}

/* Of a column over all rows: its scatter within the classes and that of their means. */
static double total_variance(const dni_scatter *s, size_t j) {
    double sum = 0;
    for (size_t k = 0; k < s->n_classes; k++) {
        double away = s->class_mean[k * s->n_cols + j] - s->mean[j];
        sum += s->scatter[k * s->n_cols + j] + s->class_weight[k] * away * away;
    }
    return sum / s->weight;
}

static double largest_variance(const struct bayes *b, const dn_naive_bayes *machine) {
    double largest = 0;
    for (size_t j = 0; j < b->d; j++)
        if (machine->factor[j] == DN_FACTOR_GAUSSIAN)
            largest = fmax(largest, total_variance(&b->scatter, j));
    return largest;
}

static dn_status fit_factors(struct bayes *b, dn_naive_bayes *machine, dn_error *err) {
    size_t K = b->n_classes;
    b->floor = dn_params_number(b->input->params, "variance_floor") * largest_variance(b, machine);
    if (!isfinite(b->floor))
        return dn_error_set(err, DN_ERR_DATA, "variance_floor times the largest variance of a column is not finite: lower it");
    dn_status status = DN_OK;
    for (size_t j = 0; j < b->d && status == DN_OK; j++) {
        double *p = machine->a + j * K, *q = machine->b + j * K;
        if (machine->factor[j] == DN_FACTOR_GAUSSIAN)
            status = fit_gaussian(b, j, p, q, err);
        else if (machine->factor[j] == DN_FACTOR_BERNOULLI)
            fit_bernoulli(b, j, p, q);
        else
            fit_level(b, j, p);
    }
    return status;
}

static void describe(const struct bayes *b, const dn_naive_bayes *machine) {
    static const char *const names[] = {"gaussian_features", "bernoulli_features", "count_features"};
    double n[3] = {0};
    size_t raised = 0;
    for (size_t j = 0; j < b->d; j++) {
        n[machine->factor[j]] += 1;
        raised += b->raised[j];
    }
    dn_report_number(b->report, "rows_weight", b->scatter.weight);
    dn_report_list(b->report, "prior", machine->prior, b->n_classes);
    for (size_t i = 0; i < 3; i++)
        dn_report_number(b->report, names[i], n[i]);
    if (n[DN_FACTOR_GAUSSIAN] > 0)
        dn_report_number(b->report, "variance_floor", b->floor);
    if (raised == 0)
        return;
    char columns[DNI_NAMES_SIZE];
    dni_feature_list(b->input, b->raised, 3, columns);
    dn_report_warn(b->report,
                   "%zu columns vary so little within a class that their variance was raised to the floor %g (%s): standardise the "
                   "columns, exclude them, or lower variance_floor",
                   raised, b->floor, columns);
}

static dn_status fit_machine(struct bayes *b, dn_machine *machine, dn_error *err) {
    void *memory = NULL;
    dn_status status = dn_run_alloc(b->run, b->d, sizeof *b->raised + sizeof *b->count, "the marks of the columns", &memory, err);
    if (status != DN_OK)
        return status;
    b->count = memory;
    b->raised = (bool *)(b->count + b->d);
    dni_priors_resolve(b->input->params, b->n_classes, b->scatter.class_weight, machine->naive_bayes->prior);
    status = choose_factors(b, machine->naive_bayes, err);
    if (status == DN_OK)
        status = fit_factors(b, machine->naive_bayes, err);
    if (status == DN_OK) {
        describe(b, machine->naive_bayes);
        status = dni_likelihood_report(b->input, b->run, machine, b->report, err);
    }
    dn_run_free(b->run, memory);
    return status;
}

static dn_status fit_naive_bayes(const dn_fit_input *input, const dn_run *run, dn_machine *out, dn_report *report, dn_error *err) {
    dn_report fresh = {.converged = true, .stop_reason = "closed_form", .iterations = 1, .gradient_norm = (double)NAN};
    struct bayes b = {.input = input,
                      .run = run,
                      .report = &fresh,
                      .n_classes = input->n_classes,
                      .d = input->rows->n_cols,
                      .smoothing = dn_params_number(input->params, "smoothing")};
    dn_machine machine = {0};
    dn_status status = dni_scatter_compute(input, DNI_SCATTER_DIAGONAL, run, &b.scatter, err);
    if (status == DN_OK)
        status = dni_machine_new(DN_MACHINE_NAIVE_BAYES, b.n_classes, b.d, DN_COVARIANCE_SHARED, false, &machine, err);
    if (status == DN_OK)
        status = fit_machine(&b, &machine, err);
    dni_scatter_done(&b.scatter, run);
    if (status != DN_OK) {
        dn_report_done(&fresh);
        dn_machine_done(&machine);
        return status;
    }
    *out = machine;
    *report = fresh;
    return DN_OK;
}

static double memory(const dn_params *p, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots) {
    (void)p;
    double numbers = (double)n_features * (2 * (double)n_classes + 3);
    return dni_scatter_memory(DNI_SCATTER_DIAGONAL, n_rows, n_features, n_classes, n_slots) +
           dni_likelihood_memory(n_features, n_classes, n_slots) + 8 * numbers;
}

const dn_algorithm dni_algorithm_naive_bayes = {
    .id = "naive_bayes",
    .title = "Naive Bayes",
    .summary = "Treats the inputs as independent within each class: a Gaussian for each number, shares for booleans and categories. Needs "
               "two passes over the rows and few of them; probabilities are often too sure when inputs depend on each other.",
    .source = "Alpaydin, Introduction to Machine Learning, sections 4.5 and 5.7; Bishop, Pattern Recognition and Machine Learning, "
              "section 4.2.3",
    .stopping_rule = "closed form: always",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STREAMS | DN_ALGORITHM_DENSITY | DN_ALGORITHM_CURVED |
             DN_ALGORITHM_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .memory = memory,
    .fit = fit_naive_bayes,
};
