/* The parts of the formats json and ndjson. Private to formats/json. */
#ifndef FORMATS_FORMAT_JSON_H
#define FORMATS_FORMAT_JSON_H

#include "formats/format.h"

extern const struct table_reader json_table_reader, ndjson_table_reader; /* table_json.c */
extern const struct instances_reader json_instances;                     /* instances_json.c */
extern const struct instances_reader ndjson_instances;                   /* instances_lines.c */
extern const struct rows_writer json_rows_writer, ndjson_rows_writer;    /* json_rows.c */

#endif
