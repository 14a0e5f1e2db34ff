#include "unit/core/learners/shared/kernel_tables.h"

static unsigned kt_next(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Numeric inputs: clouds around one centre for each class, bits, or a precomputed kernel of the row
 * numbers. */
static void kt_numbers(struct kt_table *t, unsigned *s) {
    for (size_t j = 0; j < t->n_inputs; j++) {
        char *name = t->strings + 24 * j;
        (void)sprintf(name, "x%zu", j);
        t->columns[j] = (chunked_column){.column = {.name = name, .type = DN_NUMERIC},
                                         .number = t->numbers + j * t->n};
        for (size_t i = 0; i < t->n; i++) {
            const double noise = (double)(kt_next(s) % 10000) / 5000 - 1;
            double *x = &t->numbers[j * t->n + i];
            if (t->kind == KT_BITS) {
                *x = noise + (i % t->n_classes == j % t->n_classes ? 0.5 : 0) > 0.3;
            } else if (t->kind == KT_NUMBERS) {
                *x = 2 * noise + (i % t->n_classes == j % t->n_classes ? 1 : 0);
            } else {
                *x = exp(-0.01 * (double)((i > j ? i - j : j - i) * (i > j ? i - j : j - i))) +
                     (i % t->n_classes == j % t->n_classes);
            }
        }
    }
    t->n_features = t->n_inputs;
}

/* Sparse rows: `each` entries per row among `width` features. */
static void kt_sparse(struct kt_table *t, size_t width, size_t each, unsigned *s) {
    t->place = xcalloc(t->n * each, sizeof *t->place);
    t->row_start = xcalloc(t->n + 1, sizeof *t->row_start);
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++) {
        const size_t stride = width / each;
        for (size_t k = 0; k < each; k++) {
            t->place[at] = (uint32_t)(k * stride + kt_next(s) % stride);
            t->numbers[at++] = (double)(kt_next(s) % 9) / 2 + 0.25 + (double)(i % t->n_classes);
        }
        t->row_start[i + 1] = at;
    }
    t->columns[0] =
        (chunked_column){.column = {.name = "x", .type = DN_SPARSE, .width = (uint32_t)width},
                         .number = t->numbers,
                         .row_start = t->row_start,
                         .index = t->place};
    t->entries = (double)at;
    t->n_features = width;
}

/* Texts of words, edges or characters: `each` items per row, drawn from `different` items. */
static void kt_texts(struct kt_table *t, size_t different, size_t each, unsigned *s) {
    char *at = t->strings;
    for (size_t i = 0; i < t->n; i++) {
        t->text[i] = at;
        for (size_t k = 0; k < each; k++) {
            const size_t word = kt_next(s) % different,
                         other = (word + 1 + i % t->n_classes) % different;
            if (t->kind == KT_CHARACTERS) {
                *at++ = (char)('a' + (word + i % t->n_classes) % 26);
            } else {
                at += t->kind == KT_WORDS ? sprintf(at, "w%zu ", word)
                                          : sprintf(at, "n%zu-n%zu ", word, other);
            }
        }
        *at++ = '\0';
    }
    t->columns[0] = (chunked_column){.column = {.name = "x", .type = DN_TEXT}, .text = t->text};
    t->entries = (double)(t->n * each);
    t->words = t->kind == KT_CHARACTERS ? 0 : (double)different;
    t->n_features = t->kind == KT_CHARACTERS ? DN_MAX_CHARACTERS : different + 1;
}

struct kt_table *kt_new(enum kt_kind kind, size_t n, size_t d, size_t each, size_t n_classes) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct kt_table *t = xcalloc(1, sizeof *t);
    unsigned s = (unsigned)(n + d);
    const bool columns = kind == KT_NUMBERS || kind == KT_BITS || kind == KT_GIVEN;
    t->kind = kind;
    t->n = n;
    t->n_inputs = kind == KT_GIVEN ? n : columns ? d : 1;
    t->n_classes = n_classes;
    t->inputs = xcalloc(t->n_inputs, sizeof *t->inputs);
    t->numbers = xcalloc((columns ? t->n_inputs : each) * n, sizeof *t->numbers);
    t->strings = xcalloc(t->n_inputs * 24 + n * (24 * each + 1), 1);
    t->text = xcalloc(n, sizeof *t->text);
    t->class = xcalloc(n, sizeof *t->class);
    t->columns = xcalloc(t->n_inputs + 1, sizeof *t->columns);
    for (size_t j = 0; j < t->n_inputs; j++) {
        t->inputs[j] = j;
    }
    for (size_t i = 0; i < n; i++) {
        t->class[i] = names[i % n_classes];
    }
    if (columns) {
        kt_numbers(t, &s);
    } else if (kind == KT_SPARSE) {
        kt_sparse(t, d, each, &s);
    } else {
        kt_texts(t, d, each, &s);
    }
    t->columns[t->n_inputs] =
        (chunked_column){.column = {.name = "class", .type = DN_CATEGORICAL}, .text = t->class};
    t->borders[1] = n;
    chunked_init(&t->source, t->columns, t->n_inputs + 1, n, t->borders, 1);
    return t;
}

void kt_free(struct kt_table *t) {
    chunked_done(&t->source);
    free(t->inputs);
    free(t->numbers);
    free(t->strings);
    free(t->text);
    free(t->class);
    free(t->row_start);
    free(t->place);
    free(t->columns);
    free(t);
}

dn_train_request kt_request(const struct kt_table *t, const dn_params *params) {
    const bool target = (params->algorithm->flags & DN_ALGORITHM_TARGET) != 0;
    return (dn_train_request){.source = &t->source.source,
                              .params = params,
                              .target = target ? t->n_inputs : DN_NO_TARGET,
                              .features = {.columns = t->inputs, .n_columns = t->n_inputs},
                              .entries = t->entries,
                              .different_words = t->words};
}

dn_params *kt_params(const char *algorithm, const char *settings) {
    dn_params *p;
    char copy[256];
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    (void)snprintf(copy, sizeof copy, "%s", settings);
    for (char *at = copy, *next; *at != '\0'; at = next) {
        next = at + strcspn(at, " ");
        next += *next == ' ' ? (*next = '\0', 1) : 0;
        char *value = strchr(at, '='), *end;
        assert_non_null(value);
        *value++ = '\0';
        const double number = strtod(value, &end);
        if (*end != '\0') {
            OK(dn_params_set_word(p, at, value, NULL));
        } else if (strcmp(at, "layers") == 0) {
            OK(dn_params_set_list(p, at, &number, 1, NULL));
        } else {
            OK(dn_params_set_number(p, at, number, NULL));
        }
    }
    OK(dn_params_check(p, NULL));
    return p;
}
