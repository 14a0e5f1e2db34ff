/* Vocabularies: compared with values of scikit-learn and with a plain count, for several chunks,
 * slots and weights; bytes; errors. */
#include "unit/core/support.h"

#include "text/vocabulary.h"
#include "text/words.h"
#include "unit/core/table/chunked.h"

#define COLUMN "message"

/* A source of one text column, cut into chunks. */
struct texts {
    chunked source;
    chunked_column column;
    dni_selection rows;
    size_t borders[64];
};

static void texts_init(struct texts *t, const char *const *text, size_t n, size_t step,
                       const uint8_t *role) {
    size_t chunks = 0;
    t->column = (chunked_column){.column = {.name = COLUMN, .type = DN_TEXT}, .text = text};
    for (t->borders[0] = 0; t->borders[chunks] < n; chunks++) {
        t->borders[chunks + 1] = t->borders[chunks] + step < n ? t->borders[chunks] + step : n;
    }
    assert_true(chunks < 64);
    chunked_init(&t->source, &t->column, 1, n, t->borders, chunks);
    dn_run run = dn_run_default();
    OK(dni_selection_init(&t->rows, &t->source.source, role, DN_ROW_TRAIN, &run, NULL));
}

static void texts_done(struct texts *t) {
    dn_run run = dn_run_default();
    dni_selection_done(&t->rows, &run);
    chunked_done(&t->source);
}

static void assert_word(const dni_vocabulary *v, size_t i, const char *word) {
    dn_strings words = dni_string_set_view(&v->words);
    assert_true(i < words.n);
    assert_int_equal(words.start[i + 1] - words.start[i], strlen(word));
    assert_memory_equal(words.bytes + words.start[i], word, strlen(word));
}

/* ---- scikit-learn's numbers: CountVectorizer and TfidfVectorizer(token_pattern=r"(?u)\b\w+\b")
 * ---- */
static const char *const messages[] = {
    "Free entry: win a FREE prize now",
    "are you free tonight?",
    "Win cash, win a car! Text WIN to 80086",
    "see you at home tonight",
    NULL,
    "L'\xc3\xa9t\xc3\xa9 d\xc3\xa9j\xc3\xa0 \xc3\xa0 la maison, you said"};
#define MESSAGES (sizeof messages / sizeof *messages)

static void numbers_of_others(void **state) {
    (void)state;
    static const char *const words[] = {"80086",
                                        "a",
                                        "are",
                                        "at",
                                        "car",
                                        "cash",
                                        "d\xc3\xa9j\xc3\xa0",
                                        "entry",
                                        "free",
                                        "home",
                                        "l",
                                        "la",
                                        "maison",
                                        "now",
                                        "prize",
                                        "said",
                                        "see",
                                        "text",
                                        "to",
                                        "tonight",
                                        "win",
                                        "you",
                                        "\xc3\xa0",
                                        "\xc3\xa9t\xc3\xa9"};
    static const struct {
        size_t row, feature;
        double count, tfidf;
    } entries[] = {{0, 1, 1, 0.3091744190519409},   {0, 7, 1, 0.37703539693392585},
                   {0, 8, 2, 0.6183488381038817},   {0, 13, 1, 0.37703539693392585},
                   {0, 14, 1, 0.37703539693392585}, {0, 20, 1, 0.3091744190519409},
                   {2, 0, 1, 0.2920503626511595},   {2, 1, 1, 0.239485475212304},
                   {2, 4, 1, 0.2920503626511595},   {2, 5, 1, 0.2920503626511595},
                   {2, 17, 1, 0.2920503626511595},  {2, 18, 1, 0.2920503626511595},
                   {2, 20, 3, 0.7184564256369121}};
    struct texts t;
    dn_run run = dn_run_default();
    dn_text_work *work;
    texts_init(&t, messages, MESSAGES, 2, NULL);
    OK(dn_text_work_new(&work, NULL));
    for (dn_text_weighting weighting = DN_TEXT_COUNTS; weighting <= DN_TEXT_TFIDF; weighting++) {
        dni_vocabulary v;
        double mean;
        OK(dni_vocabulary_fit(&t.rows, 0, NULL, &(dn_text_spec){.weighting = weighting}, &run, &v,
                              &mean, NULL));
        assert_int_equal(v.n_features, sizeof words / sizeof *words);
        for (size_t i = 0; i < v.n_features; i++) {
            assert_word(&v, i, words[i]);
        }
        assert_near(mean, 30.0 / 6, 1e-14);
        if (weighting == DN_TEXT_TFIDF) {
            assert_near(v.idf[0], 2.252762968495368, 1e-15);
            assert_near(v.idf[8], 1.8472978603872037, 1e-15);
            assert_near(v.idf[21], 1.5596157879354227, 1e-15);
        } else {
            assert_null(v.idf);
        }
        size_t at = 0;
        for (size_t row = 0; row <= 2; row += 2) {
            const uint32_t *feature;
            const double *value;
            size_t n;
            OK(dni_vocabulary_entries(&v, 1000, messages[row], strlen(messages[row]), work,
                                      &feature, &value, &n, NULL));
            for (size_t i = 0; i < n; i++, at++) {
                assert_true(at < sizeof entries / sizeof *entries && entries[at].row == row);
                assert_int_equal(feature[i], 1000 + entries[at].feature);
                double want = weighting == DN_TEXT_COUNTS   ? entries[at].count
                              : weighting == DN_TEXT_BINARY ? 1
                                                            : entries[at].tfidf;
                assert_near(value[i], want, 1e-14);
            }
        }
        assert_int_equal(at, sizeof entries / sizeof *entries);
        dni_vocabulary_done(&v);
    }
    dn_text_work_free(work);
    texts_done(&t);
}

