/* Tests of many appends, one after the other: the result must be the same as that of all rows
 * uploaded at once, in few chunks; no row may be written often; and earlier versions must not
 * change. */
#include "base/hash.h"
#include "nasty_rows.h"
#include "table_helper.h"
#include "unit/base/alloc_fail.h"
#include <jansson.h>

/* A stored chunk. It never changes. */
struct piece {
    struct table_blob *blobs; /* [n_columns] the encoded columns */
    int64_t rows;
    size_t part; /* index of the stored part that contains the chunk */
};

enum { MOST_PIECES = 8000, MOST_CHUNKS = 2000, MOST_OWN = 64 };

/* All stored chunks of all versions. */
struct pool {
    struct piece piece[MOST_PIECES];
    size_t n, n_parts, n_columns;
    int64_t written; /* rows in all chunks */
};

struct version {
    struct pool *pool;
    size_t chunk[MOST_CHUNKS]; /* indices of its chunks in pool->piece */
    size_t n;
    bool well;
    struct table_summary sum; /* its pointers are invalid; the copies below are valid */
    char *columns, *notes;
    struct table_blob *saved; /* [n_saved] saved column summaries */
    size_t n_saved;
    /* the first chunk of the previous version that was read to make this version */
    int64_t first_read;
    struct problem problem;
};

/* The state of a version while it is made. */
struct making {
    const struct version *onto; /* the version that it is appended to; NULL: none */
    struct pool *pool;
    /* indices of the new chunks in pool->piece, in the order in which the sink received them */
    size_t own[MOST_OWN];
    int64_t number[MOST_OWN];
    size_t n_own;
    int64_t first_read; /* the lowest number of a chunk that was read */
};

static bool keep_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    struct making *m = arg;
    struct pool *pool = m->pool;
    (void)problem;
    assert_true(pool->n < MOST_PIECES && m->n_own < MOST_OWN && n_rows > 0);
    struct table_blob *copy = malloc(n_columns * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, blobs, n_columns * sizeof *copy);
    pool->n_columns = n_columns;
    pool->written += n_rows;
    m->number[m->n_own] = chunk;
    m->own[m->n_own++] = pool->n;
    pool->piece[pool->n++] = (struct piece){.blobs = copy, .rows = n_rows, .part = pool->n_parts};
    return true;
}

static bool read_chunk(void *arg, int64_t chunk, size_t column, struct buf *out,
                       struct problem *problem) {
    struct making *m = arg;
    const size_t stored = m->onto != NULL ? m->onto->n : 0;
    (void)problem;
    assert_true(chunk >= 0 && (size_t)chunk < stored + m->n_own);
    m->first_read = chunk < m->first_read ? chunk : m->first_read;
    const size_t piece =
        (size_t)chunk < stored ? m->onto->chunk[chunk] : m->own[(size_t)chunk - stored];
    const struct table_blob *blob = &m->pool->piece[piece].blobs[column];
    buf_append(out, blob->bytes, blob->size);
    return true;
}

static bool read_summary(void *arg, size_t column, struct buf *out, struct problem *problem) {
    const struct making *m = arg;
    const struct table_blob *saved = &m->onto->saved[column];
    (void)problem;
    assert_true(column < m->onto->n_saved);
    buf_append(out, saved->bytes, saved->size);
    return true;
}

static size_t part_of(const struct version *v, size_t i) {
    return v->pool->piece[v->chunk[i]].part;
}

