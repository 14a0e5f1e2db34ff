/* The inputs of a model, as the readers of instances need them. */
#include "formats/instances/instance_schema.h"
#include "formats/instances/instances.h"

#include <stdlib.h>
#include <string.h>

/* Finds the inputs with decimal commas. Returns false if out of memory. */
static bool find_commas(struct instance_schema *s, const dn_encoder *encoder, const char *target) {
    const struct names *commas = &s->reading.commas;
    if (commas->n == 0) {
        return true;
    }
    s->comma = calloc(s->n_inputs + 1, sizeof *s->comma);
    for (size_t i = 0; s->comma != NULL && i <= s->n_inputs; i++) {
        const char *name = i < s->n_inputs ? dn_encoder_input(encoder, i)->column : target;
        s->comma[i] = name != NULL && names_find(commas, name, strlen(name)) >= 0;
    }
    return s->comma != NULL;
}

static bool schema_init(struct instance_schema *s, const dn_model *model, const char *document) {
    const dn_encoder *encoder = dn_model_encoder(model);
    s->n_inputs = dn_encoder_n_inputs(encoder);
    s->type = malloc(s->n_inputs + 1);
    s->run = calloc(s->n_inputs + 1, sizeof *s->run);
    if (s->type == NULL || s->run == NULL || !table_reading_parse(document, &s->reading) ||
        !find_commas(s, encoder, dn_model_target(model))) {
        return false;
    }
    for (size_t i = s->n_inputs; i-- > 0;) {
        const dn_input *input = dn_encoder_input(encoder, i);
        s->type[i] = (uint8_t)(input->part != DN_PART_NONE ? DN_DATETIME : input->type);
        s->run[i] = input->type == DN_NUMERIC ? s->run[i + 1] + 1 : 0;
        s->n_cells += input->type == DN_SPARSE ? input->n_features : !input->follows;
        s->parts |= input->part != DN_PART_NONE;
        s->shared |= input->follows;
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
    if (s != NULL && !schema_init(s, model, document)) {
        instance_schema_free(s);
        return NULL;
    }
    return s;
}

void instance_schema_free(struct instance_schema *s) {
    if (s != NULL) {
        free(s->type);
        free(s->run);
        free(s->comma);
        table_reading_done(&s->reading);
        free(s);
    }
}