/* ---- count by hand ---- */
enum { ROWS = 9000, KINDS = 300 };

struct corpus {
    char buffer[ROWS][160];
    const char *text[ROWS];
    char word[KINDS][12];
    unsigned char has[ROWS][KINDS]; /* number of occurrences */
    double weight[ROWS];
    uint8_t role[ROWS];
};

/* Words of different frequency; some texts are missing or empty; weights that are not integers. */
static struct corpus *corpus_new(void) {
    struct corpus *c = xcalloc(1, sizeof *c);
    uint64_t s = 3;
    for (size_t i = 0; i < KINDS; i++) {
        (void)snprintf(c->word[i], sizeof c->word[i],
                       i % 3 == 0   ? "w%zu"
                       : i % 3 == 1 ? "\xc3\xa9%zu"
                                    : "%zulonger",
                       i);
    }
    for (size_t row = 0; row < ROWS; row++) {
        size_t at = 0, words = row % 9;
        for (size_t k = 0; k < words; k++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            double u = (double)(s >> 11) * 0x1p-53;
            size_t which = (size_t)(u * u * KINDS);
            c->has[row][which]++;
            at += (size_t)snprintf(c->buffer[row] + at, sizeof c->buffer[row] - at,
                                   k % 2 == 0 ? "%s, " : "%s.", c->word[which]);
        }
        c->text[row] = row % 31 == 0 ? NULL : c->buffer[row];
        for (size_t k = 0; c->text[row] == NULL && k < KINDS; k++) {
            c->has[row][k] = 0;
        }
        s = s * 6364136223846793005u + 1442695040888963407u;
        c->weight[row] = s >> 62 == 0 ? 0 : (double)(s >> 40) * 1e-7;
        c->role[row] = s >> 20 & 1 ? DN_ROW_TRAIN : DN_ROW_VALIDATE;
    }
    return c;
}

/* Returns the weight of a row if it is selected. */
static double row_weight(const struct corpus *c, size_t row, bool weighted, bool chosen) {
    return chosen && c->role[row] != DN_ROW_TRAIN ? 0 : weighted ? c->weight[row] : 1;
}

struct expected {
    char word[12];
    double df;
    size_t rows; /* rows with a weight > 0 */
    bool chosen;
};

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct expected *)a)->word, ((const struct expected *)b)->word);
}

