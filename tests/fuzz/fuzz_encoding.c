/* Converts the input from an encoding to UTF-8: the text, and the place of a fault, must not depend
 * on where the input is cut. The hint that the bytes are UTF-8 may depend on it, because it uses
 * the bytes of the piece that follow the fault. Byte 0 chooses the encoding, byte 1 the cuts. */
#include "base/utf8.h"
#include "formats/text/encoding.h"
#include "fuzz/support.h"

struct result {
    struct buf text;
    enum encoding_end end;
    char fault[ENCODING_FAULT];
    int64_t line, column;
};

static bool take(void *arg, const char *bytes, size_t n) {
    buf_append(arg, bytes, n);
    return true;
}

static struct result convert(const char *name, const char *bytes, size_t size, uint64_t seed) {
    struct result r = {.end = ENCODING_WELL};
    struct encoding e = {0};
    encoding_init(&e, name);
    for (size_t at = 0; r.end == ENCODING_WELL && (at < size || size == 0);) {
        size_t n = size - at;
        if (seed != 0) {
            const size_t most = 1 + fuzz_random(&seed) % 8;
            n = n < most ? n : most;
        }
        char *piece = fuzz_copy(bytes + at, n);
        r.end = encoding_feed(&e, piece, n, at + n == size, take, &r.text);
        free(piece);
        at += n;
        if (size == 0) {
            break;
        }
    }
    CHECK(r.end == ENCODING_WELL || r.end == ENCODING_INVALID);
    if (r.end == ENCODING_INVALID) {
        encoding_fault(&e, r.fault, &r.line, &r.column);
        CHECK(r.fault[0] != '\0' && r.line >= 1 && r.column >= 1);
    }
    encoding_done(&e);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {NULL,           "utf-8",     "utf-16",  "utf-16be",
                                        "windows-1252", "shift_jis", "gb18030", "euc-kr"};
    if (size < 2) {
        return 0;
    }
    const char *label = names[data[0] & 7];
    const char *name = label != NULL ? encoding_find(label, strlen(label)) : NULL;
    CHECK(label == NULL || name != NULL);
    char *bytes = fuzz_copy(data + 2, size - 2);
    (void)encoding_find(bytes, size - 2);
    struct result whole = convert(name, bytes, size - 2, 0),
                  cut = convert(name, bytes, size - 2, ((uint64_t)data[1] << 8) | 1);
    CHECK(whole.end == cut.end && whole.line == cut.line && whole.column == cut.column &&
          strncmp(whole.fault, cut.fault, strcspn(whole.fault, ";")) == 0);
    if (whole.end == ENCODING_WELL) {
        CHECK(whole.text.size == cut.text.size &&
              (cut.text.size == 0 || memcmp(whole.text.data, cut.text.data, cut.text.size) == 0));
        CHECK((data[0] & 7) < 2 || whole.text.size == 0 ||
              utf8_valid_prefix(whole.text.data, whole.text.size) == whole.text.size);
    }
    buf_done(&whole.text);
    buf_done(&cut.text);
    free(bytes);
    return 0;
}
