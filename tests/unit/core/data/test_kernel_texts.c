/* Texts as kernels see them: sets of words, paths of graphs, characters. The kernels by their definitions, from the texts themselves, against the entries. */
#include "data/encoder_bytes.h"
#include "data/paths.h"
#include "data/tokens.h"
#include "data/vocabulary.h"
#include "unit/base/alloc_fail.h"
#include "unit/core/data/chunked.h"
#include "unit/core/support.h"

#define COLUMN "text"

/* ---- a table of one text column ------------------------------------------------------------------------------------------------------------ */
struct corpus {
    chunked_column column;
    chunked source;
    size_t borders[64];
};

static void corpus_init(struct corpus *c, const char *const *text, size_t n, size_t step) {
    size_t chunks = 0;
    c->column = (chunked_column){.column = {.name = COLUMN, .type = DN_TEXT}, .text = text};
    for (c->borders[0] = 0; c->borders[chunks] < n; chunks++)
        c->borders[chunks + 1] = c->borders[chunks] + step < n ? c->borders[chunks] + step : n;
    chunked_init(&c->source, &c->column, 1, n, c->borders, chunks);
}

static const size_t only[] = {0};
static dn_encoder_spec spec_of(dn_text_weighting weighting, unsigned length) {
    return (dn_encoder_spec){.columns = only, .n_columns = 1, .text = {.weighting = weighting, .length = length}};
}

static dn_status try_fit(const char *const *text, size_t n, dn_encoder_spec spec, const uint8_t *role, size_t step, const dn_run *run,
                         dn_encoder **out, dn_error *err) {
    struct corpus c;
    corpus_init(&c, text, n, step);
    dn_status status = dn_encoder_fit(&c.source.source, &spec, role, NULL, run, out, err);
    chunked_done(&c.source);
    return status;
}

static dn_encoder *fit(const char *const *text, size_t n, dn_encoder_spec spec, const uint8_t *role) {
    dn_encoder *encoder = NULL;
    dn_run run = dn_run_default();
    OK(try_fit(text, n, spec, role, n, &run, &encoder, NULL));
    return encoder;
}

/* x of a text, dense. */
static double *features_of(const dn_encoder *encoder, const char *text) {
    dn_text_work *work = NULL;
    const uint32_t *feature;
    const double *entry;
    size_t n = 0;
    double *x = xcalloc(dn_encoder_n_features(encoder), sizeof *x);
    OK(dn_text_work_new(&work, NULL));
    OK(dn_encoder_text(encoder, 0, text, strlen(text), work, &feature, &entry, &n, NULL));
    for (size_t e = 0; e < n; e++) {
        assert_true(feature[e] < dn_encoder_n_features(encoder) && (e == 0 || feature[e] > feature[e - 1]) && entry[e] > 0);
        x[feature[e]] = entry[e];
    }
    dn_text_work_free(work);
    return x;
}

static double product(const dn_encoder *encoder, const char *a, const char *b) {
    double *x = features_of(encoder, a), *z = features_of(encoder, b), sum = 0;
    for (size_t j = 0; j < dn_encoder_n_features(encoder); j++)
        sum += x[j] * z[j];
    free(x);
    free(z);
    return sum;
}

/* ---- graphs by definition -------------------------------------------------------------------------------------------------------------------- */
enum { NODES = 7, GRAPHS = 24, TRAINED = 12 };
struct graph {
    bool joined[NODES][NODES];
    bool has[NODES]; /* some edge */
    char text[400];
};

static uint64_t draw(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

/* Labels "n0" … in any direction, some edges twice. */
static void graph_make(struct graph *g, uint64_t density, uint64_t *s) {
    size_t n = 0;
    *g = (struct graph){0};
    for (size_t i = 0; i < NODES; i++)
        for (size_t j = 0; j < i; j++) {
            if (draw(s) % 5 > density)
                continue;
            g->joined[i][j] = g->joined[j][i] = g->has[i] = g->has[j] = true;
            for (uint64_t times = 1 + draw(s) % 2; times > 0; times--) {
                const bool turned = draw(s) % 2 == 0;
                n += (size_t)snprintf(g->text + n, sizeof g->text - n, "%sn%zu-n%zu",
                                      n == 0             ? ""
                                      : draw(s) % 2 == 0 ? " "
                                                         : "\n\t",
                                      turned ? i : j, turned ? j : i);
            }
        }
}

/* How many paths of g have the labels [n]: label i is the node i, so one or none. */
static size_t paths_with(const struct graph *g, const size_t *label, size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (!g->has[label[k]] || (k > 0 && !g->joined[label[k - 1]][label[k]]))
            return 0;
        for (size_t i = 0; i < k; i++)
            if (label[i] == label[k])
                return 0;
    }
    return 1;
}