/* Lists the words in byte order with their df and whether they are chosen; returns the sum of v. */
static double expect(const struct corpus *c, bool weighted, bool chosen, size_t vocabulary,
                     size_t min_rows, struct expected out[KINDS]) {
    double total = 0;
    for (size_t row = 0; row < ROWS; row++) {
        total += row_weight(c, row, weighted, chosen);
    }
    for (size_t k = 0; k < KINDS; k++) {
        out[k].df = 0;
        out[k].rows = 0;
        memcpy(out[k].word, c->word[k], sizeof out[k].word);
        for (size_t row = 0; row < ROWS; row++) {
            double v = c->has[row][k] > 0 ? row_weight(c, row, weighted, chosen) : 0;
            out[k].df += v;
            out[k].rows += v > 0;
        }
    }
    qsort(out, KINDS, sizeof *out, by_name);
    for (size_t k = 0; k < KINDS; k++) {
        size_t before = 0;
        for (size_t i = 0; i < KINDS; i++) {
            before += out[i].df > out[k].df || (out[i].df == out[k].df && i < k);
        }
        out[k].chosen =
            out[k].df > 0 && (min_rows <= 1 || out[k].rows >= min_rows) && before < vocabulary;
    }
    return total;
}

static void check_corpus(const struct corpus *c, bool weighted, bool chosen, size_t vocabulary,
                         size_t min_rows) {
    static struct expected want[KINDS];
    static const size_t steps[] = {ROWS, 4096, 777};
    double total = expect(c, weighted, chosen, vocabulary, min_rows, want), first_idf[KINDS],
           first_mean = 0;
    dn_text_spec spec = {.weighting = DN_TEXT_TFIDF,
                         .vocabulary = vocabulary,
                         .min_rows = min_rows};
    for (size_t way = 0; way < 6; way++) {
        struct texts t;
        texts_init(&t, c->text, ROWS, steps[way / 2], chosen ? c->role : NULL);
        dn_run run = way % 2 == 0 ? dn_run_default() : scattered_run();
        dni_vocabulary v;
        double mean, sum = 0;
        size_t n = 0;
        OK(dni_vocabulary_fit(&t.rows, 0, weighted ? c->weight : NULL, &spec, &run, &v, &mean,
                              NULL));
        for (size_t k = 0; k < KINDS; k++) {
            if (!want[k].chosen) {
                continue;
            }
            assert_word(&v, n, want[k].word);
            assert_near(v.idf[n], 1 + log((1 + total) / (1 + want[k].df)), 1e-14);
            sum += want[k].df;
            n++;
        }
        assert_int_equal(v.n_features, n);
        assert_near(mean, sum / total, 1e-12);
        if (way == 0) {
            memcpy(first_idf, v.idf, n * sizeof *first_idf);
            first_mean = mean;
        }
        assert_memory_equal(v.idf, first_idf, n * sizeof *first_idf);
        assert_true(mean == first_mean);
        dni_vocabulary_done(&v);
        texts_done(&t);
    }
}

static void counted_by_hand(void **state) {
    (void)state;
    struct corpus *c = corpus_new();
    check_corpus(c, false, false, DN_MAX_WORDS, 0);
    check_corpus(c, true, false, DN_MAX_WORDS, 1);
    check_corpus(c, false, true, DN_MAX_WORDS, 40);
    check_corpus(c, true, true, DN_MAX_WORDS, 30);
    check_corpus(c, false, false, 50,
                 0); /* many words are in equally many rows: byte order decides */
    check_corpus(c, false, true, 1, 0);
    check_corpus(c, true, false, 100, 0);
    free(c);
}

/* Words that occur only in rows of weight 0 are left out; a repeated row counts twice. */
static void weights_are_repetitions(void **state) {
    (void)state;
    static const char *const once[] = {"red fox", "blue", "red", "gone"}, *const repeated[] = {
                                                                              "red fox", "red fox",
                                                                              "blue",    "red",
                                                                              "red",     "red"};
    static const double weight[] = {2, 1, 3, 0};
    struct texts a, b;
    dni_vocabulary v, w;
    double mean, other;
    dn_run run = dn_run_default();
    texts_init(&a, once, 4, 4, NULL);
    texts_init(&b, repeated, 6, 6, NULL);
    dn_text_spec spec = {.weighting = DN_TEXT_TFIDF, .vocabulary = 2};
    OK(dni_vocabulary_fit(&a.rows, 0, weight, &spec, &run, &v, &mean, NULL));
    OK(dni_vocabulary_fit(&b.rows, 0, NULL, &spec, &run, &w, &other, NULL));
    assert_int_equal(v.n_features, 2); /* fox, red */
    assert_int_equal(w.n_features, 2);
    assert_word(&v, 0, "fox");
    assert_word(&w, 1, "red");
    assert_memory_equal(v.idf, w.idf, 2 * sizeof *v.idf);
    assert_true(mean == other);
    dni_vocabulary_done(&v);
    dni_vocabulary_done(&w);
    texts_done(&a);
    texts_done(&b);
    /* with tiny weights no word is left out */
    static const double tiny[] = {1e-9, 1e-9, 1e-9, 1e-9};
    texts_init(&a, once, 4, 1, NULL);
    OK(dni_vocabulary_fit(&a.rows, 0, tiny, &(dn_text_spec){0}, &run, &v, &mean, NULL));
    assert_int_equal(v.n_features, 4);
    assert_near(mean, 5.0 / 4, 1e-12);
    dni_vocabulary_done(&v);
    texts_done(&a);
}