/* Returns how many of the last chunks are each alone in their part. rows: their numbers of rows. */
static size_t tail_of(const struct version *v, int64_t rows[MOST_CHUNKS]) {
    size_t n = 0;
    for (size_t i = v->n; i-- > 0; n++) {
        if ((i > 0 && part_of(v, i - 1) == part_of(v, i)) ||
            (i + 1 < v->n && part_of(v, i + 1) == part_of(v, i))) {
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        rows[i] = v->pool->piece[v->chunk[v->n - n + i]].rows;
    }
    return n;
}

static struct table_stored stored_of(const struct version *v, int64_t rows[MOST_CHUNKS]) {
    return (struct table_stored){.columns = v->columns,
                                 .notes = v->notes,
                                 .n_rows = v->sum.n_rows,
                                 .n_chunks = (int64_t)v->n,
                                 .tail = rows,
                                 .n_tail = tail_of(v, rows),
                                 .summary = read_summary};
}

/* Makes the list of the new version's chunks: the chunks that stay, then the new ones in the order
 * of their numbers. */
static void settle(struct version *v, struct making *m) {
    const struct version *onto = m->onto;
    const size_t taken = (size_t)v->sum.n_taken;
    int64_t rows[MOST_CHUNKS], last = -1;
    assert_int_equal(v->sum.n_chunks, m->n_own);
    /* chunks that share a part cannot be replaced */
    assert_true(taken <= (onto != NULL ? tail_of(onto, rows) : 0));
    for (size_t i = 0; onto != NULL && i + taken < onto->n; i++) {
        v->chunk[v->n++] = onto->chunk[i];
    }
    for (size_t k = 0; k < m->n_own; k++) {
        size_t next = MOST_OWN;
        for (size_t i = 0; i < m->n_own; i++) {
            next = m->number[i] > last && (next == MOST_OWN || m->number[i] < m->number[next])
                       ? i
                       : next;
        }
        assert_true(next < MOST_OWN); /* each number occurs once */
        last = m->number[next];
        /* chunk 0 replaces stored chunks and comes last */
        assert_true(last > 0 || onto == NULL || (taken > 0 && next == m->n_own - 1));
        v->chunk[v->n++] = m->own[next];
    }
    m->pool->n_parts++;
}

static void read_into(struct version *v, struct table *reader, const char *body, struct making *m) {
    struct problem early = {0};
    const size_t size = strlen(body), half = size / 2;
    bool fit = table_feed(reader, body, half, &early) &&
               table_feed(reader, body + half, size - half, &early);
    (void)fit; /* the end reports the problem again */
    problem_done(&early);
    m->first_read = INT64_MAX;
    v->well = table_end(reader, &v->sum, &v->problem);
    if (v->well) {
        v->columns = strdup(v->sum.columns);
        v->notes = strdup(v->sum.notes);
        v->saved = table_copy_saved(&v->sum, &v->n_saved);
        v->first_read = m->first_read;
        settle(v, m);
    }
    table_free(reader);
}

static struct version *version_new(struct pool *pool) {
    struct version *v = calloc(1, sizeof *v);
    if (v == NULL) {
        fail_msg("no memory");
        abort(); /* not reached */
    }
    v->pool = pool;
    return v;
}

static void version_free(struct version *v) {
    free(v->columns);
    free(v->notes);
    table_free_saved(v->saved, v->n_saved);
    problem_done(&v->problem);
    free(v);
}

static const struct table_options with_header = {.header = TABLE_HEADER_YES},
                                  as_found = {.allow_type_change = true};

static struct version *upload(struct pool *pool, const struct table_options *options,
                              const char *body) {
    struct making m = {.pool = pool};
    struct version *v = version_new(pool);
    struct table *reader = table_new(options, &(struct table_sink){keep_chunk, read_chunk, &m});
    assert_non_null(reader);
    read_into(v, reader, body, &m);
    assert_true(v->well);
    return v;
}

/* Appends the body, which is read for `onto`. now: the version that others have made of `onto`
 * before the end; NULL: there is none. */
static struct version *append_rebased(const struct version *onto, const struct version *now,
                                      const struct table_options *options, const char *body) {
    int64_t rows[MOST_CHUNKS];
    struct making m = {.pool = onto->pool, .onto = onto};
    struct version *v = version_new(onto->pool);
    struct table_stored stored = stored_of(onto, rows);
    struct table_options own = *options;
    own.allow_type_change = true; /* the result is compared with an upload of all rows */
    struct table *reader =
        table_new_onto(&own, &stored, &(struct table_sink){keep_chunk, read_chunk, &m},
                       &v->problem);
    assert_non_null(reader);
    if (now != NULL) {
        struct problem problem = {0};
        assert_true(table_feed(reader, "", 0, &problem));
        stored = stored_of(now, rows);
        m.onto = now;
        assert_true(table_rebase(reader, &stored, &problem));
    }
    read_into(v, reader, body, &m);
    return v;
}

/* Appends the body and frees the previous version. */
static struct version *append(struct version *onto, const struct table_options *options,
                              const char *body) {
    struct version *v = append_rebased(onto, NULL, options, body);
    if (!v->well) {
        fail_msg("refused: %s", v->problem.detail);
    }
    version_free(onto);
    return v;
}

static struct pool *pool_new(void) {
    struct pool *pool = calloc(1, sizeof *pool);
    assert_non_null(pool);
    return pool;
}

static void pool_free(struct pool *pool) {
    for (size_t i = 0; i < pool->n; i++) {
        for (size_t k = 0; k < pool->n_columns; k++) {
            free(pool->piece[i].blobs[k].bytes);
        }
        free(pool->piece[i].blobs);
    }
    free(pool);
}

/* Appends the rows of a version as text. */
static void version_rows(const struct version *v, bool as_text, struct buf *out) {
    struct table_copy t = {.n_chunks = v->n,
                           .n_columns = v->pool->n_columns,
                           .columns = v->columns};
    t.blobs = calloc(t.n_chunks * t.n_columns, sizeof *t.blobs);
    t.rows = calloc(t.n_chunks, sizeof *t.rows);
    assert_true(t.blobs != NULL && t.rows != NULL);
    for (size_t i = 0; i < t.n_chunks; i++) {
        const struct piece *p = &v->pool->piece[v->chunk[i]];
        memcpy(t.blobs + i * t.n_columns, p->blobs, t.n_columns * sizeof *t.blobs);
        t.rows[i] = p->rows;
    }
    table_rows(&t, &format_csv, as_text, out);
    free(t.blobs);
    free(t.rows);
}

/* Returns the description of the columns without "type_reason", which contains a line of the
 * body. */
static char *summaries_of(const char *columns) {
    json_error_t error;
    json_t *array = json_loads(columns, JSON_DECODE_INT_AS_REAL, &error), *column;
    size_t i;
    assert_non_null(array);
    json_array_foreach(array, i, column) {
        json_object_del(column, "type_reason");
    }
    char *text = json_dumps(array, 0);
    json_decref(array);
    assert_non_null(text);
    return text;
}

static void assert_same_summaries(const char *columns, const char *expected) {
    char *a = summaries_of(columns), *b = summaries_of(expected);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void assert_is(const struct version *v, const struct table_copy *whole) {
    assert_true(v->well && whole->well);
    assert_int_equal(v->sum.n_rows, whole->sum.n_rows);
    assert_string_equal(v->sum.content, whole->sum.content);
    assert_same_summaries(v->columns, whole->columns);
    for (int as_text = 0; as_text < 2 && strstr(v->columns, "\"sparse\"") == NULL; as_text++) {
        struct buf a = {0}, b = {0};
        version_rows(v, as_text, &a);
        table_rows(whole, &format_csv, as_text, &b);
        assert_string_equal(buf_cstr(&a), buf_cstr(&b));
        buf_done(&a);
        buf_done(&b);
    }
}

static size_t log_2(int64_t n) {
    size_t log = 0;
    for (; n > 1; n /= 2) {
        log++;
    }
    return log;
}

/* ---- one row at a time ---- */
static void test_rows_one_by_one(void **state) {
    (void)state;
    enum { N = 3000 };
    struct pool *pool = pool_new();
    struct buf all = {0};
    buf_puts(&all, "x,word\n1.50,a\n");
    struct version *v = upload(pool, &as_found, buf_cstr(&all));
    for (int i = 1; i < N; i++) {
        char row[64];
        snprintf(row, sizeof row,
                 i % 10 == 0  ? "%03d,\"b,c\"\n"
                 : i % 3 == 0 ? "%d.5,a\n"
                              : "%d.25,\n",
                 i);
        buf_puts(&all, row);
        v = append(v, &(struct table_options){.header = TABLE_HEADER_NO}, row);
        assert_true(v->n <= log_2(i + 1) + 1);
    }
    assert_true(pool->n <= N); /* at most one chunk for each append */
    /* each row is written at most about log N times (to the base 1.5) */
    assert_true(pool->written <= (int64_t)N * 20);
    struct table_copy whole = cells_read(buf_cstr(&all));
    assert_is(v, &whole);
    table_done(&whole);
    version_free(v);
    pool_free(pool);
    buf_done(&all);
}

/* For appends of any sizes, each chunk must have more than twice as many rows as the next one. */
static void test_rows_in_any_numbers(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 20; round++) {
        struct pool *pool = pool_new();
        struct version *v = upload(pool, &as_found, "a,b\n1,x\n");
        const uint32_t most = round % 4 == 0 ? 3 : round % 4 == 1 ? 100 : 40;
        int64_t n = 1;
        for (int i = 0; i < 60; i++) {
            struct buf body = {0};
            const uint32_t rows =
                round % 4 == 3 ? (uint32_t)(60 - i) : 1 + cells_random(&seed) % most;
            for (uint32_t k = 0; k < rows; k++) {
                buf_printf(&body, "%u,%s\n", cells_random(&seed) % 1000,
                           cells_random(&seed) % 2 == 0 ? "x" : "y");
            }
            v = append(v, &(struct table_options){.header = TABLE_HEADER_NO}, buf_cstr(&body));
            n += rows;
            assert_int_equal(v->sum.n_rows, n);
            for (size_t k = 0; k + 1 < v->n; k++) {
                assert_true(pool->piece[v->chunk[k]].rows > 2 * pool->piece[v->chunk[k + 1]].rows);
            }
            buf_done(&body);
        }
        assert_true(pool->written <= 20 * n);
        version_free(v);
        pool_free(pool);
    }
}

/* ---- cells of all kinds ---- */
static void test_cells_of_all_kinds(void **state) {
    (void)state;
    static const char header[] = NASTY_HEADER;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t s = seed;
        struct pool *pool = pool_new();
        struct version *v = NULL;
        struct buf all = {0};
        buf_puts(&all, header);
        for (int at = 0; at < 60;) {
            struct buf piece = {0};
            const size_t before = all.size;
            for (int rows = 1 + (int)(cells_random(&s) % 4); rows > 0; rows--) {
                nasty_row(&s, at++, 60, &all);
            }
            buf_printf(&piece, "%s%.*s", header, (int)(all.size - before), all.data + before);
            v = v == NULL ? upload(pool, &with_header, buf_cstr(&piece))
                          : append(v, &with_header, buf_cstr(&piece));
            buf_done(&piece);
        }
        struct table_copy whole = table_read_options(&with_header, buf_cstr(&all));
        assert_is(v, &whole);
        assert_true(v->n <= 6);
        table_done(&whole);
        version_free(v);
        pool_free(pool);
        buf_done(&all);
    }
}

