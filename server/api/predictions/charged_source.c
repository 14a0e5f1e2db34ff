/* Charges the rows of a stored table while they are read. */
#include "api/predictions/charged_source.h"
#include "api/access.h"

static dn_status read_column(const dn_table_source *source, size_t chunk, size_t column,
                             size_t slot, dn_column_view *out, dn_error *err) {
    struct charged_source *s = source->ctx;
    if (chunk >= s->n_charged) {
        const size_t *first_row = s->inner->chunk_first_row;
        api_charge_rows(s->call, (int64_t)(first_row[chunk + 1] - first_row[s->n_charged]));
        s->n_charged = chunk + 1;
    }
    return s->inner->column(s->inner, chunk, column, slot, out, err);
}

void charged_source_init(struct charged_source *out, struct http_call *call,
                         const dn_table_source *inner) {
    *out = (struct charged_source){.table = *inner, .inner = inner, .call = call};
    out->table.column = read_column;
    out->table.ctx = out;
}