/* min_rows counts rows, not weights. */
static void min_rows_counts_rows(void **state) {
    (void)state;
    static const char *const texts[] = {"red fox", "red",      "blue blue",
                                        "fox",     "gone red", "fox blue"};
    static const double light[] = {0.25, 0.25, 0.25, 0.25, 0, 0.25},
                        heavy[] = {900, 900, 900, 900, 0, 900};
    for (size_t way = 0; way < 4; way++) {
        struct texts t;
        dni_vocabulary v;
        double mean;
        dn_run run = way % 2 == 0 ? dn_run_default() : scattered_run();
        texts_init(&t, texts, 6, 1 + way, NULL);
        for (size_t min_rows = 0; min_rows <= 4; min_rows++) {
            OK(dni_vocabulary_fit(&t.rows, 0, way < 2 ? light : heavy,
                                  &(dn_text_spec){.min_rows = min_rows}, &run, &v, &mean, NULL));
            assert_int_equal(v.n_features, min_rows <= 2 ? 3
                                           : min_rows == 3
                                               ? 1
                                               : 0); /* blue 2, fox 3, red 2 and one of weight 0 */
            if (min_rows == 3) {
                assert_word(&v, 0, "fox");
            }
            dni_vocabulary_done(&v);
        }
        texts_done(&t);
    }
}

/* ---- hashing ---- */
static void hashed(void **state) {
    (void)state;
    enum { BUCKETS = 7 };
    struct texts t;
    dn_text_work *work;
    OK(dn_text_work_new(&work, NULL));
    for (size_t way = 0; way < 2; way++) {
        double df[BUCKETS] = {0}, sum = 0, mean;
        dn_run run = way == 0 ? dn_run_default() : scattered_run();
        dni_vocabulary v;
        texts_init(&t, messages, MESSAGES, 4, NULL);
        OK(dni_vocabulary_fit(&t.rows, 0, NULL,
                              &(dn_text_spec){.weighting = DN_TEXT_TFIDF, .buckets = BUCKETS}, &run,
                              &v, &mean, NULL));
        assert_int_equal(v.n_features, BUCKETS);
        for (size_t row = 0; row < MESSAGES; row++) {
            double count[BUCKETS] = {0}, square = 0;
            dn_words words;
            dn_words_begin(&words, messages[row], messages[row] == NULL ? 0 : strlen(messages[row]),
                           false);
            for (size_t n; (n = dn_words_next(&words)) > 0;) {
                count[dni_word_hash(words.word, n) % BUCKETS]++;
            }
            const uint32_t *feature;
            const double *value;
            size_t n, at = 0;
            OK(dni_vocabulary_entries(&v, 5, messages[row],
                                      messages[row] == NULL ? 0 : strlen(messages[row]), work,
                                      &feature, &value, &n, NULL));
            for (size_t b = 0; b < BUCKETS; b++) {
                df[b] += count[b] > 0;
                square += pow(count[b] * v.idf[b], 2);
            }
            for (size_t b = 0; b < BUCKETS; b++) {
                if (count[b] == 0) {
                    continue;
                }
                assert_int_equal(feature[at], 5 + b);
                assert_near(value[at++], count[b] * v.idf[b] / sqrt(square), 1e-14);
            }
            assert_int_equal(at, n);
        }
        for (size_t b = 0; b < BUCKETS; b++) {
            assert_near(v.idf[b], 1 + log(7 / (1 + df[b])), 1e-14);
            sum += df[b];
        }
        assert_near(mean, sum / 6, 1e-14);
        dni_vocabulary_done(&v);
        texts_done(&t);
    }
    dn_text_work_free(work);
}

