/* The parts of the format svmlight. A table has two columns: the label, and the sparse column of
 * all features. Private to formats/svmlight. */
#ifndef FORMATS_TABLE_SVMLIGHT_H
#define FORMATS_TABLE_SVMLIGHT_H

#include "formats/format.h"

/* The name of the sparse column. Its feature j, from 0, is named "f<first + j>". */
#define TABLE_SPARSE_NAME "f"
enum { TABLE_LABEL, TABLE_SPARSE };

extern const struct table_reader svmlight_table_reader;
extern const struct instances_reader svmlight_instances;

#endif
