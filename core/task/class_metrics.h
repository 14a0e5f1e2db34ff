/* The metrics of the task "classes": a list of members of dn_metrics. */
#ifndef DNI_CLASS_METRICS_H
#define DNI_CLASS_METRICS_H

/* Expands X(member) for each metric; `member` is a member of dn_metrics. */
#define DNI_CLASS_METRICS(X)                                                                       \
    X(accuracy)                                                                                    \
    X(error)                                                                                       \
    X(balanced_accuracy)                                                                           \
    X(log_loss)                                                                                    \
    X(brier)                                                                                       \
    X(mcc)                                                                                         \
    X(kappa)                                                                                       \
    X(roc_auc)                                                                                     \
    X(average_precision)                                                                           \
    X(hinge)                                                                                       \
    X(squared_loss)                                                                                \
    X(logistic_loss)                                                                               \
    X(ece)                                                                                         \
    X(ambiguous)

#endif
