/* Memory and serialization of a vocabulary. */
#include "text/vocabulary.h"

#include "text/words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

void dni_vocabulary_done(dni_vocabulary *vocabulary) {
    dni_string_set_done(&vocabulary->words);
    dni_word_index_done(&vocabulary->index);
    free(vocabulary->idf);
    *vocabulary = (dni_vocabulary){0};
}

size_t dni_vocabulary_bytes(const dni_vocabulary *vocabulary) {
    const dni_string_set *words = &vocabulary->words;
    return words->start_capacity * sizeof *words->start + words->capacity +
           vocabulary->index.n_slots * sizeof *vocabulary->index.slots +
           (vocabulary->idf == NULL ? 0 : vocabulary->n_features * sizeof *vocabulary->idf);
}

/* ---- bytes ---- */
void dni_vocabulary_write(const dni_vocabulary *vocabulary, dni_writer *writer) {
    dn_strings words = dni_string_set_view(&vocabulary->words);
    dni_write_u8(writer, (uint8_t)vocabulary->weighting);
    dni_write_u8(writer, vocabulary->keep_case);
    dni_write_u64(writer, vocabulary->buckets);
    if (vocabulary->weighting == DN_TEXT_PATHS) {
        dni_write_u8(writer, (uint8_t)vocabulary->length);
    }
    if (vocabulary->buckets == 0 && vocabulary->weighting != DN_TEXT_CHARACTERS) {
        dni_write_u64(writer, words.n);
    }
    const char *before = words.bytes;
    size_t before_length = 0;
    for (size_t i = 0; i < words.n; i++) {
        const char *word = words.bytes + words.start[i];
        size_t length = words.start[i + 1] - words.start[i], shared = 0;
        while (shared < length && shared < before_length && word[shared] == before[shared]) {
            shared++;
        }
        dni_write_u8(writer, (uint8_t)shared);
        dni_write_u8(writer, (uint8_t)(length - shared));
        dni_write_bytes(writer, word + shared, length - shared);
        before = word;
        before_length = length;
    }
    if (vocabulary->idf != NULL) {
        dni_write_f64s(writer, vocabulary->idf, vocabulary->n_features);
    }
}

static dn_status corrupt(const char *what, dn_error *err) {
    return dn_error_set(err, DN_ERR_CORRUPT, "a vocabulary is damaged: %s", what);
}

/* Reads a front-coded word. `word` [*length] is the previous word and is replaced. */
static bool read_word(dni_reader *reader, char word[DN_MAX_WORD_BYTES], size_t *length) {
    size_t shared = dni_read_u8(reader), more = dni_read_u8(reader);
    const char *bytes = dni_read_bytes(reader, more);
    if (bytes == NULL || more == 0 || shared > *length || shared + more > DN_MAX_WORD_BYTES) {
        return false;
    }
    /* Ascending order: the byte after the shared prefix must be greater than in the previous
     * word. */
    if (shared < *length && (unsigned char)bytes[0] <= (unsigned char)word[shared]) {
        return false;
    }
    memcpy(word + shared, bytes, more);
    *length = shared + more;
    return u8_check((const uint8_t *)word, *length) == NULL;
}

static dn_status read_words(dni_reader *reader, dni_vocabulary *v, dn_error *err) {
    size_t n = dni_read_count(reader, 3), length = 0;
    char word[DN_MAX_WORD_BYTES];
    if (reader->failed || n > DN_MAX_WORDS) {
        return corrupt("it has too many words", err);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t index;
        if (!read_word(reader, word, &length)) {
            return corrupt("its words are cut short, not in order or not UTF-8", err);
        }
        dn_status status = dni_string_set_append(&v->words, word, length, &index, err);
        if (status != DN_OK) {
            return status;
        }
    }
    v->n_features = n + dni_text_is_complete(v->weighting);
    return dni_word_index_make(&v->index, dni_string_set_view(&v->words), NULL, err);
}

static dn_status read_idf(dni_reader *reader, dni_vocabulary *v, dn_error *err) {
    if (v->n_features > reader->left / sizeof *v->idf) {
        return corrupt("its weights are cut short", err);
    }
    v->idf = malloc((v->n_features + 1) * sizeof *v->idf);
    if (v->idf == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a vocabulary of %zu features needs memory which the system does not have",
            v->n_features);
    }
    if (!dni_read_f64s(reader, v->idf, v->n_features)) {
        return corrupt("its weights are cut short", err);
    }
    for (size_t i = 0; i < v->n_features; i++) {
        if (!(v->idf[i] >= 1) || isinf(v->idf[i])) {
            return corrupt("a weight of a word is below 1 or not finite", err);
        }
    }
    return DN_OK;
}

static dn_status read_parts(dni_reader *reader, dni_vocabulary *v, dn_error *err) {
    uint8_t weighting = dni_read_u8(reader), keep_case = dni_read_u8(reader);
    uint64_t buckets = dni_read_u64(reader);
    if (reader->failed || weighting > DN_TEXT_CHARACTERS || keep_case > 1 ||
        buckets > (weighting > DN_TEXT_TFIDF ? 0 : DN_MAX_WORDS)) {
        return corrupt("its weighting is unknown", err);
    }
    v->weighting = (dn_text_weighting)weighting;
    v->length = weighting == DN_TEXT_PATHS ? dni_read_u8(reader) : 0;
    if (reader->failed || v->length > DN_MAX_PATH_LABELS ||
        (weighting == DN_TEXT_PATHS && v->length == 0)) {
        return corrupt("the length of its paths is invalid", err);
    }
    v->keep_case = keep_case == 1;
    v->buckets = v->n_features = (size_t)buckets;
    if (weighting == DN_TEXT_CHARACTERS) {
        v->n_features = DN_MAX_CHARACTERS;
        return DN_OK;
    }
    dn_status status = buckets == 0 ? read_words(reader, v, err) : DN_OK;
    return status == DN_OK && weighting == DN_TEXT_TFIDF ? read_idf(reader, v, err) : status;
}

dn_status dni_vocabulary_read(dni_reader *reader, dni_vocabulary *out, dn_error *err) {
    dni_vocabulary v = {0};
    dn_status status = read_parts(reader, &v, err);
    if (status == DN_OK) {
        *out = v;
    } else {
        dni_vocabulary_done(&v);
    }
    return status;
}
