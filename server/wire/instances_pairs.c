/* One instance from name/value pairs: the query string of a GET. */
#include "base/json.h"
#include "wire/instances.h"

#include <string.h>

static void fault_at(struct instances *in, const char *name, const char *before, const char *after) {
    struct buf pointer = {0};
    char shown[TEXT_SHOWN];
    json_pointer(&pointer, "", name);
    instances_fault(in, buf_cstr(&pointer), 0, 0, "%s%s%s", before, text_show(name, strlen(name), shown), after);
    buf_done(&pointer);
}

static void read_pairs(struct instances *in, const char *const *names, const char *const *values, size_t n) {
    struct buf why = {0};
    if (instances_row(in) == NULL) {
        return;
    }
    for (size_t i = 0; i < n && !in->stopped; i++) {
        const size_t input = instances_find(in, names[i], strlen(names[i]), i);
        const struct value value = {.kind = VALUE_TEXT, .text = {values[i], strlen(values[i])}};
        if (in->stopped) {
            break;
        }
        buf_clear(&why);
        buf_puts(&why, ": ");
        if (input == SIZE_MAX) {
            fault_at(in, names[i], "the model has no column ", "");
        } else if (in->named[input] != 0) {
            fault_at(in, names[i], "the column ", " comes twice");
        } else {
            in->named[input] = 1;
            if (!instances_put(in, input, &value, &why)) {
                const char *text = buf_cstr(&why);
                fault_at(in, names[i], "column ", text != NULL ? text : "");
            }
        }
    }
    buf_done(&why);
}

bool wire_instances_pairs(const char *const *names, const char *const *values, size_t n, const dn_model *model, struct wire_instances *out,
                          struct problem *problem) {
    struct instances in;
    bool well = instances_init(&in, model, false, problem);
    if (well) {
        read_pairs(&in, names, values, n);
        for (size_t i = 0; i < in.n_inputs && !in.stopped; i++) {
            if (in.named[i] == 0) {
                instances_fault(&in, NULL, 0, 0, "the column \"%s\" is not given: leave it empty for a missing value",
                                instances_name(&in, i));
            }
        }
        in.all_named = true; /* told already */
        well = instances_finish(&in, NULL, out);
    }
    instances_done(&in);
    return well;
}
