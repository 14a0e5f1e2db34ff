/* The format svmlight: "label index:value …" on each line. Answers are not written in this
 * format. */
#include "formats/svmlight/table_svmlight.h"

static const char *const types[] = {"text/x-svmlight", NULL};
static const struct rows_writer rows = {.entries = true};

const struct format format_svmlight = {.media_types = types,
                                       .table = &svmlight_table_reader,
                                       .instances = &svmlight_instances,
                                       .rows = &rows};
