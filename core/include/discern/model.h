/* Train, predict, store: the life of a model.
 *
 *   dn_train            table source → model, report, metrics
 *   dn_model_predict    raw rows → scores, probabilities, labels
 *   dn_model_write/read a model as bytes and back: versioned, checksummed, endian-fixed
 *
 * A dn_model is immutable and shared freely between threads (dn_model_ref/unref). Format of the bytes: core/format/README or model_bytes.h. */
#ifndef DISCERN_MODEL_H
#define DISCERN_MODEL_H

#include <discern/algorithm.h>
#include <discern/api.h>
#include <discern/decision.h>
#include <discern/encoder.h>
#include <discern/machine.h>
#include <discern/metrics.h>

DN_BEGIN_DECLS

typedef struct dn_model dn_model;

/* ---- classes ---- */
/* The classes of a target column in ascending order: numbers by value, false before true, strings by bytes. */
typedef struct dn_classes {
    dn_column_type
        type; /* of the target column: numeric and boolean classes are written as JSON numbers and booleans */
    size_t n;
    const double *number; /* numeric, boolean: [n] */
    dn_strings names; /* always: the text of each class (shortest number, true/false, the string) */
} dn_classes;

/* ---- training ---- */
/* A weight is 0, or in this range, so that products and squares of weights and their sums over rows stay within the range of doubles with all their digits. It holds for the weight of a
 * row, of a class, and for their product. */
#define DN_MIN_WEIGHT 1e-100
#define DN_MAX_WEIGHT 1e100

/* How much a row counts by its class, on top of its own weight. */
typedef enum dn_class_weight {
    DN_CLASS_WEIGHT_NONE,
    DN_CLASS_WEIGHT_BALANCED, /* Σv/(K·Σ_class v): every class weighs the same */
    DN_CLASS_WEIGHT_GIVEN
} dn_class_weight;

#define DN_NO_TARGET SIZE_MAX
typedef struct dn_train_request {
    size_t struct_size; /* sizeof, or 0: see api.h */
    const dn_table_source *source;
    const dn_params *params; /* the algorithm with its parameters, checked */
    size_t
        target; /* column of the source; DN_NO_TARGET for an algorithm without DN_ALGORITHM_TARGET */
    dn_encoder_spec
        features; /* columns: of the source, in feature order, without target and weight; target and n_classes are filled in */
    double
        entries; /* of the text and sparse inputs in all rows of the source, for dn_train_memory: words, and places that are not 0; dn_train counts them itself */
    double
        different_words; /* of the text input that has most of them, for dn_train_memory: those that are counted before the vocabulary is chosen; 0: there is none, or it is not known */
    bool
        weighted; /* rows weigh what the numeric column `weight` says: 0 or in the range, not all 0; a missing weight is an error */
    size_t weight; /* column of the source, no input and not the target */
    dn_class_weight class_weight;
    const double *class_weights; /* given: [K] in the range, in the order of the classes */
    size_t n_class_weights;
    /* at most one of the three: */
    double
        holdout; /* share of the usable rows (0 … 1, exclusive) kept for validation, stratified by class and seeded; 0: none. Every class keeps at least one training row */
    size_t
        folds; /* 2 … DN_MAX_FOLDS: cross-validation, stratified and seeded; the model itself is trained on all rows. 0: none */
    const dn_table_source *
        validation; /* labelled rows of another table, columns by name; NULL: none. Its rows weigh what its column of the weight's name says, if there is one */
    size_t max_classes; /* DN_ERR_DATA above it; 0: 1000 */
    bool
        curves; /* the metrics of the training and the validation rows come with curves, those of folds without */
} dn_train_request;
#define DN_MAX_FOLDS 1000

