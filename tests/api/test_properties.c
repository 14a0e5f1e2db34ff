/* Invariances of training: the order of rows and columns, a row listed twice or with weight 2, the
 * units of the columns, the names of the classes. Each method is trained on two forms of a table,
 * and the two models are compared in all answers (property.h). Each change is large enough that a
 * test fails if the expected values are not changed with the table. */
#include "property.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Closed forms, and descents with a fixed number of steps: sums in another order differ by 1e-16 of
 * their size, times the condition of the systems that are solved (correlations of cancer: 1e5 …
 * 1e6), times the accumulation over some hundred steps. */
#define ROUNDING 1e-8
/* Minimisers: the gradient is at most 1e-11, and the smallest curvature 2λ = 2e-3 with l2 (1e-3
 * with elastic_net; the observed information of `two` and `made` is larger). So standardised
 * weights are accurate to 1e-8, and scores, which sum a few such weights, to 1e-7 of their size. */
#define CONVERGED 1e-7
/* l1 has no curvature: only that of the loss on the remaining columns, at least 1e-4. */
#define CONVERGED_FLAT 1e-6

#define EXACT "'tolerance':1e-11"
#define STANDARDIZED ",'features':{'standardize':true}"
#define PLAIN ",'features':{'standardize':false}"
#define STEPS(n) "'init':'zero','tolerance':0,'max_iterations':" #n
/* The automatic rate is 1/(nL); L comes from power iterations whose start depends on the order and
 * signs of the columns: accurate to 1e-6. */
#define RATE(rate) ",'learning_rate':" #rate

