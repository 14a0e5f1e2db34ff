/* The training of a combined model (dn_train_request.members). */
#ifndef DNI_TRAIN_MEMBERS_H
#define DNI_TRAIN_MEMBERS_H

#include "training/fit.h"

/* Returns true if the request is one for a combined model. */
static inline bool dni_has_members(const dn_train_request *request) {
    return request->params->algorithm == dn_algorithm_combination();
}
/* Checks the members of a request, also of one for another algorithm, which must have none.
 * DN_ERR_ARGUMENT. */
DN_MUST_USE dn_status dni_members_check(const dn_train_request *request, dn_error *err);
/* Trains the members on the rows with DN_ROW_TRAIN and combines them: takes the place of
 * dni_fit_encode and dni_fit_train. fit->prepared remains NULL.
 *
 * Errors of the fits, whose messages begin with the algorithm; DN_ERR_ARGUMENT: a member has no
 * probabilities, or the members do not read the same raw rows. */
DN_MUST_USE dn_status dni_fit_members(dni_fit *fit, dn_error *err);

#endif
