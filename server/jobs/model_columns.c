#include "jobs/model_columns.h"

#include <string.h>

size_t jobs_model_columns(const struct schema *schema, const dn_model *model, const char *first,
                          struct jobs_column *out) {
    const dn_encoder *encoder = dn_model_encoder(model);
    size_t n = 0, next = 0; /* the columns are mostly in the order of the inputs */
    for (size_t i = 0; i <= dn_encoder_n_inputs(encoder); i++) {
        const char *name = i == 0 ? first : dn_encoder_input(encoder, i - 1)->name;
        const ptrdiff_t at =
            next < schema->n && name != NULL && strcmp(schema->columns[next].name, name) == 0
                ? (ptrdiff_t)next
                : schema_find(schema, name);
        if (at < 0) {
            continue;
        }
        next = (size_t)at + 1;
        out[n] = jobs_column_of(&schema->columns[at], (size_t)at);
        const dn_column_type type = i > 0 ? dn_encoder_input(encoder, i - 1)->type : out[n].type;
        if (type == DN_DATETIME && out[n].type != DN_DATETIME) {
            out[n].form = dn_encoder_input(encoder, i - 1)->form;
        }
        if (type != DN_SPARSE && out[n].type != DN_SPARSE) {
            out[n].type = type; /* cells of another type are converted to the model's type, as
                                   cells of a body are */
        }
        n++;
    }
    return n;
}