/* Σ n_A n_B over all sequences of 1 … length labels. */
static size_t shared_paths(const struct graph *a, const struct graph *b, size_t length) {
    size_t sum = 0, label[4];
    for (size_t n = 1, all = NODES; n <= length; n++, all *= NODES)
        for (size_t code = 0; code < all; code++) {
            for (size_t k = 0, rest = code; k < n; k++, rest /= NODES)
                label[k] = rest % NODES;
            sum += paths_with(a, label, n) * paths_with(b, label, n);
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
        graph_make(&g[i], i < 2 ? 1 : draw(&s) % 5, &s);
        text[i] = g[i].text;
        role[i] = i < TRAINED ? DN_ROW_TRAIN : DN_ROW_SKIP;
    }
    for (unsigned length = 1; length <= 4; length++) {
        dn_encoder *encoder = fit(text, length == 3 ? 2 : GRAPHS, spec_of(DN_TEXT_PATHS, length), length == 3 ? NULL : role);
        const size_t trained = length == 3 ? 2 : TRAINED; /* of two graphs alone the others have much that was never seen */
        size_t unseen = 0;
        for (size_t i = 0; i < GRAPHS; i++) {
            for (size_t j = 0; j < trained; j++)
                assert_true(product(encoder, text[i], text[j]) == (double)shared_paths(&g[i], &g[j], length));
            const double own = product(encoder, text[i], text[i]);
            assert_near(own, (double)shared_paths(&g[i], &g[i], length), 1e-14);
            double *x = features_of(encoder, text[i]);
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
    static const char *const text[] = {"a-b b-c"}, *const want[] = {"a", "a-b", "a-b-c", "b", "b-a", "b-c", "c", "c-b", "c-b-a"};
    dn_encoder *encoder = fit(text, 1, spec_of(DN_TEXT_PATHS, 3), NULL);
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
    assert_true(product(encoder, text[0], "c-b\nc-b b-a") == 9); /* written otherwise, the same */
    assert_true(product(encoder, text[0], "") == 0);
    assert_true(product(encoder, text[0], "A-B") == 0);
    dn_encoder_unref(encoder);
    encoder = fit(text, 1, spec_of(DN_TEXT_PATHS, 2), NULL);
    assert_true(product(encoder, text[0], "b-a a-d") == 4);
    dn_encoder_unref(encoder);
    static const char *const odd[] = {"(unseen)-\"x\" y-y:z"};
    encoder = fit(odd, 1, spec_of(DN_TEXT_PATHS, 1), NULL);
    (void)dn_encoder_feature_name(encoder, 1, name, sizeof name);
    assert_string_equal(name, COLUMN ":\"(unseen)\"");
    (void)dn_encoder_feature_name(encoder, 0, name, sizeof name);
    assert_string_equal(name, COLUMN ":\"\"\"x\"\"\"");
    dn_encoder_unref(encoder);
}

/* ---- sets of words ------------------------------------------------------------------------------------------------------------------------- */
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
        for (uint64_t k = draw(&s) % 12; k > 0; k--) {
            const size_t word = draw(&s) % (i % 3 == 0 ? VOCABULARY / 2 : VOCABULARY);
            has[i][word] = true;
            n += (size_t)snprintf(text[i] + n, sizeof text[i] - n, draw(&s) % 2 == 0 ? "W\xc3\x89%zu, " : "w\xc3\xa9%zu ", word);
        }
    }
    dn_encoder *encoder = fit(list, TEXTS, spec_of(DN_TEXT_SET, 0), role);
    assert_true(dn_encoder_n_features(encoder) <= VOCABULARY / 2 + 1);
    for (size_t i = 0; i < TEXTS; i++) {
        double own = 0;
        for (size_t k = 0; k < VOCABULARY; k++)
            own += has[i][k];
        assert_near(product(encoder, text[i], text[i]) + 1, own + 1, 1e-14);
        for (size_t j = 0; j < TEXTS; j += 3) {
            double common = 0;
            for (size_t k = 0; k < VOCABULARY; k++)
                common += has[i][k] && has[j][k];
            assert_true(product(encoder, text[i], text[j]) == common);
        }
    }
    dn_encoder_unref(encoder);
}