static const struct method methods[] = {
    {"two", "logistic", EXACT ",'solver':'newton','penalty':'none'", "", CONVERGED_FLAT, 0},
    {"two", "logistic", EXACT ",'solver':'newton','penalty':'none'", PLAIN, CONVERGED_FLAT, 0},
    {"breast_cancer", "logistic", EXACT ",'solver':'newton'", "", CONVERGED, 0},
    {"breast_cancer", "logistic", EXACT ",'solver':'newton','lambda':0.01",
     ",'class_weight':'balanced'", CONVERGED, 0},
    {"breast_cancer", "logistic", EXACT ",'solver':'newton','penalty':'l1','lambda':0.01", "",
     CONVERGED_FLAT, 0},
    {"breast_cancer", "logistic", EXACT ",'solver':'newton','penalty':'elastic_net'", "", CONVERGED,
     0},
    {"wine", "logistic", EXACT ",'solver':'newton'", "", CONVERGED, 0},
    {"wine", "logistic", EXACT ",'solver':'newton'", PLAIN, CONVERGED, UNITS},
    {"wine", "logistic", EXACT ",'solver':'newton','penalty':'l1','lambda':0.01", "",
     CONVERGED_FLAT, SCORES_OFFSET},
    {"wine", "logistic", EXACT ",'solver':'newton','penalty':'elastic_net'", "", CONVERGED,
     SCORES_OFFSET},
    {"made", "logistic", EXACT ",'solver':'newton'", "", CONVERGED, 0},
    {"made", "logistic", EXACT ",'solver':'newton','penalty':'none'", "", CONVERGED_FLAT, 0},
    {"two", "logistic", EXACT ",'solver':'lbfgs','penalty':'none'", "", CONVERGED_FLAT, 0},
    {"made2", "logistic", EXACT ",'solver':'lbfgs'", "", CONVERGED, 0},
    {"wine", "logistic", EXACT ",'solver':'lbfgs'", "", CONVERGED, 0},
    {"made", "logistic", EXACT ",'solver':'lbfgs','penalty':'l1','lambda':0.01", "", CONVERGED_FLAT,
     SCORES_OFFSET},
    {"wine", "logistic", EXACT ",'solver':'lbfgs','penalty':'elastic_net'", "", CONVERGED,
     SCORES_OFFSET},
    {"made", "logistic", STEPS(60) ",'solver':'gradient_descent'", "", ROUNDING,
     COLUMN_ORDER | UNITS},
    {"wine", "logistic", STEPS(60) RATE(0.0002) ",'solver':'gradient_descent'", "", ROUNDING, 0},
    {"breast_cancer", "logistic",
     STEPS(60) RATE(0.0002) ",'solver':'gradient_descent','penalty':'l1'", "", ROUNDING, 0},
    {"breast_cancer", "logistic",
     STEPS(60) RATE(0.0002) ",'solver':'gradient_descent','loss':'squared_error'", "", ROUNDING, 0},
    {"wine", "logistic", STEPS(10) RATE(0.003) ",'solver':'sgd'", "", ROUNDING,
     ROW_ORDER | REPEATS},
    {"wine", "logistic", STEPS(10) RATE(0.003) ",'solver':'sgd','penalty':'elastic_net'", "",
     ROUNDING, ROW_ORDER | REPEATS | SCORES_OFFSET},
    {"wine", "logistic", EXACT ",'multiclass':'one_vs_rest'", "", CONVERGED, 0},
    {"wine", "logistic", EXACT ",'multiclass':'one_vs_rest_strict'", "", CONVERGED, 0},
    {"made", "logistic", EXACT ",'multiclass':'one_vs_rest_strict','discriminants':'K-1'", "",
     CONVERGED, CLASS_ORDER},
    {"wine", "logistic", EXACT ",'multiclass':'one_vs_one'", "", CONVERGED, 0},
    {"made", "logistic", EXACT ",'multiclass':'one_vs_one_strict'", "", CONVERGED, 0},

    {"breast_cancer", "least_squares", "'lambda':0", "", ROUNDING, 0},
    {"wine", "least_squares", "'lambda':0", "", ROUNDING, 0},
    {"made", "least_squares", "'lambda':0.01", STANDARDIZED, ROUNDING, 0},
    {"wine", "least_squares", "'lambda':0.01", "", ROUNDING, UNITS},
    {"wine", "least_squares", STEPS(60) RATE(0.0002) ",'solver':'gradient_descent'", STANDARDIZED,
     ROUNDING, 0},
    {"made", "least_squares", "'multiclass':'one_vs_one_strict','lambda':0.01", STANDARDIZED,
     ROUNDING, 0},

    {"wine", "perceptron", "'mode':'batch'", STANDARDIZED, ROUNDING, 0},
    {"breast_cancer", "perceptron", "'mode':'batch','max_iterations':40", STANDARDIZED, ROUNDING,
     0},
    {"breast_cancer", "perceptron", "'mode':'batch','criterion':'squared','max_iterations':40",
     STANDARDIZED, ROUNDING, COLUMN_ORDER | UNITS | CLASS_ORDER},
    {"made", "perceptron", "'mode':'batch','criterion':'relaxation','max_iterations':40",
     STANDARDIZED, ROUNDING, 0},
    {"wine", "perceptron", "'order':'given','max_iterations':20,'multiclass':'one_vs_one'",
     STANDARDIZED, ROUNDING, ROW_ORDER | REPEATS},
    {"made2", "perceptron", "'order':'given','criterion':'relaxation','max_iterations':5",
     STANDARDIZED, ROUNDING, ROW_ORDER | REPEATS},

    {"two", "fisher", "", "", ROUNDING, SCORES_SCALED},
    {"breast_cancer", "fisher", "'threshold':'min_error','shrinkage':0.1", "", ROUNDING,
     SCORES_SCALED},
    {"made2", "fisher", "", "", ROUNDING, SCORES_SCALED},
    {"wine", "fisher", "", "", ROUNDING, 0},
    {"wine", "fisher", "'components':1,'shrinkage':'auto','priors':'equal'", "", ROUNDING, 0},
    {"wine", "fisher", "'multiclass':'one_vs_rest'", "", ROUNDING,
     UNITS}, /* the largest of K lengths along directions of length 1 */
    {"wine", "fisher", "'multiclass':'one_vs_rest'", STANDARDIZED, ROUNDING, UNITS},

    {"breast_cancer", "gaussian", "", "", ROUNDING, 0},
    {"wine", "gaussian", "'shrinkage':'auto','divisor':'unbiased'", "", ROUNDING, SCORES_OFFSET},
    {"made", "gaussian", "'shrinkage':0.3,'priors':'equal'", "", ROUNDING, SCORES_OFFSET},
    {"iris", "gaussian", "'covariance':'full','divisor':'unbiased'", "", ROUNDING, SCORES_OFFSET},
    {"wine", "gaussian", "'covariance':'full','shrinkage':'auto'", "", ROUNDING, SCORES_OFFSET},
    {"breast_cancer", "gaussian", "'covariance':'diagonal'", "", ROUNDING, 0},
    {"iris", "gaussian", "'covariance':'full','multiclass':'one_vs_one'", "", ROUNDING, 0},
    {"wine", "gaussian", "'multiclass':'one_vs_rest_strict'", "", ROUNDING, 0},

    {"breast_cancer", "naive_bayes", "'variance_floor':0", "", ROUNDING, 0},
    {"iris", "naive_bayes", "", "", ROUNDING, SCORES_OFFSET},
    {"made", "naive_bayes", "'variance_floor':0,'smoothing':0.5,'priors':'equal'", "", ROUNDING,
     SCORES_OFFSET},
};
enum { N_METHODS = sizeof methods / sizeof methods[0], N_TABLES = 6, ASKED = 120 };
static const char *const tables[N_TABLES] = {"two",           "iris", "wine",
                                             "breast_cancer", "made", "made2"};

