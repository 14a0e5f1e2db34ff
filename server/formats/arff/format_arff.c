/* The format arff of Weka. It is read only: rows and answers are not written in it. */
#include "formats/arff/format_arff.h"

static const char *const types[] = {"text/x-arff", "application/x-arff", NULL};

const struct format format_arff = {.media_types = types,
                                   .table = &arff_table_reader,
                                   .instances = &arff_instances};
