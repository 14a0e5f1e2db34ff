/* Names of features (dn_encoder_feature_name). No two features have the same name: a column,
 * level or word that would make a name ambiguous is quoted. */
#include "encoder/encoder_impl.h"

#include <stdio.h>
#include <string.h>

static const char missing[] = "(missing)";
static const size_t n_missing = sizeof missing - 1;

/* Returns the input of feature j: the last one whose first feature is <= j. Inputs without
 * features have the same first feature as their successor. */
static const dn_input *input_of_feature(const dn_encoder *encoder, size_t j) {
    size_t low = 0, high = encoder->n_inputs;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (encoder->inputs[middle].first_feature <= j) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &encoder->inputs[low];
}

/* A buffer for a name; bytes that do not fit are counted but not stored. */
struct name_out {
    char *bytes;
    size_t size, length; /* bytes of the buffer; length of the full name */
};

static void put_byte(struct name_out *out, char c) {
    if (out->length + 1 < out->size) {
        out->bytes[out->length] = c;
    }
    out->length++;
}

/* Appends text. With `quoted` it is put in double quotes, and quotes within it are doubled. */
static void put_part(struct name_out *out, const char *text, size_t n, bool quoted) {
    if (quoted) {
        put_byte(out, '"');
    }
    for (size_t i = 0; i < n; i++) {
        if (quoted && text[i] == '"') {
            put_byte(out, '"');
        }
        put_byte(out, text[i]);
    }
    if (quoted) {
        put_byte(out, '"');
    }
}