/* ---- saved summaries ---- */
enum { SUMMED_COLUMNS = 10 };
static const char summed_header[] = "small,int,many,real,padded,bool,name,text,none,late\n";

/* Appends row `row`: small integers, integers, more distinct numbers than are counted, fractions,
 * padded numbers, booleans, categories, more distinct texts than are counted, missing cells, and
 * numbers up to row `late`, then words. */
static void summed_row(uint64_t *seed, uint32_t row, uint32_t late, struct buf *out) {
    const uint32_t r = cells_random(seed);
    buf_printf(out, "%u,%d,%.6f,%.2f,%03u,%s,c%u,word %u and %u,%s,", r % 200, (int)(r % 5000) - 99,
               r / 7.0, r % 700 / 4.0, r % 900, r % 3 == 0 ? "true" : "false", r % 40, r % 20000,
               row % 77, "");
    buf_printf(out, row < late ? "%u\n" : "w%u\n", r % 50);
    if (r % 23 == 0) { /* in this row all cells are missing */
        for (size_t i = out->size - 1; out->data[i - 1] != '\n'; i--) {
            out->data[i - 1] = out->data[i - 1] == ',' ? ',' : ' ';
        }
    }
}

static void sparse_row(uint64_t *seed, uint32_t row, struct buf *out) {
    buf_printf(out, "%u", cells_random(seed) % 3);
    for (uint32_t k = 1; k < 40; k += 1 + cells_random(seed) % 20) {
        buf_printf(out, " %u:%.3f", k + row / 1000, cells_random(seed) % 9000 / 8.0 - 300);
    }
    buf_puts(out, "\n");
}

