/* Model search: compares candidates, each a method with parameters and features, by a
 * cross-validation within the training rows.
 *
 * The mean of a metric over the folds is optimistic for the winner, because it is the best of many
 * (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10). So the
 * search uses only rows that dn_train with the same request would train on. Then train the winner
 * with dn_train: its validation rows were seen by no candidate. */
#ifndef DISCERN_SEARCH_H
#define DISCERN_SEARCH_H

#include <discern/api.h>
#include <discern/model.h>

DN_BEGIN_DECLS

typedef struct dn_candidate {
    const dn_params *params;
    /* As dn_train_request.features. Candidates whose specs are equal, with pointers to the same
     * arrays, share encoded rows. */
    dn_encoder_spec features;
} dn_candidate;

typedef enum dn_search_strategy {
    DN_SEARCH_ALL, /* every candidate is fitted to all training rows of every fold */
    /* Successive halving: all candidates are fitted to a share of the training rows, the best third
     * to three times as many rows, and so on; the last to all rows. Jamieson and Talwalkar,
     * AISTATS 2016. With fewer than 1000 rows in the first round it has fewer rounds. */
    DN_SEARCH_HALVING
} dn_search_strategy;

/* With both rules a combination wins only if its mean is better than that of the best candidate by
 * more than one standard error of the latter. */
typedef enum dn_search_rule {
    DN_SEARCH_BEST, /* the best mean; of equal means the first candidate */
    /* The simplest candidate whose mean is within one standard error of the best: Breiman, Friedman,
     * Olshen and Stone, Classification and Regression Trees, section 3.4.3. Of candidates that
     * differ in one parameter with a complexity (dn_param.complexity), the one with the least is
     * the simplest; of others, the one whose model takes the least memory. */
    DN_SEARCH_ONE_STANDARD_ERROR
} dn_search_rule;

/* A member of a combination. */
typedef struct dn_search_member {
    size_t candidate; /* index in `candidates` */
    double share;     /* as dn_member.share */
} dn_search_member;

/* The result of a candidate, or of the combination. */
typedef struct dn_trial {
    size_t candidate; /* index in `candidates`; their number: the combination */
    double share;     /* share of the training rows of each fold that the fits used */
    dn_status status; /* DN_OK, or why a fit or an evaluation failed; the figures are then 0 or
                       * NaN */
    char message[DN_MESSAGE_SIZE]; /* the error; otherwise the first warning, or "" */
    char field[DN_FIELD_SIZE];     /* as dn_error.field */
    double mean;                   /* of the metric, over the folds that define it */
    double error; /* standard error of the mean: the deviation over the fits that define the metric,
                   * divided by the square root of their number for each repeat; NaN: fewer than
                   * two */
    size_t n_values;
    const double *values; /* [n_values] the metric of each fit, repeat by repeat; NaN: undefined */
    double fit_seconds;   /* mean over the fits, by dn_run.elapsed */
    double row_seconds;   /* mean time to score and evaluate a row */
    double bytes;         /* mean memory of a model (dn_model_memory) */
    size_t n_unconverged; /* fits that did not converge */
    size_t n_warnings;    /* of all fits */
    const dn_search_member *members; /* [n_members] of a combination; otherwise NULL, 0 */
    size_t n_members;
} dn_trial;

