/* The JSON objects of the resources, each written in one place: datasets, jobs, models. */
#ifndef API_DOCUMENTS_H
#define API_DOCUMENTS_H

#include "base/json/json_write.h"
#include "store/store.h"

/* brief: as an item of a list, its columns without quantiles and histograms. */
void api_dataset_write(const struct store_dataset *d, bool brief, struct json_writer *w);
void api_dataset_write_members(const struct store_dataset *d,
                               struct json_writer *w); /* into the open object */
/* brief: as an item of a list, its metrics without confusion matrices and figures of each class.
 * base_path: of the link in its error. */
void api_job_write(const struct store_job *j, const char *base_path, bool brief,
                   struct json_writer *w);
void api_model_write(const struct store_model *m, bool brief, struct json_writer *w);

#endif
