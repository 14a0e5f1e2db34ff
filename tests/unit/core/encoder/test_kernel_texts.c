/* Texts for kernels: paths of graphs, sets of words, characters, compared with their
 * definitions. */
#include "text/tokens.h"
#include "unit/core/encoder/kernel_texts.h"

/* ---- graphs ---- */
enum { NODES = 7, GRAPHS = 24, TRAINED = 12 };
struct graph {
    bool joined[NODES][NODES];
    bool has[NODES]; /* at least one edge */
    char text[400];
};

/* Makes a random graph with the labels "n0" …. Edges are written in either direction; some are
 * written twice. */
static void graph_make(struct graph *g, uint64_t density, uint64_t *s) {
    size_t n = 0;
    *g = (struct graph){0};
    for (size_t i = 0; i < NODES; i++) {
        for (size_t j = 0; j < i; j++) {
            if (texts_random(s) % 5 > density) {
                continue;
            }
            g->joined[i][j] = g->joined[j][i] = g->has[i] = g->has[j] = true;
            for (uint64_t times = 1 + texts_random(s) % 2; times > 0; times--) {
                const bool turned = texts_random(s) % 2 == 0;
                n += (size_t)snprintf(g->text + n, sizeof g->text - n, "%sn%zu-n%zu",
                                      n == 0                     ? ""
                                      : texts_random(s) % 2 == 0 ? " "
                                                                 : "\n\t",
                                      turned ? i : j, turned ? j : i);
            }
        }
    }
}

/* Returns the number of paths of g with the labels [n]. It is 0 or 1, as every label names one
 * node. */
static size_t paths_with(const struct graph *g, const size_t *label, size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (!g->has[label[k]] || (k > 0 && !g->joined[label[k - 1]][label[k]])) {
            return 0;
        }
        for (size_t i = 0; i < k; i++) {
            if (label[i] == label[k]) {
                return 0;
            }
        }
    }
    return 1;
}

/* Returns the sum of n_A n_B over all sequences of 1 … length labels; n_G is the number of paths
 * of graph G with the sequence. */
static size_t shared_paths(const struct graph *a, const struct graph *b, size_t length) {
    size_t sum = 0, label[4];
    for (size_t n = 1, all = NODES; n <= length; n++, all *= NODES) {
        for (size_t code = 0; code < all; code++) {
            for (size_t k = 0, rest = code; k < n; k++, rest /= NODES) {
                label[k] = rest % NODES;
            }
            sum += paths_with(a, label, n) * paths_with(b, label, n);
        }
    }
    return sum;
}

static void paths_of_random_graphs(void **state) {
    (void)state;
    static struct graph g[GRAPHS];
    const char *text[GRAPHS];
    uint8_t role[GRAPHS];
    uint64_t s = 17;
    for (size_t i = 0; i < GRAPHS; i++) {
        graph_make(&g[i], i < 2 ? 1 : texts_random(&s) % 5, &s);
        text[i] = g[i].text;
        role[i] = i < TRAINED ? DN_ROW_TRAIN : DN_ROW_SKIP;
    }
    for (unsigned length = 1; length <= 4; length++) {
        dn_encoder *encoder =
            texts_fit(text, length == 3 ? 2 : GRAPHS, texts_spec(DN_TEXT_PATHS, length),
                      length == 3 ? NULL : role);
        /* length 3: fitted to two graphs, so that the others have many unseen sequences */
        const size_t trained = length == 3 ? 2 : TRAINED;
        size_t unseen = 0;
        for (size_t i = 0; i < GRAPHS; i++) {
            for (size_t j = 0; j < trained; j++) {
                assert_true(product(encoder, text[i], text[j]) ==
                            (double)shared_paths(&g[i], &g[j], length));
            }
            const double own = product(encoder, text[i], text[i]);
            assert_near(own, (double)shared_paths(&g[i], &g[i], length), 1e-14);
            double *x = texts_features(encoder, text[i]);
            unseen += x[dn_encoder_n_features(encoder) - 1] > 0;
            assert_true(i >= trained || x[dn_encoder_n_features(encoder) - 1] == 0);
            free(x);
        }
        assert_true(length != 3 || unseen > 5);
        dn_encoder_unref(encoder);
    }
}