/* What happens to a saved summary between two appends. */
enum fate { KEPT, LOST, DAMAGED, OTHER_FORM, N_FATES };

static void spoil(struct version *v, size_t column, enum fate fate) {
    struct table_blob *saved = &v->saved[column];
    char *bytes = saved->bytes;
    if (fate == LOST) {
        saved->size = 0;
    } else if (fate == DAMAGED) {
        bytes[saved->size / 2] ^= 4;
    } else if (fate == OTHER_FORM) {
        bytes[4]++;
        const uint32_t crc = hash_crc32(bytes, saved->size - 4);
        for (size_t i = 0; i < 4; i++) {
            bytes[saved->size - 4 + i] = (char)(crc >> (8 * i));
        }
    }
}

/* Appends random numbers of rows: the description must be the same as that of all rows uploaded at
 * once. Chunks that stay may be read only if a saved summary was lost or damaged or a type
 * changes. */
static void check_random_appends(uint64_t seed, bool sparse, uint32_t rows, uint32_t late) {
    const struct table_options first = {.header = TABLE_HEADER_YES},
                               then = {.header = TABLE_HEADER_NO},
                               svmlight = {.format = &format_svmlight};
    struct pool *pool = pool_new();
    struct version *v = NULL;
    struct buf all = {0}, body = {0};
    if (!sparse) {
        buf_puts(&all, summed_header);
        buf_puts(&body, summed_header);
    }
    for (uint32_t row = 0; row < rows;) {
        const size_t from = all.size;
        const uint32_t before = row, some = cells_random(&seed) % 3 == 0 ? 3000 : 20;
        for (uint32_t end = row + 1 + cells_random(&seed) % some; row < end && row < rows; row++) {
            if (sparse) {
                sparse_row(&seed, row, &all);
            } else {
                summed_row(&seed, row, late, &all);
            }
        }
        buf_append(&body, all.data + from, all.size - from);
        const struct table_options *options = sparse ? &svmlight : v == NULL ? &first : &then;
        if (v == NULL) {
            v = upload(pool, options, buf_cstr(&body));
        } else {
            const enum fate fate = cells_random(&seed) % 8;
            const size_t column = cells_random(&seed) % v->n_saved, n = v->n;
            spoil(v, column, fate < N_FATES ? fate : KEPT);
            v = append(v, options, buf_cstr(&body));
            const bool falls = !sparse && before <= late && row > late;
            if ((fate == KEPT || fate >= N_FATES) && !falls) {
                assert_true(v->first_read >= (int64_t)n - v->sum.n_taken);
            } else if (fate < N_FATES && fate != KEPT && (sparse || column != 8)) {
                assert_int_equal(v->first_read, 0);
            }
        }
        buf_clear(&body);
    }
    struct table_copy whole = table_read_options(sparse ? &svmlight : &first, buf_cstr(&all));
    assert_is(v, &whole);
    table_done(&whole);
    version_free(v);
    pool_free(pool);
    buf_done(&all);
    buf_done(&body);
}

