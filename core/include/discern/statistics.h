/* Statistics of the weights of logistic regression and least squares: standard errors, tests,
 * confidence intervals, deviances, information criteria, variance inflation factors. dn_train
 * computes them (parameter `statistics`) and the model stores them.
 *
 * Notation: n training rows with weights v, S scores, d features, K classes, W = [w_1, w0_1, …] the
 * weights of the raw features and the intercepts, as dn_model_linear returns them. J is the Hessian
 * of −ln L, for least squares of Σ v e², at the fitted W.
 *
 *   covariance  logistic       Cov(W) = J⁻¹
 *               least squares  Cov(w_k, w0_k) = s_k² (J/2)⁻¹ for each response k, with
 *                              s_k² = RSS_k/(n − p)
 *   penalty     J includes the penalty: Cov(W) = (J + 2λΣv I)⁻¹ on the weights of the encoded
 *               features. These are the figures of the posterior of a normal prior (Laplace's
 *               approximation); they are conditional on λ, and W is biased towards 0. p is then
 *               the effective number of parameters, tr (J + 2λΣv I)⁻¹J
 *   intercept   none: w0 = 0 for encoded features; p, the tests and R² are those of R's formulas
 *               without an intercept. Penalised: the penalty includes the encoded intercept
 *   K > 2       logistic: the weights of the classes sum to 0 (symmetric form), and the covariance
 *               is that of the symmetric weights. Differences W_k − W_l have the usual covariance.
 *               Least squares: each class is a response of its own, with target 1 in its rows and
 *               0 in others; the targets of two classes are −1 and 1, and there is one response.
 *               The parameter "targets" chooses other targets; zero_one of two classes has the
 *               scores y − 1/2
 *   row weights case weights, as the argument `weights` of R's glm (binomial) and lm: a row of
 *               weight v adds v times its log-likelihood (lm: has the variance s²/v), and counts
 *               as one row in n. Class weights are part of v
 *
 * Sources: McCullagh and Nelder, Generalized Linear Models, 2nd ed., sections 2.3, 2.5 and 4.4;
 * Hastie, Tibshirani and Friedman, ESL, sections 3.2 and 4.4.3; le Cessie and van Houwelingen,
 * Applied Statistics 41, 1992 (penalised); Fox and Monette, JASA 87, 1992 (generalised VIF). */
#ifndef DISCERN_STATISTICS_H
#define DISCERN_STATISTICS_H

#include <discern/api.h>
#include <discern/model.h>

DN_BEGIN_DECLS

/* The reason why a model has no statistics. */
typedef enum dn_statistics_reason {
    DN_STATISTICS_AVAILABLE,
    DN_STATISTICS_OFF,           /* the parameter `statistics` is off */
    DN_STATISTICS_TOO_MANY,      /* more than DN_STATISTICS_MAX_FEATURES features, or more than
                                   * DN_STATISTICS_MAX_VARIABLES weights and intercepts */
    DN_STATISTICS_TOO_COSTLY,    /* `statistics` is auto, and the computation would take more than
                                  * 1e9 multiplications */
    DN_STATISTICS_L1,            /* the penalty is not differentiable where a weight is 0 */
    DN_STATISTICS_LOSS,          /* the loss is not a log-likelihood */
    DN_STATISTICS_SEVERAL,       /* one versus rest, or one versus one */
    DN_STATISTICS_SEPARABLE,     /* the classes are separable, so that the weights are unbounded */
    DN_STATISTICS_NOT_CONVERGED, /* the weights are not at the minimum: a Newton step from them
                                   * would be longer than 0.05 standard errors */
    DN_STATISTICS_SINGULAR,      /* the Hessian is not positive definite to working precision */
    DN_STATISTICS_NO_RESIDUAL,   /* least squares: no more rows than parameters */
    DN_STATISTICS_EXACT,         /* least squares: the residuals are 0 */
    DN_STATISTICS_OVERFLOW       /* a variance or a deviance is not a finite number */
} dn_statistics_reason;
#define DN_STATISTICS_MAX_FEATURES 2000
#define DN_STATISTICS_MAX_VARIABLES 4096
/* Maximum number of weights and intercepts for which the covariance is stored. Standard errors are
 * always stored. */
#define DN_STATISTICS_MAX_COVARIANCE 512

/* Returns the id of a reason, such as "separable"; "available" for DN_STATISTICS_AVAILABLE. A
 * static string. */
const char *dn_statistics_reason_id(dn_statistics_reason reason);
/* Returns the reason as a sentence for a user, without a final period. A static string. */
const char *dn_statistics_reason_text(dn_statistics_reason reason);

/* The figures of one response; NaN: undefined. */
typedef struct dn_response {
    double null_deviance; /* of the model with the intercept alone; least squares: Σ v (T − mean)².
                        * With no_intercept: of the model with w = 0; Σ v T² */
    double deviance;      /* −2 ln L; least squares: RSS = Σ v e² */
} dn_response;

/* The stored statistics. Members after `reason` are 0 or NULL if it is not
 * DN_STATISTICS_AVAILABLE. */
