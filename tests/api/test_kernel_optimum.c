/* Machines with kernels, for every kernel and every kind of rows: kernel values are recomputed by
 * definition from the generated rows, α comes from GET …/weights. Checked are the bounds of α, the
 * optimality condition of each row, the duality gap where the kernel is positive semidefinite, and
 * the scores of predictions. */
#include "kernel_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS "'include':['x1','x2','x3','x4']"
#define NOTE "'include':['note'],'text':"
#define ENTRIES "'exclude':['label']"
#define PLACES "'exclude':['class','v']"
#define WORDS_OF(weighting) NOTE "{'weighting':'" weighting "'}"

static const struct example {
    const char *dataset, *kernel, *features;
    enum view_kind view;
    bool indefinite; /* true: indefinite, or not known to be definite */
} examples[] = {
    {"table", "{'type':'linear'}", NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'linear','normalize':true}", NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'polynomial','degree':3,'gamma':0.5,'coef0':0.5}", NUMBERS, VIEW_NUMBERS,
     false},
    {"table", "{'type':'polynomial','normalize':true}", NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'rbf','width':1.5}", NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'rbf'}", NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'sigmoid','scale':0.2,'coef0':-1}", NUMBERS, VIEW_NUMBERS, true},
    {"table", "{'type':'sigmoid','normalize':true}", NUMBERS, VIEW_NUMBERS, true},
    {"table", "{'type':'mahalanobis'}", NUMBERS, VIEW_NUMBERS, false},
    {"table",
     "{'type':'mahalanobis','covariance':[[1,0.3,0,0],[0.3,2,0.1,0],[0,0.1,3,0.5],[0,0,0.5,4]]}",
     NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'distance','metric':'euclidean','width':0.8}", NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'distance','metric':'manhattan'}", NUMBERS, VIEW_NUMBERS, false},
    {"table", "{'type':'distance','metric':'chebyshev','width':1.5}", NUMBERS, VIEW_NUMBERS, true},
    {"table", "{'type':'distance','metric':'cosine'}", NUMBERS, VIEW_NUMBERS, true},
    {"table", "{'type':'shared_words'}", "'include':['note']", VIEW_SET, false},
    {"table", "{'type':'shared_words','normalize':true}", "'include':['note']", VIEW_SET, false},
    {"table", "{'type':'distance','metric':'edit','width':3}", "'include':['note']",
     VIEW_CHARACTERS, true},
    {"table", "{'type':'distance','metric':'edit'}", "'include':['note']", VIEW_CHARACTERS, true},
    {"table", "{'type':'shared_paths','length':1}", "'include':['edges']", VIEW_PATHS_1, false},
    {"table", "{'type':'shared_paths','length':2,'normalize':true}", "'include':['edges']",
     VIEW_PATHS_2, false},
    {"table", "{'type':'shared_paths','length':3}", "'include':['edges']", VIEW_PATHS_3, false},
    {"table", "{'type':'rbf','width':3}", WORDS_OF("counts"), VIEW_COUNTS, false},
    {"table", "{'type':'distance','metric':'cosine','width':0.7}", WORDS_OF("counts"), VIEW_COUNTS,
     false},
    {"table", "{'type':'rbf'}", WORDS_OF("binary"), VIEW_BINARY, false},
    {"table", "{'type':'polynomial','gamma':0.1}", WORDS_OF("binary"), VIEW_BINARY, false},
    {"table", "{'type':'distance','metric':'manhattan','width':2}", WORDS_OF("binary"), VIEW_BINARY,
     false},
    {"table", "{'type':'linear','normalize':true}", WORDS_OF("tfidf"), VIEW_TFIDF, false},
    {"table", "{'type':'rbf','width':1}", WORDS_OF("tfidf"), VIEW_TFIDF, false},
    {"table", "{'type':'sigmoid','scale':0.1}", WORDS_OF("set"), VIEW_SET, true},
    {"table", "{'type':'distance','metric':'chebyshev'}", NOTE "{'hash':64}", VIEW_HASHED, true},
    {"table", "{'type':'polynomial','degree':2,'coef0':0,'normalize':true}",
     NOTE "{'hash':64,'weighting':'tfidf'}", VIEW_HASHED_TFIDF, false},
    {"table", "{'type':'rbf','width':2}", "'include':['x1','x2','x3','x4','note']", VIEW_MIXED,
     false},
    {"table", "{'type':'distance','metric':'euclidean','width':2}",
     "'include':['edges'],'text':{'weighting':'paths','length':2}", VIEW_PATHS_2, false},
    {"entries", "{'type':'rbf','width':2}", ENTRIES, VIEW_ENTRIES, false},
    {"entries", "{'type':'polynomial','degree':3,'gamma':0.2}", ENTRIES, VIEW_ENTRIES, false},
    {"entries", "{'type':'distance','metric':'manhattan','width':1.5}", ENTRIES, VIEW_ENTRIES,
     false},
    {"entries", "{'type':'distance','metric':'chebyshev'}", ENTRIES, VIEW_ENTRIES, true},
    {"bits", "{'type':'rbf'}", ENTRIES, VIEW_BITS, false},
    {"bits", "{'type':'linear','normalize':true}", ENTRIES, VIEW_BITS, false},
    {"bits", "{'type':'distance','metric':'cosine'}", ENTRIES, VIEW_BITS, true},
    {"gram", "{'type':'precomputed'}", PLACES, VIEW_PLACES, false},
};
enum { N_EXAMPLES = sizeof examples / sizeof examples[0] };