static void test_saved_summaries(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        check_random_appends(seed, false, 400, UINT32_MAX);
        check_random_appends(seed, false, 3000, 1500);
        check_random_appends(seed, true, 3000, 0);
    }
    check_random_appends(7, false, 30000, 20000);
    check_random_appends(8, true, 30000, 0);
}

/* ---- full chunks ---- */
/* Appends rows of a sparse table. About 340 of them fill a chunk. */
static void sparse_rows(uint64_t *seed, uint32_t rows, struct buf *out) {
    for (uint32_t i = 0; i < rows; i++) {
        buf_printf(out, "%u", cells_random(seed) % 2);
        for (int k = 1; k <= 1000; k++) {
            buf_printf(out, " %d:%u", 2 * k - (int)(cells_random(seed) % 2),
                       1 + cells_random(seed) % 3);
        }
        buf_puts(out, "\n");
    }
}

/* Bodies that are smaller than a chunk, and bodies of several chunks. */
static void test_bodies_of_several_chunks(void **state) {
    (void)state;
    static const uint32_t sizes[] = {10, 5, 1, 1, 400, 2, 1, 330, 20, 1, 200, 150, 1};
    const struct table_options options = {.format = &format_svmlight};
    uint64_t seed = 3;
    struct pool *pool = pool_new();
    struct version *v = NULL;
    struct buf all = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct buf body = {0};
        sparse_rows(&seed, sizes[i], &body);
        buf_append(&all, body.data, body.size);
        v = v == NULL ? upload(pool, &options, buf_cstr(&body))
                      : append(v, &options, buf_cstr(&body));
        buf_done(&body);
        if (i == 4) { /* the 17 rows of two chunks are now in one chunk before the two chunks of the
                       * body */
            assert_int_equal(v->n, 3);
            assert_int_equal(pool->piece[v->chunk[0]].rows, 17);
            assert_int_equal(part_of(v, 0), part_of(v, 2));
        }
    }
    struct table_copy whole = table_read_options(&options, buf_cstr(&all));
    assert_is(v, &whole);
    assert_in_range(v->n, whole.n_chunks, 2 * whole.n_chunks + 2);
    for (size_t i = 0; i < v->n; i++) {
        assert_true(pool->piece[v->chunk[i]].rows <= whole.rows[0] + 1);
    }
    table_done(&whole);
    version_free(v);
    pool_free(pool);
    buf_done(&all);
}

