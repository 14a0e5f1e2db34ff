/* Naive Bayes: within a class the inputs count as independent, so that the logarithm of the density is a sum over them.
 *
 *   g_k = ln P(C_k) + Σ_j ln p(x_j | C_k)
 *   number        ln N(x_j; m_jk, σ²_jk), weighted mean and variance (divisor Σv) of the class's rows; σ² at least the floor
 *   boolean       p_jk = (N1_jk + α)/(N_k + 2α), N1_jk = Σv x_j over the class's rows, N_k = Σv
 *   category      θ_jk = (N_jk + α)/(N_k + αL) for each of the L levels of an input; one that training never saw adds nothing
 *   words         x_j ln θ_jk, θ_jk = (N_jk + α)/(Σ_i N_ik + αV) for the V features of a text column, N_jk = Σv x_j; numbers so too if they are counts
 *
 * Alpaydın, Introduction to Machine Learning, sections 5.7 and 4.5; Bishop, PRML, section 4.2.3; Manning, Raghavan, Schütze, Introduction to Information Retrieval, section 13.2. Closed form: two
 * passes over the rows for Gaussians, one for counts (naive_bayes_counts.c). */
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/report.h"
#include "learners/naive_bayes/naive_bayes_counts.h"
#include "learners/shared/likelihood.h"
#include "learners/shared/priors.h"
#include "machine/bayes.h"
#include "machine/machine_impl.h"

#include <math.h>
#include <string.h>

