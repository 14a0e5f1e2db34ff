/* Models: training, prediction, evaluation and serialization.
 *
 *   dn_train              table source → model, report, metrics
 *   dn_model_predict      raw rows → scores, probabilities, labels
 *   dn_model_evaluate     labelled table → metrics
 *   dn_model_write, read  model ↔ bytes. The format has a version, a checksum and a fixed byte
 *                         order; it is described in core/model/model_bytes.h
 *
 * A dn_model is immutable and reference-counted; threads may share it. Pointers that a function
 * returns from a const model belong to the model and are valid while the caller has a reference.
 *
 * Terms: K is the number of classes. g is a score. x is an encoded row; x_raw is x without
 * standardisation. */
#ifndef DISCERN_MODEL_H
#define DISCERN_MODEL_H

#include <discern/algorithm.h>
#include <discern/api.h>
#include <discern/decision.h>
#include <discern/encoder.h>
#include <discern/held_out.h>
#include <discern/machine.h>
#include <discern/metrics.h>

DN_BEGIN_DECLS

typedef struct dn_model dn_model;

/* ---- classes ---- */
/* The classes of a target column in ascending order: numbers by value, false before true, strings
 * by byte value. A view; the model owns the memory. */
typedef struct dn_classes {
    dn_column_type type; /* type of the target column; numeric and boolean classes are JSON numbers
                          * and booleans */
    size_t n;
    const double *number; /* [n]; NULL unless numeric or boolean */
    dn_strings names;     /* [n] class names as text: the shortest form of a number, true or false,
                           * or the string */
} dn_classes;

/* ---- training ---- */
/* Range of weights above 0. Products, squares and sums of such weights neither overflow nor lose
 * precision by underflow. The weights of rows and of classes, and their products, must be in this
 * range; the weight of a row may also be 0. */
#define DN_MIN_WEIGHT 1e-100
#define DN_MAX_WEIGHT 1e100

/* Meaning of the weights where a method uses their sum as a sample size:
 *
 *   the counts of naive Bayes
 *   the shrinkage "auto"
 *   the divisor "unbiased"
 *   the scale of Fisher's scores, with more than two classes
 *   the targets of Platt's sigmoid
 *
 * All other results depend on the weights as they are. */
typedef enum dn_weights {
    DN_WEIGHTS_RELATIVE,    /* the sample size is the number of rows: the weights of the training
                             * rows, times their class weights, are divided by their mean. A common
                             * factor of all weights has no effect */
    DN_WEIGHTS_FREQUENCIES, /* the sample size is the sum of the weights: a row of weight 2 has the
                             * effect of two equal rows */
} dn_weights;

/* The class weight: a factor for the weights of the rows of each class. */
typedef enum dn_class_weight {
    DN_CLASS_WEIGHT_NONE,
    DN_CLASS_WEIGHT_BALANCED, /* Σv/(K·Σ_class v): all classes have equal total weight */
    DN_CLASS_WEIGHT_GIVEN
} dn_class_weight;

/* A member of a combined model. */
typedef struct dn_member {
    const dn_params *params;  /* of a method with probabilities */
    dn_encoder_spec features; /* as dn_train_request.features */
    double share;             /* >= 0 */
} dn_member;
#define DN_MAX_MEMBERS 10

