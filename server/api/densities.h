/* What a machine holds beside linear weights, as JSON: class densities, naive Bayes factors, layers, directions. */
#ifndef API_DENSITIES_H
#define API_DENSITIES_H

#include "base/json_write.h"
#include <discern/discern.h>

/* Whether api_machine_write has anything to say. */
bool api_machine_has_more(const dn_machine *machine);
/* Numbers that its matrices take. */
double api_machine_matrix_numbers(const dn_machine *machine);
/* Members of the object that is open in w. matrices: covariances, the W of quadratic discriminants and the weights of layers too. A lack of memory is w->out's failure. */
void api_machine_write(const dn_machine *machine, const dn_encoder *encoder, bool matrices,
                       struct json_writer *w);
/* n numbers as an array, under the key (NULL: an item of the array that is open). */
void api_put_vector(struct json_writer *w, const char *key, const double *v, size_t n);
/* The same of n_rows rows [n_rows × n_cols]: an array of arrays. */
void api_put_matrix(struct json_writer *w, const char *key, const double *m, size_t n_rows,
                    size_t n_cols);

#endif
