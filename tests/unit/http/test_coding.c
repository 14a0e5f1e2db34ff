/* Content codings: what zlib has packed comes out again whatever the cuts, the wrappings and the
 * members; what is damaged, cut off or endless is refused without harm; answers are packed for who
 * takes them, and read the same. */
#include "http/protocol/coding.h"
#include "unit/http/replies.h"
#include "unit/http/toy.h"
#include <zlib.h>

static struct toy toy;

static int stop(void **state) {
    (void)state;
    if (toy.server != NULL) {
        toy_stop(&toy);
    }
    return 0;
}

static char *pattern(size_t n) {
    char *bytes = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = toy_byte(i);
    }
    bytes[n] = '\0';
    return bytes;
}

enum { GZIP = 31, ZLIB = 15, BARE = -15 };

/* Packed by zlib itself, appended to out. */
static void pack(const char *bytes, size_t n, int window, struct buf *out) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_true(buf_reserve(out, deflateBound(&z, n) + 64));
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (unsigned)n;
    z.next_out = (unsigned char *)out->data + out->size;
    z.avail_out = (unsigned)(out->capacity - out->size);
    const unsigned room = z.avail_out;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->size += room - z.avail_out;
    deflateEnd(&z);
}

/* All of packed through a decoder, `cut` bytes at a time; NULL: it may end there. */
static const char *unpack(enum coding coding, const struct buf *packed, size_t cut,
                          struct buf *out) {
    static char room[DECODER_ROOM];
    struct decoder *d = decoder_new(coding);
    assert_non_null(d);
    enum decoder_state state = DECODER_MORE;
    for (size_t at = 0; at < packed->size && state == DECODER_MORE;) {
        size_t taken = 0, n = 0, step = packed->size - at < cut ? packed->size - at : cut;
        state = decoder_step(d, packed->data + at, step, &taken, room, &n);
        assert_true(taken <= step && n <= DECODER_ROOM &&
                    (taken > 0 || n > 0 || state != DECODER_MORE));
        if (taken == step && state == DECODER_MORE &&
            n > 0) { /* nothing may wait in there for want of input */
            size_t none = 0, more = 0;
            assert_int_equal(decoder_step(d, "", 0, &none, room + n, &more), DECODER_MORE);
            assert_int_equal(more, 0);
        }
        buf_append(out, room, n);
        at += taken;
    }
    assert_int_not_equal(state, DECODER_NO_MEMORY);
    const char *fault = decoder_fault(d);
    assert_true(state == DECODER_MORE || fault != NULL);
    decoder_free(d);
    return fault;
}

static void whatever_the_cuts(void **state) {
    (void)state;
    static const struct {
        enum coding coding;
        int window;
    } ways[] = {{CODING_GZIP, GZIP}, {CODING_DEFLATE, ZLIB}, {CODING_DEFLATE, BARE}};
    static const size_t lengths[] = {0, 1, 2, 1000, 300000, 3000000},
                        cuts[] = {1, 2, 7, 1000, 32768};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        char *bytes = pattern(lengths[l]);
        for (size_t w = 0; w < 3; w++) {
            struct buf packed = {0};
            pack(bytes, lengths[l], ways[w].window, &packed);
            for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
                struct buf out = {0};
                assert_null(unpack(ways[w].coding, &packed, cuts[c], &out));
                assert_int_equal(out.size, lengths[l]);
                if (lengths[l] > 0) {
                    assert_memory_equal(out.data, bytes, lengths[l]);
                }
                buf_done(&out);
            }
            buf_done(&packed);
        }
        free(bytes);
    }
}

/* 64 MiB of zeros in 64 KiB: no step gives more than its room, and all of it comes. */
static void what_grows_a_thousandfold(void **state) {
    (void)state;
    const size_t n = 64 << 20;
    char *zeros = calloc(1, n);
    struct buf packed = {0};
    pack(zeros, n, GZIP, &packed);
    assert_true(packed.size < n / 900);
    for (size_t cut = 777; cut <= packed.size * 2; cut *= 7) {
        struct buf out = {0};
        assert_null(unpack(CODING_GZIP, &packed, cut, &out));
        assert_int_equal(out.size, n);
        buf_done(&out);
    }
    buf_done(&packed);
    free(zeros);
}

