/* One instance from name/value pairs: the query string of a GET. */
#include "base/json/json.h"
#include "formats/instances/instances.h"

#include <string.h>

static void fault_at(struct instances *in, const char *name, const char *before,
                     const char *after) {
    struct buf pointer = {0};
    char shown[TEXT_SHOWN];
    json_pointer(&pointer, "", name);
    instances_fault(in, buf_cstr(&pointer), 0, 0, "%s%s%s", before,
                    text_show(name, strlen(name), shown), after);
    buf_done(&pointer);
}

static void read_pairs(struct instances *in, const char *const *names, const char *const *values,
                       size_t n) {
    struct buf why = {0};
    if (instances_row(in) == NULL) {
        return;
    }
    for (size_t i = 0; i < n && !in->stopped; i++) {
        const struct slot slot = instances_find(in, names[i], strlen(names[i]), i);
        const bool sparse = slot.input < in->n_inputs && in->type[slot.input] == DN_SPARSE;
        const struct value value = {.kind = VALUE_TEXT, .text = {values[i], strlen(values[i])}};
        if (in->stopped) {
            break;
        }
        buf_clear(&why);
        buf_puts(&why, ": ");
        if (slot.input == SIZE_MAX) {
            fault_at(in, names[i], "the model has no column ", "");
        } else if (!sparse && in->named[slot.input] != 0) {
            fault_at(in, names[i], "the column ", " comes twice");
        } else {
            in->named[slot.input] = 1;
            if (!instances_put(in, slot, &value, &why)) {
                const char *text = buf_cstr(&why);
                fault_at(in, names[i], "column ", text != NULL ? text : "");
            }
        }
    }
    buf_done(&why);
    const size_t twice = instances_row_end(in);
    if (twice != SIZE_MAX) {
        char name[SLOT_SHOWN];
        (void)dn_encoder_feature_name(in->encoder, twice, name, sizeof name);
        fault_at(in, name, "the column ", " comes twice");
    }
}

bool instances_read_pairs(const char *const *names, const char *const *values, size_t n,
                          const dn_model *model, struct instance_rows *out,
                          struct problem *problem) {
    struct instances in;
    bool well = instances_init(&in, model, false, problem);
    if (well) {
        read_pairs(&in, names, values, n);
        for (size_t i = 0; i < in.n_inputs && !in.stopped; i++) {
            if (in.named[i] == 0 && in.type[i] != DN_SPARSE) {
                instances_fault(
                    &in, NULL, 0, 0,
                    "the column \"%s\" is not given: leave it empty for a missing value",
                    instances_name(&in, i));
            }
        }
        in.all_named = true; /* told already */
        well = instances_finish(&in, NULL, out);
    }
    instances_done(&in);
    return well;
}
