/* Reads instances as svmlight. An index is a feature of the sparse input; the model must have one
 * sparse input and no other. The label is read only if labels are requested; otherwise it is
 * ignored and may be absent. */
#include "formats/instances/instances.h"
#include "formats/svmlight/svmlight.h"
#include "formats/svmlight/table_svmlight.h"

/* The state of reading one body. */
struct reading {
    struct instances *in;
    size_t input; /* index of the sparse input */
    struct svmlight_options options;
    struct svmlight_row row;
    const char *bytes; /* bytes of the line */
    int64_t line;      /* number of the line, from 1 */
};

static void put_label(struct reading *r) {
    struct instances *in = r->in;
    const struct value value = {.kind = VALUE_TEXT, .text = r->row.label};
    in->named[in->n_inputs] = 1;
    const char *why = instances_put(in, (struct slot){in->n_inputs, 0}, &value);
    if (why != NULL) {
        instances_fault(in, NULL, r->line, r->row.label.bytes - r->bytes + 1, "the label %s", why);
    }
}

static void put_row(struct reading *r) {
    struct instances *in = r->in;
    const size_t width = dn_encoder_input(in->encoder, r->input)->width;
    if (instances_row(in) == NULL) {
        return;
    }
    if (in->labelled) {
        put_label(r);
    }
    for (size_t k = 0; k < r->row.n; k++) {
        instances_put_entry(in, r->input, r->row.place[k], r->row.value[k]);
    }
    /* the entries are in ascending order: the last ones may exceed the training table */
    for (size_t k = r->row.n; k-- > 0 && r->row.place[k] >= width && !in->stopped;) {
        const struct slot slot = {r->input, r->row.place[k]};
        buf_clear(&in->why);
        if (!instances_beyond(in, slot, &in->why)) {
            instances_fault_cell(in, slot, r->line, 1, instances_why(in));
            break;
        }
    }
    (void)instances_row_end(in);
}

static bool on_line(void *arg, const char *line, size_t n, int64_t number) {
    struct reading *r = arg;
    struct svmlight_fault fault;
    if (r->in->comment != '\0' && n > 0 && line[0] == r->in->comment) {
        return true;
    }
    r->line = number;
    r->bytes = line;
    switch (svmlight_read(line, n, &r->options, &r->row, &fault)) {
    case SVMLIGHT_BLANK:
        break;
    case SVMLIGHT_ROW:
        put_row(r);
        break;
    case SVMLIGHT_FAULT:
        instances_fault(r->in, NULL, number, (int64_t)fault.at + 1, "%s", fault.text);
        break;
    case SVMLIGHT_NO_MEMORY:
        instances_no_memory(r->in);
        break;
    }
    return !r->in->stopped;
}

/* Checks that the model has one sparse input and that its first index is that of the body. Returns
 * false after reporting a fault. */
static bool find_sparse(struct reading *r) {
    struct instances *in = r->in;
    if (in->n_inputs != 1 || !in->schema->sparse) {
        instances_fault(in, NULL, 0, 0,
                        "the model was not trained on svmlight data: send its columns as "
                        "application/json or text/csv");
        return false;
    }
    if (in->keep != NULL && !in->options->may_lack_keep) {
        instances_fault(in, NULL, 0, 0,
                        "rows of text/x-svmlight have no columns that query parameter \"keep\" "
                        "could name: send them as application/json or text/csv");
        return false;
    }
    const uint32_t first = dn_encoder_input(in->encoder, r->input)->first_index;
    if (r->options.zero_based != (first == 0)) {
        instances_fault(in, NULL, 0, 0, "the model counts features from %lu: %s",
                        (unsigned long)first,
                        first == 0 ? "set zero_based=true" : "zero_based=true does not fit it");
        return false;
    }
    return true;
}

static bool read_svmlight(struct instances *in, const char *body, size_t size,
                          struct instance_rows *out) {
    struct reading r = {.in = in,
                        .options = {.zero_based = in->options->zero_based,
                                    .without_label = !in->labelled}};
    bool well = find_sparse(&r);
    if (well) {
        instances_read_lines(in, body, size, on_line, &r);
    }
    well = well && instances_finish(in, NULL, out);
    svmlight_row_done(&r.row);
    return well;
}

static bool sniff(const char *body, size_t size) {
    return svmlight_looks_like(body, size, true);
}

const struct instances_reader svmlight_instances = {.sniff = sniff, .read = read_svmlight};