static void several_members(void **state) {
    (void)state;
    struct buf packed = {0}, out = {0};
    pack("a,b\n", 4, GZIP, &packed);
    pack("", 0, GZIP, &packed);
    pack("1,2\n", 4, GZIP, &packed);
    for (size_t cut = 1; cut <= packed.size; cut += 5) {
        buf_clear(&out);
        assert_null(unpack(CODING_GZIP, &packed, cut, &out));
        assert_int_equal(out.size, 8);
        assert_memory_equal(out.data, "a,b\n1,2\n", 8);
    }
    buf_puts(&packed, "rubbish");
    assert_non_null(unpack(CODING_GZIP, &packed, 1000, &out));
    buf_clear(&packed);
    pack("abc", 3, ZLIB, &packed);
    buf_putc(&packed, 'x');
    assert_non_null(unpack(CODING_DEFLATE, &packed, 1000, &out));
    buf_done(&packed);
    buf_done(&out);
}

/* Cut anywhere it says so; a changed byte is found, if not at once then by the check sum. */
static void damage(void **state) {
    (void)state;
    char *bytes = pattern(20000);
    struct buf packed = {0}, out = {0};
    pack(bytes, 20000, GZIP, &packed);
    const size_t size = packed.size;
    for (size_t n = 1; n < size; n += n < 40 ? 1 : 13) {
        packed.size = n;
        buf_clear(&out);
        assert_non_null(unpack(CODING_GZIP, &packed, 100, &out));
        assert_true(out.size <= 20000);
    }
    packed.size = size;
    for (size_t i = 10; i < size; i += 7) {
        packed.data[i] = (char)(packed.data[i] ^ 0x55);
        buf_clear(&out);
        assert_non_null(unpack(CODING_GZIP, &packed, 100, &out));
        packed.data[i] = (char)(packed.data[i] ^ 0x55);
    }
    buf_done(&packed);
    buf_done(&out);
    free(bytes);
}

static void names(void **state) {
    (void)state;
    enum coding c;
    assert_true(coding_of_content(NULL, &c) && c == CODING_IDENTITY);
    assert_true(coding_of_content(" identity", &c) && c == CODING_IDENTITY);
    assert_true(coding_of_content("GZIP", &c) && c == CODING_GZIP);
    assert_true(coding_of_content("x-gzip", &c) && c == CODING_GZIP);
    assert_true(coding_of_content("deflate ", &c) && c == CODING_DEFLATE);
    assert_false(coding_of_content("br", &c));
    assert_false(coding_of_content("gzip, gzip", &c));
    assert_int_equal(coding_accepted(NULL), CODING_IDENTITY);
    assert_int_equal(coding_accepted(""), CODING_IDENTITY);
    assert_int_equal(coding_accepted("br"), CODING_IDENTITY);
    assert_int_equal(coding_accepted("br, deflate, gzip"), CODING_GZIP);
    assert_int_equal(coding_accepted("deflate"), CODING_DEFLATE);
    assert_int_equal(coding_accepted("gzip;q=0, deflate"), CODING_DEFLATE);
    assert_int_equal(coding_accepted("gzip;q=0.2, deflate;q=0.9"), CODING_DEFLATE);
    assert_int_equal(coding_accepted("gzip; q=0.5, identity"), CODING_IDENTITY);
    assert_int_equal(coding_accepted("*"), CODING_GZIP);
    assert_int_equal(coding_accepted("gzip;q=0, *"), CODING_DEFLATE);
    assert_int_equal(coding_accepted("*;q=0"), CODING_IDENTITY);
}

/* ---- through a server ---- */

static void send_packed(const char *head, const char *coding, const struct buf *packed,
                        struct raw_reply *r) {
    char request[300];
    struct connection *in = calloc(1, sizeof *in);
    in->fd = connection_open(toy.server);
    snprintf(request, sizeof request,
             "%s HTTP/1.1\r\nHost: x\r\nContent-Encoding: %s\r\nContent-Length: %zu\r\n\r\n", head,
             coding, packed->size);
    (void)raw_send_text(in->fd, request);
    (void)raw_send(in->fd, packed->data, packed->size);
    raw_reply_read(in, false, r);
    close(in->fd);
    free(in);
}

static void check_sunk(const char *head, const struct buf *packed, size_t n, const char *bytes) {
    unsigned sum = 0;
    char expected[64];
    struct raw_reply r;
    for (size_t i = 0; i < n; i++) {
        sum = sum * 31 + (unsigned char)bytes[i];
    }
    snprintf(expected, sizeof expected, "n=%zu sum=%u\n", n, sum);
    send_packed(head, "gzip", packed, &r);
    assert_int_equal(r.status, 201);
    assert_string_equal(r.body.data, expected);
    raw_reply_done(&r);
}