/* Long texts are sorted by radix sort: all features of a large vocabulary are found in order. */
static void a_long_text(void **state) {
    (void)state;
    enum { WORDS = 70000 };
    char *text = xcalloc(WORDS + WORDS / 7 + 1, 8);
    const char *const only[] = {text};
    size_t at = 0;
    for (size_t i = 0; i < WORDS; i++) {
        at += (size_t)snprintf(text + at, 9, "%05x ", (unsigned)(i * 54321 % WORDS));
        if (i % 7 == 0) {
            at += (size_t)snprintf(text + at, 9, "%05x ", (unsigned)(i * 54321 % WORDS));
        }
    }
    struct texts t;
    dni_vocabulary v;
    dn_run run = dn_run_default();
    dn_text_work *work;
    double mean;
    const uint32_t *feature;
    const double *value;
    size_t n, twice = 0;
    texts_init(&t, only, 1, 1, NULL);
    OK(dni_vocabulary_fit(&t.rows, 0, NULL, &(dn_text_spec){0}, &run, &v, &mean, NULL));
    assert_int_equal(v.n_features, WORDS);
    assert_true(dni_vocabulary_bytes(&v) >= WORDS * 5 + WORDS * sizeof(uint32_t));
    OK(dn_text_work_new(&work, NULL));
    OK(dni_vocabulary_entries(&v, 0, text, at, work, &feature, &value, &n, NULL));
    assert_int_equal(n, WORDS);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(feature[i], i);
        assert_true(value[i] == 1 || value[i] == 2);
        twice += value[i] == 2;
    }
    assert_int_equal(twice, WORDS / 7);
    OK(dni_vocabulary_entries(&v, 0, "none of these", 13, work, &feature, &value, &n, NULL));
    assert_int_equal(n, 0);
    dn_text_work_free(work);
    dni_vocabulary_done(&v);
    texts_done(&t);
    free(text);
}

/* ---- bytes ---- */
static bool same(const dni_vocabulary *a, const dni_vocabulary *b) {
    return a->weighting == b->weighting && a->keep_case == b->keep_case &&
           a->n_features == b->n_features && a->buckets == b->buckets && a->words.n == b->words.n &&
           dni_string_set_size(&a->words) == dni_string_set_size(&b->words) &&
           (a->words.n == 0 ||
            memcmp(a->words.bytes, b->words.bytes, dni_string_set_size(&a->words)) == 0) &&
           (a->words.n == 0 || memcmp(a->words.start, b->words.start,
                                      (a->words.n + 1) * sizeof *a->words.start) == 0) &&
           (a->idf == NULL) == (b->idf == NULL) &&
           (a->idf == NULL || memcmp(a->idf, b->idf, a->n_features * sizeof *a->idf) == 0);
}

/* Checks a vocabulary that was read: its words are in byte order, and each is found in its text. */
static void check_read(const dni_vocabulary *v) {
    dn_strings words = dni_string_set_view(&v->words);
    assert_true(v->n_features == (v->buckets > 0 ? v->buckets
                                  : v->weighting == DN_TEXT_CHARACTERS
                                      ? DN_MAX_CHARACTERS
                                      : words.n + dni_text_is_complete(v->weighting)));
    for (size_t i = 0; i < words.n; i++) {
        size_t length = words.start[i + 1] - words.start[i];
        assert_true(length > 0 && length <= DN_MAX_WORD_BYTES);
        assert_int_equal(dni_word_index_find(&v->index, words, words.bytes + words.start[i],
                                             length),
                         i);
        if (i == 0) {
            continue;
        }
        size_t before = words.start[i] - words.start[i - 1];
        int order = memcmp(words.bytes + words.start[i - 1], words.bytes + words.start[i],
                           before < length ? before : length);
        assert_true(order < 0 || (order == 0 && before < length));
    }
}

