/* The fitted encoder: creation, reference counting, layout of the features, properties. */
#include "encoder/encoder_bytes.h"
#include "encoder/encoder_impl.h"
#include <stdlib.h>
#include <string.h>

dn_status dni_encoder_new(size_t n_inputs, dn_encoder **out, dn_error *err) {
    dn_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) {
        return dni_encoder_no_memory(err);
    }
    atomic_init(&encoder->references, 1);
    encoder->n_inputs = n_inputs;
    encoder->inputs = calloc(n_inputs + 1, sizeof *encoder->inputs);
    encoder->levels = calloc(n_inputs + 1, sizeof *encoder->levels);
    encoder->by_value = calloc(n_inputs + 1, sizeof *encoder->by_value);
    encoder->texts = calloc(n_inputs + 1, sizeof *encoder->texts);
    encoder->index_sets = calloc(n_inputs + 1, sizeof *encoder->index_sets);
    encoder->vector_inputs = calloc(n_inputs + 1, sizeof *encoder->vector_inputs);
    encoder->active = calloc(n_inputs + 1, sizeof *encoder->active);
    if (encoder->inputs == NULL || encoder->levels == NULL || encoder->by_value == NULL ||
        encoder->texts == NULL || encoder->index_sets == NULL || encoder->vector_inputs == NULL ||
        encoder->active == NULL) {
        dn_encoder_unref(encoder);
        return dni_encoder_no_memory(err);
    }
    for (size_t i = 0; i < n_inputs; i++) {
        encoder->inputs[i].name = encoder->inputs[i].column = "";
        encoder->inputs[i].levels = dni_string_set_view(&encoder->levels[i]);
    }
    *out = encoder;
    return DN_OK;
}

dn_status dni_encoder_set_bases(dn_encoder *encoder, size_t n_bases, dn_error *err) {
    encoder->bases = calloc(n_bases + 1, sizeof *encoder->bases);
    if (encoder->bases == NULL) {
        return dni_encoder_no_memory(err);
    }
    encoder->n_bases = n_bases;
    return DN_OK;
}

dn_encoder *dn_encoder_ref(dn_encoder *encoder) {
    atomic_fetch_add_explicit(&encoder->references, 1, memory_order_relaxed);
    return encoder;
}

void dn_encoder_unref(dn_encoder *encoder) {
    if (encoder == NULL ||
        atomic_fetch_sub_explicit(&encoder->references, 1, memory_order_acq_rel) > 1) {
        return;
    }
    for (size_t p = 0; p < encoder->n_parts; p++) {
        dn_encoder_unref(encoder->parts[p]);
    }
    if (encoder->n_parts > 0) {
        free((void *)encoder->parts);
        free(encoder);
        return;
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        if (encoder->levels != NULL) {
            dni_string_set_done(&encoder->levels[i]);
        }
        if (encoder->texts != NULL) {
            dni_vocabulary_done(&encoder->texts[i]);
        }
        if (encoder->index_sets != NULL) {
            dni_index_set_done(&encoder->index_sets[i]);
        }
        if (encoder->active != NULL) {
            free(encoder->active[i]);
        }
    }
    for (size_t b = 0; b < encoder->n_bases; b++) {
        dni_basis_done(&encoder->bases[b]);
    }
    free(encoder->bases);
    free(encoder->basis_inputs);
    free(encoder->levels);
    free(encoder->by_value);
    free(encoder->texts);
    free(encoder->index_sets);
    free(encoder->vector_inputs);
    free((void *)encoder->active);
    free(encoder->inputs);
    free(encoder->names);
    free(encoder->mean);
    free(encoder->scale);
    free(encoder);
}

static size_t name_length(const dn_encoder *encoder, const size_t *lengths, size_t i) {
    return lengths == NULL ? strlen(encoder->inputs[i].name) : lengths[i];
}

size_t dni_part_column(const char *name, size_t length, dn_date_part part) {
    const char *word = dn_date_part_name(part);
    const size_t n = strlen(word);
    return part != DN_PART_NONE && length > n && name[length - n - 1] == ':' &&
                   memcmp(name + length - n, word, n) == 0
               ? length - n - 1
               : SIZE_MAX;
}

/* Copies a name to *at and moves *at behind it. */
static const char *put_name(char **at, const char *name, size_t length) {
    char *copy = *at;
    memcpy(copy, name, length); /* the memory is zeroed */
    *at += length + 1;
    return copy;
}