/* A chunk of long texts has few rows. Two such chunks are not joined, though their compressed size
 * is small. */
static void test_long_texts(void **state) {
    (void)state;
    enum { LENGTH = 512 * 1024, N = 24 };
    struct pool *pool = pool_new();
    char *row = malloc(LENGTH + 8), *all = malloc((size_t)N * (LENGTH + 8) + 8);
    assert_true(row != NULL && all != NULL);
    strcpy(row, "1,");
    memset(row + 2, 'w', LENGTH);
    strcpy(row + 2 + LENGTH, "\n");
    strcpy(all, "n,t\n");
    strcpy(all + 4, row);
    size_t size = 4 + strlen(row);
    struct version *v = upload(pool, &with_header, all);
    for (int i = 1; i < N; i++) {
        strcpy(all + size, row);
        size += strlen(row);
        v = append(v, &(struct table_options){.header = TABLE_HEADER_NO}, row);
    }
    for (size_t i = 0; i < v->n; i++) {
        assert_in_range(pool->piece[v->chunk[i]].rows, 1, 16);
    }
    assert_in_range(v->n, 2, 7);
    struct table_copy whole = table_read_options(&with_header, all);
    assert_is(v, &whole);
    table_done(&whole);
    version_free(v);
    pool_free(pool);
    free(row);
    free(all);
}