static bool is_table(const struct example *e) {
    return strcmp(e->dataset, "table") == 0;
}

static bool is_svmlight(const struct example *e) {
    return strcmp(e->dataset, "entries") == 0 || strcmp(e->dataset, "bits") == 0;
}

/* ---- machines ---- */
/* One machine of a model: α and t of each row, and its description. */
struct machine {
    const char *at;      /* JSON pointer in the answer of /weights: "" or "/machines/2" */
    const char *details; /* … and the job */
    size_t number;       /* of its score */
    double t[TRAINED];   /* 0: not a row of this machine */
    double upper[TRAINED];
    double coef[TRAINED]; /* t α */
    double f0[ROWS];      /* Σ t α K, without w0 */
    double w0, square;    /* α'Qα */
    bool unbalanced;      /* true: without an intercept, so Σ t α = 0 is not required */
};

static void read_machine(const struct kernel_model *p, struct machine *m) {
    const json_t *index = value_at(p->weights, text("%s/indexes", m->at)),
                 *coef = value_at(p->weights, text("%s/coefficients", m->at));
    assert_int_equal(json_array_size(index), json_array_size(coef));
    for (size_t e = 0; e < json_array_size(index); e++) {
        const size_t s = (size_t)json_integer_value(json_array_get(index, e));
        assert_true(s < p->n_support && m->coef[p->row_of_support[s]] == 0);
        m->coef[p->row_of_support[s]] = json_number_value(json_array_get(coef, e));
    }
    m->w0 = real_at(p->weights, text("%s/w0/0", m->at));
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < TRAINED; k++) {
            m->f0[i] += m->coef[k] * p->K[i][k];
        }
    }
    double size = 0;
    for (size_t k = 0; k < TRAINED; k++) {
        m->square += m->coef[k] * m->f0[k];
        for (size_t i = 0; i < TRAINED; i++) {
            size += fabs(m->coef[i] * p->K[i][k] * m->coef[k]);
        }
    }
    const json_t *norm = value_at(p->weights, text("%s/norm", m->at));
    if (json_is_null(norm)) {
        assert_true(m->square < 1e-12 * size);
    } else {
        assert_true(fabs(pow(json_number_value(norm), 2) - m->square) <= 1e-9 * size);
    }
}

