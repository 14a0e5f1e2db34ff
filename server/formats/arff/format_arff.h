/* The parts of the format arff. Private to formats/arff. */
#ifndef FORMATS_FORMAT_ARFF_H
#define FORMATS_FORMAT_ARFF_H

#include "formats/format.h"

extern const struct table_reader arff_table_reader;  /* table_arff.c */
extern const struct instances_reader arff_instances; /* instances_arff.c */

#endif
