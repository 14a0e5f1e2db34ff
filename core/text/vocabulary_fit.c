/* Fits a vocabulary: each thread counts the words of its rows in a tally, the tallies are merged,
 * and the vocabulary is chosen (vocabulary_choice.h).
 *
 * Weights are rounded to integer units small enough that the rounding has no effect. Integer sums
 * do not depend on the order of addition, so that the words and idf do not depend on the number of
 * threads. */
#include "base/argument.h"
#include "base/run_memory.h"
#include "base/tasks.h"
#include "text/tokens.h"
#include "text/vocabulary.h"
#include "text/vocabulary_choice.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_BITS 62 /* all rows together have at most 2^62 units */
/* Bytes of text, and words or buckets, between two polls of the stop function. */
#define BYTES_A_POLL ((size_t)10 << 20)
#define STEPS_A_POLL ((size_t)1 << 16)

/* The workspace of one slot. */
struct slot {
    dni_open_chunk open;
    dn_column_view view; /* cells of the current chunk */
    dni_tally tally;     /* words or label sequences */
    /* [buckets] units of the rows that have a word in the bucket; NULL: the fit counts words */
    uint64_t *bucket;
    uint64_t *bucket_row; /* [buckets] 1 + the last row counted in the bucket */
    uint64_t units;       /* units of all rows */
    size_t bytes;         /* bytes of text read since the stop function was polled */
    bool has_text;        /* some row has a text that is not missing */
    dni_tokens tokens;    /* tokeniser of the current row */
};

struct fit {
    const dni_selection *rows;
    size_t column;
    const double *weight; /* [source->n_rows] or NULL */
    const dn_text_spec *spec;
    const dn_run *run;
    /* number of buckets counted: spec.buckets, or DN_MAX_CHARACTERS; 0: words are counted */
    size_t buckets;
    int exponent;       /* a weight v is counted as v × 2^exponent units */
    dn_run passes;      /* copy of the run for passes over the source */
    size_t n_slots;     /* number of initialised slots */
    struct slot *slots; /* [n_slots] */
};

static dn_status name_column(const struct fit *fit, dn_status status, dn_error *err) {
    dn_error_set_field(err, fit->rows->source->columns[fit->column].name);
    return status;
}

/* Sets the error message if memory for words or buckets was refused; passes other errors on. */
static dn_status no_memory(const struct fit *fit, dn_status status, dn_error *err) {
    if (status != DN_ERR_BUDGET && status != DN_ERR_MEMORY) {
        return dn_error_set(err, status, "counting words was stopped");
    }
    const char *name = fit->rows->source->columns[fit->column].name;
    const char *lack = status == DN_ERR_BUDGET ? "more memory than is left of the budget"
                                               : "memory which the system does not have";
    if (fit->spec->weighting > DN_TEXT_TFIDF) {
        dn_error_set(err, status, "the words or paths of column \"%s\" need %s: use fewer rows",
                     name, lack);
    } else if (fit->spec->buckets > 0) {
        dn_error_set(err, status,
                     "counting the words of column \"%s\" in %zu buckets needs %s: set \"hash\" to "
                     "a smaller number of buckets",
                     name, fit->spec->buckets, lack);
    } else {
        dn_error_set(err, status,
                     "the different words of column \"%s\" need %s: set \"hash\" to a number of "
                     "buckets, or use fewer rows",
                     name, lack);
    }
    return name_column(fit, status, err);
}

/* ---- weights in units ---- */
static double weight_of(const struct fit *fit, size_t row) {
    return fit->weight == NULL ? 1 : fit->weight[row];
}

/* Returns the smallest integer e with number < 2^e, which is negative if number < 1/2; 0 for 0. */
static int bits_of(double number) {
    int bits = 0;
    (void)frexp(number, &bits);
    return bits;
}

/* Checks the weights and chooses the unit from the largest weight. */
static dn_status choose_unit(struct fit *fit, dn_error *err) {
    const dni_selection *rows = fit->rows;
    double greatest = fit->weight == NULL ? 1 : 0;
    for (size_t row = 0; fit->weight != NULL && row < rows->source->n_rows; row++) {
        double v = fit->weight[row];
        if (rows->role != NULL && rows->role[row] != rows->wanted) {
            continue;
        }
        if (!(v >= 0) || isinf(v)) {
            return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                             "a row's weight must be finite and >= 0 (got %g)", v),
                                NULL, (int64_t)row, err);
        }
        greatest = fmax(greatest, v);
    }
    fit->exponent = UNIT_BITS - bits_of(greatest) - bits_of((double)rows->n_rows);
    return DN_OK;
}

