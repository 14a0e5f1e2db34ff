#include "kernel_rows.h"
#include "sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBERS = 4,
    PLACES = 48,
    WORDS = 96,
    SEEN_WORDS = 84,
    MOST_WORDS = 24,
    MOST_EDGES = 6,
    LABELS = 16,
    MOST_FEATURES = 900,
    BUCKETS = 64
};

/* The values that a row is made of. */
struct row {
    double number[NUMBERS], entry[PLACES];
    size_t n_words, word[MOST_WORDS]; /* the words in order; word k + WORDS is word k in capitals */
    size_t n_edges;
    char edge[MOST_EDGES][2];
    size_t class_;
    double v;
};
static struct row rows[ROWS];

/* ---- making them ---- */
static size_t below(uint64_t *state, size_t n) {
    return (size_t)(next_uniform(state) * (double)n);
}

/* Each class has some words, labels and nodes that are more frequent in it. */
static struct row make_row(uint64_t *state, bool is_new) {
    struct row r = {.class_ = below(state, 3), .v = (double)below(state, 4) * 0.75};
    for (size_t j = 0; j < NUMBERS; j++) {
        r.number[j] = round(1000 * (next_uniform(state) * (double)(j + 1) +
                                    (j < 2 ? 0.6 : 0.1) * (double)r.class_ - 0.5)) /
                      1000;
    }
    for (size_t j = 0; j < PLACES; j++) {
        if (below(state, 7) == 0 || (j % 3 == r.class_ && below(state, 8) == 0)) {
            r.entry[j] = 0.25 * (double)(1 + below(state, 8));
        }
    }
    r.n_words = 3 + below(state, MOST_WORDS - 3);
    for (size_t k = 0; k < r.n_words; k++) {
        const size_t word = below(state, is_new ? WORDS : SEEN_WORDS);
        r.word[k] = below(state, 4) == 0 ? word / 3 * 3 + r.class_ : word;
        r.word[k] += below(state, 5) == 0 ? WORDS : 0;
    }
    r.n_edges = 3 + below(state, MOST_EDGES - 2);
    for (size_t k = 0; k < r.n_edges; k++) {
        const size_t from = below(state, 3) == 0 ? 4 * r.class_ : below(state, LABELS);
        r.edge[k][0] = (char)('a' + from);
        r.edge[k][1] = (char)('a' + (from + 1 + below(state, LABELS - 1)) % LABELS);
    }
    return r;
}

static void make_rows(void) {
    uint64_t state = 77;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = make_row(&state, i >= TRAINED);
        if (i >= DIFFERENT && i < TRAINED) {
            const double v = rows[i].v;
            rows[i] = rows[3 * (i - DIFFERENT)];
            rows[i].v = v;
        }
        if (i == 7 || i == TRAINED + 1) {
            rows[i].n_words = rows[i].n_edges = 0;
        }
    }
}

/* Words of one to four syllables, and two that are not ASCII. */
static const char *word_of(size_t word) {
    static const char *const syllables[] = {"ba", "ko", "mi", "ru", "sel", "tan"};
    static const char *const others[][2] = {{"\xc3\xa9t\xc3\xa9", "\xc3\x89t\xc3\x89"},
                                            {"\xc3\xbc"
                                             "ber",
                                             "\xc3\x9c"
                                             "ber"}};
    const bool capital = word >= WORDS;
    word %= WORDS;
    if (word < 2) {
        return others[word][capital];
    }
    char *out = keep(calloc(1, 32), free);
    for (size_t rest = word; rest > 0; rest /= 6) {
        strcat(out, syllables[rest % 6]);
    }
    out[0] = (char)(capital ? out[0] - 'a' + 'A' : out[0]);
    return out;
}

static const char *note_of(size_t i) {
    static const char *const between[] = {" ", ", ", "! ", "-", "  "};
    char *out = keep(calloc(MOST_WORDS + 1, 24), free);
    for (size_t k = 0; k < rows[i].n_words; k++) {
        (void)sprintf(out + strlen(out), "%s%s", k > 0 ? between[(i + k) % 5] : "",
                      word_of(rows[i].word[k]));
    }
    return out;
}

static const char *edges_of(size_t i) {
    char *out = keep(calloc(MOST_EDGES + 1, 8), free);
    for (size_t k = 0; k < rows[i].n_edges; k++) {
        (void)sprintf(out + strlen(out), "%s%c-%c", k > 0 ? " " : "", rows[i].edge[k][0],
                      rows[i].edge[k][1]);
    }
    return out;
}