static const dn_param params[] = {
    {.name = "smoothing",
     .type = DN_PARAM_NUMBER,
     .meaning = "Rows of each value that a class is imagined to have beside its own, for boolean "
                "and categorical inputs; occurrences of "
                "each word, for text. 0: what a class has never shown is impossible in it.",
     .default_number = 1,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    {.name = "variance_floor",
     .type = DN_PARAM_NUMBER,
     .meaning = "The least variance of a numeric column within a class, as a share of the largest "
                "variance that any numeric column has over "
                "all training rows; smaller ones are raised to it, the others stay as they are. 0: "
                "no floor.",
     .default_number = 1e-9,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    DNI_PARAM_CHOICE("numeric",
                     "What numeric columns are, those of an svmlight file too. Text columns are "
                     "always multinomial.",
                     "gaussian", dni_bayes_numeric, dni_bayes_numeric_meanings),
    DNI_PARAM_PRIORS,
};

struct bayes {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_scatter scatter; /* diagonal; empty when nothing is Gaussian */
    dni_bayes_counts counts;
    size_t n_classes, d;
    double floor; /* of variances */
    bool *raised; /* [d] columns with a variance below the floor */
};

static dn_status no_variance(const struct bayes *b, size_t k, size_t j, dn_error *err) {
    char class_name[DN_FIELD_SIZE], column[DN_FIELD_SIZE];
    dni_class_name(b->input, k, class_name);
    dni_feature_name(b->input, j, column);
    bool floored = dn_params_number(b->input->params, "variance_floor") >
                   0; /* a share of a largest variance which is 0, too */
    dn_status status = dn_error_set(err, DN_ERR_DATA,
                                    floored ? "column \"%s\" is the same in every row of class "
                                              "\"%s\", a variance of 0, and no numeric "
                                              "column varies more, so that variance_floor has "
                                              "nothing to be a share of: exclude the column"
                                            : "column \"%s\" is the same in every row of class "
                                              "\"%s\", a variance of 0: exclude the column, "
                                              "or set variance_floor above 0",
                                    column, class_name);
    dn_error_set_field(err, column);
    return status;
}

static dn_status fit_gaussian(struct bayes *b, size_t j, double *mean, double *variance,
                              dn_error *err) {
    const dni_scatter *s = &b->scatter;
    for (size_t k = 0; k < b->n_classes; k++) {
        double own = s->scatter[k * b->d + j] / s->class_weight[k];
        mean[k] = s->class_mean[k * b->d + j];
        variance[k] = fmax(own, b->floor);
        b->raised[j] = b->raised[j] || own < b->floor;
        if (!(variance[k] > 0)) {
            return no_variance(b, k, j, err);
        }
    }
    return DN_OK;
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
    for (size_t j = 0; j < b->d; j++) {
        if (machine->factor[j] == DN_FACTOR_GAUSSIAN) {
            largest = fmax(largest, total_variance(&b->scatter, j));
        }
    }
    return largest;
}

static dn_status fit_gaussians(struct bayes *b, dn_naive_bayes *machine, dn_error *err) {
    size_t K = b->n_classes;
    b->floor = dn_params_number(b->input->params, "variance_floor") * largest_variance(b, machine);
    if (!isfinite(b->floor)) {
        return dn_error_set(
            err, DN_ERR_DATA,
            "variance_floor times the largest variance of a column is not finite: lower it");
    }
    dn_status status = DN_OK;
    for (size_t j = 0; j < b->d && status == DN_OK; j++) {
        if (machine->factor[j] == DN_FACTOR_GAUSSIAN) {
            status = fit_gaussian(b, j, machine->a + j * K, machine->b + j * K, err);
        }
    }
    return status;
}

static bool any_sparse(const dn_encoder *encoder) {
    for (size_t i = 0; encoder != NULL && i < dn_encoder_n_inputs(encoder); i++) {
        if (dn_encoder_input(encoder, i)->type == DN_SPARSE) {
            return true;
        }
    }
    return false;
}

static void describe(const struct bayes *b, const dn_naive_bayes *machine) {
    static const char *const names[] = {"gaussian_features", "bernoulli_features",
                                        "count_features"};
    double n[3] = {0};
    size_t raised = 0;
    for (size_t j = 0; j < b->d; j++) {
        n[machine->factor[j] == DN_FACTOR_PRESENCE ? DN_FACTOR_BERNOULLI : machine->factor[j]] += 1;
        raised += b->raised[j];
    }
    double weight = 0;
    for (size_t k = 0; k < b->n_classes; k++) {
        weight += b->counts.class_weight[k];
    }
    dn_report_number(b->report, "rows_weight", weight);
    dn_report_list(b->report, "prior", machine->prior, b->n_classes);
    for (size_t i = 0; i < 3; i++) {
        dn_report_number(b->report, names[i], n[i]);
    }
    if (n[DN_FACTOR_GAUSSIAN] > 0) {
        dn_report_number(b->report, "variance_floor", b->floor);
    }
    if (raised == 0) {
        return;
    }
    char columns[DNI_NAMES_SIZE];
    dni_feature_list(b->input, b->raised, 3, columns);
    dn_report_warn(b->report,
                   "%zu columns vary so little within a class that their variance was raised to "
                   "the floor %g (%s): %s",
                   raised, b->floor, columns,
                   any_sparse(b->input->encoder)
                       ? "if they are counts, choose numeric \"multinomial\"; exclude them, or "
                         "lower variance_floor"
                       : "standardise the columns, exclude them, or lower variance_floor");
}

/* The sums that the factors are made of, in as few passes over the rows as they need. */
static dn_status sum_rows(struct bayes *b, const dn_naive_bayes *machine, dn_error *err) {
    bool gaussian = false, other = false;
    for (size_t j = 0; j < b->d; j++) {
        gaussian = gaussian || machine->factor[j] == DN_FACTOR_GAUSSIAN;
        other = other || machine->factor[j] == DN_FACTOR_PRESENCE || b->counts.event[j];
    }
    dn_status status =
        gaussian ? dni_scatter_compute(b->input, DNI_SCATTER_DIAGONAL, b->run, &b->scatter, err)
                 : DN_OK;
    if (status == DN_OK && (!gaussian || other)) {
        return dni_bayes_count(&b->counts, b->run, err);
    }
    if (status == DN_OK) {
        dni_bayes_count_scatter(&b->counts, &b->scatter);
    }
    return status;
}

static dn_status fit_factors(struct bayes *b, dn_machine *machine, dn_error *err) {
    dn_naive_bayes *bayes = dni_bayes_of(machine);
    dn_status status =
        dni_bayes_choose(b->input, b->counts.numeric, bayes->factor, b->counts.event, err);
    if (status == DN_OK) {
        status = sum_rows(b, bayes, err);
    }
    if (status == DN_OK && b->scatter.scatter != NULL) {
        status = fit_gaussians(b, bayes, err);
    }
    if (status != DN_OK) {
        return status;
    }
    dni_bayes_fit_counts(&b->counts, bayes);
    dni_priors_resolve(b->input->params, b->n_classes, b->counts.class_weight, bayes->prior);
    dni_bayes_settle(bayes, b->n_classes, b->d);
    describe(b, bayes);
    return dni_likelihood_report(b->input, b->run, machine, NULL, b->report, err);
}

static dn_factor numeric_of(const dn_params *given) {
    const char *word = dn_params_word(given, "numeric");
    return strcmp(word, "multinomial") == 0 ? DN_FACTOR_COUNT
           : strcmp(word, "bernoulli") == 0 ? DN_FACTOR_PRESENCE
                                            : DN_FACTOR_GAUSSIAN;
}

static dn_status fit_machine(struct bayes *b, dn_machine *machine, dn_error *err) {
    size_t K = b->n_classes, d = b->d;
    void *marks = NULL, *sums = NULL;
    dn_status status =
        dn_run_alloc(b->run, d, 2 * sizeof *b->raised, "the marks of the columns", &marks, err);
    if (status == DN_OK && K > SIZE_MAX / 64 / (d + 1)) {
        status = dn_error_set(err, DN_ERR_BUDGET,
                              "%zu features of %zu classes are more than can be addressed", d, K);
    }
    if (status == DN_OK) {
        status =
            dn_run_alloc(b->run, K + K * d, sizeof(double), "the sums of the classes", &sums, err);
    }
    if (status == DN_OK) {
        b->raised = marks;
        b->counts = (dni_bayes_counts){.input = b->input,
                                       .n_classes = K,
                                       .d = d,
                                       .smoothing = dn_params_number(b->input->params, "smoothing"),
                                       .numeric = numeric_of(b->input->params),
                                       .factor = dni_bayes_of(machine)->factor,
                                       .event = b->raised + d,
                                       .class_weight = sums};
        b->counts.sum = b->counts.class_weight + K;
        status = fit_factors(b, machine, err);
    }
    dni_scatter_done(&b->scatter, b->run);
    dn_run_free(b->run, sums);
    dn_run_free(b->run, marks);
    return status;
}

static dn_status fit_naive_bayes(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                                 dn_report *report, dn_error *err) {
    dn_report fresh = {.converged = true,
                       .stop_reason = DN_STOP_CLOSED_FORM,
                       .iterations = 1,
                       .gradient_norm = (double)NAN};
    struct bayes b = {.input = input,
                      .run = run,
                      .report = &fresh,
                      .n_classes = input->n_classes,
                      .d = input->rows->n_cols};
    dn_machine *machine = NULL;
    dn_status status = dni_bayes_machine_new(b.n_classes, b.d, &machine, err);
    if (status == DN_OK) {
        status = fit_machine(&b, machine, err);
    }
    if (status != DN_OK) {
        dn_report_done(&fresh);
        dn_machine_free(machine);
        return status;
    }
    *out = machine;
    *report = fresh;
    return DN_OK;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    (void)p;
    double numbers = (double)shape->n_features * (3 * (double)shape->n_classes + 3) +
                     5 * (double)shape->n_classes;
    return dni_scatter_memory(DNI_SCATTER_DIAGONAL, shape->n_rows, shape->n_features,
                              shape->n_classes, shape->n_slots) +
           dni_likelihood_memory(false, shape->n_features, shape->n_classes, shape->n_slots) +
           8 * numbers;
}

const dn_algorithm dni_algorithm_naive_bayes = {
    .id = "naive_bayes",
    .title = "Naive Bayes",
    .summary = "Treats the inputs as independent within each class: a Gaussian for each number, "
               "shares for booleans, categories and the "
               "words of texts (multinomial). Needs two passes over the rows and few of them; "
               "probabilities are often too sure when inputs "
               "depend on each other.",
    .source = "Alpaydin, Introduction to Machine Learning, sections 4.5 and 5.7; Bishop, Pattern "
              "Recognition and Machine Learning, "
              "section 4.2.3; Manning, Raghavan and Schuetze, Introduction to Information "
              "Retrieval, section 13.2",
    .stopping_rule = "closed form: always",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STREAMS |
             DN_ALGORITHM_DENSITY | DN_ALGORITHM_CURVED | DN_ALGORITHM_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .memory = memory,
    .fit = fit_naive_bayes,
};
