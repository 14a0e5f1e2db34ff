/* Why an iterative fit ended. */
#ifndef DISCERN_STOP_REASON_H
#define DISCERN_STOP_REASON_H

#include <discern/api.h>

DN_BEGIN_DECLS

/* Code, name, meaning. Codes are not stored; names are part of the service's replies. */
#define DN_STOP_REASONS(X)                                                                         \
    X(NONE, "none")                     /* the fit has not ended */                                \
    X(TOLERANCE, "tolerance")           /* the method's stopping rule holds */                     \
    X(CLOSED_FORM, "closed_form")       /* solved without iterations */                            \
    X(MAX_ITERATIONS, "max_iterations") /* the limit on iterations was reached */                  \
    X(NO_PROGRESS, "no_progress")       /* rounding allows no further improvement */               \
    X(SEPARATED, "separated")           /* no training row is on the wrong side */                 \
    X(SEPARABLE, "separable")           /* no minimum exists: the weights grow without bound */    \
    X(EARLY_STOPPING, "early_stopping") /* the held-out rows are no longer predicted better */

typedef enum dn_stop_reason {
#define DN_STOP_REASON_CODE(code, name) DN_STOP_##code,
    DN_STOP_REASONS(DN_STOP_REASON_CODE)
#undef DN_STOP_REASON_CODE
} dn_stop_reason;

/* The name of a reason, a static string. A number that is not a dn_stop_reason gives "none". */
const char *dn_stop_reason_name(dn_stop_reason reason);

DN_END_DECLS

#endif
