/* Finds the inputs of the model for the names and cells of a body. */
#include "formats/instances/instances.h"
#include "formats/instances/row_notes.h"

#include <stdio.h>
#include <string.h>

const char *instances_name(const struct instances *in, size_t i) {
    return i < in->n_inputs ? dn_encoder_input(in->encoder, i)->column : in->target;
}

static bool is_named(const struct instances *in, size_t i, const char *name, size_t n) {
    const char *own = instances_name(in, i);
    return own != NULL && strncmp(own, name, n) == 0 && own[n] == '\0' && !instances_follows(in, i);
}

/* Finds the feature for a name like "f17": the name of a sparse input and a number without leading
 * zeros, at least the first_index of the input. */
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
        /* an input that follows another is not found by the name of its column */
        const char *own = instances_follows(in, i) ? dn_encoder_input(in->encoder, i)->name
                                                   : instances_name(in, i);
        if (!names_add(&in->names, own, strlen(own))) {
            instances_no_memory(in);
            return nowhere;
        }
    }
    const ptrdiff_t found = names_find(&in->names, name, n);
    if (found >= 0 && !instances_is_sparse(in, (size_t)found) &&
        !instances_follows(in, (size_t)found)) {
        return (struct slot){(size_t)found, 0};
    }
    return in->schema->sparse ? find_place(in, name, n) : nowhere;
}

/* Whether the name is that of a sparse input, alone or with a digit behind it: it was meant to be
 * one of its features. */
static bool is_like_a_place(const struct instances *in, struct text name) {
    for (size_t i = 0; in->schema->sparse && i < in->n_inputs; i++) {
        const char *own = dn_encoder_input(in->encoder, i)->name;
        const size_t n = strlen(own);
        if (in->schema->type[i] == DN_SPARSE && name.n >= n && memcmp(name.bytes, own, n) == 0 &&
            (name.n == n || (name.bytes[n] >= '0' && name.bytes[n] <= '9'))) {
            return true;
        }
    }
    return false;
}

const char *instances_ignore(struct instances *in, struct text name, bool object) {
    char shown[TEXT_SHOWN];
    ptrdiff_t k = IGNORED_NO_MEMORY;
    text_show(name.bytes, name.n, shown);
    buf_clear(&in->why);
    if (!in->takes_extra || is_like_a_place(in, name)) {
        const bool target = in->target != NULL && text_is(name, in->target);
        buf_printf(&in->why,
                   target ? "the column %s is the target, which is not an input of the model"
                          : "the model has no column %s",
                   shown);
        return instances_why(in);
    }
    if (name.n > TABLE_MAX_NAME) {
        buf_printf(&in->why, "the model has no column %s; names of columns have at most %d bytes",
                   shown, TABLE_MAX_NAME);
        return instances_why(in);
    }
    if (row_notes_need(&in->rows.notes, in->n_inputs)) {
        k = row_notes_ignore(in->rows.notes, name.bytes, name.n, in->encoder);
    }
    if (k == IGNORED_FULL) {
        buf_printf(&in->why,
                   "the model has no column %s, nor more than %d others that the rows name", shown,
                   IGNORED_MAX);
        return instances_why(in);
    }
    if (k < 0) {
        instances_no_memory(in);
    } else if (object && in->rows.notes->meant[k] != SIZE_MAX && in->n_meant < INSTANCES_MEANT) {
        in->ignored[in->n_meant] = (size_t)k;
        in->meant[in->n_meant++] = in->rows.notes->meant[k];
    }
    return NULL;
}

bool instances_beyond(struct instances *in, struct slot slot, struct buf *why) {
    const dn_input *input = dn_encoder_input(in->encoder, slot.input);
    char name[SLOT_SHOWN];
    if (slot.place < input->width) {
        return true;
    }
    if (!in->takes_extra) {
        buf_puts(why, "is beyond the columns of the training table");
        return false;
    }
    const int n =
        snprintf(name, sizeof name, "%s%zu", input->name, input->first_index + slot.place);
    if (n < (int)sizeof name &&
        (!row_notes_need(&in->rows.notes, in->n_inputs) ||
         row_notes_ignore(in->rows.notes, name, (size_t)n, in->encoder) == IGNORED_NO_MEMORY)) {
        instances_no_memory(in);
    }
    return true;
}

