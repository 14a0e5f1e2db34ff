/* The parameter `intercept` of linear methods. */
#ifndef DNI_INTERCEPT_PARAMS_H
#define DNI_INTERCEPT_PARAMS_H

#include "catalogue/param_rows.h"

extern const char *const dni_intercepts[];
extern const char *const dni_intercept_meanings[];

#define DNI_PARAM_INTERCEPT                                                                        \
    DNI_PARAM_CHOICE(                                                                              \
        "intercept",                                                                               \
        "How w0 is treated. w0 is the intercept for the features as they are trained "             \
        "on: if they are standardised, the intercept for the raw features is "                     \
        "w0 - sum of w mean/scale.",                                                               \
        "free", dni_intercepts, dni_intercept_meanings)

typedef enum dni_intercept {
    DNI_INTERCEPT_FREE,      /* not in the penalty */
    DNI_INTERCEPT_PENALISED, /* in the penalty, as the weight of a feature that is always 1 */
    DNI_INTERCEPT_NONE       /* fixed at 0 */
} dni_intercept;

/* Returns how the intercept is treated. penalised: the fit has a penalty; without one the choice
 * "penalised" means free. */
dni_intercept dni_intercept_of(const dn_params *params, bool penalised);

#endif
