/* Reads instances in ARFF. Attributes are matched with the columns of the model by name. Their
 * order and declared types do not matter. */
#include "formats/arff/arff.h"
#include "formats/arff/format_arff.h"
#include "formats/instances/instances.h"

#include <stdlib.h>
#include <string.h>

/* The state of reading one body. */
struct reading {
    struct instances *in;
    struct arff arff;
    struct slot *slot; /* [n_attributes] where the value of each attribute is stored */
    int64_t line;
};

/* Finds the slots of the attributes after the last declaration. Returns false if reading stops. */
static bool find_slots(struct reading *r) {
    struct instances *in = r->in;
    const struct arff *arff = &r->arff;
    r->slot = calloc(arff->n_attributes, sizeof *r->slot);
    if (r->slot == NULL) {
        instances_no_memory(in);
        return false;
    }
    for (size_t i = 0; i < arff->n_attributes && !in->stopped; i++) {
        const char *why = instances_claim(in, arff->attributes[i].name, i, &r->slot[i]);
        if (why != NULL) {
            instances_fault(in, NULL, r->line, 1, "%s", why);
        }
    }
    instances_check_keep(in, NULL);
    return !in->stopped;
}

static void put_cell(struct reading *r, const struct arff_cell *cell) {
    struct instances *in = r->in;
    const struct slot slot = r->slot[cell->attribute];
    const struct value value = {.kind = cell->missing  ? VALUE_MISSING
                                        : cell->quoted ? VALUE_STRING
                                                       : VALUE_TEXT,
                                .text = cell->text};
    const char *why = slot.input != SIZE_MAX ? instances_put(in, slot, &value) : NULL;
    if (why != NULL) {
        instances_fault_cell(in, slot, r->line, (int64_t)cell->column, why);
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

static bool read_arff(struct instances *in, const char *body, size_t size,
                      struct instance_rows *out) {
    struct reading r = {.in = in};
    instances_read_lines(in, body, size, on_line, &r);
    if (!r.arff.in_data && !in->stopped) {
        instances_fault(in, NULL, r.line > 0 ? r.line : 1, 1, "the body ends before @data");
    }
    const bool well = instances_finish(in, NULL, out);
    arff_done(&r.arff);
    free(r.slot);
    return well;
}

static bool sniff(const char *body, size_t size) {
    bool unsure;
    return arff_looks_like(body, size, &unsure);
}

const struct instances_reader arff_instances = {.sniff = sniff, .read = read_arff};