typedef struct dn_train_result {
    dn_model *model; /* the caller's reference */
    dn_report report;
    dn_metrics *train; /* on the training rows; NULL without a target */
    dn_metrics *
        validation; /* on the held out rows or the other table; NULL without, and without a target */
    dn_metrics **folds; /* [n_folds] each fold's on its own rows; NULL without */
    size_t n_folds;
    size_t n_train, n_validation,
        n_skipped; /* rows; skipped: target missing, or weight 0; n_validation of the other table: those evaluated */
    double seconds_load, seconds_encode, seconds_fit,
        seconds_evaluate; /* by run->elapsed; folds count as evaluation */
} dn_train_result;
/* Rows whose target is missing are skipped, and rows of weight 0 count as none. A row counts v = weight · class weight for encoder and learner; metrics are weighted by the
 * row's own weight alone. A balanced class weight is Σ weights/(K · Σ weights of the class) over the training rows (of each fold anew).
 * Without a target the classes are "inlier" and "outlier" (DN_DECISION_OUTLIER), all rows take part, and there are no class weights, no metrics and no curves: the report's details tell
 * how many rows the model calls outliers (outliers, weights added up, and outlier_share), likewise of the rows held out at random, of all folds' rows or of the other table's
 * (validation_outliers, validation_outlier_share; fold_outlier_shares): how many false alarms rows like those of the training would give.
 * With `calibrate` (platt, isotonic) every class has its training rows dealt to calibration_folds folds, or to as many as the smallest class has rows, with a warning; encoder and machines of the other
 * folds' rows score each fold's, and all these scores, by the rows' own weights, make the calibration. In a cross-validation that happens anew within each fold's training rows.
 * With folds, every fold's rows are judged by a model with encoder and machines of the other folds' rows, after the model itself; its warnings are marked "fold 3: " and
 * left out when the model itself has the same.
 * DN_ERR_DATA: fewer than two classes, no usable row, too many classes, a weight or an input that cannot be used, a class without a row that weighs anything, more folds than rows of a class, a class of one row with `calibrate`,
 * validation rows that the model cannot judge (dn_model_evaluate).
 * The result depends on the sources' contents, the parameters and run->seed only. */
DN_MUST_USE dn_status dn_train(const dn_train_request *request,
                               const dn_run *run,
                               dn_train_result *out,
                               dn_error *err);
void dn_train_result_done(dn_train_result *result);

/* Memory that dn_train would need, from what is known before reading: columns' types and widths, row count, request->entries, request->different_words (64 bytes each in every thread that meets it). What it only takes when there is enough is not counted: rows of
 * a learner that can stream, the ranking of scores (metrics.h). */
double dn_train_memory(const dn_train_request *request,
                       size_t n_rows,
                       size_t n_features,
                       size_t n_classes,
                       size_t n_slots);
/* What of it the method takes for the features and classes however few rows there are: matrices of all pairs of features, vectors. Reckoned from a single row of the request's source. */
double dn_train_method_memory(const dn_train_request *request,
                              size_t n_features,
                              size_t n_classes,
                              size_t n_slots);

/* ---- a model ---- */
dn_model *dn_model_ref(dn_model *model);
void dn_model_unref(dn_model *model);          /* NULL is allowed */
size_t dn_model_memory(const dn_model *model); /* bytes it holds, about */

const dn_algorithm *dn_model_algorithm(const dn_model *model);
const dn_params *dn_model_params(const dn_model *model);
uint64_t dn_model_seed(const dn_model *model);
const char *dn_model_target(const dn_model *model); /* NULL: it was trained without */
const dn_classes *dn_model_classes(const dn_model *model);
const dn_encoder *dn_model_encoder(const dn_model *model);
/* The class index of a target value, or SIZE_MAX if it is none of the classes. For numeric and boolean targets by number, for strings by text. */
size_t dn_model_class_of_number(const dn_model *model, double number);
size_t dn_model_class_of_text(const dn_model *model, const char *text, size_t length);

/* How the model decides, and its machines in the raw feature space (the encoded but not standardised x), but for kernel machines, which stay in the space they were trained in; dn_decision_machine tells whom machine i sets against whom. */
dn_decision dn_model_decision(const dn_model *model);
size_t dn_model_n_machines(const dn_model *model);
const dn_machine *dn_model_machine(const dn_model *model, size_t i); /* the model's */

/* Probabilities for machines that have scores only, learned from rows held out: for each score a function to the log-odds of its positive class (of K scores of one machine: of its class against all others), from which
 * dn_decision_probabilities makes p of dn_calibrated_decision. Labels stay those of the scores: near the boundary the label may be another class than the most probable one. */