static uint64_t units_of(const struct fit *fit, double weight) {
    return (uint64_t)rint(ldexp(weight, fit->exponent));
}

/* ---- the pass ---- */
static dn_status count_characters(struct slot *slot, const char *text, size_t length,
                                  uint64_t units, dn_error *err) {
    size_t n = 0;
    dn_status status = dni_characters(text, length, NULL, &n, err);
    for (size_t j = 0; status == DN_OK && j < n; j++) {
        slot->bucket[j] += units;
    }
    return status;
}

static dn_status count_words(const struct fit *fit, struct slot *slot, size_t row, uint64_t units,
                             dn_error *err) {
    const char *word = NULL;
    for (size_t n; (n = dni_tokens_next(&slot->tokens, &word)) > 0;) {
        if (slot->bucket == NULL) {
            dn_status status = dni_tally_add(&slot->tally, word, n, row, units, err);
            if (status != DN_OK) {
                return no_memory(fit, status, err);
            }
            continue;
        }
        size_t bucket = dni_word_hash(word, n) % fit->buckets;
        slot->bucket[bucket] += slot->bucket_row[bucket] == row + 1 ? 0 : units;
        slot->bucket_row[bucket] = row + 1;
    }
    return DN_OK;
}

static dn_status count_text(const struct fit *fit, struct slot *slot, const char *text,
                            size_t length, size_t row, uint64_t units, dn_error *err) {
    const dn_text_spec *spec = fit->spec;
    const bool characters = spec->weighting == DN_TEXT_CHARACTERS;
    dn_status status = characters
                           ? count_characters(slot, text, length, units, err)
                           : dni_tokens_begin(&slot->tokens, spec->weighting, spec->keep_case,
                                              spec->length, text, length, err);
    if (status != DN_OK) {
        return dni_text_error_at(status, fit->rows->source->columns[fit->column].name, row, err);
    }
    return characters ? DN_OK : count_words(fit, slot, row, units, err);
}