dn_status dni_encoder_copy_names(dn_encoder *encoder, const size_t *lengths, dn_error *err) {
    size_t size = 1;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const size_t length = name_length(encoder, lengths, i);
        if (length >= SIZE_MAX / 2 - size) {
            return dni_encoder_no_memory(err);
        }
        size += (encoder->inputs[i].part != DN_PART_NONE ? 2 : 1) * (length + 1);
    }
    char *at = calloc(size, 1);
    if (at == NULL) {
        return dni_encoder_no_memory(err);
    }
    encoder->names = at;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        dn_input *input = &encoder->inputs[i];
        const size_t length = name_length(encoder, lengths, i),
                     column = dni_part_column(input->name, length, input->part);
        const char *name = input->name;
        input->column = input->name = put_name(&at, name, length);
        if (column != SIZE_MAX) {
            input->column = put_name(&at, name, column);
        }
        const dn_input *before = i > 0 ? input - 1 : NULL;
        input->follows = input->part != DN_PART_NONE && before != NULL &&
                         (before->type == DN_DATETIME || before->part != DN_PART_NONE) &&
                         strcmp(input->column, before->column) == 0;
    }
    return DN_OK;
}

/* ---- the layout of the features ---- */
/* Lists the inputs of bases. Sets in_basis_only of the inputs that get no feature of their own:
 * inputs of a polynomial, which are its first monomials, and inputs that no basis keeps. */
static dn_status mark_basis_columns(dn_encoder *encoder, dn_error *err) {
    enum { HAD = 1, KEPT = 2, HELD = 4 };
    unsigned char *what = calloc(encoder->n_inputs + 1, 1);
    encoder->basis_inputs = calloc(encoder->n_inputs + 1, sizeof *encoder->basis_inputs);
    if (what == NULL || encoder->basis_inputs == NULL) {
        free(what);
        return dni_encoder_no_memory(err);
    }
    for (size_t b = 0; b < encoder->n_bases; b++) {
        const dni_basis *basis = &encoder->bases[b];
        int mark = HAD | (basis->kind == DN_BASIS_POLYNOMIAL ? HELD : basis->keep ? KEPT : 0);
        for (size_t c = 0; c < basis->n_columns; c++) {
            what[basis->columns[c]] = (unsigned char)(what[basis->columns[c]] | mark);
        }
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        encoder->inputs[i].in_basis_only = (what[i] & HELD) != 0 || (what[i] & (HAD | KEPT)) == HAD;
        if (what[i] != 0) {
            encoder->basis_inputs[encoder->n_basis_inputs++] = i;
        }
    }
    free(what);
    return DN_OK;
}

/* Computes the number of features of input i. The caller sets first_feature. */
static void finish_input(dn_encoder *encoder, size_t i) {
    dn_input *input = &encoder->inputs[i];
    size_t n = 0;
    input->levels = dni_string_set_view(&encoder->levels[i]);
    input->missing_as = input->missing_level ? input->levels.n : DN_NO_LEVEL;
    input->unseen_as = DN_NO_LEVEL;
    switch (input->type) {
    case DN_NUMERIC:
    case DN_BOOLEAN:
    case DN_DATETIME:
        input->n_features = (size_t)!input->in_basis_only + input->indicator;
        encoder->n_entries += input->n_features;
        return;
    case DN_CATEGORICAL:
        n = dni_input_n_levels(input);
        input->n_features = n - (encoder->drop_first && n > 0);
        encoder->n_entries += input->n_features > 0;
        return;
    case DN_TEXT:
        input->n_features = encoder->texts[i].n_features;
        break;
    case DN_SPARSE:
        input->n_features = encoder->index_sets[i].n;
        encoder->n_entries += dni_input_is_scaled(encoder, input) ? input->n_features : 0;
        break;
    }
    encoder->vector_inputs[encoder->n_vector_inputs++] = i;
}

static dn_status count_basis_features(dn_encoder *encoder, dn_error *err) {
    size_t number[DN_BASIS_FISHER + 1] = {0}, n = 0;
    for (size_t b = 0; b < encoder->n_bases; b++) {
        dni_basis *basis = &encoder->bases[b];
        if (basis->n_features > DN_MAX_BASIS_FEATURES - n) {
            return dn_error_set(err, DN_ERR_DATA, "the bases make more than %d features",
                                DN_MAX_BASIS_FEATURES);
        }
        basis->first_feature = encoder->n_base + n;
        basis->first_number = number[basis->kind] + 1;
        number[basis->kind] += basis->n_features;
        n += basis->n_features;
    }
    encoder->n_features = encoder->n_base + n;
    encoder->n_entries += n;
    return DN_OK;
}

/* Returns whether encoded rows are sparse; dn_encoder_is_sparse documents the rule. */
static bool choose_sparse(const dn_encoder *encoder) {
    size_t listed = 0;
    for (size_t u = 0; u < encoder->n_vector_inputs; u++) {
        const dn_input *input = &encoder->inputs[encoder->vector_inputs[u]];
        listed += dni_input_is_scaled(encoder, input) ? 0 : input->n_features;
        if (input->type == DN_TEXT &&
            encoder->texts[encoder->vector_inputs[u]].weighting == DN_TEXT_CHARACTERS) {
            return true;
        }
    }
    return listed > DN_MAX_DENSE_FEATURES ||
           4 * ((double)encoder->n_entries + encoder->vector_entries) < (double)encoder->n_features;
}