/* The example of encoder.h. */
static void the_sequences_of_a_graph(void **state) {
    (void)state;
    static const char *const text[] = {"a-b b-c"}, *const want[] = {"a", "a-b", "a-b-c",
                                                                    "b", "b-a", "b-c",
                                                                    "c", "c-b", "c-b-a"};
    dn_encoder *encoder = texts_fit(text, 1, texts_spec(DN_TEXT_PATHS, 3), NULL);
    const double *idf;
    const dn_strings words = dn_encoder_words(encoder, 0, &idf);
    char name[64];
    assert_int_equal(words.n, 9);
    assert_int_equal(dn_encoder_n_features(encoder), 10);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(words.start[i + 1] - words.start[i], strlen(want[i]));
        assert_memory_equal(words.bytes + words.start[i], want[i], strlen(want[i]));
    }
    (void)dn_encoder_feature_name(encoder, 2, name, sizeof name);
    assert_string_equal(name, COLUMN ":a-b-c");
    (void)dn_encoder_feature_name(encoder, 9, name, sizeof name);
    assert_string_equal(name, COLUMN ":(unseen)");
    /* the same graph written differently */
    assert_true(product(encoder, text[0], "c-b\nc-b b-a") == 9);
    assert_true(product(encoder, text[0], "") == 0);
    assert_true(product(encoder, text[0], "A-B") == 0);
    dn_encoder_unref(encoder);
    encoder = texts_fit(text, 1, texts_spec(DN_TEXT_PATHS, 2), NULL);
    assert_true(product(encoder, text[0], "b-a a-d") == 4);
    dn_encoder_unref(encoder);
    static const char *const odd[] = {"(unseen)-\"x\" y-y:z"};
    encoder = texts_fit(odd, 1, texts_spec(DN_TEXT_PATHS, 1), NULL);
    (void)dn_encoder_feature_name(encoder, 1, name, sizeof name);
    assert_string_equal(name, COLUMN ":\"(unseen)\"");
    (void)dn_encoder_feature_name(encoder, 0, name, sizeof name);
    assert_string_equal(name, COLUMN ":\"\"\"x\"\"\"");
    dn_encoder_unref(encoder);
}

/* ---- sets of words ---- */
enum { VOCABULARY = 30, TEXTS = 60 };

static void words_in_common(void **state) {
    (void)state;
    static char text[TEXTS][400];
    static bool has[TEXTS][VOCABULARY];
    const char *list[TEXTS];
    uint8_t role[TEXTS];
    uint64_t s = 5;
    for (size_t i = 0; i < TEXTS; i++) {
        size_t n = 0;
        list[i] = text[i];
        role[i] = i % 3 == 0 ? DN_ROW_TRAIN : DN_ROW_SKIP;
        for (uint64_t k = texts_random(&s) % 12; k > 0; k--) {
            const size_t word = texts_random(&s) % (i % 3 == 0 ? VOCABULARY / 2 : VOCABULARY);
            has[i][word] = true;
            n += (size_t)snprintf(text[i] + n, sizeof text[i] - n,
                                  texts_random(&s) % 2 == 0 ? "W\xc3\x89%zu, " : "w\xc3\xa9%zu ",
                                  word);
        }
    }
    dn_encoder *encoder = texts_fit(list, TEXTS, texts_spec(DN_TEXT_SET, 0), role);
    assert_true(dn_encoder_n_features(encoder) <= VOCABULARY / 2 + 1);
    for (size_t i = 0; i < TEXTS; i++) {
        double own = 0;
        for (size_t k = 0; k < VOCABULARY; k++) {
            own += has[i][k];
        }
        assert_near(product(encoder, text[i], text[i]) + 1, own + 1, 1e-14);
        for (size_t j = 0; j < TEXTS; j += 3) {
            double common = 0;
            for (size_t k = 0; k < VOCABULARY; k++) {
                common += has[i][k] && has[j][k];
            }
            assert_true(product(encoder, text[i], text[j]) == common);
        }
    }
    dn_encoder_unref(encoder);
}

