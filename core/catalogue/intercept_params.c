/* The choices of the parameter `intercept`. */
#include "catalogue/intercept_params.h"

const char *const dni_intercepts[] = {"free", "penalised", "none", NULL};
const char *const dni_intercept_meanings[] = {
    "not penalised",
    "penalised as the weight of a feature that is always 1; free if there is no penalty", "w0 = 0",
    NULL};

dni_intercept dni_intercept_of(const dn_params *params, bool penalised) {
    if (dni_params_is(params, "intercept", "none")) {
        return DNI_INTERCEPT_NONE;
    }
    return penalised && dni_params_is(params, "intercept", "penalised") ? DNI_INTERCEPT_PENALISED
                                                                        : DNI_INTERCEPT_FREE;
}