double kernel_gram(size_t row, size_t trained) {
    double square = 0;
    for (size_t j = 0; j < NUMBERS; j++) {
        square += pow(rows[row].number[j] - rows[trained].number[j], 2);
    }
    return 1 / (1 + square);
}

/* ---- datasets ---- */
/* Buffer for text that grows; large enough for the rows of any dataset here. */
enum { ROOM = 1 << 19 };

static const char *table_csv(void) {
    char *csv = keep(malloc(ROOM), free),
         *at = csv + sprintf(csv, "x1,x2,x3,x4,note,edges,v,class\n");
    for (size_t i = 0; i < TRAINED; i++) {
        for (size_t j = 0; j < NUMBERS; j++) {
            at += sprintf(at, "%.17g,", rows[i].number[j]);
        }
        at += sprintf(at, "\"%s\",\"%s\",%g,%c\n", note_of(i), edges_of(i), rows[i].v,
                      (char)('a' + rows[i].class_));
    }
    return csv;
}

static const char *gram_csv(void) {
    char *csv = keep(malloc(ROOM), free), *at = csv;
    for (size_t k = 0; k < TRAINED; k++) {
        at += sprintf(at, "k%zu,", k);
    }
    at += sprintf(at, "v,class\n");
    for (size_t i = 0; i < TRAINED; i++) {
        for (size_t k = 0; k < TRAINED; k++) {
            at += sprintf(at, "%.17g,", kernel_gram(i, k));
        }
        at += sprintf(at, "%g,%s\n", rows[i].v, rows[i].class_ > 0 ? "b" : "a");
    }
    return csv;
}

static const char *entries_lines(size_t n, bool bits) {
    char *lines = keep(malloc(ROOM), free), *at = lines;
    for (size_t i = 0; i < n; i++) {
        at += sprintf(at, "%d", rows[i].class_ > 0 ? 1 : -1);
        for (size_t j = 0; j < PLACES; j++) {
            if (rows[i].entry[j] != 0) {
                at += sprintf(at, " %zu:%g", j + 1, bits ? 1 : rows[i].entry[j]);
            }
        }
        at += sprintf(at, "\n");
    }
    return lines;
}

void kernel_rows_upload(void) {
    make_rows();
    status_check(call_upload("/v1/datasets/table?types=note:text,edges:text", table_csv()), 201);
    status_check(call_upload("/v1/datasets/gram", gram_csv()), 201);
    for (int bits = 0; bits < 2; bits++) {
        status_check(call_upload_bytes(bits ? "/v1/datasets/bits" : "/v1/datasets/entries",
                                       entries_lines(TRAINED, bits), 0,
                                       "Content-Type: text/x-svmlight"),
                     201);
    }
}

const struct kernel_rows *kernel_rows_of(const char *dataset) {
    struct kernel_rows *r = keep(calloc(1, sizeof *r), free);
    const bool three = strcmp(dataset, "table") == 0;
    r->n_classes = three ? 3 : 2;
    for (size_t i = 0; i < ROWS; i++) {
        r->class_[i] = three ? rows[i].class_ : rows[i].class_ > 0;
    }
    for (size_t i = 0; i < TRAINED; i++) {
        r->v[i] = rows[i].v;
    }
    return r;
}

/* The columns of row i that the view uses, as an instance. */
static json_t *instance_of(enum view_kind kind, size_t i) {
    json_t *row = json_object();
    for (size_t k = 0; kind == VIEW_PLACES && k < TRAINED; k++) {
        json_object_set_new(row, text("k%zu", k), json_real(kernel_gram(i, k)));
    }
    for (size_t j = 0; (kind == VIEW_NUMBERS || kind == VIEW_MIXED) && j < NUMBERS; j++) {
        json_object_set_new(row, text("x%zu", j + 1), json_real(rows[i].number[j]));
    }
    if (kind >= VIEW_COUNTS && kind <= VIEW_CHARACTERS) {
        json_object_set_new(row, "note", json_string(note_of(i)));
    }
    if (kind >= VIEW_PATHS_1 && kind <= VIEW_PATHS_3) {
        json_object_set_new(row, "edges", json_string(edges_of(i)));
    }
    return row;
}

