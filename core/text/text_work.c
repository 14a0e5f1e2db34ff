/* Computes the entries of a text (dni_vocabulary_entries): features and counts, sorted by feature.
 * Features are words, label sequences or characters. */
#include "text/tokens.h"
#include "text/vocabulary.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dn_text_work {
    dni_tokens tokens;
    dni_string_set unseen; /* DN_TEXT_SET: words of the text that occur in no training row */
    size_t n_unseen;       /* number of unseen words or label sequences */
    size_t capacity;       /* allocated elements of each array */
    /* [capacity] first the feature of each word of the text; then each feature once */
    uint32_t *feature;
    uint32_t *other; /* [capacity] second array of the radix sort */
    double *value;   /* [capacity] */
};

dn_status dn_text_work_new(dn_text_work **out, dn_error *err) {
    dn_text_work *work = calloc(1, sizeof *work);
    if (work == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the words of a text need memory which the system does not have");
    }
    *out = work;
    return DN_OK;
}

void dn_text_work_free(dn_text_work *work) {
    if (work == NULL) {
        return;
    }
    dni_tokens_done(&work->tokens);
    dni_string_set_done(&work->unseen);
    free(work->feature);
    free(work->other);
    free(work->value);
    free(work);
}

/* Increases the capacity of the arrays to at least n. */
static dn_status grow(dn_text_work *work, size_t n, dn_error *err) {
    size_t capacity = n + n / 2 + 256;
    uint32_t *feature = realloc(work->feature, capacity * sizeof *feature);
    work->feature = feature == NULL ? work->feature : feature;
    uint32_t *other = realloc(work->other, capacity * sizeof *other);
    work->other = other == NULL ? work->other : other;
    double *value = realloc(work->value, capacity * sizeof *value);
    work->value = value == NULL ? work->value : value;
    if (feature == NULL || other == NULL || value == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "the words of a text need %zu bytes of memory, which the system does not have",
            capacity * (sizeof *feature + sizeof *other + sizeof *value));
    }
    work->capacity = capacity;
    return DN_OK;
}

/* Counts a word that occurs in no training row, once per text. Label sequences need no check for
 * repetition, because each occurs once in a text. */
static dn_status count_unseen(const dni_vocabulary *v, const char *word, size_t size,
                              dn_text_work *work, dn_error *err) {
    uint32_t index;
    work->n_unseen++;
    if (v->weighting != DN_TEXT_SET) {
        return DN_OK;
    }
    dn_status status = dni_string_set_add(&work->unseen, word, size, &index, err);
    work->n_unseen = work->unseen.n;
    return status;
}

/* Finds the features of the words, in the order of the text. *n ← the number of features. */
static dn_status find_words(const dni_vocabulary *v, const char *text, size_t length,
                            dn_text_work *work, size_t *n, dn_error *err) {
    dn_strings words = dni_string_set_view(&v->words);
    const char *word;
    dn_status status =
        dni_tokens_begin(&work->tokens, v->weighting, v->keep_case, v->length, text, length, err);
    *n = work->n_unseen = 0;
    dni_string_set_restart(&work->unseen, length / 2);
    for (size_t size; status == DN_OK && (size = dni_tokens_next(&work->tokens, &word)) > 0;) {
        uint32_t feature = v->buckets > 0 ? (uint32_t)(dni_word_hash(word, size) % v->buckets)
                                          : dni_word_index_find(&v->index, words, word, size);
        if (feature == DNI_UNKNOWN_WORD) {
            status =
                dni_text_is_complete(v->weighting) ? count_unseen(v, word, size, work, err) : DN_OK;
            continue;
        }
        if (*n == work->capacity) {
            status = grow(work, *n, err);
            if (status != DN_OK) {
                return status;
            }
        }
        work->feature[(*n)++] = feature;
    }
    return status;
}

/* Up to this number of features is sorted by insertion sort. */
#define FEW 48