typedef enum dn_calibration_method {
    DN_CALIBRATION_NONE,
    DN_CALIBRATION_PLATT,
    DN_CALIBRATION_ISOTONIC
} dn_calibration_method;
const char *
dn_calibration_name(dn_calibration_method method); /* as the parameter has it: "platt" */
typedef struct dn_calibrator {
    double slope, intercept; /* platt: log-odds = slope·g + intercept, slope >= 0 */
    size_t n;                /* isotonic: steps, at least 1 */
    double *score;           /* [n] ascending, with … */
    double *
        probability; /* [n] … the probabilities there, ascending, within [1e-15, 1 − 1e-15]; straight lines between, constant beyond */
} dn_calibrator;
typedef struct dn_calibration {
    dn_calibration_method method;
    size_t folds;          /* that the training rows were held out in */
    size_t n_scores;       /* the model's */
    dn_calibrator *scores; /* [n_scores] machine after machine */
} dn_calibration;
const dn_calibration *dn_model_calibration(const dn_model *model); /* NULL: none. The model's */

/* All scores together, when every machine is linear: g = W x_raw + w0. [n_scores × n_features], [n_scores]. The model's. */
typedef struct dn_linear {
    size_t n_scores, n_features;
    const double *w, *w0;
} dn_linear;
bool dn_model_linear(const dn_model *model, dn_linear *out); /* false: not linear */

/* ---- description ---- */
/* The kind of the model's machines: "linear", "gaussian", "naive_bayes", "kernel", "network". */
const char *dn_model_kind(const dn_model *model);
/* Passes what the machines share, as members of the object that is open: support vectors. The weights
 * of linear models are not passed (dn_model_linear). DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_model_describe(const dn_model *model,
                                        const dn_visitor *visitor,
                                        dn_error *err);
/* Passes the parameters of machine i in the same way; false: there are none beside linear weights. */
bool dn_model_describes_machines(const dn_model *model);
DN_MUST_USE dn_status dn_model_describe_machine(const dn_model *model,
                                                size_t i,
                                                const dn_visitor *visitor,
                                                dn_error *err);
/* The numbers that these functions pass only with visitor->matrices, and the name of such arrays:
 * "support vectors". */
double dn_model_matrix_numbers(const dn_model *model, const char **out_name);
/* DN_DECISION_OUTLIER: the value >= 0 such that scores below −value are outliers'; 0 otherwise. */
double dn_model_threshold(const dn_model *model);

/* ---- prediction ---- */
/* What is wanted: NULL pointers are not computed. */
typedef struct dn_prediction {
    size_t struct_size;    /* sizeof, or 0: see api.h */
    size_t *label;         /* [n] class index, DN_AMBIGUOUS (decision.h) */
    double *probabilities; /* [n × K]; must be NULL for a model without */
    double *scores;        /* [n × n_scores] machine after machine */
    bool *
        candidates; /* [n × K] the classes that come into question: the label alone unless it is ambiguous */
    double *
        distance; /* [n] from the decision surface in raw features (O(K·features) once for a run of rows of one class): two classes g/‖w‖, of a kernel machine in the kernel's space; K linear discriminants min_j (g_i − g_j)/‖w_i − w_j‖ for the chosen i;
                            * NaN where it is not defined (not linear, votes, ambiguous, all weights 0) */
    double *
        contributions; /* [n × n_scores × n_features] the part of each score that is a feature's; with dn_model_intercept they sum to the score; must be NULL for a model without */
    double
        *log_density; /* [n] ln p(x) in raw features; must be NULL for a model without densities */
    bool *out_of_support; /* [n] no class gives x a likelihood: the priors decide */
} dn_prediction;
bool dn_model_has_probabilities(const dn_model *model);
bool dn_model_has_density(const dn_model *model); /* one machine with class densities */
bool dn_model_has_contributions(
    const dn_model
        *model); /* its scores are sums over features: not those of kernel machines and networks */
/* Whether a row can be out_of_support: the model multiplies class densities. */
bool dn_model_can_be_impossible(const dn_model *model);
/* Whether the inputs are values of a precomputed kernel: all of them are needed, and they do not vary
 * independently. */
