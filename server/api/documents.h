/* The JSON objects of datasets, jobs and models. */
#ifndef API_DOCUMENTS_H
#define API_DOCUMENTS_H

#include "base/json/json_write.h"
#include "store/store.h"

void api_dataset_write(const struct store_dataset *d, struct json_writer *w);
/* Writes the members into the open object. */
void api_dataset_write_members(const struct store_dataset *d, struct json_writer *w);
/* Writes a job as an object. base_path: prefix of the link in the error. request: also writes
 * "request" and "resolved". */
void api_job_write(const struct store_job *j, const char *base_path, bool request,
                   struct json_writer *w);
void api_model_write(const struct store_model *m, struct json_writer *w);

#endif