dn_status dni_encoder_set_scales(dn_encoder *encoder, dn_error *err) {
    encoder->mean = calloc(encoder->n_features + 1, sizeof *encoder->mean);
    encoder->scale = malloc((encoder->n_features + 1) * sizeof *encoder->scale);
    if (encoder->mean == NULL || encoder->scale == NULL) {
        return dni_encoder_no_memory(err);
    }
    for (size_t j = 0; j < encoder->n_features; j++) {
        encoder->scale[j] = 1;
    }
    return DN_OK;
}

/* Returns whether any feature is standardised. */
static bool standardizes(const dn_encoder *encoder) {
    bool any = encoder->n_bases > 0;
    for (size_t i = 0; i < encoder->n_inputs && !any; i++) {
        any = (dn_column_type_is_real(encoder->inputs[i].type) &&
               !encoder->inputs[i].in_basis_only) ||
              dni_input_is_scaled(encoder, &encoder->inputs[i]);
    }
    return any && encoder->standardize;
}

/* Writes the number in the text in the form of dn_number_format. Returns the length of the result;
 * 0 if the text is not a number of magnitude below 2^53, up to which a double represents every
 * integer. */
static size_t plain_number(const char *text, size_t length, char out[DN_NUMBER_SIZE]) {
    double value = 0;
    return dn_number_parse(text, length, &value) && fabs(value) < 0x1p53
               ? dn_number_format(value, out)
               : 0;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Returns whether all levels are numbers as plain_number writes them. */
static bool levels_are_numbers(const dn_strings *levels) {
    char number[DN_NUMBER_SIZE];
    for (uint32_t k = 0; k < levels->n; k++) {
        const char *text = levels->bytes + levels->start[k];
        const size_t length = levels->start[k + 1] - levels->start[k];
        if (length != plain_number(text, length, number) || memcmp(text, number, length) != 0) {
            return false;
        }
    }
    return levels->n > 0;
}

dn_status dni_encoder_finish(dn_encoder *encoder, dn_error *err) {
    size_t n_features = 0;
    if (encoder->n_bases > 0) {
        dn_status status = mark_basis_columns(encoder, err);
        if (status != DN_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        dn_input *input = &encoder->inputs[i];
        finish_input(encoder, i);
        encoder->by_value[i] = levels_are_numbers(&input->levels);
        input->first_feature = n_features;
        if (input->n_features > UINT32_MAX - DN_MAX_BASIS_FEATURES - n_features) {
            return dn_error_set(err, DN_ERR_DATA, "the inputs make more than %zu features",
                                (size_t)UINT32_MAX - DN_MAX_BASIS_FEATURES);
        }
        n_features += input->n_features;
    }
    encoder->n_base = n_features;
    dn_status status = count_basis_features(encoder, err);
    if (status != DN_OK) {
        return status;
    }
    encoder->sparse = choose_sparse(encoder);
    return standardizes(encoder) ? dni_encoder_set_scales(encoder, err) : DN_OK;
}

/* ---- properties ---- */
size_t dn_encoder_n_inputs(const dn_encoder *encoder) {
    return encoder->n_inputs;
}

const dn_input *dn_encoder_input(const dn_encoder *encoder, size_t i) {
    return i < encoder->n_inputs ? &encoder->inputs[i] : NULL;
}

size_t dn_encoder_n_features(const dn_encoder *encoder) {
    return encoder->n_features;
}

size_t dn_encoder_n_constant(const dn_encoder *encoder, size_t *out_first) {
    *out_first = encoder->first_constant;
    return encoder->n_constant;
}

bool dn_encoder_standardizes(const dn_encoder *encoder) {
    return encoder->standardize;
}

const double *dn_encoder_mean(const dn_encoder *encoder) {
    return encoder->mean;
}

const double *dn_encoder_scale(const dn_encoder *encoder) {
    return encoder->scale;
}

size_t dn_encoder_n_bases(const dn_encoder *encoder) {
    return encoder->n_bases;
}

dn_basis dn_encoder_basis(const dn_encoder *encoder, size_t b) {
    if (b >= encoder->n_bases) {
        return (dn_basis){0};
    }
    const dni_basis *basis = &encoder->bases[b];
    return (dn_basis){.kind = basis->kind,
                      .keep = basis->keep,
                      .interactions = basis->interactions,
                      .degree = basis->degree,
                      .width = basis->width,
                      .n_columns = basis->n_columns,
                      .n_features = basis->n_features,
                      .first_feature = basis->first_feature,
                      .columns = basis->columns,
                      .mean = basis->mean,
                      .scale = basis->scale,
                      .points = basis->points,
                      .phase = basis->phase};
}

bool dn_encoder_refuses_unseen(const dn_encoder *encoder) {
    return encoder->refuse_unseen;
}

bool dn_encoder_is_sparse(const dn_encoder *encoder) {
    return encoder->sparse;
}

double dn_encoder_entries(const dn_encoder *encoder) {
    return encoder->vector_entries;
}

double dni_encoder_stored_entries(const dn_encoder *encoder, size_t n_rows) {
    return encoder->sparse ? (double)n_rows * ((double)encoder->n_entries + encoder->vector_entries)
                           : (double)INFINITY;
}

bool dn_encoder_texts_are_costly(const dn_encoder *encoder) {
    bool costly = false;
    for (size_t u = 0; u < encoder->n_vector_inputs; u++) {
        const size_t i = encoder->vector_inputs[u];
        const dn_text_weighting weighting = encoder->texts[i].weighting;
        costly = costly || (encoder->inputs[i].type == DN_TEXT &&
                            (weighting == DN_TEXT_PATHS || weighting == DN_TEXT_CHARACTERS));
    }
    return costly;
}

dn_strings dn_encoder_words(const dn_encoder *encoder, size_t input, const double **out_idf) {
    if (input >= encoder->n_inputs) {
        *out_idf = NULL;
        return (dn_strings){0};
    }
    *out_idf = encoder->texts[input].idf;
    return dni_string_set_view(&encoder->texts[input].words);
}

size_t dni_encoder_memory(const dn_encoder *encoder) {
    if (encoder->n_parts > 0) { /* the parts belong to others too */
        return sizeof *encoder + encoder->n_parts * sizeof *encoder->parts;
    }
    size_t bytes = sizeof *encoder +
                   (encoder->mean == NULL ? 0 : 2 * encoder->n_features * sizeof(double)) +
                   encoder->n_basis_inputs * sizeof(size_t);
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const dn_input *input = &encoder->inputs[i];
        bytes += sizeof *input + sizeof *encoder->levels + sizeof *encoder->by_value +
                 sizeof *encoder->texts + 2 * strlen(input->name) + 2 +
                 input->levels.n * 6 * sizeof(uint32_t) + dni_string_set_size(&encoder->levels[i]) +
                 dni_vocabulary_bytes(&encoder->texts[i]) + sizeof *encoder->index_sets +
                 dni_index_set_bytes(&encoder->index_sets[i]) +
                 (encoder->active[i] == NULL ? 0 : input->n_features / 8 + 1);
    }
    for (size_t b = 0; b < encoder->n_bases; b++) {
        const dni_basis *basis = &encoder->bases[b];
        size_t numbers = basis->kind == DN_BASIS_POLYNOMIAL
                             ? basis->n_features
                             : basis->n_features * (basis->n_columns + 1);
        bytes += sizeof *basis + (numbers + 3 * basis->n_columns) * sizeof(double);
    }
    return bytes;
}

uint32_t dni_encoder_find_level(const dn_encoder *encoder, size_t i, const char *text,
                                size_t length) {
    const uint32_t level = dni_string_set_find(&encoder->levels[i], text, length);
    char number[DN_NUMBER_SIZE];
    if (level != DNI_NO_STRING || !encoder->by_value[i]) {
        return level;
    }
    for (; length > 0 && is_blank(text[0]); length--) {
        text++;
    }
    for (; length > 0 && is_blank(text[length - 1]); length--) {
    }
    const size_t n = plain_number(text, length, number);
    return n == 0 ? DNI_NO_STRING : dni_string_set_find(&encoder->levels[i], number, n);
}

double dn_encoder_level(const dn_encoder *encoder, size_t input, const char *text, size_t length) {
    if (input >= encoder->n_inputs) {
        return DN_UNSEEN;
    }
    uint32_t level = dni_encoder_find_level(encoder, input, text, length);
    return level == DNI_NO_STRING ? DN_UNSEEN : (double)level;
}

size_t dn_encoder_date(const dn_encoder *encoder, size_t input, double seconds, double *raw) {
    size_t n = 0;
    for (size_t i = input; i < encoder->n_inputs && (i == input || encoder->inputs[i].follows);
         i++) {
        const dn_input *in = &encoder->inputs[i];
        char text[DN_DATE_PART_SIZE];
        if (in->type != DN_DATETIME && in->part == DN_PART_NONE) {
            break;
        }
        raw[n++] = in->part == DN_PART_NONE
                       ? seconds
                       : dn_encoder_level(encoder, i, text,
                                          dn_date_part_format(seconds, &in->form, in->part, text));
    }
    return n;
}