/* ---- the frame ---- */

static int64_t base_job[N_METHODS]; /* model "base-i", trained on the unchanged table */

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    for (size_t t = 0; t < N_TABLES; t++) {
        sheet_upload(property_sheet(tables[t]), tables[t]);
    }
    for (size_t i = 0; i < N_METHODS; i++) {
        base_job[i] = property_post(&methods[i], text("base-%zu", i), methods[i].table, false);
    }
    keep_free();
    return 0;
}

/* A table in another form. base: the sheet to compare with if it is not the table itself, or NULL.
 * asked: the rows of the table in the units and order of the changed table. */
struct change {
    const struct sheet *base, *changed, *asked;
    const double *scale, *shift;
    bool reversed;
};

/* Some of the rows, for predictions. */
static const struct sheet *sample(const struct sheet *s) {
    size_t rows[ASKED], n = 0;
    for (size_t i = 0; i < s->n_rows && n < ASKED; i += 1 + s->n_rows / ASKED) {
        rows[n++] = i;
    }
    return sheet_rows(s, rows, n);
}

static void hold(unsigned exception, struct change (*change_of)(const struct sheet *s)) {
    static struct pair pairs[N_METHODS];
    const struct sheet *one[N_TABLES], *other[N_TABLES];
    struct change changes[N_TABLES];
    for (size_t t = 0; t < N_TABLES; t++) {
        const struct sheet *s = property_sheet(tables[t]);
        changes[t] = change_of(s);
        one[t] = sample(s);
        other[t] = sample(changes[t].asked);
        sheet_upload(changes[t].changed, text("%s-changed", tables[t]));
        if (changes[t].base != NULL) {
            sheet_upload(changes[t].base, text("%s-base", tables[t]));
        }
    }
    for (size_t i = 0; i < N_METHODS; i++) {
        size_t t = 0;
        while (strcmp(tables[t], methods[i].table) != 0) {
            t++;
        }
        const struct change *c = &changes[t];
        const bool own = c->base != NULL, held = !(methods[i].except & exception);
        pairs[i] = (struct pair){
            .method = &methods[i],
            .one = one[t],
            .other = other[t],
            .scale = c->scale,
            .shift = c->shift,
            .reversed = c->reversed,
            .one_job = base_job[i],
            .one_model = text(own ? "own-%zu" : "base-%zu", i),
            .other_model = text("changed-%zu", i),
        };
        if (own && held) {
            pairs[i].one_job =
                property_post(&methods[i], pairs[i].one_model, text("%s-base", tables[t]), false);
        }
        if (held) {
            pairs[i].other_job =
                property_post(&methods[i], pairs[i].other_model, text("%s-changed", tables[t]),
                              c->changed->weight != NULL);
        }
    }
    for (size_t i = 0; i < N_METHODS; i++) {
        if (!(methods[i].except & exception)) {
            pair_check(&pairs[i]);
        }
    }
}

