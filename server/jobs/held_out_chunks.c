/* Writes and reads chunks with predictions of held-out rows. */
#include "jobs/held_out_chunks.h"

#include "formats/formats.h"
#include "jobs/documents.h"

#include <string.h>

#define CHUNK_BYTES ((size_t)1 << 20)
#define MAGIC 0x4f484e44u /* "DNHO" */
enum {
    VERSION = 1,
    PROBABILITIES = 1,
    WEIGHTED = 2,
    REPEATED = 4,
    HEAD_BYTES = 32,
    ROW_BYTES = 24
};

static void put_u32(struct buf *out, uint32_t v) {
    const unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 24)};
    buf_append(out, b, sizeof b);
}

static void put_u64(struct buf *out, uint64_t v) {
    put_u32(out, (uint32_t)v);
    put_u32(out, (uint32_t)(v >> 32));
}

static void put_f64(struct buf *out, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_u64(out, bits);
}

static uint32_t get_u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get_u64(const unsigned char *p) {
    return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

static double get_f64(const unsigned char *p) {
    const uint64_t bits = get_u64(p);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- writing ---- */

/* The head of the first chunk. */
static void write_head(const struct held_out_source *s, struct buf *out) {
    struct buf columns = {0};
    struct json_writer w = json_writer_of(out);
    predictions_columns_write(s->model,
                              ANSWER_LABEL |
                                  (s->rows->probabilities ? ANSWER_PROBABILITIES : ANSWER_SCORES),
                              &columns);
    json_begin_object(&w);
    jobs_classes_write("classes", dn_model_classes(s->model), &w);
    json_kv_string(&w, "columns", buf_cstr(&columns));
    json_end_object(&w);
    out->failed = out->failed || columns.failed;
    buf_done(&columns);
}

static bool is_repeated(const dn_held_out *h) {
    return h->n > 0 && h->repeat[h->n - 1] > 0;
}

size_t held_out_chunk_write(const struct held_out_source *s, size_t first, struct buf *out) {
    const dn_held_out *h = s->rows;
    const bool weighted = h->weight != NULL;
    const size_t row_size = ROW_BYTES + 8 * (h->n_values + weighted),
                 most = row_size < CHUNK_BYTES ? CHUNK_BYTES / row_size : 1,
                 n = h->n - first < most ? h->n - first : most;
    struct buf head = {0};
    if (first == 0) {
        write_head(s, &head);
    }
    put_u32(out, MAGIC);
    put_u32(out, VERSION);
    put_u32(out, (uint32_t)n);
    put_u32(out, (uint32_t)h->n_values);
    put_u32(out, (h->probabilities ? PROBABILITIES : 0u) | (weighted ? WEIGHTED : 0u) |
                     (is_repeated(h) ? REPEATED : 0u));
    put_u32(out, (uint32_t)head.size);
    put_u64(out, h->n);
    buf_append(out, head.data, head.size);
    out->failed = out->failed || head.failed;
    buf_done(&head);
    for (size_t i = first; i < first + n; i++) {
        put_u64(out, h->row[i]);
        put_u32(out, h->fold[i] + s->folds);
        put_u32(out, h->repeat[i] + 1);
        put_u32(out, h->truth[i]);
        put_u32(out, h->label[i]);
        if (weighted) {
            put_f64(out, h->weight[i]);
        }
        for (size_t k = 0; k < h->n_values; k++) {
            put_f64(out, h->values[i * h->n_values + k]);
        }
    }
    return n;
}

/* ---- reading ---- */

bool held_out_chunk_read(const void *bytes, size_t size, struct held_out_chunk *out,
                         struct problem *problem) {
    const unsigned char *p = bytes;
    if (size < HEAD_BYTES || get_u32(p) != MAGIC || get_u32(p + 4) != VERSION) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "stored data is damaged: a chunk of %zu bytes has no predictions", size);
    }
    const uint32_t flags = get_u32(p + 16);
    *out = (struct held_out_chunk){.n = get_u32(p + 8),
                                   .n_values = get_u32(p + 12),
                                   .probabilities = (flags & PROBABILITIES) != 0,
                                   .weighted = (flags & WEIGHTED) != 0,
                                   .repeated = (flags & REPEATED) != 0,
                                   .n_all = get_u64(p + 24),
                                   .head = (const char *)p + HEAD_BYTES,
                                   .head_size = get_u32(p + 20)};
    out->row_size = ROW_BYTES + 8 * (out->n_values + out->weighted);
    out->rows = p + HEAD_BYTES + out->head_size;
    if (size - HEAD_BYTES < out->head_size ||
        (size - HEAD_BYTES - out->head_size) / out->row_size != out->n ||
        (size - HEAD_BYTES - out->head_size) % out->row_size != 0) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "stored data is damaged: a chunk of predictions has %zu bytes", size);
    }
    return true;
}

struct held_out_row held_out_chunk_row(const struct held_out_chunk *chunk, size_t i) {
    const unsigned char *p = chunk->rows + i * chunk->row_size;
    return (struct held_out_row){.row = get_u64(p),
                                 .fold = get_u32(p + 8),
                                 .repeat = get_u32(p + 12),
                                 .truth = get_u32(p + 16),
                                 .label = get_u32(p + 20),
                                 .weight = chunk->weighted ? get_f64(p + ROW_BYTES) : 1};
}

double held_out_chunk_value(const struct held_out_chunk *chunk, size_t i, size_t k) {
    return get_f64(chunk->rows + i * chunk->row_size + ROW_BYTES + 8 * (chunk->weighted + k));
}
