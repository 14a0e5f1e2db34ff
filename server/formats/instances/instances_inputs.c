/* Finds the inputs of the model for the names and cells of a body. */
#include "formats/instances/instances.h"

#include <stdio.h>
#include <string.h>

const char *instances_name(const struct instances *in, size_t i) {
    return i < in->n_inputs ? dn_encoder_input(in->encoder, i)->name : in->target;
}

static bool is_named(const struct instances *in, size_t i, const char *name, size_t n) {
    const char *own = instances_name(in, i);
    return own != NULL && strncmp(own, name, n) == 0 && own[n] == '\0';
}

/* Finds the sparse input of a name like "f17": the name of the input and a number without leading
 * zeros, from first_index on. */
static struct slot find_place(const struct instances *in, const char *name, size_t n) {
    for (size_t i = 0; i < in->n_inputs; i++) {
        const dn_input *input = dn_encoder_input(in->encoder, i);
        const size_t prefix = in->schema->type[i] == DN_SPARSE ? strlen(input->name) : n;
        uint64_t number = 0;
        size_t at = prefix;
        if (prefix >= n || memcmp(name, input->name, prefix) != 0 ||
            (name[prefix] == '0' && n > prefix + 1)) {
            continue;
        }
        while (at < n && name[at] >= '0' && name[at] <= '9' && number <= UINT32_MAX) {
            number = 10 * number + (uint64_t)(name[at++] - '0');
        }
        if (at == n && number >= input->first_index && number <= UINT32_MAX) {
            return (struct slot){i, (size_t)(number - input->first_index)};
        }
    }
    return (struct slot){SIZE_MAX, 0};
}

struct slot instances_find(struct instances *in, const char *name, size_t n, size_t expected) {
    const struct slot nowhere = {SIZE_MAX, 0};
    if (memchr(name, '\0', n) != NULL) {
        return nowhere;
    }
    if (expected <= in->n_inputs && !instances_is_sparse(in, expected) &&
        is_named(in, expected, name, n)) {
        return (struct slot){expected, 0};
    }
    for (size_t i = in->names.n; i < in->n_inputs + (in->target != NULL); i++) {
        const char *own = instances_name(in, i);
        if (!names_add(&in->names, own, strlen(own))) {
            instances_no_memory(in);
            return nowhere;
        }
    }
    const ptrdiff_t found = names_find(&in->names, name, n);
    if (found >= 0 && !instances_is_sparse(in, (size_t)found)) {
        return (struct slot){(size_t)found, 0};
    }
    return in->schema->sparse ? find_place(in, name, n) : nowhere;
}

const char *instances_claim(struct instances *in, struct text name, size_t expected,
                            struct slot *slot) {
    char shown[TEXT_SHOWN];
    *slot = instances_find(in, name.bytes, name.n, expected);
    const bool known = slot->input != SIZE_MAX;
    if (known && (instances_is_sparse(in, slot->input) || in->named[slot->input] == 0)) {
        in->named[slot->input] = 1;
        return NULL;
    }
    text_show(name.bytes, name.n, shown);
    buf_clear(&in->why);
    buf_printf(&in->why, known ? "the column %s comes twice" : "the model has no column %s", shown);
    return instances_why(in);
}

struct slot instances_cell(const struct instances *in, size_t cell) {
    if (!in->schema->sparse || cell >= in->schema->n_cells) {
        return (struct slot){cell < in->schema->n_cells ? cell : in->n_inputs, 0};
    }
    size_t i = 0;
    for (;; i++) {
        const size_t width =
            instances_is_sparse(in, i) ? dn_encoder_input(in->encoder, i)->n_features : 1;
        if (cell < width) {
            return (struct slot){i, instances_is_sparse(in, i)
                                        ? dn_encoder_sparse_index(in->encoder, i, cell)
                                        : 0};
        }
        cell -= width;
    }
}

const char *instances_show(const struct instances *in, struct slot slot, char out[SLOT_SHOWN]) {
    if (instances_is_sparse(in, slot.input)) {
        const dn_input *input = dn_encoder_input(in->encoder, slot.input);
        (void)snprintf(out, SLOT_SHOWN, "\"%s%zu\"", input->name, slot.place + input->first_index);
    } else {
        (void)snprintf(out, SLOT_SHOWN, "\"%s\"", instances_name(in, slot.input));
    }
    return out;
}
