/* The features of a text column: the words of the training rows, or buckets of hashed words.
 *
 * A vocabulary is fitted to rows (dni_vocabulary_fit) or read from bytes. It is immutable
 * afterwards and shared by threads, each of which has its own dn_text_work. */
#ifndef DNI_VOCABULARY_H
#define DNI_VOCABULARY_H

#include "base/bytes.h"
#include "base/string_set.h"
#include "table/selection.h"
#include "text/word_index.h"

/* {0} has no features. */
typedef struct dni_vocabulary {
    dn_text_weighting weighting;
    bool keep_case;
    unsigned length; /* DN_TEXT_PATHS: maximum number of labels; otherwise 0 */
    /* words.n, plus 1 for unseen words if the vocabulary is complete; or `buckets`; or
     * DN_MAX_CHARACTERS */
    size_t n_features;
    size_t buckets; /* number of hash buckets; 0: words or characters */
    /* in byte order: word or label sequence i is feature i; empty if words are hashed */
    dni_string_set words;
    dni_word_index index; /* index of `words` */
    /* what the fit noticed about the column; DN_INPUT_VARIES if read from bytes */
    dn_input_remark remark;
    /* [n_features] 1 + ln((1 + n)/(1 + df)); NULL unless weighting is DN_TEXT_TFIDF */
    double *idf;
} dni_vocabulary;

/* Returns true if all words of the training rows are features and there is one feature for unseen
 * words. */
static inline bool dni_text_is_complete(dn_text_weighting weighting) {
    return weighting == DN_TEXT_SET || weighting == DN_TEXT_PATHS;
}

/* Fits a vocabulary to a text column of the selected rows.
 *
 *   column       index of the column in rows->source
 *   weight       [source->n_rows] or NULL: all 1. Each must be finite and >= 0; rows with weight
 *                0 are ignored. A missing text has no words
 *   out_entries  mean number of entries of a row: sum of df/n over the features
 *
 * df of a word or bucket is the sum of the weights of the rows that contain it; n is the sum of
 * the weights of all rows. Candidates are the words that occur in at least spec->min_rows rows
 * (counted without weights). The vocabulary has the spec->vocabulary candidates with the largest
 * df; of words with equal df the first in byte order is preferred. Weights are summed as integer
 * multiples of 2^-62 of (number of rows × largest weight), so that the sums do not depend on
 * threads, chunks or the order of rows. The vocabulary may be empty.
 *
 * Cost: one pass; single-threaded if the source has fewer slots than the run. Working memory of
 * the run: about 50 bytes plus the text for each different word and thread, 48 bytes for each
 * chosen word; 16 bytes for each bucket and thread when hashed. The run's stop function is polled
 * every 2^16 words. Characters are counted like buckets.
 *
 * Errors
 *   DN_ERR_BUDGET, DN_ERR_MEMORY  (field) the message suggests `hash`
 *   DN_ERR_ARGUMENT               (row) a weight; or more buckets or words than DN_MAX_WORDS
 *   DN_ERR_DATA                   more words than DN_MAX_WORDS if all are needed; (row) a text
 *                                 that is not a graph or is too long */
DN_MUST_USE dn_status dni_vocabulary_fit(const dni_selection *rows, size_t column,
                                         const double *weight, const dn_text_spec *spec,
                                         const dn_run *run, dni_vocabulary *out,
                                         double *out_entries, dn_error *err);
/* Estimates the bytes of the run's memory that dni_vocabulary_fit needs for words.
 *
 *   n_different  number of different words of the rows
 *   n_entries    number of words of all texts, each counted once per text; 0: unknown
 *   n_chosen     number of words that become features
 *
 * This is an estimate and not a layout, because the size depends on the words. A slot is assumed
 * to find at most 2 n_entries/n_slots different words. While a tally is merged into another, its
 * words are in memory twice. */
double dni_vocabulary_fit_memory(double n_different, double n_entries, double n_chosen,
                                 size_t n_slots);

void dni_vocabulary_done(dni_vocabulary *vocabulary); /* vocabulary may be zero-initialised */

/* Computes the entries of a text, ascending by feature, where feature = first_feature + word or
 * bucket. All values are > 0. *feature and *value [*n] are valid until the next call with the
 * same `work`. Unknown words have no entry, unless unseen words have a feature. O(length + n log
 * n). Errors: DN_ERR_MEMORY; DN_ERR_DATA, whose message does not name the column. */
DN_MUST_USE dn_status dni_vocabulary_entries(const dni_vocabulary *vocabulary, size_t first_feature,
                                             const char *text, size_t length, dn_text_work *work,
                                             const uint32_t **feature, const double **value,
                                             size_t *n, dn_error *err);

/* Returns the bytes of memory that a vocabulary uses. */
size_t dni_vocabulary_bytes(const dni_vocabulary *vocabulary);

/* Serializes a vocabulary:
 *
 *   u8 weighting, u8 keep_case, u64 buckets; DN_TEXT_PATHS: u8 length
 *   words or label sequences: u64 n, then each word front-coded: u8 number of bytes shared
 *     with the previous word, u8 number of bytes that follow, those bytes
 *   tf-idf: f64 idf[n_features] */
void dni_vocabulary_write(const dni_vocabulary *vocabulary, dni_writer *writer);
/* Reads a vocabulary. Memory: up to 450 bytes for each word, and 8 for each idf. Errors:
 * DN_ERR_CORRUPT if the data are truncated; if words are not in order, empty, too long or not
 * UTF-8; if there are more than DN_MAX_WORDS features; if an idf is below 1 or not finite.
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_vocabulary_read(dni_reader *reader, dni_vocabulary *out, dn_error *err);

#endif