bool dn_model_is_precomputed(const dn_model *model);
/* Multiplications that the scores of a row take, about, without the encoding. */
double dn_model_cost(const dn_model *model);
size_t dn_model_n_scores(const dn_model *model);
/* The part of each score [n_scores] that is no feature's. */
const double *dn_model_intercept(const dn_model *model);
/* Doubles of workspace that dn_model_predict and dn_model_transform need, independent of n, and of the number of words and places unless densities with covariances want all of x, or kernels. Allocated
 * memory: something else than doubles is kept in it too. */
size_t dn_model_workspace(const dn_model *model);
/* Raw rows (see encoder.h) → out. The answer for a row does not depend on its neighbours, the batch or the thread.
 * Its cost is that of its inputs and its entries, whatever the number of features; O(features) only for contributions, and where densities with covariances want all of x. Kernel machines see
 * every support vector, which many rows at a time share: hand over as many as there are.
 * No allocation; inputs that are infinite are the caller's to refuse. Returns n, or the first row whose values are so large that a score is no finite number (of
 * densities: is none at all), or in which one is missing that a precomputed kernel needs; what is written of it and of those after it means nothing. Thread safe with one workspace a thread. */
size_t dn_model_predict(const dn_model *model,
                        dn_raw_rows rows,
                        double *workspace,
                        const dn_prediction *out);
/* Why there is no answer for row i, as it goes on behind "instance 3 ". */
void dn_model_predict_why(const dn_model *model,
                          dn_raw_rows rows,
                          size_t i,
                          char out[DN_MESSAGE_SIZE]);
/* Directions to project on: 0, the model has none. */
size_t dn_model_n_components(const dn_model *model);
/* out [rows.n × n_components] ← the rows in discriminant coordinates, ⟨direction, x_raw⟩. Returns n, or the first row where one of them is not finite. */
size_t dn_model_transform(const dn_model *model, dn_raw_rows rows, double *workspace, double *out);

/* How a model is evaluated; {0} and NULL: plainly. */
typedef struct dn_evaluate_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    bool curves;
    const char *weight; /* name of the numeric column with the rows' weights; NULL: each counts 1 */
    const char *
        target; /* name of the column with the true classes; NULL: the model's target, which a model without one does not have (DN_ERR_ARGUMENT) */
} dn_evaluate_options;
/* Metrics of the model on a labelled source: its columns are found by name. DN_ERR_DATA names the column that is missing or of the wrong type, or the row of a weight that is missing or
 * outside the range (or that all are 0); rows whose target is missing are skipped; a class the model does not know is DN_ERR_DATA. */
DN_MUST_USE dn_status dn_model_evaluate(const dn_model *model,
                                        const dn_table_source *source,
                                        const dn_evaluate_options *options,
                                        const dn_run *run,
                                        dn_metrics **out,
                                        dn_error *err);
/* The same of raw rows (encoder.h) with class indexes and weights (NULL: all 1). */
typedef struct dn_labelled_rows {
    size_t struct_size; /* sizeof, or 0: see api.h */
    dn_raw_rows raw;
    const size_t *truth;  /* [raw.n] */
    const double *weight; /* [raw.n] 0 or in the range, or NULL */
} dn_labelled_rows;
DN_MUST_USE dn_status dn_model_evaluate_raw(const dn_model *model,
                                            const dn_labelled_rows *rows,
                                            bool curves,
                                            const dn_run *run,
                                            dn_metrics **out,
                                            dn_error *err);

/* ---- bytes ---- */
DN_MUST_USE dn_status
dn_model_write(const dn_model *model,
               void **out,
               size_t *out_size,
               dn_error *err); /* malloc'ed; the same model gives the same bytes */
/* DN_ERR_CORRUPT, DN_ERR_VERSION, DN_ERR_MEMORY. Never crashes. What it allocates is bounded by size: a small multiple of it, but for the words of a text, each written as what follows the
 * beginning it shares with the one before: of a word, written in at least 3 bytes, up to 450 bytes are kept, so that bytes made for it take 150 times their size. */
DN_MUST_USE dn_status dn_model_read(const void *bytes, size_t size, dn_model **out, dn_error *err);

/* The library's version, "0.1.0". */
const char *dn_version(void);

DN_END_DECLS

#endif