#define DN_NO_TARGET SIZE_MAX
typedef struct dn_train_request {
    size_t struct_size; /* sizeof, or 0: see api.h */
    const dn_table_source *source;
    const dn_params *params; /* the algorithm with its parameters */
    /* Column index of the target. DN_NO_TARGET for an algorithm without DN_ALGORITHM_TARGET. */
    size_t target;
    /* `features.columns` are the columns of the source in the order of the features, without
     * target and weight. dn_train sets features.target and features.n_classes. */
    dn_encoder_spec features;
    /* For dn_train_memory: total number of words and nonzero entries of the text and sparse inputs
     * in all rows. dn_train ignores it. */
    double entries;
    /* For dn_train_memory: number of distinct words, before the vocabulary is chosen, of the text
     * input with the most distinct words. 0: no text input, or unknown. */
    double different_words;
    /* true: the numeric column `weight` contains the weights of the rows: 0 or DN_MIN_WEIGHT …
     * DN_MAX_WEIGHT, not all 0. A missing weight is an error. */
    bool weighted;
    size_t weight; /* column index; must be neither an input nor the target */
    dn_class_weight class_weight;
    /* DN_CLASS_WEIGHT_GIVEN: [K] DN_MIN_WEIGHT … DN_MAX_WEIGHT, in the order of the classes. */
    const double *class_weights;
    size_t n_class_weights;
    /* Validation: at most one of `holdout`, `folds` and `validation` may be set. */
    /* Fraction of the usable rows held out for validation, 0 < holdout < 1; 0: none. Stratified by
     * class, by largest remainder, chosen by run->seed. Every class keeps at least one training
     * row. */
    double holdout;
    /* Number of folds of a cross-validation, 2 … DN_MAX_FOLDS; 0: none. Stratified by class, chosen
     * by run->seed. DN_LEAVE_ONE_OUT: as many folds as rows, for a method with dn_params_is_linear
     * and at most DN_MAX_LEAVE_ONE_OUT rows. The model is trained on all rows. */
    size_t folds;
    /* Labelled rows of another table; NULL: none. Its columns are found by name. The weights are
     * read from the column with the name of the weight column; without this column all weights are
     * 1. */
    const dn_table_source *validation;
    size_t max_classes; /* maximum number of classes; more are DN_ERR_DATA. 0: 1000 */
    bool curves;        /* true: compute curves for the training and validation rows. With folds:
                         * metrics and curves of the rows of all folds together */
    dn_weights weights; /* meaning of the weights of rows and classes */
    /* How the rows are divided into training and validation rows. At most one of `grouped`,
     * `ordered` and `marked` may be set; the columns must not be the target.
     *
     * grouped  with holdout or folds: rows with the same value of column `group` (any type except
     *          DN_SPARSE) are on one side. A group that has all rows of a class is never held out
     * ordered  holdout: the last rows in the order of column `order` (DN_NUMERIC or DN_DATETIME)
     *          are held out. folds: the rows in this order are divided into folds + 1 blocks, and
     *          each block but the first is predicted by a fit to the blocks before it
     * marked   column `mark` marks the training rows (true, 1 or "train") and the validation rows
     *          (false, 0, "test", "valid", "validation" or "holdout"). Excludes holdout, folds and
     *          `validation` */
    bool grouped, ordered, marked;
    size_t group, order, mark; /* column indices */
    size_t repeats; /* with folds: number of cross-validations, each with other folds; repeats ·
                     * folds <= DN_MAX_FOLDS. 0: 1 */
    /* With a target, and a holdout, marks or folds: *held_out receives the predictions of the
     * held-out rows, NULL without memory for them (then there is a warning) or without held-out
     * rows. Free them with dn_held_out_free. NULL: they are not kept. For dn_train_memory any
     * address except NULL. */
    dn_held_out **held_out;
    /* Sets of labels (dn_conformal): their coverage, 0 < coverage < 1; 0: none. Needs a target,
     * probabilities (dn_params_have_probabilities), and a holdout, marks, folds or `validation`.
     * The calibration rows are the held-out rows, of several repeats those of the first, or the
     * rows of `validation`. Each row with a weight above 0 counts once. */
    double coverage;
    bool coverage_by_class;
    /* The folds of a calibration (parameter `calibrate`) keep rows with equal values of column
     * `calibration_group` together. With `grouped` they keep those of `group`. */
    bool calibration_grouped;
    size_t calibration_group;
    /* A combined model: `params` are those of dn_algorithm_combination, `features` those of a
     * member. Each member is trained on the training rows; the probability of class k is
     *
     *   P(C_k | x) = Π_m P_m(C_k | x)^(share_m) / Σ_j Π_m P_m(C_j | x)^(share_m)
     *
     * where a P_m below 1e-15 counts as 1e-15. Excludes folds. The members must read the same raw
     * rows (encoder.h): with text and sparse inputs, their encodings of words and categories must
     * be the same, and their bases. NULL, 0: no combination */
    const dn_member *members; /* [n_members] 2 … DN_MAX_MEMBERS; the shares not all 0 */
    size_t n_members;
} dn_train_request;
#define DN_MAX_FOLDS 1000
#define DN_LEAVE_ONE_OUT SIZE_MAX
#define DN_MAX_LEAVE_ONE_OUT 5000
#define DN_MAX_REPEATS 100

