#include "jobs/model_columns.h"

#include <string.h>

size_t jobs_model_columns(const struct schema *schema, const dn_model *model, const char *first,
                          struct jobs_column *out) {
    const dn_encoder *encoder = dn_model_encoder(model);
    size_t n = 0, next = 0; /* the columns are mostly in the order of the inputs */
    for (size_t i = 0; i <= dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = i > 0 ? dn_encoder_input(encoder, i - 1) : NULL;
        const char *name = input != NULL ? input->column : first;
        const ptrdiff_t at =
            next < schema->n && name != NULL && strcmp(schema->columns[next].name, name) == 0
                ? (ptrdiff_t)next
                : schema_find(schema, name);
        if (at < 0) {
            continue;
        }
        next = (size_t)at + 1;
        out[n] = jobs_column_of(&schema->columns[at], (size_t)at);
        const dn_column_type type = input != NULL ? input->type : out[n].type;
        if (input != NULL && dn_datetime_is_form(&input->form) &&
            !dn_datetime_is_form(&out[n].form)) {
            out[n].form = input->form; /* no datetime column, or one without any value */
        }
        if (input != NULL) {
            out[n].name = input->name;
            out[n].part = input->part;
        }
        if (type != DN_SPARSE && out[n].type != DN_SPARSE) {
            out[n].type = type; /* cells of another type are converted to the model's type, as
                                   cells of a body are */
        }
        if (out[n].type != DN_DATETIME && out[n].part == DN_PART_NONE) {
            out[n].form = (dn_datetime_form){0}; /* the cells are read as they are written */
        }
        n++;
    }
    return n;
}
