/* The message for results that are not finite. */
#include "optimize/objective.h"

dn_status dni_objective_not_finite(size_t iteration, const char *cause, dn_error *err) {
    return dn_error_set(
        err, DN_ERR_NUMERIC,
        "the objective or its gradient is not finite at iteration %zu; likely cause: %s", iteration,
        cause);
}