static void there_and_back(void **state) {
    (void)state;
    static const dn_text_spec specs[] = {{.weighting = DN_TEXT_COUNTS},
                                         {.weighting = DN_TEXT_TFIDF, .keep_case = true},
                                         {.weighting = DN_TEXT_BINARY, .buckets = 12},
                                         {.weighting = DN_TEXT_TFIDF, .buckets = 3},
                                         {.weighting = DN_TEXT_TFIDF, .min_rows = 100}};
    struct texts t;
    dn_run run = dn_run_default();
    texts_init(&t, messages, MESSAGES, 4, NULL);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        dni_vocabulary v, back;
        dni_writer writer;
        double mean;
        dni_writer_init(&writer);
        OK(dni_vocabulary_fit(&t.rows, 0, NULL, &specs[s], &run, &v, &mean, NULL));
        assert_true(s != 4 || v.n_features == 0);
        dni_vocabulary_write(&v, &writer);
        dni_reader reader = dni_reader_of(writer.bytes, writer.size);
        OK(dni_vocabulary_read(&reader, &back, NULL));
        OK(dni_reader_end(&reader, "vocabulary", NULL));
        assert_true(same(&v, &back));
        dni_vocabulary_done(&back);
        for (size_t cut = 0; cut < writer.size; cut++) {
            dn_error err = {0};
            unsigned char *part = malloc(cut == 0 ? 1 : cut);
            assert_non_null(part);
            memcpy(part, writer.bytes, cut);
            reader = dni_reader_of(part, cut);
            assert_int_equal(dni_vocabulary_read(&reader, &back, &err), DN_ERR_CORRUPT);
            assert_non_null(strstr(err.message, "a vocabulary is damaged"));
            free(part);
        }
        size_t refused = 0;
        for (size_t at = 0; at < writer.size; at++) {
            for (unsigned flip = 1; flip < 256; flip <<= 1) {
                writer.bytes[at] ^= (unsigned char)flip;
                reader = dni_reader_of(writer.bytes, writer.size);
                dn_status status = dni_vocabulary_read(&reader, &back, NULL);
                if (status == DN_OK) {
                    check_read(&back);
                    dni_vocabulary_done(&back);
                } else {
                    assert_int_equal(status, DN_ERR_CORRUPT);
                    refused++;
                }
                writer.bytes[at] ^= (unsigned char)flip;
            }
        }
        assert_true(refused > 8);
        dni_vocabulary_done(&v);
        dni_writer_done(&writer);
    }
    texts_done(&t);
}

/* ---- errors ---- */
static void bad_weights_and_sizes(void **state) {
    (void)state;
    struct texts t;
    dni_vocabulary v;
    double mean, weight[MESSAGES] = {1, 1, 1, 1, 1, 1};
    static const double bad[] = {-1, (double)NAN, (double)INFINITY};
    dn_run run = dn_run_default();
    texts_init(&t, messages, MESSAGES, 4, NULL);
    for (size_t i = 0; i < 3; i++) {
        dn_error err = {0};
        weight[3] = bad[i];
        assert_int_equal(dni_vocabulary_fit(&t.rows, 0, weight, &(dn_text_spec){0}, &run, &v, &mean,
                                            &err),
                         DN_ERR_ARGUMENT);
        assert_int_equal(err.row, 3);
    }
    dn_error err = {0};
    assert_int_equal(dni_vocabulary_fit(&t.rows, 0, NULL,
                                        &(dn_text_spec){.buckets = DN_MAX_WORDS + 1}, &run, &v,
                                        &mean, &err),
                     DN_ERR_ARGUMENT);
    assert_string_equal(err.field, COLUMN);
    assert_int_equal(dni_vocabulary_fit(&t.rows, 0, NULL,
                                        &(dn_text_spec){.vocabulary = DN_MAX_WORDS + 1}, &run, &v,
                                        &mean, NULL),
                     DN_ERR_ARGUMENT);
    texts_done(&t);
}

