/* What a text column becomes: the words of the training rows, or buckets that words are hashed into, each a feature.
 *
 * A vocabulary is fitted once (dni_vocabulary_fit), or read from bytes, and immutable afterwards: shared by threads, each with a dn_text_work of its own. */
#ifndef DNI_VOCABULARY_H
#define DNI_VOCABULARY_H

#include "base/bytes.h"
#include "base/string_set.h"
#include "table/selection.h"
#include "text/word_index.h"

/* {0} is an empty one: no feature. */
typedef struct dni_vocabulary {
    dn_text_weighting weighting;
    bool keep_case;
    unsigned length;   /* DN_TEXT_PATHS: most labels of a sequence; otherwise 0 */
    size_t n_features; /* words.n (complete: and one), buckets or DN_MAX_CHARACTERS */
    size_t buckets;    /* 0: words, or characters */
    dni_string_set
        words; /* ascending by bytes: word or label sequence i is feature i; empty when hashed. A list: they are found by `index` */
    dni_word_index index; /* of the words */
    dn_input_remark
        remark; /* of the fit: whether rows have the text, words, a feature; when read DN_INPUT_VARIES */
    double *idf; /* [n_features] 1 + ln((1 + n)/(1 + df)); NULL unless weighting is DN_TEXT_TFIDF */
} dni_vocabulary;

/* Whether it has all words of the training rows, and a feature for what they have not. */
static inline bool dni_text_is_complete(dn_text_weighting weighting) {
    return weighting == DN_TEXT_SET || weighting == DN_TEXT_PATHS;
}

/* The vocabulary of column `column` (of DN_TEXT) of rows->source by the selected rows. weight: by source row, NULL: all 1; each must be finite and >= 0, and a row of weight 0 counts as none; a
 * missing text is one without words. One pass through run's sum, by one thread if the source has fewer slots than the run.
 *
 * df of a word (bucket) is the Σv of the rows that have it, n that of all. Vocabulary: the words that at least spec->min_rows rows have (0 and 1: all that some row has; rows are counted, whatever
 * they weigh), at most spec->vocabulary (at most DN_MAX_WORDS), those of greatest df, among equals the first by bytes. Σv is exact to 2^-62 of the rows' number times their greatest weight (and altogether for whole numbers), so that neither threads nor chunks nor the order of rows show.
 *
 * *out_entries: the mean number of entries of a row, Σ df/n over the features. A vocabulary may be empty: n_features 0. Working memory comes from the run: all different words of the rows,
 * about 50 bytes and its text each, in every thread that meets it, and 48 bytes for each word that is chosen; 16 bytes a bucket and thread when hashed. The run's stop is looked at every 2^16 words. DN_ERR_BUDGET and DN_ERR_MEMORY say so, name the column (field) and advise `hash`.
 * DN_ERR_ARGUMENT: a weight that is none (row), buckets or a vocabulary beyond DN_MAX_WORDS; DN_ERR_DATA: more words than that of a complete one, and (row) a text that is no graph or too long.
 * Characters count as buckets. */
DN_MUST_USE dn_status dni_vocabulary_fit(const dni_selection *rows, size_t column,
                                         const double *weight, const dn_text_spec *spec,
                                         const dn_run *run, dni_vocabulary *out,
                                         double *out_entries, dn_error *err);
void dni_vocabulary_done(dni_vocabulary *vocabulary); /* {0} is allowed */

/* The features that a text has and their values, ascending by feature: feature = first_feature + word or bucket. Values are > 0. A text without a known word has none. *feature and *value [*n] are
 * the work's until its next call. O(length), and O(n) beside. DN_ERR_MEMORY; DN_ERR_DATA, of which the message names no column. */
DN_MUST_USE dn_status dni_vocabulary_entries(const dni_vocabulary *vocabulary, size_t first_feature,
                                             const char *text, size_t length, dn_text_work *work,
                                             const uint32_t **feature, const double **value,
                                             size_t *n, dn_error *err);

/* Bytes of memory that it holds. */
size_t dni_vocabulary_bytes(const dni_vocabulary *vocabulary);

/* As bytes:
 *   u8 weighting, u8 keep_case, u64 buckets, with DN_TEXT_PATHS u8 length; without buckets, unless they are characters, u64 n, then each word, front-coded: u8 bytes shared with the word before, u8 bytes that follow, those bytes;
 *   with tf-idf f64 idf[n_features] */
void dni_vocabulary_write(const dni_vocabulary *vocabulary, dni_writer *writer);
/* DN_ERR_CORRUPT: cut short, words that do not ascend, are empty, longer than DN_MAX_WORD_BYTES or no UTF-8, more than DN_MAX_WORDS features, an idf below 1 or not finite; DN_ERR_MEMORY. Memory: up to 450 bytes a word, and 8 an idf. */
DN_MUST_USE dn_status dni_vocabulary_read(dni_reader *reader, dni_vocabulary *out, dn_error *err);

#endif