/* ---- versions ---- */
static void test_versions_stay(void **state) {
    (void)state;
    struct pool *pool = pool_new();
    struct version *v[40];
    struct buf all = {0}, rows[40] = {0};
    buf_puts(&all, "a,b\n0,x\n");
    for (int i = 0; i < 40; i++) {
        char row[32];
        snprintf(row, sizeof row, i == 20 ? "u%d,%d\n" : "%d,y%d\n", i, i % 3);
        v[i] = i == 0 ? upload(pool, &with_header, "a,b\n0,x\n")
                      : append_rebased(v[i - 1], NULL,
                                       &(struct table_options){.header = TABLE_HEADER_NO}, row);
        assert_true(v[i]->well);
        version_rows(v[i], true, &rows[i]);
    }
    for (int i = 0; i < 40; i++) { /* each version still has the rows that it had when it was
                                    * made */
        struct buf now = {0};
        version_rows(v[i], true, &now);
        assert_string_equal(buf_cstr(&now), buf_cstr(&rows[i]));
        buf_done(&now);
        buf_done(&rows[i]);
        version_free(v[i]);
    }
    pool_free(pool);
    buf_done(&all);
}

/* Others appended while the body was read: the chunks that are replaced are those of their
 * version. */
static void test_others_appended(void **state) {
    (void)state;
    struct pool *pool = pool_new();
    const struct table_options rows = {.header = TABLE_HEADER_NO};
    struct version *v = upload(pool, &with_header, "a,b\n1,x\n2,y\n3,z\n4,w\n5,v\n6,u\n7,t\n"),
                   *theirs = append_rebased(v, NULL, &rows, "8,s\n"),
                   *more = append_rebased(theirs, NULL, &rows, "nine,r\n"),
                   *ours = append_rebased(v, more, &rows, "10,q\n");
    assert_true(ours->well);
    struct table_copy whole =
        table_read_options(&with_header,
                           "a,b\n1,x\n2,y\n3,z\n4,w\n5,v\n6,u\n7,t\n8,s\nnine,r\n10,q\n");
    assert_is(ours, &whole);
    assert_int_equal(ours->n, 2);
    assert_int_equal(pool->piece[ours->chunk[1]].rows, 3);
    table_done(&whole);
    version_free(v);
    version_free(theirs);
    version_free(more);
    version_free(ours);
    pool_free(pool);
}

/* ---- failures ---- */
struct lean {
    const struct table_copy *stored;
};

static bool lean_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    (void)arg;
    return table_sink_forget(NULL, chunk, n_rows, blobs, n_columns, problem);
}

static bool lean_summary(void *arg, size_t column, struct buf *out, struct problem *problem) {
    const struct lean *l = arg;
    (void)problem;
    buf_append(out, l->stored->saved[column].bytes, l->stored->saved[column].size);
    return true;
}

static bool lean_read(void *arg, int64_t chunk, size_t column, struct buf *out,
                      struct problem *problem) {
    struct lean *l = arg;
    return table_sink_reread((void *)(uintptr_t)l->stored, chunk, column, out, problem);
}

/* Appends to a table of one chunk, which may be replaced. */
static bool append_lean(const struct table_copy *stored, const char *body,
                        struct problem *problem) {
    struct lean l = {stored};
    struct table_summary sum = {0};
    const struct table_stored s = {.columns = stored->columns,
                                   .notes = stored->notes,
                                   .n_rows = stored->sum.n_rows,
                                   .n_chunks = 1,
                                   .tail = stored->rows,
                                   .n_tail = 1,
                                   .summary = lean_summary};
    struct table *t =
        table_new_onto(&as_found, &s, &(struct table_sink){lean_chunk, lean_read, &l}, problem);
    const bool well =
        t != NULL && table_feed(t, body, strlen(body), problem) && table_end(t, &sum, problem);
    assert_true(!well || sum.n_taken == 1);
    table_free(t);
    return well;
}