static void no_memory(void **state) {
    (void)state;
    struct corpus *c = corpus_new();
    struct texts t;
    texts_init(&t, c->text, ROWS, 777, NULL);
    for (size_t way = 0; way < 2; way++) {
        dn_text_spec spec = {.weighting = DN_TEXT_TFIDF, .buckets = way == 0 ? 0 : 50};
        size_t calls = 1;
        for (size_t refuse = 1; refuse <= calls + 1; refuse++) {
            refusing memory;
            refusing_init(&memory, refuse);
            dn_run run = scattered_run();
            run.allocator = &memory.allocator;
            dni_vocabulary v;
            double mean;
            dn_error err = {0};
            dn_status status =
                dni_vocabulary_fit(&t.rows, 0, c->weight, &spec, &run, &v, &mean, &err);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_int_equal(memory.refused, 0);
                dni_vocabulary_done(&v);
                continue;
            }
            calls = refuse;
            assert_int_equal(status, DN_ERR_BUDGET);
            assert_string_equal(err.field, COLUMN);
            assert_non_null(strstr(err.message, "\"" COLUMN "\""));
            assert_non_null(strstr(err.message, "\"hash\""));
            assert_non_null(strstr(err.message, "budget"));
        }
        assert_true(calls > 3);
    }
    texts_done(&t);
    free(c);
}

static void it_stops(void **state) {
    (void)state;
    struct texts t;
    struct polls polls = {.stop_at = 1};
    dn_run run = polls_run(&polls);
    dni_vocabulary v;
    double mean;
    texts_init(&t, messages, MESSAGES, 4, NULL);
    assert_int_equal(dni_vocabulary_fit(&t.rows, 0, NULL, &(dn_text_spec){0}, &run, &v, &mean,
                                        NULL),
                     DN_ERR_STOPPED);
    t.source.fail_at = 2;
    run = dn_run_default();
    assert_int_equal(dni_vocabulary_fit(&t.rows, 0, NULL, &(dn_text_spec){0}, &run, &v, &mean,
                                        NULL),
                     DN_ERR_SOURCE);
    texts_done(&t);
}

/* Many different words: the stop function is polled while the table grows and while words are
 * chosen. */
static void it_stops_among_words(void **state) {
    (void)state;
    enum { WORDS = 300000, SLOTS = 1 << 20, A_POLL = 1 << 16 };
    char *text = xcalloc(WORDS, 14);
    const char *const only[] = {text};
    struct texts t;
    double mean;
    for (size_t i = 0, at = 0; i < WORDS; i++) {
        at += (size_t)snprintf(text + at, 15, "word%08x ", (unsigned)(i * 7654321 % WORDS));
    }
    texts_init(&t, only, 1, 1, NULL);
    for (size_t way = 0; way < 2; way++) {
        const size_t most = way == 0 ? WORDS : 1000;
        const dn_text_spec spec = {.weighting = DN_TEXT_TFIDF, .vocabulary = most};
        const size_t grown = SLOTS / 2 / ((size_t)1 << 18), walked = WORDS / A_POLL,
                     sorted = most * 12 / A_POLL, made = 2 * most / A_POLL;
        struct polls polls = {0};
        refusing memory;
        refusing_init(&memory, 0);
        dn_run run = polls_run(&polls);
        run.allocator = &memory.allocator;
        dni_vocabulary v;
        OK(dni_vocabulary_fit(&t.rows, 0, NULL, &spec, &run, &v, &mean, NULL));
        assert_int_equal(v.n_features, most);
        assert_word(&v, most - 1, way == 0 ? "word000493df" : "word000003e7");
        dni_vocabulary_done(&v);
        const size_t all = polls.n;
        assert_true(all >= grown + walked + sorted + made);
        for (size_t part = 0; part <= 8; part++) {
            const size_t at = 1 + (all - 1) * part / 8;
            dn_error err = {0};
            polls = (struct polls){.stop_at = at};
            assert_int_equal(dni_vocabulary_fit(&t.rows, 0, NULL, &spec, &run, &v, &mean, &err),
                             DN_ERR_STOPPED);
            assert_non_null(strstr(err.message, "stopped"));
            assert_int_equal(polls.n, at);
            assert_int_equal(memory.live, 0);
        }
    }
    texts_done(&t);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_others),
        cmocka_unit_test(counted_by_hand),
        cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(min_rows_counts_rows),
        cmocka_unit_test(hashed),
        cmocka_unit_test(a_long_text),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(bad_weights_and_sizes),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(it_stops),
        cmocka_unit_test(it_stops_among_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