typedef struct dn_search_request {
    size_t struct_size; /* sizeof, or 0: see api.h */
    /* The rows, the target, the weights and the validation, whose training rows are searched.
     * `params` and `features` are ignored. A validation with folds is DN_ERR_ARGUMENT. */
    const dn_train_request *training;
    const dn_candidate *candidates; /* [n_candidates] tried in this order, unless `seconds` > 0 */
    size_t n_candidates;
    size_t metric; /* index of dn_metric_name */
    /* Of the search, as in dn_train_request. DN_LEAVE_ONE_OUT: a fold for each row, for any method
     * and at most DN_MAX_FOLDS rows; metrics of a single row are compared */
    size_t folds, repeats;
    bool grouped, ordered; /* as in dn_train_request */
    size_t group, order;
    /* In place of folds: column `mark` marks the rows that candidates are fitted to and those that
     * they are compared on, as in dn_train_request. There is one fit, and no standard error */
    bool marked;
    size_t mark;
    dn_search_strategy strategy;
    dn_search_rule rule;
    /* 2 … DN_MAX_MEMBERS: after the trials of all candidates there is one of a combination
     * (dn_train_request.members) of at most so many candidates of different algorithms: by rank
     * those with probabilities that were tried on all rows and read the same raw rows as the first.
     * Their fits are repeated for their predictions. The shares are fitted with the weights of the
     * classes; the trial fails if fewer than two members have a share. 0: none */
    size_t combine;
    /* No trial begins, and the present one is given up, when dn_run.elapsed is this much later than
     * at the call. Of each family, a run of candidates with the same method and features, one is
     * tried first, the best so far or the middle one; then the others of the family with the best
     * trial, of the second best, and so on. 0: no limit. */
    double seconds;
    /* Results of an earlier search with the same request, which was ended before; trials with the
     * same candidate and share are not repeated. */
    const dn_trial *known; /* [n_known] */
    size_t n_known;
    bool known_only; /* no further trial begins: the result is that of the known ones; DN_ERR_TIME:
                      * none of them succeeded */
    /* Receives each trial when it ends, on the thread that called dn_search. NULL: none.
     *
     *   trial  valid during the call */
    void (*trial)(void *ctx, const dn_trial *trial);
    void *ctx; /* passed to `trial` */
} dn_search_request;

typedef struct dn_search_result {
    /* [n_trials] one for each candidate that was tried, that with the greatest share, in order of
     * rank (dn_trial_compare) */
    dn_trial *trials;
    size_t n_trials;
    size_t winner; /* index in `candidates`; n_candidates: the combination, of trials[0].members */
    size_t best;   /* index in `candidates` of the winner without the combination */
    bool complete; /* all trials of the strategy were made */
    size_t n_rows; /* number of rows that were searched */
    void *memory;  /* of the values */
} dn_search_result;

/* Runs the trials and chooses a winner.
 *
 *   run  NULL: dn_run_default. Progress is reported as the number of finished trials
 *   out  set on success; free it with dn_search_result_done
 *
 * Threads. If the encoded rows of all folds are in memory, the threads fit different folds;
 * otherwise, and for the last folds if their number is not a multiple of that of the threads, they
 * share the work of one fit. The result does not depend on the number of threads.
 *
 * Fits of consecutive candidates that differ only in a parameter with a complexity start from the
 * previous model of the fold, if the method can (logistic regression); kernel methods keep the
 * kernel values of a fold, also those of its held-out rows, while rows and kernel are the same, and
 * start from the previous dual variables. So candidates of a path should ascend or descend in this
 * parameter. Where a fit starts changes its result within the tolerance of the method, so that a
 * search in little memory or from known trials may differ by as much. Fits of kernel SVMs end at
 * their tolerance, where dn_train continues to the precision of the arithmetic.
 *
 * A candidate that fails does not end the search. If the run is stopped or the time is over, the
 * result has the trials that ended before, and complete is false.
 *
 * DN_ERR_ARGUMENT: the request is invalid. Errors of dn_train that concern the rows. If no trial
 * succeeded: the error of the first candidate, DN_ERR_STOPPED or DN_ERR_TIME. */
DN_MUST_USE dn_status dn_search(const dn_search_request *request,
                                const dn_run *run,
                                dn_search_result *out,
                                dn_error *err);
/* Returns the bytes that dn_search needs beside those of the fits (dn_train_memory): the roles of
 * the rows in each fold, and the predictions of the members of a combination. Cost: O(1).
 *
 *   training  only class_weight is read
 *   combine   as in dn_search_request
 *   n_rows    of the table */
double dn_search_memory(const dn_train_request *training,
                        size_t folds,
                        size_t repeats,
                        size_t combine,
                        size_t n_rows,
                        size_t n_classes);
/* Compares two trials by rank, the order of dn_search_result.trials: failed trials last; then by
 * share, the greatest first; then by mean, the best first; then by candidate. Returns a number < 0
 * if `a` has the better rank, > 0 if `b` has it, and 0 for trials of one candidate with one share.
 *
 *   smaller  true: smaller values of the metric are better (dn_metric_is_loss) */
int dn_trial_compare(const dn_trial *a, const dn_trial *b, bool smaller);
/* Frees the contents of a result. Allowed for {0} and more than once; must not be NULL. */
void dn_search_result_done(dn_search_result *result);

DN_END_DECLS

#endif