/* ---- the properties ---- */

static struct change other_rows(const struct sheet *s) {
    return (struct change){.changed = sheet_rows(s, shuffled(s->n_rows, 5), s->n_rows), .asked = s};
}

static void test_the_order_of_the_rows(void **state) {
    (void)state;
    hold(ROW_ORDER, other_rows);
}

static struct change other_columns(const struct sheet *s) {
    const struct sheet *changed = sheet_columns(s, shuffled(s->n_cols, 11));
    assert_string_not_equal(changed->names[0], s->names[0]);
    return (struct change){.changed = changed, .asked = changed};
}

static void test_the_order_of_the_columns(void **state) {
    (void)state;
    hold(COLUMN_ORDER, other_columns);
}

/* Row i is present times(i) times: as rows in one sheet, as a weight in the other. */
static struct change repeated(const struct sheet *s, size_t (*times)(size_t row)) {
    size_t *rows = keep(calloc(3 * s->n_rows, sizeof *rows), free), n = 0;
    double *weight = keep(calloc(s->n_rows, sizeof *weight), free);
    for (size_t i = 0; i < s->n_rows; i++) {
        weight[i] = (double)times(i);
        for (size_t k = 0; k < times(i); k++) {
            rows[n++] = i;
        }
    }
    return (struct change){.base = sheet_rows(s, rows, n),
                           .changed = sheet_weighed(s, weight),
                           .asked = s};
}

static size_t twice(size_t row) {
    (void)row;
    return 2;
}

static struct change all_rows_twice(const struct sheet *s) {
    return repeated(s, twice);
}

static void test_every_row_twice(void **state) {
    (void)state;
    hold(REPEATS, all_rows_twice);
}

static size_t some_times(size_t row) {
    return row * 7 % 4;
}

/* A row of weight 0 has no effect, whatever it contains: another category, huge numbers. */
static struct change rows_some_times(const struct sheet *s) {
    struct change c = repeated(s, some_times);
    for (size_t i = 0; i < s->n_rows * s->n_cols; i++) {
        const char *cell = c.changed->cell[i];
        if (some_times(i / s->n_cols) == 0 && strcmp(cell, "true") != 0 &&
            strcmp(cell, "false") != 0) {
            c.changed->cell[i] = sheet_is_number(s, i % s->n_cols) ? "1e6" : "violet";
        }
    }
    return c;
}

static void test_rows_none_to_three_times(void **state) {
    (void)state;
    hold(REPEATS, rows_some_times);
}

/* Each column gets another unit and another zero; one of three gets another sign. */
static struct change other_units(const struct sheet *s) {
    static const double scales[] = {1000, -0.04, 2.54}, shifts[] = {0.5, -1, 0.25};
    double *scale = keep(calloc(s->n_cols, sizeof *scale), free),
           *shift = keep(calloc(s->n_cols, sizeof *shift), free);
    for (size_t j = 0; j < s->n_cols; j++) {
        scale[j] = scales[j % 3];
        shift[j] = sheet_is_number(s, j) ? shifts[j % 3] * scale[j] * sheet_largest(s, j) : 0;
    }
    const struct sheet *moved = sheet_moved(s, scale, shift);
    return (struct change){.changed = moved, .asked = moved, .scale = scale, .shift = shift};
}

static void test_the_units_of_the_columns(void **state) {
    (void)state;
    hold(UNITS, other_units);
}

static struct change other_names(const struct sheet *s) {
    const char *classes[16];
    const size_t n = sheet_classes(s, classes);
    return (struct change){.changed = sheet_renamed(s, classes, n), .asked = s, .reversed = true};
}

static void test_the_names_of_the_classes(void **state) {
    (void)state;
    hold(CLASS_ORDER, other_names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_order_of_the_rows),    TEST(test_the_order_of_the_columns),
        TEST(test_every_row_twice),          TEST(test_rows_none_to_three_times),
        TEST(test_the_units_of_the_columns), TEST(test_the_names_of_the_classes),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