/* Returns whether the name could be that of a feature of a sparse input: its name and digits. */
static bool is_like_sparse_name(const dn_encoder *encoder, const char *name) {
    size_t digits = strlen(name), end = digits;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
        digits--;
    }
    for (size_t u = 0; digits < end && u < encoder->n_vector_inputs; u++) {
        const dn_input *list = &encoder->inputs[encoder->vector_inputs[u]];
        const size_t n = strlen(list->name);
        if (list->type == DN_SPARSE && n >= digits && n < end && memcmp(list->name, name, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_quoted(const dn_encoder *encoder, const dn_input *input) {
    const char *name = input->name;
    const size_t n = strlen(name);
    if (strchr(name, '=') != NULL || name[0] == '"' ||
        (encoder->n_bases > 0 && strpbrk(name, "^*(") != NULL)) {
        return true;
    }
    if (encoder->n_vector_inputs == 0) {
        return false;
    }
    if (strchr(name, ':') != NULL) {
        return true;
    }
    return input->type == DN_SPARSE ? n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9'
                                    : is_like_sparse_name(encoder, name);
}

static void put_column(struct name_out *out, const dn_encoder *encoder, const dn_input *input) {
    put_part(out, input->name, strlen(input->name), is_quoted(encoder, input));
}

static void put_level(struct name_out *out, const dn_input *input, size_t level) {
    put_byte(out, '=');
    if (level == input->levels.n) {
        put_part(out, missing, n_missing, false);
        return;
    }
    const char *text = input->levels.bytes + input->levels.start[level];
    const size_t n = input->levels.start[level + 1] - input->levels.start[level];
    put_part(out, text, n,
             (n > 0 && text[0] == '"') || (n == n_missing && memcmp(text, missing, n) == 0));
}

static void put_number(struct name_out *out, const char *before, size_t number, const char *after) {
    char text[64];
    int n = snprintf(text, sizeof text, "%s%zu%s", before, number, after);
    put_part(out, text, (size_t)n, false);
}

/* Appends the part of a name after the column of texts. A label sequence that begins with '"' or is
 * "(unseen)" is quoted; words cannot begin with '"' or '('. */
static void put_word(struct name_out *out, const dni_vocabulary *words, size_t word) {
    static const char unseen[] = "(unseen)";
    const size_t n_unseen = sizeof unseen - 1;
    if (words->buckets > 0 || words->weighting == DN_TEXT_CHARACTERS) {
        put_number(out, words->buckets > 0 ? ":#" : ":[", words->buckets > 0 ? word : word + 1,
                   words->buckets > 0 ? "" : "]");
        return;
    }
    put_byte(out, ':');
    if (word == words->words.n) {
        put_part(out, unseen, n_unseen, false);
        return;
    }
    const uint32_t *start = words->words.start + word;
    const char *text = words->words.bytes + start[0];
    const size_t n = start[1] - start[0];
    put_part(out, text, n, text[0] == '"' || (n == n_unseen && memcmp(text, unseen, n) == 0));
}

/* Appends a monomial such as a^2*b. */
static void put_monomial(struct name_out *out, const dn_encoder *encoder, const dni_basis *basis,
                         size_t j) {
    size_t factors[DN_MAX_DEGREE], n = dni_basis_monomial(basis, j, factors);
    for (size_t i = 0, power; i < n; i += power) {
        for (power = 1; i + power < n && factors[i + power] == factors[i]; power++) {
        }
        if (i > 0) {
            put_byte(out, '*');
        }
        put_column(out, encoder, &encoder->inputs[basis->columns[factors[i]]]);
        if (power > 1) {
            put_number(out, "^", power, "");
        }
    }
}

static void put_basis(struct name_out *out, const dn_encoder *encoder, size_t j) {
    static const char *const kinds[] = {[DN_BASIS_GAUSSIAN] = "gaussian(",
                                        [DN_BASIS_DISTANCE] = "distance(",
                                        [DN_BASIS_RANDOM_FOURIER] = "random_fourier(",
                                        [DN_BASIS_FISHER] = "fisher("};
    const dni_basis *basis = encoder->bases;
    while (j >= basis->first_feature + basis->n_features) {
        basis++;
    }
    j -= basis->first_feature;
    if (basis->kind == DN_BASIS_POLYNOMIAL) {
        put_monomial(out, encoder, basis, j);
    } else {
        put_number(out, kinds[basis->kind], basis->first_number + j, ")");
    }
}

static size_t end_name(struct name_out *name) {
    if (name->size > 0) {
        name->bytes[name->length < name->size ? name->length : name->size - 1] = '\0';
    }
    return name->length;
}

/* Returns the part of a joined encoder with feature *j, and makes *j its number there. From the
 * second part on the number of the part begins the name: "2: age". */
static const dn_encoder *enter_part(const dn_encoder *encoder, size_t *j, struct name_out *name) {
    size_t p = 0;
    for (; *j >= encoder->parts[p]->n_features; p++) {
        *j -= encoder->parts[p]->n_features;
    }
    if (p > 0) {
        put_number(name, "", p + 1, ": ");
    }
    return encoder->parts[p];
}

size_t dn_encoder_feature_name(const dn_encoder *encoder, size_t j, char *out, size_t size) {
    struct name_out name = {.bytes = out, .size = size};
    if (j >= encoder->n_features) {
        return end_name(&name);
    }
    if (encoder->n_parts > 0) {
        encoder = enter_part(encoder, &j, &name);
    }
    if (j >= encoder->n_base) {
        put_basis(&name, encoder, j);
        return end_name(&name);
    }
    const dn_input *input = input_of_feature(encoder, j);
    put_column(&name, encoder, input);
    j -= input->first_feature;
    if (input->type == DN_CATEGORICAL) {
        put_level(&name, input, j + dni_input_n_levels(input) - input->n_features);
    } else if (input->type == DN_TEXT) {
        put_word(&name, &encoder->texts[input - encoder->inputs], j);
    } else if (input->type == DN_SPARSE) {
        put_number(&name, "",
                   input->first_index +
                       dni_index_set_at(&encoder->index_sets[input - encoder->inputs], j),
                   "");
    } else if (input->indicator && j + 1 == input->n_features) {
        put_byte(&name, '=');
        put_part(&name, missing, n_missing, false);
    }
    return end_name(&name);
}

size_t dn_encoder_dropped_level(const dn_encoder *encoder, size_t input, char *out, size_t size) {
    struct name_out name = {.bytes = out, .size = size};
    if (input >= encoder->n_inputs) {
        return end_name(&name);
    }
    const dn_input *it = &encoder->inputs[input];
    if (it->type == DN_CATEGORICAL && it->n_features < dni_input_n_levels(it)) {
        put_column(&name, encoder, it);
        put_level(&name, it, 0);
    }
    return end_name(&name);
}

/* ---- errors ---- */
dn_status dni_encoder_feature_error(const dn_encoder *encoder, size_t j, const double *raw,
                                    dn_error *err) {
    const dni_basis *basis = encoder->bases;
    while (j >= basis->first_feature + basis->n_features) {
        basis++;
    }
    const size_t i = basis->columns[dni_basis_largest_column(basis, j - basis->first_feature,
                                                             encoder->inputs, raw)];
    char name[DN_FIELD_SIZE];
    bool whole = dn_encoder_feature_name(encoder, j, name, sizeof name) < sizeof name;
    return dni_error_at(
        dn_error_set(err, DN_ERR_NUMERIC,
                     "feature %s is beyond the range of numbers: column \"%s\" is %g in this row",
                     whole ? name : "of a basis", encoder->inputs[i].name,
                     isnan(raw[i]) ? encoder->inputs[i].fill : raw[i]),
        encoder->inputs[i].name, -1, err);
}