void instances_object_begin(struct instances *in) {
    in->n_meant = 0;
}

const char *instances_object_end(struct instances *in, struct text *name) {
    for (size_t k = 0; k < in->n_meant; k++) {
        if (in->named[in->meant[k]] != in->n_begun) {
            char shown[TEXT_SHOWN];
            *name = in->rows.notes->ignored.text[in->ignored[k]];
            text_show(name->bytes, name->n, shown);
            buf_clear(&in->why);
            buf_printf(&in->why, "the model has no column %s; \"%s\" is missing", shown,
                       instances_name(in, in->meant[k]));
            return instances_why(in);
        }
    }
    return NULL;
}

void instances_fault_absent(struct instances *in, const char *pointer, size_t i) {
    const struct row_notes *notes = in->rows.notes;
    for (size_t k = 0; notes != NULL && k < notes->ignored.n; k++) {
        if (notes->meant[k] == i) {
            char shown[TEXT_SHOWN];
            text_show(notes->ignored.text[k].bytes, notes->ignored.text[k].n, shown);
            instances_fault(in, pointer, in->header_line, in->header_line > 0,
                            "the model has no column %s; \"%s\" is missing from the instances",
                            shown, instances_name(in, i));
            return;
        }
    }
    instances_fault(in, pointer, in->header_line, in->header_line > 0,
                    "no instance names the column \"%s\"", instances_name(in, i));
}

const char *instances_claim(struct instances *in, struct text name, size_t expected,
                            struct slot *slot) {
    char shown[TEXT_SHOWN];
    *slot = instances_find(in, name.bytes, name.n, expected);
    const bool known = slot->input != SIZE_MAX;
    const struct slot kept = instances_keep_named(in, name, *slot);
    if (instances_is_kept(in, kept) && in->named[kept.input] == 0) {
        in->named[kept.input] = 1;
        if (known) {
            in->named[slot->input] = 1;
        }
        *slot = kept;
        return NULL;
    }
    const bool twice = instances_is_kept(in, kept);
    if (!known && !twice && in->takes_extra) {
        return instances_ignore(in, name, false);
    }
    if (known && !twice && (instances_is_sparse(in, slot->input) || in->named[slot->input] == 0)) {
        in->named[slot->input] = 1;
        buf_clear(&in->why);
        if (instances_is_sparse(in, slot->input) && !instances_beyond(in, *slot, &in->why)) {
            return instances_why(in);
        }
        return slot->input == in->n_inputs && !in->labelled ? instances_ignore(in, name, false)
                                                            : NULL;
    }
    text_show(name.bytes, name.n, shown);
    buf_clear(&in->why);
    buf_printf(&in->why,
               known || twice ? "the column %s comes twice" : "the model has no column %s", shown);
    return instances_why(in);
}

const char *instances_show(const struct instances *in, struct slot slot, char out[SLOT_SHOWN]) {
    if (instances_is_kept(in, slot)) {
        const struct text name = in->keep->names.text[slot.input - in->n_inputs - 1];
        (void)snprintf(out, SLOT_SHOWN, "\"%.*s\"", (int)name.n, name.bytes);
    } else if (instances_is_sparse(in, slot.input)) {
        const dn_input *input = dn_encoder_input(in->encoder, slot.input);
        (void)snprintf(out, SLOT_SHOWN, "\"%s%zu\"", input->name, slot.place + input->first_index);
    } else {
        (void)snprintf(out, SLOT_SHOWN, "\"%s\"", instances_name(in, slot.input));
    }
    return out;
}
