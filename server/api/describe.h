/* Descriptions of machines (discern/describe.h) as JSON, and arrays of numbers. */
#ifndef API_DESCRIBE_H
#define API_DESCRIBE_H

#include "base/json/json_write.h"
#include <discern/describe.h>

/* A visitor that writes members of the open object of w. */
dn_visitor api_json_visitor(struct json_writer *w, bool matrices);
/* Writes n numbers as an array, under the key, or as an item of the open array (key NULL). */
void api_put_vector(struct json_writer *w, const char *key, const double *v, size_t n);
/* Writes a matrix [n_rows × n_cols] as an array of arrays, likewise. */
void api_put_matrix(struct json_writer *w, const char *key, const double *m, size_t n_rows,
                    size_t n_cols);

#endif
