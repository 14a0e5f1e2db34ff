/* Reads one instance from name/value pairs: the query of a GET request. */
#include "base/json/json.h"
#include "formats/instances/instances.h"
#include "formats/instances/row_notes.h"

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

/* Reports that input i is not given, with the misspelt name if there is one. */
static void fault_not_given(struct instances *in, size_t i) {
    const struct row_notes *notes = in->rows.notes;
    for (size_t k = 0; notes != NULL && k < notes->ignored.n; k++) {
        if (notes->meant[k] == i) {
            const struct text name = notes->ignored.text[k];
            char shown[TEXT_SHOWN];
            struct buf pointer = {0};
            json_pointer(&pointer, "", name.bytes);
            instances_fault(in, buf_cstr(&pointer), 0, 0,
                            "the model has no column %s; \"%s\" is missing",
                            text_show(name.bytes, name.n, shown), instances_name(in, i));
            buf_done(&pointer);
            return;
        }
    }
    instances_fault(in, NULL, 0, 0,
                    "the column \"%s\" is not given: leave it empty for a missing value",
                    instances_name(in, i));
}

bool instances_read_pairs(const char *const *names, const char *const *values, size_t n,
                          const dn_model *model, const struct instance_schema *schema,
                          const struct keep *keep, bool refuse_extra, struct instance_rows *out,
                          struct problem *problem) {
    struct instances in;
    bool well = instances_init(&in, model, schema, false, problem) &&
                (keep == NULL || instances_keep(&in, keep));
    if (well) {
        in.takes_extra = !refuse_extra;
        instances_use_marks(&in, '\0');
        read_pairs(&in, names, values, n);
        for (size_t i = 0; i < in.n_inputs && !in.stopped; i++) {
            if (in.named[i] == 0 && in.schema->type[i] != DN_SPARSE && !instances_follows(&in, i)) {
                fault_not_given(&in, i);
            }
        }
        in.all_named = true; /* missing columns were reported above */
        well = instances_finish(&in, NULL, out);
    }
    instances_done(&in);
    return well;
}