/* Reads a text of a column of marks. Returns false if it is none of the words of dn_train_request.
 *
 *   training  true: the text marks a training row; false: a validation row */
bool dn_row_mark_parse(const char *text, size_t length, bool *training);

typedef struct dn_train_result {
    dn_model *model; /* a reference that the caller owns */
    dn_report report;
    dn_metrics *train;      /* on the training rows; NULL without a target */
    dn_metrics *validation; /* on the held-out rows, the other table, or all rows of
                             * DN_LEAVE_ONE_OUT, and of folds with `curves`; NULL: no validation, or no
                             * target */
    dn_metrics **folds; /* [n_folds] metrics of each fold, of one repeat after the other; NULL: no
                         * cross-validation, DN_LEAVE_ONE_OUT, or no target */
    size_t n_folds;
    /* Numbers of rows. n_skipped: rows whose target is missing or whose weight is 0. n_validation:
     * held-out rows, also of DN_LEAVE_ONE_OUT, or evaluated rows of the other table; 0 with
     * folds. */
    size_t n_train, n_validation, n_skipped;
    /* Durations measured with run->elapsed. The fits of folds are part of seconds_evaluate. */
    double seconds_load, seconds_encode, seconds_fit, seconds_evaluate;
} dn_train_result;
/* Trains a model.
 *
 *   request  read during the call only
 *   run      NULL: dn_run_default
 *   out      set on success; free it with dn_train_result_done
 *
 * Rows. Rows with a missing target or weight 0 are ignored. The encoder and the learner use weight
 * · class weight; metrics use the weight alone. Balanced class weights are computed from the
 * training rows, for each fold anew.
 *
 * Without a target the classes are "inlier" and "outlier" (DN_DECISION_OUTLIER) and all rows are
 * used. There are no class weights, metrics or curves. The details of the report contain the weight
 * of the rows classified as outliers (outliers) and its share (outlier_share), and the same for the
 * held-out rows, the folds or the other table (validation_outliers, validation_outlier_share,
 * fold_outlier_shares). These shares estimate the rate of false alarms on rows like the training
 * rows.
 *
 * Calibration (parameter `calibrate`: platt, isotonic). The training rows of each class are
 * distributed to calibration_folds folds. If the smallest class has fewer rows, there are as many
 * folds as it has rows, and a warning. Each fold is scored by an encoder and machines that were
 * fitted to the other folds. The calibration is fitted to all these scores, with the weights of the
 * rows. A cross-validation repeats this within the training rows of each fold.
 *
 * Cross-validation. After the model is trained, each fold is evaluated with an encoder and machines
 * that were fitted to the other folds. Warnings of these fits begin with "fold 3: "; warnings that
 * the fit of the model has also given are omitted. A class may have fewer rows than there are
 * folds; a warning names the folds without it. The row of a class with one row is a training row of
 * each fold.
 *
 * The result depends only on the contents of the sources, the parameters and run->seed.
 *
 * DN_ERR_ARGUMENT: the request is invalid. DN_ERR_DATA: no usable row, fewer than two classes, too
 * many classes, an invalid weight or input, a class without a row of weight > 0, fewer rows in
 * classes of at least two rows than folds, more rows than DN_MAX_LEAVE_ONE_OUT with
 * DN_LEAVE_ONE_OUT, a class of one row with `calibrate`, fewer held-out rows than `coverage` needs,
 * or validation rows that cannot be evaluated (dn_model_evaluate). DN_ERR_MEMORY, DN_ERR_BUDGET,
 * DN_ERR_STOPPED, DN_ERR_TIME; errors of the source and of the learner. */
DN_MUST_USE dn_status dn_train(const dn_train_request *request,
                               const dn_run *run,
                               dn_train_result *out,
                               dn_error *err);
/* Frees the contents of a result. Allowed for {0} and more than once; `result` must not be NULL. */
void dn_train_result_done(dn_train_result *result);

