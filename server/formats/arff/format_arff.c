/* The format arff of Weka. The server reads it, but does not write rows or answers in it. */
#include "formats/arff/format_arff.h"

static const char *const types[] = {"text/x-arff", "application/x-arff", NULL};

const struct format format_arff = {.media_types = types,
                                   .table = &arff_table_reader,
                                   .instances = &arff_instances};