/* ---- characters ---- */
static void characters_come_back(void **state) {
    (void)state;
    static const char *const text[] = {"GATTACA", "", "\xc3\xa9t\xe2\x82\xac\xf0\x9f\x98\x80",
                                       "a\xff z", NULL};
    static const uint32_t want[5][8] = {{'G', 'A', 'T', 'T', 'A', 'C', 'A'},
                                        {0},
                                        {0xe9, 't', 0x20ac, 0x1f600},
                                        {'a', 0xfffd, ' ', 'z'},
                                        {0}};
    dn_encoder *encoder = texts_fit(text, 5, texts_spec(DN_TEXT_CHARACTERS, 0), NULL);
    struct corpus c;
    corpus_init(&c, text, 5, 2);
    dn_rows *rows = NULL;
    dn_run run = dn_run_default();
    dn_block block;
    assert_int_equal(dn_encoder_n_features(encoder), DN_MAX_CHARACTERS);
    assert_true(dn_encoder_is_sparse(encoder));
    assert_near(dn_encoder_entries(encoder), 15.0 / 5, 1e-14);
    OK(dn_rows_from_source(&c.source.source, encoder, NULL, DN_ROW_SKIP, NULL, NULL, true, &run,
                           &rows, NULL));
    OK(rows->block(rows, 0, 0, &block, NULL));
    for (size_t i = 0; i < 5; i++) {
        const size_t first = block.x.row_start[i], n = block.x.row_start[i + 1] - first;
        for (size_t j = 0; j < n; j++) {
            assert_int_equal(block.x.cols[first + j], j);
            assert_true(block.x.values[first + j] == want[i][j] && want[i][j] > 0);
        }
        assert_int_equal(want[i][n], 0);
    }
    char name[64];
    (void)dn_encoder_feature_name(encoder, 2, name, sizeof name);
    assert_string_equal(name, COLUMN ":[3]");
    uint32_t code[DN_MAX_CHARACTERS];
    size_t n;
    OK(dni_characters("a\0b", 3, code, &n, NULL));
    assert_true(n == 3 && code[1] == 0xfffd);
    dn_rows_free(rows);
    chunked_done(&c.source);
    dn_encoder_unref(encoder);
}

static void too_many_characters(void **state) {
    (void)state;
    char *most = xcalloc(DN_MAX_CHARACTERS + 2, 1);
    const char *text[] = {"short", most};
    dn_encoder *encoder = NULL;
    dn_run run = dn_run_default();
    dn_error err = {0};
    memset(most, 'x', DN_MAX_CHARACTERS);
    OK(texts_try_fit(text, 2, texts_spec(DN_TEXT_CHARACTERS, 0), NULL, 1, &run, &encoder, NULL));
    double *x = texts_features(encoder, most);
    assert_true(x[DN_MAX_CHARACTERS - 1] == 'x');
    free(x);
    most[DN_MAX_CHARACTERS] = 'x';
    dn_text_work *work = NULL;
    const uint32_t *feature;
    const double *entry;
    size_t n;
    OK(dn_text_work_new(&work, NULL));
    assert_int_equal(dn_encoder_text(encoder, 0, most, DN_MAX_CHARACTERS + 1, work, &feature,
                                     &entry, &n, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.message, "the text has more than 10000 characters");
    dn_text_work_free(work);
    dn_encoder_unref(encoder);
    dn_error_clear(&err);
    assert_int_equal(texts_try_fit(text, 2, texts_spec(DN_TEXT_CHARACTERS, 0), NULL, 1, &run,
                                   &encoder, &err),
                     DN_ERR_DATA);
    assert_int_equal(err.row, 1);
    assert_string_equal(err.field, COLUMN);
    free(most);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequences_of_a_graph), cmocka_unit_test(paths_of_random_graphs),
        cmocka_unit_test(words_in_common),          cmocka_unit_test(characters_come_back),
        cmocka_unit_test(too_many_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