/* A point of a learning curve: means over the fits, which are one, or those of the folds. */
typedef struct dn_learning_point {
    double share;       /* of the training rows of each class */
    double rows;        /* number of training rows */
    double *train;      /* by dn_metric_name: the metrics on these rows; NaN: undefined */
    double *validation; /* on the validation rows */
    double *deviation;  /* standard deviation of `validation` over the fits, as of folds */
    size_t n_fits;
    size_t n_unconverged; /* number of fits that did not converge */
} dn_learning_point;
/* Trains with shares of the training rows and evaluates on the same validation rows. The rows of a
 * smaller share are among those of a greater share.
 *
 *   request  as for dn_train, with a target and a validation, but not DN_LEAVE_ONE_OUT
 *   shares   [n_shares] > 0, <= 1; 1: all training rows, with the result of dn_train
 *   run      NULL: dn_run_default. No progress is reported
 *   out      receives [n_shares] points; free them with dn_learning_curve_free
 *
 * Errors of dn_train. Cost: a training for each share and fold. */
DN_MUST_USE dn_status dn_learning_curve(const dn_train_request *request,
                                        const double *shares,
                                        size_t n_shares,
                                        const dn_run *run,
                                        dn_learning_point **out,
                                        dn_error *err);
void dn_learning_curve_free(dn_learning_point *points); /* NULL is allowed */

/* Estimates the bytes that dn_train needs, before the data are read: from the types and widths of
 * the columns, the number of rows, request->entries and request->different_words (72 bytes per
 * word in every slot that reads the word). Optional memory is not included: the rows of a learner
 * that can stream, and the ranking of scores (metrics.h). */
double dn_train_memory(const dn_train_request *request,
                       size_t n_rows,
                       size_t n_features,
                       size_t n_classes,
                       size_t n_slots);
/* Returns the part of the estimate of dn_train_memory that the method needs for features and
 * classes even with few rows, such as matrices of all pairs of features: the estimate for one row,
 * with "auto" parameters resolved (dn_params_resolve) for the number of rows of request->source. */
double dn_train_method_memory(const dn_train_request *request,
                              size_t n_features,
                              size_t n_classes,
                              size_t n_slots);

/* ---- a model ---- */
/* Reference counting; thread-safe. dn_model_ref returns its argument. dn_model_unref frees the
 * model with its last reference. */
dn_model *dn_model_ref(dn_model *model);
void dn_model_unref(dn_model *model);          /* NULL is allowed */
size_t dn_model_memory(const dn_model *model); /* approximate bytes of memory */

const dn_algorithm *dn_model_algorithm(const dn_model *model);
const dn_params *dn_model_params(const dn_model *model);
uint64_t dn_model_seed(const dn_model *model);
const char *dn_model_target(const dn_model *model); /* NULL: no target */
const dn_classes *dn_model_classes(const dn_model *model);
const dn_encoder *dn_model_encoder(const dn_model *model);
/* Return the index of a class, or SIZE_MAX if the model has no such class. Classes of numeric and
 * boolean targets are found by dn_model_class_of_number, strings by dn_model_class_of_text
 * (`length` bytes). */
size_t dn_model_class_of_number(const dn_model *model, double number);
size_t dn_model_class_of_text(const dn_model *model, const char *text, size_t length);

/* The decision rule and the machines. dn_decision_machine returns the classes of machine i.
 *
 * Machines apply to x_raw, except kernel machines and other machines that need encoded rows.
 * dn_model_machine returns NULL if i >= dn_model_n_machines. */
dn_decision dn_model_decision(const dn_model *model);
/* Returns member i of a combined model (dn_train_request.members), in the order of the request;
 * NULL if there are not so many. It belongs to the model.
 *
 *   share  receives dn_member.share; unchanged if there is no such member */
const dn_model *dn_model_member(const dn_model *model, size_t i, double *share);
size_t dn_model_n_machines(const dn_model *model);
const dn_machine *dn_model_machine(const dn_model *model, size_t i);

/* Calibration: probabilities for machines whose scores are not log-odds, computed from held-out
 * rows.
 *
 * Each score has a function that maps it to the log-odds of its positive class; for one of K
 * scores of a native machine, to the log-odds of its class against all others.
 * dn_decision_probabilities computes p from these log-odds with the rule dn_calibrated_decision. */
