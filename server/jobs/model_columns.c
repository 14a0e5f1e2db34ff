#include "jobs/model_columns.h"

size_t jobs_model_columns(const struct schema *schema, const dn_model *model, const char *first,
                          struct jobs_column *out) {
    const dn_encoder *encoder = dn_model_encoder(model);
    size_t n = 0;
    for (size_t i = 0; i <= dn_encoder_n_inputs(encoder); i++) {
        const char *name = i == 0 ? first : dn_encoder_input(encoder, i - 1)->name;
        const ptrdiff_t at = schema_find(schema, name);
        if (at < 0) {
            continue;
        }
        out[n] = jobs_column_of(&schema->columns[at], (size_t)at);
        const dn_column_type type = i > 0 ? dn_encoder_input(encoder, i - 1)->type : out[n].type;
        if (type != DN_SPARSE && out[n].type != DN_SPARSE) {
            out[n].type = type; /* the cells are read as in a body, if they fit the type */
        }
        n++;
    }
    return n;
}