const char *kernel_rows_body(enum view_kind kind, const char **type) {
    if (kind == VIEW_ENTRIES || kind == VIEW_BITS) {
        *type = "Content-Type: text/x-svmlight";
        return entries_lines(ROWS, kind == VIEW_BITS);
    }
    json_t *instances = json_array(),
           *body = keep(json_pack("{so}", "instances", instances), (void (*)(void *))json_decref);
    for (size_t i = 0; i < ROWS; i++) {
        json_array_append_new(instances, instance_of(kind, i));
    }
    *type = "Content-Type: application/json";
    return keep(json_dumps(body, JSON_REAL_PRECISION(17)), free);
}

/* ---- features ---- */
/* While features are collected, each row has space for the largest number of them. */
static struct view *view_new(void) {
    struct view *view = keep(calloc(1, sizeof *view), free);
    view->names = keep(calloc(MOST_FEATURES, sizeof *view->names), free);
    view->raw = keep(calloc((size_t)ROWS * MOST_FEATURES, sizeof(double)), free);
    view->x = keep(calloc((size_t)ROWS * MOST_FEATURES, sizeof(double)), free);
    view->mean = keep(calloc(MOST_FEATURES, sizeof(double)), free);
    view->scale = keep(calloc(MOST_FEATURES, sizeof(double)), free);
    return view;
}

static double *raw_of(struct view *view, size_t row, const char *name) {
    size_t j = 0;
    while (j < view->d && strcmp(view->names[j], name) != 0) {
        j++;
    }
    if (j == view->d) {
        assert_true(view->d < MOST_FEATURES);
        view->names[view->d++] = name;
    }
    return &view->raw[row * MOST_FEATURES + j];
}

static void add_numbers(struct view *view) {
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < NUMBERS; j++) {
            *raw_of(view, i, text("x%zu", j + 1)) = rows[i].number[j];
        }
    }
}

/* 64-bit FNV-1a of the bytes, the hash that core/text uses. */
static uint64_t fnv(const char *word) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *word != '\0'; word++) {
        hash = (hash ^ (unsigned char)*word) * UINT64_C(1099511628211);
    }
    return hash;
}

static void count_words(struct view *view, bool hashed) {
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < rows[i].n_words; k++) {
            const char *word = word_of(rows[i].word[k] % WORDS);
            *raw_of(view, i,
                    hashed ? text("note:#%" PRIu64, fnv(word) % BUCKETS) : text("note:%s", word)) +=
                1;
        }
    }
}

/* Σv of the training rows that contain feature j. */
static double frequency(const struct view *view, const double *v, size_t j) {
    double sum = 0;
    for (size_t i = 0; i < TRAINED; i++) {
        sum += view->raw[i * MOST_FEATURES + j] != 0 ? v[i] : 0;
    }
    return sum;
}

/* Removes the words that no training row contains. */
static void forget_unseen(struct view *view, const double *v) {
    for (size_t j = 0; j < view->d; j++) {
        const bool seen = frequency(view, v, j) > 0;
        for (size_t i = 0; i < ROWS && !seen; i++) {
            view->raw[i * MOST_FEATURES + j] = 0;
        }
    }
}

static void no_counts(struct view *view) {
    for (size_t e = 0; e < (size_t)ROWS * MOST_FEATURES; e++) {
        view->raw[e] = view->raw[e] != 0;
    }
}