typedef enum dn_calibration_method {
    DN_CALIBRATION_NONE,
    DN_CALIBRATION_PLATT,
    DN_CALIBRATION_ISOTONIC
} dn_calibration_method;
/* Returns the name of the method as parameter value, such as "platt". A static string. */
const char *dn_calibration_name(dn_calibration_method method);
typedef struct dn_calibrator {
    double slope, intercept; /* platt: log-odds = slope·g + intercept, slope >= 0 */
    /* isotonic: piecewise linear in the score, constant outside the first and last point */
    size_t n;            /* number of points, >= 1 */
    double *score;       /* [n] ascending */
    double *probability; /* [n] ascending, within [1e-15, 1 − 1e-15] */
} dn_calibrator;
typedef struct dn_calibration {
    dn_calibration_method method;
    size_t folds;          /* number of folds into which the training rows were divided */
    size_t n_scores;       /* == of the model */
    dn_calibrator *scores; /* [n_scores] in the order of the machines */
} dn_calibration;
const dn_calibration *dn_model_calibration(const dn_model *model); /* NULL: none */
/* Returns how the model computes sets of labels (decision.h), which it was trained with
 * (dn_train_request.coverage) and which is a part of its bytes; NULL: it has no sets. */
const dn_conformal *dn_model_conformal(const dn_model *model);

/* All scores of a model with linear machines: g = W x_raw + w0, W [n_scores × n_features], w0
 * [n_scores]. The model owns both arrays. */
typedef struct dn_linear {
    size_t n_scores, n_features;
    const double *w, *w0;
} dn_linear;
/* Returns false and leaves *out unchanged if the machines are not linear. */
bool dn_model_linear(const dn_model *model, dn_linear *out);

/* Returns true if dn_model_with_weights accepts the model: it has one linear machine without class
 * densities. */
bool dn_model_takes_weights(const dn_model *model);
/* Creates a model with the given weights and the classes, inputs, parameters and decision of
 * `model`, for example from the weights of a snapshot (dn_progress.w). The new model has no
 * calibration, no sets of labels, no statistics of weights and no feature means. The caller owns
 * the reference in *out.
 *
 *   w   [n_scores × n_features] weights of raw features, as in dn_linear
 *   w0  [n_scores] intercepts
 *
 * Standardised features: the weights are stored for standardised features, so that dn_model_linear
 * of the new model gives w and w0 with rounding errors.
 *
 * DN_ERR_ARGUMENT: a pointer is NULL, or the model does not take weights. DN_ERR_NUMERIC: a weight
 * is not finite. DN_ERR_MEMORY. Thread-safe. Cost: O(n_scores × n_features). */
DN_MUST_USE dn_status dn_model_with_weights(
    const dn_model *model, const double *w, const double *w0, dn_model **out, dn_error *err);

/* ---- description ---- */
/* Returns the kind of the model's machines, such as "linear", "gaussian", "naive_bayes", "kernel"
 * or "network". */
const char *dn_model_kind(const dn_model *model);
/* Passes the data that the machines share, such as support vectors, to the visitor, as members of
 * the object that is open. The weights of linear models are not passed (dn_model_linear).
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_model_describe(const dn_model *model,
                                        const dn_visitor *visitor,
                                        dn_error *err);
/* Returns true if the machines have parameters other than linear weights. */
bool dn_model_describes_machines(const dn_model *model);
/* Passes the parameters of machine i to the visitor, as dn_model_describe does. DN_ERR_ARGUMENT:
 * no such machine; DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_model_describe_machine(const dn_model *model,
                                                size_t i,
                                                const dn_visitor *visitor,
                                                dn_error *err);
/* Returns the number of numbers that the describe functions pass only if visitor->matrices is set.
 * *out_name: a name for these arrays, such as "support vectors". */
double dn_model_matrix_numbers(const dn_model *model, const char **out_name);
/* Returns the threshold >= 0 of DN_DECISION_OUTLIER: rows with a score < −threshold are outliers.
 * 0 for other rules. */
double dn_model_threshold(const dn_model *model);

/* ---- prediction ---- */
/* The rule that computes labels. It matters only if probabilities are calibrated or come from
 * machines of pairs: in all other models the class that the scores choose is the most probable
 * one.
 *
 * A point that is ambiguous by the scores (decision.h) has no label with either rule. If several
 * classes are most probable, the class that the scores choose is the label if it is one of them,
 * otherwise the first one. A model without probabilities uses the scores. */
typedef enum dn_labels {
    DN_LABELS_OF_MODEL,     /* the rule of the model (dn_model_labels) */
    DN_LABELS_SCORES,       /* the class that the scores choose (decision.h) */
    DN_LABELS_PROBABILITIES /* the most probable class */
} dn_labels;
/* Returns the rule that the model was trained with, parameter `decision`. Models of library
 * versions without this parameter: DN_LABELS_SCORES. */
