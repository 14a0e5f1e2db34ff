/* The parts of the formats csv and tsv. Private to formats/csv. */
#ifndef FORMATS_FORMAT_CSV_H
#define FORMATS_FORMAT_CSV_H

#include "formats/format.h"

extern const struct table_reader csv_table_reader;                 /* table_csv.c */
extern const struct instances_reader csv_instances, tsv_instances; /* instances_csv.c */
extern const struct rows_writer csv_rows_writer, tsv_rows_writer;  /* csv_rows.c */

#endif
