/* The reason why an iterative fit ended. */
#ifndef DISCERN_STOP_REASON_H
#define DISCERN_STOP_REASON_H

#include <discern/api.h>

DN_BEGIN_DECLS

/* Code, name. Codes are not stored in files; names are part of the service's responses. */
#define DN_STOP_REASONS(X)                                                                         \
    X(NONE, "none")                     /* the fit has not ended */                                \
    X(TOLERANCE, "tolerance")           /* the method's stopping rule is satisfied */              \
    X(CLOSED_FORM, "closed_form")       /* solved without iterations */                            \
    X(MAX_ITERATIONS, "max_iterations") /* the limit on iterations was reached */                  \
    X(NO_PROGRESS, "no_progress")       /* rounding allows no further improvement */               \
    X(SEPARATED, "separated")           /* all training rows are classified correctly */           \
    X(SEPARABLE, "separable")           /* linearly separable classes: no minimum exists */        \
    X(EARLY_STOPPING, "early_stopping") /* the loss on the held-out rows no longer decreases */

typedef enum dn_stop_reason {
#define DN_STOP_REASON_CODE(code, name) DN_STOP_##code,
    DN_STOP_REASONS(DN_STOP_REASON_CODE)
#undef DN_STOP_REASON_CODE
} dn_stop_reason;

/* Returns the name of a reason, a static string. "none" for a number that is not a
 * dn_stop_reason. */
const char *dn_stop_reason_name(dn_stop_reason reason);

DN_END_DECLS

#endif