/* ---- characters ------------------------------------------------------------------------------------------------------------------------------ */
static void characters_come_back(void **state) {
    (void)state;
    static const char *const text[] = {"GATTACA", "", "\xc3\xa9t\xe2\x82\xac\xf0\x9f\x98\x80", "a\xff z", NULL};
    static const uint32_t want[5][8] = {
        {'G', 'A', 'T', 'T', 'A', 'C', 'A'}, {0}, {0xe9, 't', 0x20ac, 0x1f600}, {'a', 0xfffd, ' ', 'z'}, {0}};
    dn_encoder *encoder = fit(text, 5, spec_of(DN_TEXT_CHARACTERS, 0), NULL);
    struct corpus c;
    corpus_init(&c, text, 5, 2);
    dn_rows *rows = NULL;
    dn_run run = dn_run_default();
    dn_block block;
    assert_int_equal(dn_encoder_n_features(encoder), DN_MAX_CHARACTERS);
    assert_true(dn_encoder_is_sparse(encoder));
    assert_near(dn_encoder_entries(encoder), 15.0 / 5, 1e-14);
    OK(dn_rows_from_source(&c.source.source, encoder, NULL, DN_ROW_SKIP, NULL, NULL, true, &run, &rows, NULL));
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
    OK(try_fit(text, 2, spec_of(DN_TEXT_CHARACTERS, 0), NULL, 1, &run, &encoder, NULL));
    double *x = features_of(encoder, most);
    assert_true(x[DN_MAX_CHARACTERS - 1] == 'x');
    free(x);
    most[DN_MAX_CHARACTERS] = 'x';
    dn_text_work *work = NULL;
    const uint32_t *feature;
    const double *entry;
    size_t n;
    OK(dn_text_work_new(&work, NULL));
    assert_int_equal(dn_encoder_text(encoder, 0, most, DN_MAX_CHARACTERS + 1, work, &feature, &entry, &n, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "the text has more than 10000 characters");
    dn_text_work_free(work);
    dn_encoder_unref(encoder);
    dn_error_clear(&err);
    assert_int_equal(try_fit(text, 2, spec_of(DN_TEXT_CHARACTERS, 0), NULL, 1, &run, &encoder, &err), DN_ERR_DATA);
    assert_int_equal(err.row, 1);
    assert_string_equal(err.field, COLUMN);
    free(most);
}

/* ---- what is no graph -------------------------------------------------------------------------------------------------------------------------- */
static void malformed_edges(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {{"a-b a-", "edge 2, \"a-\", must be two labels joined by one \"-\""},
               {"-a", "edge 1, \"-a\", must be"},
               {"a b", "edge 1, \"a\", must be"},
               {"a--b", "edge 1, \"a--b\", must be"},
               {"a-b-c", "edge 1, \"a-b-c\", must be"},
               {"-", "edge 1, \"-\", must be"},
               {"a-b\tb-b", "edge 2, \"b-b\", joins a node with itself"},
               {"a-\xff", "edge 1 is not UTF-8"},
               {"a-"
                "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                "\xc3\xa9...\", has a label of more than 31 bytes, the most in paths of up to 8 labels"}};
    static const char *const good[] = {"a-b", NULL, "  \n", "\xc3\xa9-b"};
    dn_encoder *encoder = fit(good, 4, spec_of(DN_TEXT_PATHS, 8), NULL);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *text[] = {"a-b", "", "a-b", bad[k].text};
        static const uint8_t role[] = {DN_ROW_TRAIN, DN_ROW_TRAIN, DN_ROW_TRAIN, DN_ROW_VALIDATE};
        dn_run run = dn_run_default();
        for (size_t way = 0; way < 4; way++) { /* fitted; predicted; encoded in memory, and streamed */
            dn_error err = {0};
            dn_error_clear(&err);
            dn_encoder *none = NULL;
            dn_text_work *work = NULL;
            struct corpus c;
            dn_rows *rows = NULL;
            dn_block block;
            const uint32_t *feature;
            const double *entry;
            size_t n;
            corpus_init(&c, text, 4, 3);
            OK(dn_text_work_new(&work, NULL));
            dn_status status = DN_OK;
            if (way == 0)
                status = try_fit(text, 4, spec_of(DN_TEXT_PATHS, 8), NULL, 3, &run, &none, &err);
            else if (way == 1)
                status = dn_encoder_text(encoder, 0, bad[k].text, strlen(bad[k].text), work, &feature, &entry, &n, &err);
            else
                status = dn_rows_from_source(&c.source.source, encoder, role, DN_ROW_VALIDATE, NULL, NULL, way == 2, &run, &rows, &err);
            if (way == 3 && status == DN_OK)
                status = rows->block(rows, 0, 0, &block, &err);
            assert_int_equal(status, DN_ERR_DATA);
            assert_string_equal(err.field, COLUMN);
            assert_int_equal(err.row, way == 1 ? -1 : 3);
            assert_non_null(strstr(err.message, bad[k].why));
            assert_true((strstr(err.message, "column \"" COLUMN "\", row 3: ") == err.message) == (way != 1));
            if (rows != NULL)
                dn_rows_free(rows);
            dn_text_work_free(work);
            chunked_done(&c.source);
        }
    }
    /* the work goes on after a refusal */
    assert_true(product(encoder, "a-b", "b-a") == 4);
    dn_encoder_unref(encoder);
}