dn_labels dn_model_labels(const dn_model *model);
/* Sets the rule that chooses labels with DN_LABELS_OF_MODEL, which copies it; NULL removes it. It is
 * not a part of the bytes of the model. Call it before other threads use the model.
 * DN_ERR_ARGUMENT: the rule is for other classes, a number is out of range, or the model has no
 * probabilities. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_model_set_rule(dn_model *model, const dn_rule *rule, dn_error *err);
const dn_rule *dn_model_rule(const dn_model *model); /* NULL: none */
/* Output arrays of dn_model_predict, allocated by the caller. If an array is NULL, the result is
 * not computed. Probabilities, contributions, log densities and posteriors that the model cannot
 * compute are NaN. */
typedef struct dn_prediction {
    size_t struct_size;    /* sizeof, or 0: see api.h */
    size_t *label;         /* [n] class index or DN_AMBIGUOUS (decision.h) */
    double *probabilities; /* [n × K] */
    double *scores;        /* [n × n_scores] in the order of the machines */
    bool *candidates; /* [n × K] see dn_decision_candidates; computed with the threshold of the
                       * model */
    /* [n] distance to the decision surface in raw features.
     *
     *   two classes             g/‖w‖; kernel machines: in the feature space of the kernel
     *   K linear discriminants  min_j (g_i − g_j)/‖w_i − w_j‖ for the chosen class i. Costs
     *                           O(K · features) each time the class differs from the previous row's
     *   otherwise               NaN: not linear, votes, ambiguous, or all weights 0
     *
     * The surface and the chosen class are those of the scores, also with
     * DN_LABELS_PROBABILITIES. */
    double *distance;
    /* [n × n_scores × n_features] contribution of each feature to each score. A score is the sum
     * of its contributions and its element of dn_model_intercept. */
    double *contributions;
    double *log_density; /* [n] ln p(x) = ln Σ_k P(C_k) p(x | C_k) in raw features; −∞ if out of
                           * support */
    bool *out_of_support; /* [n] true: the likelihood of x is 0 in every class, so that only the
                           * priors determine the class */
    /* [n × K] ln p(x | C_k) with all constants, in raw features as log_density: the result does not
     * depend on whether training standardised them.
     *
     *   Gaussian     −½((x − m)ᵀΣ⁻¹(x − m) + ln|Σ| + d ln 2π) over the d features that were not
     *                constant in training
     *   naive Bayes  Σ_j ln p(x_j | C_k) over all features. Counts x_j, such as words: Σ_j x_j ln
     *                θ_j, the probability of the words in one order
     *
     * Features are those of the encoder: a category is a 1-of-K code, to which a Gaussian gives a
     * density as to any numbers, and basis functions are features like the inputs.
     * −∞: the density is 0, or below the range of doubles. */
    double *class_log_density;
    /* [n × K] P(C_k | x) = P(C_k) p(x | C_k)/p(x), by Bayes' theorem from class_log_density and
     * dn_model_prior. It equals `probabilities` up to rounding. If class_log_density is −∞ in every
     * class: the probabilities of the scores. */
    double *posterior;
    dn_labels labels;    /* the rule for `label` and `candidates` */
    const dn_rule *rule; /* takes the place of `labels`; a rule for the classes of a model with
                          * probabilities. NULL: none */
    bool *set; /* [n × K] the labels of the set (dn_conformal_set); all false if the model has no
                * sets */
} dn_prediction;
bool dn_model_has_probabilities(const dn_model *model);
/* Returns false if metric i (dn_metric_name) is undefined for every model with these parameters,
 * which have passed dn_params_check, and n_classes classes. */
bool dn_params_have_metric(const dn_params *params, size_t n_classes, size_t i);
bool dn_model_has_density(const dn_model *model); /* one machine with class densities */
/* Returns [K] the prior probabilities P(C_k) > 0 of the model, which it owns; NULL if the model has
 * no class densities (dn_model_has_density). */
const double *dn_model_prior(const dn_model *model);
/* Returns true if the scores are sums over features. False for kernel machines and networks. */
bool dn_model_has_contributions(const dn_model *model);
/* Returns true if out_of_support can be true for some row: scores are logarithms of class
 * densities that can be 0. */