/* The score of a prediction is Σ tαK + w0; its distance is the score divided by ‖w‖; there are no
 * contributions. */
static void check_scores(const struct kernel_model *p, const struct machine *m, size_t n_machines) {
    for (size_t i = 0; i < ROWS; i++) {
        const double got =
            real_at(p->predictions, text("/predictions/%zu/scores/%zu", i, m->number));
        double size = fabs(m->w0);
        for (size_t k = 0; k < TRAINED; k++) {
            size += fabs(m->coef[k] * p->K[i][k]);
        }
        if (!(fabs(got - m->f0[i] - m->w0) <= 1e-9 * size)) {
            fail_msg("row %zu has score %.12g, not %.12g", i, got, m->f0[i] + m->w0);
        }
        assert_json(p->predictions, text("/predictions/%zu/contributions", i), "null");
        const json_t *distance = value_at(p->predictions, text("/predictions/%zu/distance", i));
        const json_t *norm = value_at(p->weights, text("%s/norm", m->at));
        if (n_machines == 1 && json_is_number(norm)) {
            assert_true(fabs(json_number_value(distance) * json_number_value(norm) - got) <=
                        1e-12 * fabs(got));
        } else {
            assert_true(json_is_null(distance));
        }
    }
}

/* Whether the job reports a duality gap. Without one the kernel is not positive semidefinite, and
 * the job has a warning. */
static bool is_definite(const struct kernel_model *p, const struct machine *m, bool indefinite) {
    const json_t *gap = json_find(p->job->json, text("%s/gap", m->details));
    const bool definite = json_is_number(gap);
    json_check(value_at(p->job, text("%s/certified", m->details)), definite ? "true" : "false",
               __FILE__, __LINE__);
    assert_true(definite || indefinite);
    assert_true(definite || count_at(p->job, "/warnings") > 0);
    return definite;
}

/* min ½ αᵀQα − Σα subject to 0 <= α <= C v, and Σ t α = 0 with an intercept. */
static void check_margin(const struct kernel_model *p, const struct machine *m, bool indefinite) {
    const bool definite = is_definite(p, m, indefinite);
    const double tolerance = definite ? 1e-6 : 1e-3 * (1 + 1e-6);
    double balance = 0, sum = 0, loss = 0;
    for (size_t i = 0; i < TRAINED; i++) {
        const double alpha = fabs(m->coef[i]), margin = m->t[i] * (m->f0[i] + m->w0);
        assert_true(alpha <= m->upper[i] * (1 + 1e-12) && m->coef[i] * m->t[i] >= 0);
        if (alpha < m->upper[i] * (1 - 1e-12) && !(margin >= 1 - tolerance)) {
            fail_msg("row %zu could have more than %.12g: t f is %.12g", i, alpha, margin);
        }
        if (alpha > 0 && !(margin <= 1 + tolerance)) {
            fail_msg("row %zu has %.12g: t f is %.12g", i, alpha, margin);
        }
        balance += m->coef[i];
        sum += alpha;
        loss += m->upper[i] * fmax(0, 1 - margin);
    }
    assert_true(m->unbalanced ? m->w0 == 0 : fabs(balance) <= 1e-9 * sum);
    if (!definite) {
        return;
    }
    const double primal = m->square / 2 + loss, dual = sum - m->square / 2;
    assert_true(primal - dual <= 1e-6 * primal && primal - dual >= -1e-9 * primal);
    assert_close(real_at(p->job, text("%s/primal_objective", m->details)), primal, 1e-6);
    assert_close(real_at(p->job, text("%s/dual_objective", m->details)), dual, 1e-6);
}

