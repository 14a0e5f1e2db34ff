/* The metrics of the task "classes": a list of members of dn_metrics. */
#ifndef DNI_CLASS_METRICS_H
#define DNI_CLASS_METRICS_H

/* Expands X(member, loss) for each metric. `member` is a member of dn_metrics; `loss` is true if a
 * smaller value is better. */
#define DNI_CLASS_METRICS(X)                                                                       \
    X(accuracy, false)                                                                             \
    X(error, true)                                                                                 \
    X(balanced_accuracy, false)                                                                    \
    X(log_loss, true)                                                                              \
    X(brier, true)                                                                                 \
    X(mcc, false)                                                                                  \
    X(kappa, false)                                                                                \
    X(roc_auc, false)                                                                              \
    X(average_precision, false)                                                                    \
    X(hinge, true)                                                                                 \
    X(squared_loss, true)                                                                          \
    X(logistic_loss, true)                                                                         \
    X(ece, true)                                                                                   \
    X(ambiguous, true)

#endif