static dn_status count_tile(const struct fit *fit, struct slot *slot, const dni_chunk_tile *tile,
                            dn_error *err) {
    const dn_column_view *view = &slot->view;
    size_t base = fit->rows->source->chunk_first_row[tile->chunk];
    for (size_t k = 0; k < tile->n; k++) {
        size_t at = tile->contiguous ? tile->first + k : tile->row[k];
        double weight = weight_of(fit, base + at);
        uint64_t units = weight > 0 ? units_of(fit, weight) : 0;
        uint32_t code = view->code[at];
        slot->units += units;
        if (!(weight > 0) || code == DN_CODE_MISSING) {
            continue;
        }
        slot->has_text = true;
        uint32_t first = view->strings.start[code], length = view->strings.start[code + 1] - first;
        dn_status status =
            count_text(fit, slot, view->strings.bytes + first, length, base + at, units, err);
        if (status != DN_OK) {
            return status;
        }
        slot->bytes += length;
        if (slot->bytes > BYTES_A_POLL) {
            slot->bytes = 0;
            status = dn_run_stop(fit->run, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

static dn_status count_block(void *arg, size_t block, size_t slot_index, dn_error *err) {
    const struct fit *fit = arg;
    struct slot *slot = &fit->slots[slot_index];
    dni_walk walk = dni_walk_block(fit->rows, block);
    dni_chunk_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        bool changed = false;
        dn_status status = dni_chunk_open(&slot->open, fit->rows->source, &fit->column, 1,
                                          tile.chunk, slot_index, &changed, err);
        if (status != DN_OK) {
            return status;
        }
        status = count_tile(fit, slot, &tile, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status slots_init(struct fit *fit, dn_error *err) {
    fit->passes = dni_source_run(fit->rows->source, fit->run);
    size_t n_slots = fit->passes.n_slots, buckets = fit->buckets;
    void *memory = NULL;
    dn_status status = dn_run_alloc(fit->run, n_slots, sizeof *fit->slots, "", &memory, NULL);
    fit->slots = memory;
    for (; status == DN_OK && fit->n_slots < n_slots; fit->n_slots++) {
        struct slot *slot = &fit->slots[fit->n_slots];
        slot->open = (dni_open_chunk){.chunk = SIZE_MAX, .views = &slot->view};
        dni_tally_init(&slot->tally, fit->run,
                       (uint64_t)(uintptr_t)memory *
                           UINT64_C(0xd6e8feb86659fd93)); /* random seed, unknown to clients */
        if (buckets == 0) {
            continue;
        }
        status = dn_run_alloc(fit->run, 2 * buckets, sizeof *slot->bucket, "", &memory, NULL);
        if (status != DN_OK) {
            break;
        }
        slot->bucket = memory;
        slot->bucket_row = slot->bucket + buckets;
    }
    return status == DN_OK ? DN_OK : no_memory(fit, status, err);
}

static void slot_done(const struct fit *fit, struct slot *slot) {
    dni_tokens_done(&slot->tokens);
    dni_tally_done(&slot->tally);
    dn_run_free(fit->run, slot->bucket);
    *slot = (struct slot){0};
}

/* Merges the counts of all slots into the first slot. */
static dn_status merge_slots(struct fit *fit, dn_error *err) {
    struct slot *all = &fit->slots[0];
    for (size_t i = 1; i < fit->n_slots; i++) {
        struct slot *more = &fit->slots[i];
        dn_status status = dni_tally_merge(&all->tally, &more->tally, err);
        if (status != DN_OK) {
            return no_memory(fit, status, err);
        }
        for (size_t b = 0; b < fit->buckets; b++) {
            all->bucket[b] += more->bucket[b];
        }
        all->units += more->units;
        all->has_text = all->has_text || more->has_text;
        slot_done(fit, more);
    }
    return DN_OK;
}

/* ---- the features ---- */
static double weight_back(const struct fit *fit, uint64_t units) {
    return ldexp((double)units, -fit->exponent);
}

static double idf_of(double n, double df) {
    return 1 + log((1 + n) / (1 + df));
}

static dn_status make_idf(const struct fit *fit, dni_vocabulary *v, dn_error *err) {
    if (v->weighting != DN_TEXT_TFIDF) {
        return DN_OK;
    }
    v->idf = malloc((v->n_features + 1) * sizeof *v->idf);
    return v->idf == NULL ? no_memory(fit, DN_ERR_MEMORY, err) : DN_OK;
}

/* Computes the df and idf of feature i from its units. Adds the df to *weight. */
static dn_status add_df(const struct fit *fit, dni_vocabulary *v, size_t i, uint64_t units,
                        double *weight, dn_error *err) {
    double df = weight_back(fit, units);
    *weight += df;
    if (v->idf != NULL) {
        v->idf[i] = idf_of(weight_back(fit, fit->slots[0].units), df);
    }
    return i % STEPS_A_POLL == STEPS_A_POLL - 1 ? dn_run_stop(fit->run, err) : DN_OK;
}

static dn_status refuse_words(const struct fit *fit, size_t n, dn_error *err) {
    return name_column(
        fit,
        dn_error_set(err, DN_ERR_DATA,
                     "column \"%s\" has %zu different %s, more than the %zu that can be features",
                     fit->rows->source->columns[fit->column].name, n,
                     fit->spec->weighting == DN_TEXT_PATHS ? "label sequences" : "words",
                     DN_MAX_WORDS),
        err);
}

static dn_status make_words(const struct fit *fit, dni_vocabulary *v, double *weight,
                            dn_error *err) {
    const dni_tally *tally = &fit->slots[0].tally;
    const dn_text_spec *spec = fit->spec;
    const bool complete = dni_text_is_complete(spec->weighting);
    const size_t most = complete                ? DN_MAX_WORDS
                        : spec->vocabulary == 0 ? DN_DEFAULT_VOCABULARY
                                                : spec->vocabulary;
    dni_candidate *list = NULL;
    size_t n = 0;
    if (complete && tally->n > DN_MAX_WORDS) {
        return refuse_words(fit, tally->n, err);
    }
    dn_status status =
        dni_vocabulary_choose(tally, most, complete ? 1 : spec->min_rows, &list, &n, err);
    if (status != DN_OK) {
        return no_memory(fit, status, err);
    }
    v->n_features = n + complete;
    status = make_idf(fit, v, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t index;
        status =
            dni_string_set_append(&v->words, list[i].word->text, list[i].word->length, &index, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        status = add_df(fit, v, i, list[i].units, weight, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
cleanup:
    dn_run_free(fit->run, list);
    if (status != DN_OK) {
        return status;
    }
    return dni_word_index_make(&v->index, dni_string_set_view(&v->words), fit->run, err);
}

static dn_status make_buckets(const struct fit *fit, dni_vocabulary *v, double *weight,
                              dn_error *err) {
    v->n_features = fit->buckets;
    dn_status status = make_idf(fit, v, err);
    for (size_t b = 0; b < fit->buckets && status == DN_OK; b++) {
        status = add_df(fit, v, b, fit->slots[0].bucket[b], weight, err);
    }
    return status;
}

/* Returns the remark on the column. weight: the sum of df over the features. */
static dn_input_remark remark_on(const struct fit *fit, const dni_vocabulary *v, double weight) {
    const struct slot *all = &fit->slots[0];
    if (weight > 0 || v->words.n > 0) {
        return DN_INPUT_VARIES;
    }
    return all->tally.n > 0 ? DN_INPUT_RARE : all->has_text ? DN_INPUT_WORDLESS : DN_INPUT_EMPTY;
}

static dn_status check(const struct fit *fit, dn_error *err) {
    const dn_text_spec *spec = fit->spec;
    size_t most = spec->buckets > 0 ? spec->buckets : spec->vocabulary;
    if (most <= DN_MAX_WORDS || spec->weighting > DN_TEXT_TFIDF) {
        return DN_OK;
    }
    return name_column(fit,
                       dn_error_set(err, DN_ERR_ARGUMENT,
                                    "a text column can have at most %zu features (got %zu)",
                                    DN_MAX_WORDS, most),
                       err);
}

dn_status dni_vocabulary_fit(const dni_selection *rows, size_t column, const double *weight,
                             const dn_text_spec *spec, const dn_run *run, dni_vocabulary *out,
                             double *out_entries, dn_error *err) {
    struct fit fit = {.rows = rows, .column = column, .weight = weight, .spec = spec, .run = run};
    dni_vocabulary v = {.weighting = spec->weighting, .keep_case = spec->keep_case};
    fit.buckets = spec->weighting == DN_TEXT_CHARACTERS ? DN_MAX_CHARACTERS
                  : spec->weighting > DN_TEXT_TFIDF     ? 0
                                                        : spec->buckets;
    v.buckets = spec->weighting > DN_TEXT_TFIDF ? 0 : spec->buckets;
    v.length = spec->weighting == DN_TEXT_PATHS ? spec->length : 0;
    double sum = 0; /* sum of df */
    dn_status status = check(&fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = choose_unit(&fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = slots_init(&fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (rows->n_blocks > 0) {
        status = dni_tasks_run(&fit.passes, rows->n_blocks, count_block, &fit, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    status = merge_slots(&fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = fit.buckets > 0 ? make_buckets(&fit, &v, &sum, err) : make_words(&fit, &v, &sum, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    const double total_weight = weight_back(&fit, fit.slots[0].units);
    v.remark = remark_on(&fit, &v, sum);
    *out = v;
    *out_entries = total_weight > 0 ? sum / total_weight : 0;
    v = (dni_vocabulary){0};
cleanup:
    for (size_t i = 0; i < fit.n_slots; i++) {
        slot_done(&fit, &fit.slots[i]);
    }
    dn_run_free(run, fit.slots);
    dni_vocabulary_done(&v);
    return status;
}

/* ---- memory ---- */
#define WORD_BYTES 72 /* mean bytes of a word in a tally: its text and its part of the hash table */
/* Bytes of a small tally: the first page and the first slots of the hash table. */
#define MIN_TALLY_BYTES (((size_t)1 << 16) + 8192)

double dni_vocabulary_fit_memory(double n_different, double n_entries, double n_chosen,
                                 size_t n_slots) {
    const double slots = (double)(n_slots == 0 ? 1 : n_slots);
    /* chunks differ in size: one slot may count twice the average share of the words */
    const double found = n_entries > 0 ? fmin(n_different, 2 * n_entries / slots) : n_different;
    const double counted =
        slots < 2 ? n_different : fmin(n_different, 2 * found) + (slots - 1) * found;
    return WORD_BYTES * counted + 2 * sizeof(dni_candidate) * n_chosen + MIN_TALLY_BYTES * slots;
}