/* Into memory and into sinks, also those that pause at every piece or are resumed too early:
 * nothing is lost, nothing comes twice. */
static void bodies(void **state) {
    (void)state;
    toy_start(&toy, NULL);
    const size_t n = 5 << 20;
    char *bytes = pattern(n), *zeros = calloc(1, n);
    struct buf packed = {0}, thick = {0};
    struct raw_reply r;
    pack(bytes, n, GZIP, &packed);
    pack(zeros, n, GZIP, &thick);
    for (int i = 0; i < 3; i++) {
        static const char *const sinks[] = {"PUT /sink/a", "PUT /sink/a?pause",
                                            "PUT /sink/a?early"};
        check_sunk(sinks[i], &packed, n, bytes);
        check_sunk(sinks[i], &thick, n, zeros);
    }
    send_packed("POST /echo-pool", "gzip", &packed, &r);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body.size, n);
    assert_memory_equal(r.body.data, bytes, n);
    raw_reply_done(&r);
    buf_done(&packed);
    buf_done(&thick);
    free(bytes);
    free(zeros);
}

/* The limit is for what comes out, however little went in; what is damaged or cut off is a 400 and
 * the sink is told. */
static void bodies_refused(void **state) {
    (void)state;
    toy_start(&toy, NULL);
    toy.limit = 1 << 20;
    char *zeros = calloc(1, 64 << 20);
    struct buf packed = {0};
    struct raw_reply r;
    pack(zeros, 64 << 20, GZIP, &packed);
    for (int i = 0; i < 2; i++) {
        send_packed(i == 0 ? "PUT /sink/a" : "POST /echo", "gzip", &packed, &r);
        raw_reply_is_problem(&r, 413, "body-too-large");
        raw_reply_done(&r);
    }
    assert_true(atomic_load(&toy.sunk) <= (1 << 20) + DECODER_ROOM);
    buf_clear(&packed);
    pack(zeros, 1000, GZIP, &packed);
    packed.size -= 3;
    send_packed("PUT /sink/a", "gzip", &packed, &r);
    raw_reply_is_problem(&r, 400, "bad-request");
    assert_non_null(strstr(r.body.data, "cut off"));
    raw_reply_done(&r);
    send_packed("POST /echo", "deflate", &packed, &r);
    raw_reply_is_problem(&r, 400, "bad-request");
    raw_reply_done(&r);
    toy_expect(&toy.aborts, 2);
    toy_expect(&toy.done, 2);
    assert_int_equal(atomic_load(&toy.ends), 0);
    buf_done(&packed);
    free(zeros);
}

/* What a client that takes gzip gets is what another gets. */
static void answers(void **state) {
    (void)state;
    toy_start(&toy, NULL);
    static const char *const paths[] = {"/big?n=100000", "/lines?n=200000"};
    for (size_t i = 0; i < 2; i++) {
        char request[200];
        struct raw_reply plain, coded;
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", paths[i]);
        raw_reply_ask(toy.server, request, &plain);
        assert_null(raw_reply_header(&plain, "Content-Encoding"));
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br, gzip\r\n\r\n", paths[i]);
        raw_reply_ask(toy.server, request, &coded);
        assert_string_equal(raw_reply_header(&coded, "Content-Encoding"), "gzip");
        assert_true(!coded.cut && coded.body.size < plain.body.size);
        struct buf out = {0};
        assert_null(unpack(CODING_GZIP, &coded.body, 1000, &out));
        assert_int_equal(out.size, plain.body.size);
        assert_memory_equal(out.data, plain.body.data, out.size);
        buf_done(&out);
        raw_reply_done(&plain);
        raw_reply_done(&coded);
    }
    struct raw_reply r;
    raw_reply_ask(toy.server, "GET /big?n=100 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n",
                  &r); /* it does not pay */
    assert_null(raw_reply_header(&r, "Content-Encoding"));
    assert_int_equal(r.body.size, 100);
    raw_reply_done(&r);
    raw_reply_ask(toy.server,
                  "GET /lines?n=100000&abort HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n",
                  &r);
    assert_true(r.cut);
    raw_reply_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(whatever_the_cuts),
        cmocka_unit_test(what_grows_a_thousandfold),
        cmocka_unit_test(several_members),
        cmocka_unit_test(damage),
        cmocka_unit_test_teardown(bodies, stop),
        cmocka_unit_test_teardown(bodies_refused, stop),
        cmocka_unit_test_teardown(answers, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