bool dn_model_can_be_impossible(const dn_model *model);
/* Returns [n_features] the weighted mean of each raw feature over the training rows; NULL if the
 * model has no contributions, or an earlier version of the library trained it. */
const double *dn_model_feature_means(const dn_model *model);
/* out [n_scores × n_features] ← the contributions of the mean row, with which the contributions of
 * a row can be compared: for a linear score the difference is w_kj (x_j − mean_j).
 *
 * DN_ERR_ARGUMENT if the model has no contributions or no feature means; DN_ERR_MEMORY. Cost: that
 * of the contributions of one row. */
DN_MUST_USE dn_status dn_model_mean_contributions(const dn_model *model,
                                                  double *out,
                                                  dn_error *err);
/* Returns true if the inputs are values of a precomputed kernel. Then no input may be missing, and
 * the inputs do not vary independently. */
bool dn_model_is_precomputed(const dn_model *model);
/* Returns the approximate number of multiplications for the scores of one row, without encoding. */
double dn_model_cost(const dn_model *model);
size_t dn_model_n_scores(const dn_model *model);
/* Returns [n_scores] the constant term of each score. */
const double *dn_model_intercept(const dn_model *model);
/* Returns the number of doubles of workspace that dn_model_predict and dn_model_transform need. It
 * does not depend on the number of rows. It depends on the number of features only for kernel
 * machines, bases, and densities that need all features. Use allocated memory: the workspace is
 * also used for objects of other types. */
size_t dn_model_workspace(const dn_model *model);
/* Predicts raw rows (encoder.h).
 *
 *   workspace  [dn_model_workspace] doubles, used by one thread at a time
 *   out        the arrays of the results to compute
 *
 * Returns rows.n, or the index of the first row that cannot be predicted: a score is not finite
 * (densities: is NaN) because the values of the row are too large, or an input of a precomputed
 * kernel is missing. Results for that row and later rows are undefined. The caller must reject
 * infinite inputs.
 *
 * The result of a row does not depend on other rows or on the thread. Thread-safe with one
 * workspace per thread. Does not allocate.
 *
 * Cost per row: proportional to the number of inputs and sparse entries, not to the number of
 * features. O(features) for contributions and for densities that need all features. Kernel
 * machines evaluate every support vector; pass many rows per call, because they share the pass
 * over the support vectors. */
size_t dn_model_predict(const dn_model *model,
                        dn_raw_rows rows,
                        double *workspace,
                        const dn_prediction *out);
/* Writes the reason why row i cannot be predicted, as a phrase that continues "instance 3 ". */
void dn_model_predict_why(const dn_model *model,
                          dn_raw_rows rows,
                          size_t i,
                          char out[DN_MESSAGE_SIZE]);
/* Coordinates of a row that dn_model_transform computes. */
typedef enum dn_coordinates {
    DN_COORDINATES_DIRECTIONS, /* ⟨direction, x_raw⟩ for each discriminant direction */
    DN_COORDINATES_BASIS,      /* φ(x_raw): all features of a model with bases, without
                                * standardisation. The weights of dn_linear belong to them */
    DN_COORDINATES_HIDDEN,     /* the outputs of the units in the last hidden layer of a network */
    DN_COORDINATES_SCORES      /* the scores of dn_model_predict */
} dn_coordinates;
/* Returns the number of coordinates of a row; 0: the model has no such coordinates. Directions and
 * hidden layers: only a model with one machine has them. */
size_t dn_model_n_components(const dn_model *model, dn_coordinates coordinates);
/* out [rows.n × n_components] ← the coordinates of raw rows. Requires dn_model_n_components > 0.
 * Returns rows.n, or the index of the first row with a result that is not finite (scores that are
 * log densities: is NaN). Thread-safe with one workspace per thread. Does not allocate. */
size_t dn_model_transform(const dn_model *model,
                          dn_coordinates coordinates,
                          dn_raw_rows rows,
                          double *workspace,
                          double *out);

