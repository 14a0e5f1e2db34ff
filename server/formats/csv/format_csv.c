/* The formats csv and tsv: separated text. */
#include "formats/csv/format_csv.h"

static const char *const csv_types[] = {"text/csv", NULL};
static const char *const tsv_types[] = {"text/tab-separated-values", NULL};
static const struct answers_writer csv_answers = {.delimiter = ','};
static const struct answers_writer tsv_answers = {.delimiter = '\t'};

const struct format format_csv = {.media_types = csv_types,
                                  .table = &csv_table_reader,
                                  .instances = &csv_instances,
                                  .rows = &csv_rows_writer,
                                  .answers = &csv_answers};
/* csv_table_reader uses the tab as delimiter if the format is tsv. */
const struct format format_tsv = {.media_types = tsv_types,
                                  .table = &csv_table_reader,
                                  .instances = &tsv_instances,
                                  .rows = &tsv_rows_writer,
                                  .answers = &tsv_answers};