typedef struct dn_statistics {
    dn_statistics_reason reason;
    bool least_squares; /* tests by Student's t and F; otherwise by the normal and chi-squared */
    size_t n_rows;      /* n: training rows, all with v > 0 */
    double weight;      /* Σv */
    double log_weights; /* Σ ln v */
    double lambda;      /* 0: no penalty */
    double parameters;  /* p of each response, with its intercept; for K > 2 of the logistic model
                         * the sum over K − 1 classes */
    size_t n_scores, n_features, n_responses; /* n_responses: S for least squares, otherwise 1 */
    const dn_response *responses;             /* [n_responses] */
    /* [S × (d + 1)] standard errors, in each row the features and then the intercept; NaN: the
     * weight is not unique, because its column is constant or depends on other columns */
    const double *error;
    /* [n_covariance × n_covariance] symmetric, in the order of `error` and NaN where `error` is
     * NaN. Least squares: (J/2)⁻¹ [(d + 1) × (d + 1)], to be multiplied by s_k². NULL: not stored,
     * n_covariance is 0 */
    const double *covariance;
    size_t n_covariance;
    size_t n_terms;
    const double *inflation; /* [n_terms] see dn_model_inflation */
    bool no_intercept;       /* the model was fitted with w0 = 0 (parameter `intercept`: none) */
} dn_statistics;

/* Returns the statistics; NULL: the model has none, because its method does not compute statistics,
 * or because it was trained by a version of the library that had no statistics. The model owns
 * them. */
const dn_statistics *dn_model_statistics(const dn_model *model);
/* Returns true if the method of the model computes statistics. If dn_model_statistics returns NULL
 * for such a model, an older version of the library trained it. */
bool dn_model_has_statistics_method(const dn_model *model);

/* The fit of one response. NaN: undefined. */
typedef struct dn_goodness {
    double null_deviance, deviance;
    double df_null, df_residual; /* n − 1 and n − p; with no_intercept n and n − p. Logistic with K
                                  * > 2: (n − 1)(K − 1) and n(K − 1) − p, with no_intercept n(K − 1)
                                  * and n(K − 1) − p */
    double log_likelihood; /* at the fitted weights, without the penalty; least squares: of normal
                            * errors, with the variance estimated by RSS/n, as R's logLik */
    double aic, bic; /* aic = −2 ln L + 2q, bic = −2 ln L + q ln n; q = p, for least squares p + 1,
                      * as in R */
    /* logistic: McFadden's 1 − deviance/null deviance; least squares: R² */
    double r_squared;
    double adjusted_r_squared; /* least squares */
    double residual_variance;  /* least squares: s² */
    /* test that all weights are 0: the statistic and its p-value. Logistic: likelihood ratio,
     * chi-squared with df degrees of freedom; least squares: F with df and df_residual. Undefined
     * with a penalty */
    double statistic, df, p;
} dn_goodness;
/* Requires DN_STATISTICS_AVAILABLE and response < n_responses. */
void dn_statistics_goodness(const dn_statistics *statistics, size_t response, dn_goodness *out);

/* Returns the factor of the standard error in confidence intervals: P(|Z| <= factor) = level for
 * the normal distribution, or for Student's t with df_residual degrees of freedom. NaN unless
 * 0 < level < 1. Requires DN_STATISTICS_AVAILABLE. */
double dn_statistics_factor(const dn_statistics *statistics, double level);

/* One weight. All but `weight` are NaN if the weight is not unique. */
typedef struct dn_weight_statistics {
    double weight, standard_error;
    double statistic;  /* weight/standard_error: z or t */
    double p;          /* two-sided p-value */
    double low, high;  /* weight ± factor · standard_error */
    double odds_ratio; /* logistic: e^weight; otherwise NaN */
    double odds_low, odds_high;
} dn_weight_statistics;
/* Computes the statistics of the weight of a feature in a score; feature d: the intercept. K > 2:
 * e^weight is the factor of p_k/(geometric mean of all p) per unit of the feature.
 *
 *   factor  of dn_statistics_factor
 *
 * Requires DN_STATISTICS_AVAILABLE, score < n_scores and feature <= n_features. */
void dn_model_weight_statistics(
    const dn_model *model, size_t score, size_t feature, double factor, dn_weight_statistics *out);

/* Variance inflation of a term: a numeric feature, or all features of one input, such as the levels
 * of a category. */
typedef struct dn_inflation {
    size_t input; /* index of the input; SIZE_MAX: a feature of a basis */
    size_t first_feature, n_features;
    double df; /* independent features: n_features, less 1 if all levels of a category have one */
    /* One feature: 1/(1 − R²) of its regression on all other features. Several: the generalised
     * factor det R_11 det R_22/det R of the correlation matrix R of all features, where R_11 is the
     * block of the term. It does not depend on which level is left out. NaN: a column is constant
     * or depends on others; a term with more than 64 features. */
    double factor;
    double scaled; /* factor^(1/(2 df)): comparable between terms */
} dn_inflation;
/* Computes the variance inflation of a term from the weighted correlations of the training rows.
 * They do not depend on the classes. Least squares: the values of car::vif in R.
 * Requires DN_STATISTICS_AVAILABLE and i < n_terms. */
void dn_model_inflation(const dn_model *model, size_t i, dn_inflation *out);

DN_END_DECLS

#endif
