/* The metrics of the task "classes": a list of members of dn_metrics. */
#ifndef DNI_CLASS_METRICS_H
#define DNI_CLASS_METRICS_H

/* Expands X(member, loss, of) for each metric. `member` is a member of dn_metrics; `loss` is true
 * if a smaller value is better; `of` is the end of the name of a dn_metric_of. */
#define DNI_CLASS_METRICS(X)                                                                       \
    X(accuracy, false, LABELS)                                                                     \
    X(error, true, LABELS)                                                                         \
    X(balanced_accuracy, false, LABELS)                                                            \
    X(log_loss, true, PROBABILITIES)                                                               \
    X(brier, true, PROBABILITIES)                                                                  \
    X(mcc, false, LABELS)                                                                          \
    X(kappa, false, LABELS)                                                                        \
    X(roc_auc, false, RANKS)                                                                       \
    X(average_precision, false, RANKS)                                                             \
    X(hinge, true, MARGINS)                                                                        \
    X(squared_loss, true, MARGINS)                                                                 \
    X(logistic_loss, true, MARGINS)                                                                \
    X(ece, true, PROBABILITIES)                                                                    \
    X(ambiguous, true, LABELS)

#endif