/* Options of an evaluation. NULL and {0}: no curves, all weights 1, the target of the model. */
typedef struct dn_evaluate_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    bool curves;
    const char *weight; /* name of the numeric column of weights; NULL: all weights are 1 */
    /* Name of the column of true classes. NULL: the target of the model; DN_ERR_ARGUMENT if the
     * model has no target. */
    const char *target;
    dn_labels labels;    /* the rule for the predicted classes */
    const dn_rule *rule; /* as in dn_prediction */
} dn_evaluate_options;
/* Computes the metrics of a model on a labelled table. Columns are found by name. Rows with a
 * missing target or weight 0 are ignored.
 *
 *   options  NULL is allowed
 *   run      NULL is allowed
 *   out      set on success; free it with dn_metrics_free
 *
 * DN_ERR_DATA: a column is missing or has the wrong type, a class is unknown to the model, a weight
 * is missing or out of range, all weights are 0, or a row has no finite score. The error has the
 * column or the row. DN_ERR_ARGUMENT, DN_ERR_MEMORY, DN_ERR_BUDGET, DN_ERR_STOPPED, DN_ERR_TIME;
 * errors of the source. */
DN_MUST_USE dn_status dn_model_evaluate(const dn_model *model,
                                        const dn_table_source *source,
                                        const dn_evaluate_options *options,
                                        const dn_run *run,
                                        dn_metrics **out,
                                        dn_error *err);
/* Raw rows (encoder.h) with their classes and weights. */
typedef struct dn_labelled_rows {
    size_t struct_size; /* sizeof, or 0: see api.h */
    dn_raw_rows raw;
    const size_t *truth;  /* [raw.n] class indices */
    const double *weight; /* [raw.n] 0 or DN_MIN_WEIGHT … DN_MAX_WEIGHT; NULL: all 1 */
    dn_labels labels;     /* the rule for the predicted classes */
    const dn_rule *rule;  /* as in dn_prediction */
} dn_labelled_rows;
/* Computes the metrics of a model on raw rows; otherwise like dn_model_evaluate. */
DN_MUST_USE dn_status dn_model_evaluate_raw(const dn_model *model,
                                            const dn_labelled_rows *rows,
                                            bool curves,
                                            const dn_run *run,
                                            dn_metrics **out,
                                            dn_error *err);

/* Evaluates a model on the validation rows of a training: on the rows that dn_train holds out, on
 * the rows of each fold, or on the other table. Use it to compare a model that was trained before
 * with the model of this training.
 *
 *   request  the request of dn_train, with holdout, folds, marks or validation. The split depends on
 *            it and on run->seed; the weights of the rows are those of its weight column
 *   source   a table of the same rows, with the columns of `model` (found by name): the rows of
 *            request->validation, if it is set, and also its weight column; otherwise the rows of
 *            request->source
 *   run      NULL is allowed
 *   out      [request->folds · repeats, or 1 with DN_LEAVE_ONE_OUT, a holdout, marks or a table] set
 *            on success; free each with dn_metrics_free
 *
 * DN_ERR_DATA: the model has another target or other classes than the training, or the source lacks
 * a column of the model or has it with another type; the message is a clause that calls the model
 * "it". Errors of dn_train that concern target and weights; errors of dn_model_evaluate. Cost: that
 * of dn_model_evaluate for each fold. */
DN_MUST_USE dn_status dn_model_evaluate_held_out(const dn_model *model,
                                                 const dn_train_request *request,
                                                 const dn_table_source *source,
                                                 const dn_run *run,
                                                 dn_metrics **out,
                                                 dn_error *err);

/* ---- bytes ---- */
/* Serializes a model. *out receives *out_size bytes allocated by malloc; the caller frees them.
 * Equal models give equal bytes. DN_ERR_ARGUMENT, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_model_write(const dn_model *model,
                                     void **out,
                                     size_t *out_size,
                                     dn_error *err);
/* Reads a serialized model. Safe for any input, including malicious bytes. The caller owns the
 * reference in *out.
 *
 * Allocates at most a small multiple of `size`, except for the words of a text input. Each word is
 * stored as the suffix after the prefix that it shares with the previous word: 3 bytes or more in
 * the file become up to 450 bytes in memory, so that malicious input can cause allocations of 150
 * times its size.
 *
 * DN_ERR_ARGUMENT, DN_ERR_CORRUPT, DN_ERR_VERSION, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_model_read(const void *bytes, size_t size, dn_model **out, dn_error *err);

/* Returns the version of the library, such as "0.1.0". A static string. */
const char *dn_version(void);

DN_END_DECLS

#endif