static void weigh_words(struct view *view, const double *v) {
    double n = 0;
    for (size_t i = 0; i < TRAINED; i++) {
        n += v[i];
    }
    for (size_t j = 0; j < view->d; j++) {
        const double idf = 1 + log((1 + n) / (1 + frequency(view, v, j)));
        for (size_t i = 0; i < ROWS; i++) {
            view->raw[i * MOST_FEATURES + j] *= idf;
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        double square = 0, *row = view->raw + i * MOST_FEATURES;
        for (size_t j = 0; j < view->d; j++) {
            square += row[j] * row[j];
        }
        for (size_t j = 0; j < view->d && square > 0; j++) {
            row[j] /= sqrt(square);
        }
    }
}

static void add_characters(struct view *view) {
    for (size_t i = 0; i < ROWS; i++) {
        const unsigned char *at = (const unsigned char *)note_of(i);
        for (size_t k = 0; *at != '\0'; k++) { /* a character of one or two bytes */
            const bool two = *at >= 0x80;
            *raw_of(view, i, text("note:[%zu]", k + 1)) =
                two ? (at[0] & 0x1f) << 6 | (at[1] & 0x3f) : *at;
            at += two ? 2 : 1;
        }
    }
}

static bool joined(const struct row *r, char a, char b) {
    for (size_t k = 0; k < r->n_edges; k++) {
        if ((r->edge[k][0] == a && r->edge[k][1] == b) ||
            (r->edge[k][0] == b && r->edge[k][1] == a)) {
            return true;
        }
    }
    return false;
}

/* Adds all paths that start with `path`. */
static void add_paths(struct view *view, size_t i, const char *path, size_t n, size_t most) {
    *raw_of(view, i, text("edges:%s", path)) = 1;
    for (char next = 'a'; n < most && next < 'a' + LABELS; next++) {
        if (strchr(path, next) == NULL && joined(&rows[i], path[strlen(path) - 1], next)) {
            add_paths(view, i, text("%s-%c", path, next), n + 1, most);
        }
    }
}

static void add_all_paths(struct view *view, size_t most) {
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < 2 * rows[i].n_edges; k++) {
            add_paths(view, i, text("%c", rows[i].edge[k / 2][k % 2]), 1, most);
        }
    }
}

static void add_entries(struct view *view, bool bits) {
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < PLACES; j++) {
            if (rows[i].entry[j] != 0) {
                *raw_of(view, i, text("f%zu", j + 1)) = bits ? 1 : rows[i].entry[j];
            }
        }
    }
}

static void add_places(struct view *view) {
    for (size_t i = 0; i < TRAINED; i++) {
        *raw_of(view, i, text("k%zu", i)) = 1;
    }
}

/* Standardises the columns of numbers to mean 0 and deviation 1. */
static void standardise(struct view *view, const double *v) {
    for (size_t j = 0; j < view->d; j++) {
        double n = 0, mean = 0, square = 0;
        for (size_t i = 0; i < TRAINED; i++) {
            n += v[i], mean += v[i] * view->raw[i * MOST_FEATURES + j];
        }
        mean /= n;
        for (size_t i = 0; i < TRAINED; i++) {
            square += v[i] * pow(view->raw[i * MOST_FEATURES + j] - mean, 2);
        }
        const bool number = view->names[j][0] == 'x';
        view->mean[j] = number ? mean : 0;
        view->scale[j] = number ? sqrt(square / n) : 1;
        for (size_t i = 0; i < ROWS; i++) {
            view->x[i * MOST_FEATURES + j] =
                (view->raw[i * MOST_FEATURES + j] - view->mean[j]) / view->scale[j];
        }
    }
}

/* Moves the rows together: row i starts at i·d. */
static void close_up(struct view *view, double *x) {
    for (size_t i = 1; i < ROWS; i++) {
        memmove(x + i * view->d, x + i * MOST_FEATURES, view->d * sizeof *x);
    }
}

const struct view *view_of(enum view_kind kind, const double *v) {
    struct view *view = view_new();
    if (kind == VIEW_NUMBERS || kind == VIEW_MIXED) {
        add_numbers(view);
    }
    if (kind >= VIEW_COUNTS && kind <= VIEW_MIXED) {
        count_words(view, kind == VIEW_HASHED || kind == VIEW_HASHED_TFIDF);
    }
    if (kind >= VIEW_PATHS_1 && kind <= VIEW_PATHS_3) {
        add_all_paths(view, 1 + (size_t)kind - VIEW_PATHS_1);
    }
    if (kind == VIEW_COUNTS || kind == VIEW_BINARY || kind == VIEW_TFIDF || kind == VIEW_MIXED) {
        forget_unseen(view, v);
    }
    if (kind == VIEW_BINARY || kind == VIEW_SET) {
        no_counts(view);
    }
    if (kind == VIEW_TFIDF || kind == VIEW_HASHED_TFIDF) {
        weigh_words(view, v);
    }
    if (kind == VIEW_CHARACTERS) {
        add_characters(view);
    }
    if (kind == VIEW_ENTRIES || kind == VIEW_BITS) {
        add_entries(view, kind == VIEW_BITS);
    }
    if (kind == VIEW_PLACES) {
        add_places(view);
    }
    standardise(view, v);
    close_up(view, view->raw);
    close_up(view, view->x);
    return view;
}