/* min ½ αᵀKα subject to 0 <= α <= v/(νΣv), Σα = 1; ρ = −w0. */
static void check_outliers(const struct kernel_model *p, const struct machine *m,
                           double tolerance) {
    double sum = 0, loss = 0, greatest = 0, outliers = 0;
    const double rho = -m->w0, threshold = real_at(p->weights, "/threshold");
    const bool definite = !has(p->job, "/result/details/least_eigenvalue");
    for (size_t i = 0; i < TRAINED; i++) {
        greatest = fmax(greatest, p->K[i][i]);
    }
    const double size = fmax(m->square, 1e-5 * greatest),
                 slack = (definite && m->square > 1e-5 * greatest ? 1e-6 : tolerance * (1 + 1e-6)) *
                         size;
    for (size_t i = 0; i < TRAINED; i++) {
        const double f = m->f0[i] - rho;
        assert_true(m->coef[i] >= 0 && m->coef[i] <= m->upper[i] * (1 + 1e-12));
        if (m->coef[i] < m->upper[i] * (1 - 1e-12) && !(f >= -slack)) {
            fail_msg("row %zu could have more than %.12g: f is %.12g", i, m->coef[i], f);
        }
        if (m->coef[i] > 0 && !(f <= slack)) {
            fail_msg("row %zu has %.12g: f is %.12g", i, m->coef[i], f);
        }
        sum += m->coef[i];
        loss += m->upper[i] * fmax(0, -f);
    }
    for (size_t i = 0; i < ROWS; i++) {
        const bool out = real_at(p->predictions, text("/predictions/%zu/scores/0", i)) < -threshold;
        assert_string_equal(string_at(p->predictions, text("/predictions/%zu/label", i)),
                            out ? "outlier" : "inlier");
        outliers += out && i < TRAINED ? p->v[i] : 0;
    }
    assert_close(sum, 1, 1e-9);
    assert_close(real_at(p->job, "/result/details/outliers"), outliers, 1e-12);
    assert_true(fabs(real_at(p->job, "/result/objective") - m->square / 2) <= 1e-6 * size);
    if (definite) { /* at the optimum the primal ½‖w‖² − ρ + Σ u s equals −½‖w‖² */
        const double gap = m->square - rho + loss;
        assert_true(gap <= 1e-3 * size && gap >= -1e-9 * size);
        assert_true(gap <= 1e-6 * size || m->square <= 1e-5 * greatest);
    }
}

/* ---- models ---- */
enum { WEIGHTED = 1, NO_INTERCEPT = 2, REST = 4 };

/* Selects the rows of the machine of two classes (negative SIZE_MAX: all other classes) and their
 * bounds. */
static void take_rows(const struct kernel_model *p, struct machine *m, size_t negative,
                      size_t positive, double C) {
    for (size_t i = 0; i < TRAINED; i++) {
        const size_t class_ = p->rows->class_[i];
        m->t[i] = class_ == positive ? 1 : negative == SIZE_MAX || class_ == negative ? -1 : 0;
        if (m->t[i] != 0) {
            m->upper[p->same[i]] += C * p->v[i];
        }
    }
}

