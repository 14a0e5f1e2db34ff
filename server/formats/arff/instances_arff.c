/* Instances in ARFF. The attributes are matched with the columns of the model by name; the order
 * and the declared types are free. */
#include "formats/arff/arff.h"
#include "formats/arff/format_arff.h"
#include "formats/instances/instances.h"
#include "formats/text/text_lines.h"

#include <stdlib.h>
#include <string.h>

/* The reading of one body. */
struct reading {
    struct instances *in;
    struct arff arff;
    struct slot *slot; /* [n_attributes] where the values of an attribute belong */
    struct buf why;
    int64_t line;
};

/* The header is complete. false: reading stops. */
static bool find_slots(struct reading *r) {
    struct instances *in = r->in;
    const struct arff *arff = &r->arff;
    r->slot = calloc(arff->n_attributes, sizeof *r->slot);
    if (r->slot == NULL) {
        instances_no_memory(in);
        return false;
    }
    for (size_t i = 0; i < arff->n_attributes && !in->stopped; i++) {
        const struct text name = arff->attributes[i].name;
        char shown[TEXT_SHOWN];
        r->slot[i] = instances_find(in, name.bytes, name.n, i);
        if (r->slot[i].input == SIZE_MAX) {
            instances_fault(in, NULL, r->line, 1, "the model has no column %s",
                            text_show(name.bytes, name.n, shown));
            continue;
        }
        in->named[r->slot[i].input] = 1; /* the parser refuses an attribute declared twice */
    }
    return !in->stopped;
}

static void put_cell(struct reading *r, const struct arff_cell *cell) {
    struct instances *in = r->in;
    const struct slot slot = r->slot[cell->attribute];
    struct value value = {.kind = cell->missing  ? VALUE_MISSING
                                  : cell->quoted ? VALUE_STRING
                                                 : VALUE_TEXT,
                          .text = cell->text};
    char shown[SLOT_SHOWN];
    if (slot.input == SIZE_MAX) {
        return;
    }
    buf_clear(&r->why);
    if (!instances_put(in, slot, &value, &r->why)) {
        const char *why = buf_cstr(&r->why);
        instances_fault(in, NULL, r->line, (int64_t)cell->column, "instance %zu, column %s: %s",
                        (size_t)in->n_begun - 1, instances_show(in, slot, shown),
                        why != NULL ? why : "");
    }
}

static void put_row(struct reading *r) {
    struct instances *in = r->in;
    if (instances_row(in) == NULL) {
        return;
    }
    for (size_t i = 0; i < r->arff.n_attributes && !in->stopped; i++) {
        put_cell(r, &r->arff.cells[i]);
    }
    (void)instances_row_end(in);
}

static bool on_line(void *arg, const char *bytes, size_t n, int64_t line) {
    struct reading *r = arg;
    struct arff_fault fault;
    r->line = line;
    switch (arff_read(&r->arff, bytes, n, TABLE_MAX_COLUMNS, &fault)) {
    case ARFF_BLANK:
    case ARFF_DECLARED:
        break;
    case ARFF_DATA:
        return find_slots(r);
    case ARFF_ROW:
        put_row(r);
        break;
    case ARFF_FAULT:
        instances_fault(r->in, NULL, line, (int64_t)fault.column, "%s", fault.text);
        r->in->stopped |= !r->arff.in_data;
        break;
    case ARFF_NO_MEMORY:
        instances_no_memory(r->in);
        break;
    }
    return !r->in->stopped;
}

static void on_fault(void *arg, int64_t line, int64_t column, const char *text) {
    struct reading *r = arg;
    instances_fault(r->in, NULL, line, column, "%s", text);
    r->in->stopped = true;
}

static bool read_arff(struct instances *in, const char *body, size_t size,
                      struct instance_rows *out) {
    struct reading r = {.in = in};
    struct text_lines lines;
    text_lines_init(&lines, TABLE_MAX_ROW,
                    &(struct text_lines_handler){.line = on_line, .fault = on_fault, .arg = &r});
    if (text_lines_feed(&lines, body, size)) {
        (void)text_lines_end(&lines);
    }
    if (lines.no_memory) {
        instances_no_memory(in);
    } else if (!r.arff.in_data && !in->stopped) {
        instances_fault(in, NULL, r.line > 0 ? r.line : 1, 1, "the body ends before @data");
    }
    text_lines_done(&lines);
    const bool well = instances_finish(in, NULL, out);
    arff_done(&r.arff);
    free(r.slot);
    buf_done(&r.why);
    return well;
}

static bool sniff(const char *body, size_t size) {
    bool unsure;
    return arff_looks_like(body, size, &unsure);
}

const struct instances_reader arff_instances = {.sniff = sniff, .read = read_arff};
