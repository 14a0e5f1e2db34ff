/* Reads one instance from name/value pairs: the query of a GET request. */
#include "base/json/json.h"
#include "formats/instances/instances.h"

#include <string.h>

static void read_pair(struct instances *in, const char *name, const char *text, size_t expected) {
    const struct value value = {.kind = VALUE_TEXT, .text = {text, strlen(text)}};
    struct slot slot;
    struct buf pointer = {0};
    char shown[TEXT_SHOWN];
    const char *why = instances_claim(in, (struct text){name, strlen(name)}, expected, &slot);
    const char *misfit = why == NULL ? instances_put(in, slot, &value) : NULL;
    json_pointer(&pointer, "", name);
    if (why != NULL && !in->stopped) {
        instances_fault(in, buf_cstr(&pointer), 0, 0, "%s", why);
    } else if (misfit != NULL) {
        instances_fault(in, buf_cstr(&pointer), 0, 0, "column %s: %s",
                        text_show(name, strlen(name), shown), misfit);
    }
    buf_done(&pointer);
}

static void read_pairs(struct instances *in, const char *const *names, const char *const *values,
                       size_t n) {
    if (instances_row(in) == NULL) {
        return;
    }
    for (size_t i = 0; i < n && !in->stopped; i++) {
        read_pair(in, names[i], values[i], i);
    }
    const size_t twice = instances_row_end(in);
    if (twice != SIZE_MAX) {
        char name[SLOT_SHOWN];
        (void)dn_encoder_feature_name(in->encoder, twice, name, sizeof name);
        struct buf pointer = {0};
        json_pointer(&pointer, "", name);
        instances_fault(in, buf_cstr(&pointer), 0, 0, "the column \"%s\" comes twice", name);
        buf_done(&pointer);
    }
}

bool instances_read_pairs(const char *const *names, const char *const *values, size_t n,
                          const dn_model *model, const struct instance_schema *schema,
                          const struct keep *keep, struct instance_rows *out,
                          struct problem *problem) {
    struct instances in;
    bool well = instances_init(&in, model, schema, false, problem) &&
                (keep == NULL || instances_keep(&in, keep));
    if (well) {
        instances_use_marks(&in, '\0');
        read_pairs(&in, names, values, n);
        for (size_t i = 0; i < in.n_inputs && !in.stopped; i++) {
            if (in.named[i] == 0 && in.schema->type[i] != DN_SPARSE && !instances_follows(&in, i)) {
                instances_fault(
                    &in, NULL, 0, 0,
                    "the column \"%s\" is not given: leave it empty for a missing value",
                    instances_name(&in, i));
            }
        }
        in.all_named = true; /* missing columns were reported above */
        well = instances_finish(&in, NULL, out);
    }
    instances_done(&in);
    return well;
}