/* Three classes in pairs or one against the rest, or two classes; C is 0.7. */
static void check_svm(const struct example *e, int options) {
    static const double factors[] = {1.5, 0.5, 2};
    static const size_t pairs[][2] = {{0, 1}, {0, 2}, {1, 2}};
    struct kernel_model *p = keep(calloc(1, sizeof *p), free);
    const bool listed = is_svmlight(e);
    p->kind = e->view;
    p->rows = kernel_rows_of(e->dataset);
    const size_t n = p->rows->n_classes == 2 ? 1 : 3;
    for (size_t i = 0; i < TRAINED; i++) {
        p->v[i] =
            options & WEIGHTED ? (listed ? 1 : p->rows->v[i]) * factors[p->rows->class_[i]] : 1;
    }
    const char *class_weight = listed   ? "{'-1':1.5,'1':0.5}"
                               : n == 1 ? "{'a':1.5,'b':0.5}"
                                        : "{'a':1.5,'b':0.5,'c':2}";
    kernel_model_train(p, e->dataset, e->kernel, e->features,
                       text(",'C':0.7%s%s", options & REST ? ",'multiclass':'one_vs_rest'" : "",
                            options & NO_INTERCEPT ? ",'intercept':'none'" : ""),
                       text("'algorithm':'svm','target':'%s'%s%s%s", listed ? "label" : "class",
                            options & WEIGHTED ? ",'class_weight':" : "",
                            options & WEIGHTED ? class_weight : "",
                            (options & WEIGHTED) && !listed ? ",'weight':'v'" : ""));
    for (size_t i = 0; i < n; i++) {
        struct machine *m = keep(calloc(1, sizeof *m), free);
        m->at = n == 1 ? "" : text("/machines/%zu", i);
        m->details = n == 1
                         ? "/result/details"
                         : text("/result/details/%s/%zu", options & REST ? "machines" : "pairs", i);
        m->number = i;
        m->unbalanced = options & NO_INTERCEPT;
        take_rows(p, m, options & REST ? SIZE_MAX : pairs[i][0], options & REST ? i : pairs[i][1],
                  0.7);
        read_machine(p, m);
        check_margin(p, m, e->indefinite);
        check_scores(p, m, n);
    }
}

static void check_one_class(const struct example *e, int options) {
    struct kernel_model *p = keep(calloc(1, sizeof *p), free);
    struct machine *m = keep(calloc(1, sizeof *m), free);
    double total = 0;
    p->kind = e->view;
    p->rows = keep(calloc(1, sizeof *p->rows), free); /* of one class */
    for (size_t i = 0; i < TRAINED; i++) {
        p->v[i] = options & WEIGHTED ? kernel_rows_of(e->dataset)->v[i] : 1;
        total += p->v[i];
    }
    kernel_model_train(p, e->dataset, e->kernel, e->features, ",'nu':0.3,'tolerance':1e-4",
                       text("'algorithm':'one_class_svm'%s",
                            options & WEIGHTED ? ",'weight':'v'" : ""));
    m->at = "";
    take_rows(p, m, SIZE_MAX, 0, 1 / (0.3 * total));
    read_machine(p, m);
    check_outliers(p, m, 1e-4);
    check_scores(p, m, 1);
}

/* ---- tests ---- */
/* Prints the example, for the log of a failure. */
static void tell(const struct example *e) {
    print_message("# %s, %s\n", e->dataset, e->kernel);
}

static void test_machines(void **state) {
    (void)state;
    static const int options[] = {0, WEIGHTED, NO_INTERCEPT, REST, WEIGHTED | REST};
    for (size_t i = 1; i < N_EXAMPLES;
         i++) { /* the first example is linear and has no α: see test_svm_linear */
        tell(&examples[i]);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            if (options[k] < REST || is_table(&examples[i])) {
                check_svm(&examples[i], options[k]);
            }
        }
        keep_free();
    }
}

static void test_outliers(void **state) {
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        tell(&examples[i]);
        check_one_class(&examples[i], 0);
        if (!is_svmlight(&examples[i])) {
            check_one_class(&examples[i], WEIGHTED);
        }
        keep_free();
    }
}

static void test_without_matrices(void **state) {
    (void)state;
    job_train("{'model':'short','dataset':'table','target':'class','algorithm':'svm','params':{'"
              "kernel':'mahalanobis'},'features':{%s}}",
              NUMBERS);
    const struct response *r =
        status_check(call_get("/v1/models/short/weights?matrices=false"), 200);
    assert_false(has(r, "/support_vectors") || has(r, "/machines/0/coefficients") ||
                 has(r, "/kernel/covariance") || has(r, "/mean"));
    assert_true(whole_at(r, "/n_support_vectors") > 0);
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    kernel_rows_upload();
    keep_free();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_machines), TEST(test_outliers),
                                       TEST(test_without_matrices)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
