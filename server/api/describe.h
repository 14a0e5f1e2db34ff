/* Descriptions of machines (discern/describe.h) as JSON, and arrays of numbers. */
#ifndef API_DESCRIBE_H
#define API_DESCRIBE_H

#include "base/json/json_write.h"
#include <discern/describe.h>

/* A visitor that writes members of the object that is open in w. */
dn_visitor api_json_visitor(struct json_writer *w, bool matrices);
/* n numbers as an array, under the key (NULL: an item of the array that is open). */
void api_put_vector(struct json_writer *w, const char *key, const double *v, size_t n);
/* The same of n_rows rows [n_rows × n_cols]: an array of arrays. */
void api_put_matrix(struct json_writer *w, const char *key, const double *m, size_t n_rows,
                    size_t n_cols);

#endif
