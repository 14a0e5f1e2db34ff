/* Counts distinct texts again, from the chunks, in columns of strings whose exact counts were
 * dropped. One column is counted at a time, so that its type depends only on its values and not on
 * the other columns. */
#include "formats/summary/text_set.h"
#include "formats/table/table_builder.h"
#include "formats/text/view_cell.h"

/* The counts of one column so far. */
struct recount {
    struct text_set set;
    int64_t present; /* number of cells that are not missing */
    /* the number of distinct texts is needed; false: only whether the column is text */
    bool exactly;
};

bool column_is_text(size_t distinct, int64_t present) {
    return distinct > TALLY_MAX || (distinct > 100 && 2 * (int64_t)distinct > present);
}

static enum builder_status count(void *arg, struct table_builder *b, struct column *c,
                                 const void *bytes, size_t size, bool *enough) {
    struct recount *r = arg;
    dn_column_view view;
    dn_error error;
    dn_error_clear(&error);
    const dn_status status = dn_column_chunk_decode(b->chunk, bytes, size, DN_TEXT, &view, &error);
    if (status != DN_OK) {
        return builder_unreadable(b, c, status, &error);
    }
    for (size_t i = 0; i < view.n_rows && !*enough; i++) {
        if (view.code[i] != DN_CODE_MISSING) {
            const struct text text = strings_text(&view.strings, view.code[i]);
            text_set_add(&r->set, text.bytes, text.n);
            *enough = r->set.full || (!r->exactly && column_is_text(r->set.n, r->present));
        }
    }
    return BUILDER_WELL;
}

enum builder_status builder_recount(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    struct column_summary *s = &c->summary;
    struct recount r = {.present = s->n_rows - s->missing, .exactly = column_is_fixed(c)};
    if (c->state != COLUMN_STRINGS || !s->estimated || s->many ||
        (column_is_fixed(c) && c->type == DN_TEXT)) {
        return BUILDER_WELL;
    }
    if (!text_set_init(&r.set)) {
        return builder_no_memory(b);
    }
    const enum builder_status status = builder_read_again(b, i, 0, count, &r);
    s->many = r.set.full;
    s->recounted = !r.set.full && (r.exactly || !column_is_text(r.set.n, r.present));
    s->n_distinct = r.set.n;
    s->distinct_bytes = r.set.size;
    text_set_done(&r.set);
    return status;
}
