/* Decodes the input as gzip or deflate: the result must not depend on where it is cut. Encodes the
 * input and decodes the result: it must be the same bytes. Byte 0 of the input chooses the coding
 * and the cuts. */
#include "fuzz/support.h"
#include "http/protocol/coding.h"

enum { MOST = 1 << 20 }; /* bytes of output; decoding stops there */

/* Appends the decoded bytes. Returns what is wrong with the body, a static text; NULL: nothing. */
static const char *decode(enum coding coding, const char *bytes, size_t size, uint64_t seed,
                          struct buf *out) {
    static char *room; /* kept: AddressSanitizer maps and unmaps a block of this size */
    struct decoder *decoder = decoder_new(coding);
    bool go_on = true;
    if (room == NULL) {
        room = malloc(DECODER_ROOM);
    }
    CHECK(decoder != NULL && room != NULL);
    for (size_t at = 0; at < size && go_on && out->size < MOST;) {
        size_t n = size - at, taken = 0, n_out = 0;
        if (seed != 0) {
            const size_t most = 1 + fuzz_random(&seed) % 64;
            n = n < most ? n : most;
        }
        char *piece = fuzz_copy(bytes + at, n);
        const enum decoder_state state = decoder_step(decoder, piece, n, &taken, room, &n_out);
        CHECK(taken <= n && n_out <= DECODER_ROOM && state != DECODER_NO_MEMORY);
        CHECK(state == DECODER_FAULT || taken > 0 || n_out > 0);
        CHECK((state == DECODER_FAULT) <= (decoder_fault(decoder) != NULL));
        go_on = state == DECODER_MORE;
        if (go_on) {
            buf_append(out, room, n_out);
        }
        free(piece);
        at += taken;
    }
    const char *fault = decoder_fault(decoder);
    decoder_free(decoder);
    return fault;
}

static void check_any_bytes(enum coding coding, const char *bytes, size_t size, uint64_t seed) {
    struct buf whole = {0}, cut = {0};
    const char *one = decode(coding, bytes, size, 0, &whole),
               *other = decode(coding, bytes, size, seed | 1, &cut);
    if (whole.size < MOST && cut.size < MOST) {
        CHECK((one == NULL) == (other == NULL));
        CHECK(one != NULL || (whole.size == cut.size &&
                              (whole.size == 0 || memcmp(whole.data, cut.data, cut.size) == 0)));
    }
    buf_done(&whole);
    buf_done(&cut);
}

static void check_again(enum coding coding, const char *bytes, size_t size, uint64_t seed) {
    struct buf coded = {0}, plain = {0};
    struct encoder *encoder = encoder_new(coding, seed % 2 == 0 ? CODING_FAST : CODING_SMALL);
    CHECK(encoder != NULL);
    const size_t first = size > 0 ? fuzz_random(&seed) % size : 0;
    encoder_put(encoder, bytes, first, false, &coded);
    encoder_put(encoder, bytes + first, size - first, true, &coded);
    CHECK(!coded.failed && coded.size > 0);
    CHECK(decode(coding, coded.data, coded.size, seed | 1, &plain) == NULL);
    CHECK(plain.size == size && (size == 0 || memcmp(plain.data, bytes, size) == 0));
    encoder_free(encoder);
    buf_done(&coded);
    buf_done(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    const enum coding coding = data[0] & 1 ? CODING_GZIP : CODING_DEFLATE;
    char *bytes = fuzz_copy(data + 1, size - 1);
    check_any_bytes(coding, bytes, size - 1, (uint64_t)data[0] << 8);
    if ((data[0] & 14) == 0) { /* seldom: an encoder takes much memory */
        check_again(coding, bytes, size - 1, (uint64_t)data[0] << 8);
    }
    free(bytes);
    return 0;
}
