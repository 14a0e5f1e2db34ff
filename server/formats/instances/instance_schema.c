/* The inputs of a model, as the readers of instances need them. */
#include "formats/instances/instance_schema.h"
#include "formats/instances/instances.h"

#include <stdlib.h>

static bool schema_init(struct instance_schema *s, const dn_encoder *encoder,
                        const char *document) {
    s->n_inputs = dn_encoder_n_inputs(encoder);
    s->type = malloc(s->n_inputs + 1);
    s->run = calloc(s->n_inputs + 1, sizeof *s->run);
    if (s->type == NULL || s->run == NULL || !table_reading_parse(document, &s->reading)) {
        return false;
    }
    for (size_t i = s->n_inputs; i-- > 0;) {
        const dn_input *input = dn_encoder_input(encoder, i);
        s->type[i] = (uint8_t)input->type;
        s->run[i] = input->type == DN_NUMERIC ? s->run[i + 1] + 1 : 0;
        s->n_cells += input->type == DN_SPARSE ? input->n_features : 1;
        s->sparse |= input->type == DN_SPARSE;
        s->entries |= input->type == DN_SPARSE || input->type == DN_TEXT;
    }
    s->block_rows = INSTANCES_BLOCK_NUMBERS / (s->n_inputs > 0 ? s->n_inputs : 1);
    s->block_rows = s->block_rows < 1                      ? 1
                    : s->block_rows > INSTANCES_BLOCK_ROWS ? INSTANCES_BLOCK_ROWS
                                                           : s->block_rows;
    return true;
}

struct instance_schema *instance_schema_new(const dn_model *model, const char *document) {
    struct instance_schema *s = calloc(1, sizeof *s);
    if (s != NULL && !schema_init(s, dn_model_encoder(model), document)) {
        instance_schema_free(s);
        return NULL;
    }
    return s;
}

void instance_schema_free(struct instance_schema *s) {
    if (s != NULL) {
        free(s->type);
        free(s->run);
        free(s);
    }
}