static void too_many_paths(void **state) {
    (void)state;
    char text[2000];
    size_t n = 0, count = 0;
    dni_paths paths = {.length = 8};
    dn_error err;
    for (size_t nodes = 2; nodes <= 12; nodes++) { /* complete graphs: Σ_k nodes!/(nodes − k)! paths */
        double want = 0, some = 1;
        for (size_t k = 0; k < 8 && k < nodes; k++)
            want += some *= (double)(nodes - k);
        for (size_t i = 0; i + 1 < nodes; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "v%zu-v%zu ", i, nodes - 1);
        dn_error_clear(&err);
        dn_status status = dni_paths_begin(&paths, text, n, &err);
        assert_int_equal(status, want > DN_MAX_PATHS ? DN_ERR_DATA : DN_OK);
        assert_true(status == DN_OK || strcmp(err.message, "the graph has more than 100000 paths of up to 8 labels") == 0);
        for (count = 0; status == DN_OK && dni_paths_next(&paths) > 0; count++) {
        }
        assert_true(status != DN_OK || (double)count == want);
    }
    paths.length = 1; /* the same edges, few paths */
    OK(dni_paths_begin(&paths, text, n, NULL));
    for (count = 0; dni_paths_next(&paths) > 0; count++) {
    }
    assert_int_equal(count, 12);
    char *many = xcalloc(DN_MAX_PATHS + 1, 4);
    for (size_t i = 0; i <= DN_MAX_PATHS; i++)
        memcpy(many + 4 * i, "a-b ", 4);
    OK(dni_paths_begin(&paths, many, 4 * (size_t)DN_MAX_PATHS, NULL));
    dn_error_clear(&err);
    assert_int_equal(dni_paths_begin(&paths, many, 4 * (size_t)DN_MAX_PATHS + 4, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "the graph has more than 100000 edges");
    free(many);
    dni_paths_done(&paths);
}

static void bad_lengths(void **state) {
    (void)state;
    static const char *const text[] = {"a-b"};
    for (unsigned length = 0; length <= 9; length += 9) {
        dn_encoder *encoder = NULL;
        dn_run run = dn_run_default();
        dn_error err = {0};
        assert_int_equal(try_fit(text, 1, spec_of(DN_TEXT_PATHS, length), NULL, 1, &run, &encoder, &err), DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "text");
    }
}

/* ---- threads, chunks, bytes, memory ------------------------------------------------------------------------------------------------------------ */
static const dn_text_weighting weightings[] = {DN_TEXT_SET, DN_TEXT_PATHS, DN_TEXT_CHARACTERS};

enum { MANY = 9000 };
static const char **many_graphs(char (**out_room)[48]) {
    char(*room)[48] = xcalloc(MANY, sizeof *room);
    const char **text = xcalloc(MANY, sizeof *text);
    uint64_t s = 77;
    for (size_t i = 0; i < MANY; i++) {
        size_t n = 0;
        for (uint64_t k = draw(&s) % 4; k > 0; k--) {
            const uint64_t a = draw(&s) % 50;
            n += (size_t)snprintf(room[i] + n, sizeof room[i] - n, "N%u-m%u ", (unsigned)a, (unsigned)(a + draw(&s) % 3));
        }
        text[i] = i % 13 == 0 ? NULL : room[i];
    }
    *out_room = room;
    return text;
}

static dni_writer bytes_of(const dn_encoder *encoder) {
    dni_writer writer;
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    assert_non_null(writer.bytes);
    return writer;
}

static void the_same_however_it_runs(void **state) {
    (void)state;
    char(*room)[48];
    const char **text = many_graphs(&room);
    for (size_t w = 0; w < 3; w++) {
        dni_writer first = {0};
        for (size_t way = 0; way < 4; way++) {
            dn_run run = way % 2 == 0 ? dn_run_default() : scattered_run();
            dn_encoder *encoder = NULL;
            OK(try_fit(text, MANY, spec_of(weightings[w], 3), NULL, way < 2 ? MANY : 777, &run, &encoder, NULL));
            dni_writer writer = bytes_of(encoder);
            if (way == 0) {
                first = writer;
                dn_encoder_unref(encoder);
                continue;
            }
            assert_int_equal(writer.size, first.size);
            assert_memory_equal(writer.bytes, first.bytes, first.size);
            dni_writer_done(&writer);
            dn_encoder_unref(encoder);
        }
        dni_writer_done(&first);
    }
    free((void *)text);
    free(room);
}

/* One read back encodes the same; a version that did not know the weighting did not write it. */
static void there_and_back(void **state) {
    (void)state;
    static const char *const text[] = {"a-b b-c", "c-d", NULL};
    for (size_t w = 0; w < 3; w++) {
        dn_encoder *encoder = fit(text, 3, spec_of(weightings[w], 3), NULL), *back = NULL;
        dni_writer writer = bytes_of(encoder);
        dni_reader reader = dni_reader_of(writer.bytes, writer.size);
        OK(dni_encoder_read(&reader, &back, NULL));
        assert_int_equal(dn_encoder_n_features(back), dn_encoder_n_features(encoder));
        assert_true(dn_encoder_is_sparse(back) == dn_encoder_is_sparse(encoder));
        double *x = features_of(encoder, "a-b b-e e-f"), *z = features_of(back, "a-b b-e e-f");
        assert_memory_equal(x, z, dn_encoder_n_features(encoder) * sizeof *x);
        free(x);
        free(z);
        dn_encoder_unref(back);
        for (unsigned char version = 2; version <= 3; version++) {
            writer.bytes[0] = version;
            reader = dni_reader_of(writer.bytes, writer.size);
            assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_ERR_CORRUPT);
        }
        dni_writer_done(&writer);
        dn_encoder_unref(encoder);
    }
}