static void sort_few(uint32_t *list, size_t n) {
    for (size_t i = 1; i < n; i++) {
        uint32_t x = list[i];
        size_t j = i;
        for (; j > 0 && list[j - 1] > x; j--) {
            list[j] = list[j - 1];
        }
        list[j] = x;
    }
}

/* Sorts n features by radix sort, one byte at a time: the cost depends on n, not on the order. */
static void sort_features(dn_text_work *work, size_t n, size_t n_features) {
    if (n <= FEW) {
        sort_few(work->feature, n);
        return;
    }
    for (unsigned shift = 0; shift < 32 && (n_features - 1) >> shift > 0; shift += 8) {
        size_t at[256] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) {
            at[work->feature[i] >> shift & 0xff]++;
        }
        for (size_t b = 0; b < 256; b++) {
            size_t count = at[b];
            at[b] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) {
            work->other[at[work->feature[i] >> shift & 0xff]++] = work->feature[i];
        }
        uint32_t *sorted = work->other;
        work->other = work->feature;
        work->feature = sorted;
    }
}

/* Replaces n sorted features by the distinct features and their counts. Returns the number of
 * distinct features. */
static size_t count_features(dn_text_work *work, size_t n) {
    size_t different = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && work->feature[next] == work->feature[i];) {
            next++;
        }
        work->feature[different] = work->feature[i];
        work->value[different++] = (double)(next - i);
    }
    return different;
}

static void weigh(const dni_vocabulary *v, dn_text_work *work, size_t n) {
    double square = 0;
    for (size_t i = 0; i < n && (v->weighting == DN_TEXT_BINARY || v->weighting == DN_TEXT_SET);
         i++) {
        work->value[i] = 1;
    }
    if (v->weighting != DN_TEXT_TFIDF) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        work->value[i] *= v->idf[work->feature[i]];
        square += work->value[i] * work->value[i];
    }
    double length = sqrt(square);
    for (size_t i = 0; i < n; i++) {
        work->value[i] /= length;
    }
}

/* Finds the features of the characters: character j is feature j. */
static dn_status find_characters(const char *text, size_t length, dn_text_work *work, size_t *n,
                                 dn_error *err) {
    dn_status status =
        work->capacity < DN_MAX_CHARACTERS ? grow(work, DN_MAX_CHARACTERS, err) : DN_OK;
    if (status != DN_OK) {
        return status;
    }
    status = dni_characters(text, length, work->other, n, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; j < *n; j++) {
        work->feature[j] = (uint32_t)j;
        work->value[j] = work->other[j];
    }
    return DN_OK;
}

/* Finds the features of words or label sequences and counts each. */
static dn_status count_words(const dni_vocabulary *v, const char *text, size_t length,
                             dn_text_work *work, size_t *n, dn_error *err) {
    size_t n_words = 0;
    dn_status status = find_words(v, text, length, work, &n_words, err);
    if (status != DN_OK) {
        return status;
    }
    if (work->n_unseen > 0 && n_words == work->capacity) {
        status = grow(work, n_words, err);
        if (status != DN_OK) {
            return status;
        }
    }
    sort_features(work, n_words, v->n_features);
    *n = count_features(work, n_words);
    weigh(v, work, *n);
    if (work->n_unseen > 0) {
        work->feature[*n] = (uint32_t)(v->n_features - 1);
        work->value[(*n)++] = sqrt((double)work->n_unseen);
    }
    return DN_OK;
}

dn_status dni_vocabulary_entries(const dni_vocabulary *vocabulary, size_t first_feature,
                                 const char *text, size_t length, dn_text_work *work,
                                 const uint32_t **feature, const double **value, size_t *n,
                                 dn_error *err) {
    size_t different = 0;
    dn_status status = vocabulary->weighting == DN_TEXT_CHARACTERS
                           ? find_characters(text, length, work, &different, err)
                           : count_words(vocabulary, text, length, work, &different, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < different; i++) {
        work->feature[i] += (uint32_t)first_feature;
    }
    *feature = work->feature;
    *value = work->value;
    *n = different;
    return DN_OK;
}
