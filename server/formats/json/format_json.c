/* The formats json (one document) and ndjson (one line for each row). */
#include "formats/json/format_json.h"

static const char *const json_types[] = {"application/json", NULL};
static const char *const ndjson_types[] = {"application/x-ndjson", "application/ndjson",
                                           "application/jsonl", NULL};
static const struct answers_writer json_answers = {.document = true};
static const struct answers_writer ndjson_answers = {.document = false};

const struct format format_json = {.media_types = json_types,
                                   .table = &json_table_reader,
                                   .instances = &json_instances,
                                   .rows = &json_rows_writer,
                                   .answers = &json_answers};
const struct format format_ndjson = {.media_types = ndjson_types,
                                     .table = &ndjson_table_reader,
                                     .instances = &ndjson_instances,
                                     .rows = &ndjson_rows_writer,
                                     .answers = &ndjson_answers};
