/* Reads NDJSON with the line mode of the JSON reader, and compares each line with the reader of one
 * document; reads the body also as a table. Byte 0 of the input chooses the options, byte 1 where
 * the body is cut into pieces. */
#include "formats/json/json_reader.h"
#include "fuzz/support.h"

/* Whether the bytes are one JSON value when they are read as one document. */
static bool is_value(const char *bytes, size_t n) {
    struct json_reader r;
    struct json_token token;
    enum json_token_kind kind = JSON_TOKEN_MORE;
    char *copy = fuzz_copy(bytes, n);
    json_reader_init(&r);
    json_reader_feed(&r, copy, n);
    json_reader_close(&r);
    do {
        kind = json_reader_next(&r, &token);
    } while (kind != JSON_TOKEN_END && kind != JSON_TOKEN_FAULT);
    json_reader_done(&r);
    free(copy);
    return kind == JSON_TOKEN_END;
}

static bool is_blank(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* Appends a letter for each line that is not blank: v: the line is a value, x: it is not; and z at
 * the end if the last line is incomplete. */
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

/* Appends the same letters with the reader's line mode and the body in pieces. An incomplete last
 * line is an x, too. */
static void by_reader(const char *body, size_t size, uint64_t seed, struct buf *out) {
    struct json_reader r;
    struct json_token token;
    enum json_token_kind kind = JSON_TOKEN_MORE;
    char *piece = NULL;
    size_t at = 0;
    json_reader_init(&r);
    r.lines = true;
    for (bool go_on = true; go_on;) {
        kind = json_reader_next(&r, &token);
        if (kind == JSON_TOKEN_MORE && at < size) {
            const size_t most = 1 + fuzz_random(&seed) % 64, room = size - at,
                         n = most < room ? most : room;
            free(piece);
            piece = fuzz_copy(body + at, n);
            json_reader_feed(&r, piece, n);
            at += n;
        } else if (kind == JSON_TOKEN_MORE) {
            json_reader_close(&r);
        } else if (kind == JSON_TOKEN_END_LINE) {
            buf_putc(out, 'v');
        } else if (kind == JSON_TOKEN_FAULT) {
            buf_putc(out, 'x');
            go_on = json_reader_next_line(&r);
        } else {
            go_on = kind != JSON_TOKEN_END;
        }
    }
    CHECK(at == size || kind == JSON_TOKEN_FAULT);
    free(piece);
    json_reader_done(&r);
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
    const struct table_options options = {.format = data[0] & 1 ? NULL : &format_ndjson,
                                          .on_error = data[0] & 2 ? TABLE_SKIP : TABLE_REJECT,
                                          .label = data[0] & 4 ? "label" : NULL,
                                          .types = data[0] & 8 ? "a:numeric" : NULL};
    const bool may_be_another =
        (data[0] & 1) != 0; /* sniffed as CSV or TSV, or as JSON that declares its types */
    fuzz_check_table(&options, body, size - 2, (uint64_t)data[1] << 8,
                     (data[0] & 8) == 0 && !may_be_another);
    return 0;
}