static void memory_runs_out(void **state) {
    (void)state;
    static const char *const text[] = {"a-b b-c c-d e-f", "a-b c-f f-g", NULL, "x-y"};
    if (!alloc_fail_works())
        skip();
    for (size_t w = 0; w < 3; w++) {
        struct corpus c;
        corpus_init(&c, text, 4, 4);
        dn_run run = dn_run_default();
        dn_encoder *encoder = NULL;
        const dn_encoder_spec spec = spec_of(weightings[w], 3);
        dn_status status = DN_ERR_MEMORY;
        for (long k = 1; status != DN_OK; k++) {
            dn_error err = {0};
            alloc_fail_at = k;
            status = dn_encoder_fit(&c.source.source, &spec, NULL, NULL, &run, &encoder, &err);
            alloc_fail_at = 0;
            assert_true(status == DN_OK || status == DN_ERR_MEMORY);
            assert_int_equal(err.code, status);
        }
        status = DN_ERR_MEMORY;
        for (long k = 1; status != DN_OK; k++) {
            dn_text_work *work = NULL;
            const uint32_t *feature;
            const double *entry;
            size_t n;
            alloc_fail_at = k;
            status = dn_text_work_new(&work, NULL);
            if (status == DN_OK)
                status = dn_encoder_text(encoder, 0, "a-b q-r r-s", 11, work, &feature, &entry, &n, NULL);
            alloc_fail_at = 0;
            assert_true(status == DN_OK || status == DN_ERR_MEMORY);
            assert_true(k < 100);
            dn_text_work_free(work);
        }
        dn_encoder_unref(encoder);
        chunked_done(&c.source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequences_of_a_graph), cmocka_unit_test(paths_of_random_graphs),
        cmocka_unit_test(words_in_common),          cmocka_unit_test(characters_come_back),
        cmocka_unit_test(too_many_characters),      cmocka_unit_test(malformed_edges),
        cmocka_unit_test(too_many_paths),           cmocka_unit_test(bad_lengths),
        cmocka_unit_test(the_same_however_it_runs), cmocka_unit_test(there_and_back),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
