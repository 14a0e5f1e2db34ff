/* NDJSON: the reader of lines against the reader of one document, line by line; and the body as a
 * table. Byte 0 of the input chooses options, byte 1 the cuts. */
#include "formats/json/json.h"
#include "fuzz/support.h"

/* Whether the bytes are one JSON value, read alone. */
static bool is_value(const char *bytes, size_t n) {
    struct wire_json r;
    struct wire_json_token token;
    enum wire_json_kind kind = WIRE_JSON_MORE;
    char *copy = fuzz_copy(bytes, n);
    wire_json_init(&r);
    wire_json_feed(&r, copy, n);
    wire_json_close(&r);
    do {
        kind = wire_json_next(&r, &token);
    } while (kind != WIRE_JSON_END && kind != WIRE_JSON_FAULT);
    wire_json_done(&r);
    free(copy);
    return kind == WIRE_JSON_END;
}

static bool is_blank(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* A letter a line that is not blank: v value, x no value; and z at the end if the body ends within
 * the last one. */
static void by_line(const char *body, size_t size, struct buf *out) {
    for (size_t at = 0; at < size;) {
        const char *end = memchr(body + at, '\n', size - at);
        const size_t n = end != NULL ? (size_t)(end - body) - at : size - at;
        if (!is_blank(body + at, n)) {
            buf_putc(out, is_value(body + at, n) ? 'v' : 'x');
        }
        at += n + 1;
    }
}

/* The same by the reader of lines, in pieces. A last line that is cut is an x, too. */
static void by_reader(const char *body, size_t size, uint64_t seed, struct buf *out) {
    struct wire_json r;
    struct wire_json_token token;
    enum wire_json_kind kind = WIRE_JSON_MORE;
    char *piece = NULL;
    size_t at = 0;
    wire_json_init(&r);
    r.lines = true;
    for (bool go_on = true; go_on;) {
        kind = wire_json_next(&r, &token);
        if (kind == WIRE_JSON_MORE && at < size) {
            const size_t most = 1 + fuzz_random(&seed) % 64, room = size - at,
                         n = most < room ? most : room;
            free(piece);
            piece = fuzz_copy(body + at, n);
            wire_json_feed(&r, piece, n);
            at += n;
        } else if (kind == WIRE_JSON_MORE) {
            wire_json_close(&r);
        } else if (kind == WIRE_JSON_END_LINE) {
            buf_putc(out, 'v');
        } else if (kind == WIRE_JSON_FAULT) {
            buf_putc(out, 'x');
            go_on = wire_json_next_line(&r);
        } else {
            go_on = kind != WIRE_JSON_END;
        }
    }
    CHECK(at == size || kind == WIRE_JSON_FAULT);
    free(piece);
    wire_json_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    const char *body = (const char *)data + 2;
    struct buf lines = {0}, read = {0};
    by_line(body, size - 2, &lines);
    by_reader(body, size - 2, (uint64_t)data[1] << 8, &read);
    CHECK(lines.size == read.size &&
          (lines.size == 0 || memcmp(lines.data, read.data, lines.size) == 0));
    buf_done(&lines);
    buf_done(&read);
    const struct wire_table_options options = {.format = data[0] & 1 ? NULL : &format_ndjson,
                                               .on_error = data[0] & 2 ? WIRE_SKIP : WIRE_REJECT,
                                               .label = data[0] & 4 ? "label" : NULL,
                                               .types = data[0] & 8 ? "a:numeric" : NULL};
    const bool may_be_another =
        (data[0] & 1) != 0; /* sniffed: separated text, or JSON with types of its own */
    fuzz_check_table(&options, body, size - 2, (uint64_t)data[1] << 8,
                     (data[0] & 8) == 0 && !may_be_another);
    return 0;
}