static void test_no_memory(void **state) {
    (void)state;
    if (!alloc_fail_works()) {
        skip(); /* before any memory is allocated that would leak */
    }
    struct table_copy csv = cells_read("a,b,c\n1.50,x,true\n007,y,false\n"),
                      sparse = cells_read("1 1:5 3:2\n0 2:1\n");
    bool well = false;
#if ALLOC_FAIL_WORKS
    /* Jansson 2.14 damages the heap if the allocation for an object's member fails; therefore its
     * allocations do not fail here. */
    json_set_alloc_funcs(__libc_malloc, free);
#endif
    for (int i = 0; i < 3; i++) {
        const char *body = i == 0 ? "a,b,c\n2.25,z,TRUE\n" : i == 1 ? "word,z,TRUE\n" : "1 7:1\n";
        struct problem problem = {0};
        ALLOC_FAIL_EACH({
            problem_done(&problem);
            problem = (struct problem){0};
            well = append_lean(i < 2 ? &csv : &sparse, body, &problem);
            if (!well && problem.type != PROBLEM_UNAVAILABLE && problem.type != PROBLEM_INTERNAL) {
                atomic_store(&alloc_fail_at, 0);
                fail_msg("problem %d: %s", problem.type,
                         problem.detail != NULL ? problem.detail : "");
            }
        });
        assert_true(well); /* the last call, in which no allocation failed */
        problem_done(&problem);
    }
    json_set_alloc_funcs(malloc, free);
    table_done(&csv);
    table_done(&sparse);
}

/* A sink that fails to read a chunk, at each read in turn, or that refuses a chunk. */
struct broken {
    const struct table_copy *stored;
    /* number of reads before one fails; below 0: reads succeed, but chunks are refused */
    int reads_left;
};

static bool broken_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                         size_t n_columns, struct problem *problem) {
    const struct broken *s = arg;
    lean_chunk(NULL, chunk, n_rows, blobs, n_columns, problem);
    return s->reads_left >= 0 || problem_set(problem, PROBLEM_STORAGE_FULL, "full");
}

static bool broken_read(void *arg, int64_t chunk, size_t column, struct buf *out,
                        struct problem *problem) {
    struct broken *s = arg;
    if (s->reads_left >= 0 && s->reads_left-- == 0) {
        s->reads_left = 0;
        return problem_set(problem, PROBLEM_STORAGE_FULL, "cannot be read");
    }
    return table_sink_reread((void *)(uintptr_t)s->stored, chunk, column, out, problem);
}

static void test_sink_fails(void **state) {
    (void)state;
    struct table_copy stored = cells_read("a,b,c\n1.50,x,true\n007,y,false\n");
    bool well = false;
    int reads = -1;
    for (; !well; reads++) {
        struct broken s = {&stored, reads};
        struct problem problem = {0};
        struct table_summary sum = {0};
        const struct table_stored now = {.columns = stored.columns,
                                         .notes = stored.notes,
                                         .n_rows = 2,
                                         .n_chunks = 1,
                                         .tail = stored.rows,
                                         .n_tail = 1};
        struct table *t =
            table_new_onto(&as_found, &now, &(struct table_sink){broken_chunk, broken_read, &s},
                           &problem);
        assert_non_null(t);
        assert_true(table_feed(t, "3,z,true\n", 9, &problem));
        well = table_end(t, &sum, &problem);
        assert_int_equal(problem.type, well ? PROBLEM_NONE : PROBLEM_STORAGE_FULL);
        problem_done(&problem);
        table_free(t);
    }
    /* each of the 3 columns is read once for its summary and once to be joined, and the string
     * column once more for its size */
    assert_int_equal(reads - 1, 7);
    table_done(&stored);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_one_by_one),    cmocka_unit_test(test_rows_in_any_numbers),
        cmocka_unit_test(test_cells_of_all_kinds), cmocka_unit_test(test_bodies_of_several_chunks),
        cmocka_unit_test(test_long_texts),         cmocka_unit_test(test_versions_stay),
        cmocka_unit_test(test_others_appended),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_sink_fails),         cmocka_unit_test(test_saved_summaries),
    };
    return cmocka_run_group_tests_name("formats: the end of tables that grow", tests, NULL, NULL);
}
