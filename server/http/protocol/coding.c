/* gzip and deflate by zlib. */
#include "http/protocol/coding.h"
#include "http/protocol/fields.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define WINDOW_GZIP (15 + 16) /* windowBits of zlib, which also selects the header */
#define WINDOW_ZLIB 15
#define WINDOW_BARE (-15)
#define MEMORY_LEVEL 8
#define PIECE (32 * 1024)

/* ---- headers ---- */

bool coding_of_content(const char *value, enum coding *out) {
    const char *list = value == NULL ? "" : value;
    struct part name;
    if (!list_next(&list, &name) || part_is(name, "identity")) {
        *out = CODING_IDENTITY;
    } else if (part_is(name, "gzip") || part_is(name, "x-gzip")) {
        *out = CODING_GZIP;
    } else if (part_is(name, "deflate")) {
        *out = CODING_DEFLATE;
    } else {
        return false;
    }
    return !list_next(&list, &name);
}

enum coding coding_accepted(const char *value) {
    static const char *const names[] = {"identity", "gzip", "deflate"};
    int weight[] = {-1, -1, -1}, others = -1, x_gzip = -1;
    const char *list = value == NULL ? "" : value;
    struct part element;
    while (list_next(&list, &element)) {
        const struct part name = element_value(element);
        const int q = element_weight(element);
        for (int i = 0; i < 3; i++) {
            weight[i] = part_is(name, names[i]) ? q : weight[i];
        }
        x_gzip = part_is(name, "x-gzip") ? q : x_gzip;
        others = part_is(name, "*") ? q : others;
    }
    weight[CODING_GZIP] = weight[CODING_GZIP] < 0 ? x_gzip : weight[CODING_GZIP];
    for (int i = 0; i < 3; i++) {
        weight[i] = weight[i] < 0 ? others : weight[i];
    }
    if (weight[CODING_IDENTITY] > weight[CODING_GZIP] &&
        weight[CODING_IDENTITY] > weight[CODING_DEFLATE]) {
        return CODING_IDENTITY;
    }
    if (weight[CODING_GZIP] > 0 && weight[CODING_GZIP] >= weight[CODING_DEFLATE]) {
        return CODING_GZIP;
    }
    return weight[CODING_DEFLATE] > 0 ? CODING_DEFLATE : CODING_IDENTITY;
}

const char *coding_name(enum coding coding) {
    return coding == CODING_GZIP ? "gzip" : coding == CODING_DEFLATE ? "deflate" : NULL;
}

/* ---- a body ---- */

struct decoder {
    z_stream z;
    enum coding coding;
    const char *fault;  /* what is wrong; NULL: nothing yet */
    bool begun;         /* bytes of the current member have arrived */
    bool ended;         /* the current member has ended */
    bool first;         /* zlib has not been given a byte yet */
    unsigned char held; /* deflate: the first byte, until the second one has arrived */
    bool holds;         /* `held` is set */
};

struct decoder *decoder_new(enum coding coding) {
    struct decoder *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return NULL;
    }
    d->coding = coding;
    d->first = true;
    if (inflateInit2(&d->z, coding == CODING_GZIP ? WINDOW_GZIP : WINDOW_ZLIB) == Z_OK) {
        return d;
    }
    free(d);
    return NULL;
}

void decoder_free(struct decoder *d) {
    if (d == NULL) {
        return;
    }
    (void)inflateEnd(&d->z);
    free(d);
}

const char *decoder_fault(const struct decoder *d) {
    return d->fault != NULL        ? d->fault
           : !d->begun || d->ended ? NULL
                                   : "it is cut off before its end";
}

/* Whether two bytes are a header of RFC 1950 (section 2.2: method 8, a multiple of 31). */
static bool is_wrapped(unsigned first, unsigned second) {
    return (first & 15) == 8 && (first >> 4) <= 7 && (first * 256 + second) % 31 == 0;
}

/* Decodes *n bytes to room[*n_room], and sets *n and *n_room to the bytes used. Returns the result
 * of zlib, but Z_OK for Z_BUF_ERROR (more input is needed). */
static int inflate_into(struct decoder *d, const char *bytes, size_t *n, char *room,
                        size_t *n_room) {
    d->z.next_in = (unsigned char *)(uintptr_t)bytes;
    d->z.avail_in = (unsigned)*n;
    d->z.next_out = (unsigned char *)room;
    d->z.avail_out = (unsigned)*n_room;
    const int result = inflate(&d->z, Z_NO_FLUSH);
    *n -= d->z.avail_in;
    *n_room -= d->z.avail_out;
    return result == Z_BUF_ERROR ? Z_OK : result;
}

/* Begins the next member of the body. Returns false if the coding has only one. */
static bool next_member(struct decoder *d) {
    if (d->coding != CODING_GZIP) {
        d->fault = "bytes follow its end";
        return false;
    }
    d->ended = false;
    return inflateReset(&d->z) == Z_OK;
}

static const char *fault_of(const struct decoder *d, int result) {
    if (result == Z_NEED_DICT) {
        return "it needs a dictionary";
    }
    return d->z.msg != NULL ? d->z.msg : "it is damaged";
}

/* deflate: selects RFC 1950 or RFC 1951 by the first two bytes. */
static enum decoder_state choose_wrapping(struct decoder *d, const char *bytes, size_t *taken,
                                          size_t n, char *room, size_t *n_out) {
    if (!d->holds) {
        d->held = (unsigned char)bytes[0];
        d->holds = true;
        *taken = 1;
    }
    if (*taken == n) {
        return DECODER_MORE;
    }
    if (!is_wrapped(d->held, (unsigned char)bytes[*taken]) &&
        inflateReset2(&d->z, WINDOW_BARE) != Z_OK) {
        return DECODER_NO_MEMORY;
    }
    size_t one = 1, space = DECODER_OUTPUT;
    (void)inflate_into(d, (const char *)&d->held, &one, room,
                       &space); /* after a fault the next call of inflate fails too */
    *n_out = space;
    d->first = false;
    return DECODER_MORE;
}

enum decoder_state decoder_step(struct decoder *d, const char *bytes, size_t n, size_t *taken,
                                char *room, size_t *n_out) {
    *taken = *n_out = 0;
    d->begun = d->begun || n > 0;
    if (d->first && d->coding == CODING_DEFLATE && n > 0) {
        enum decoder_state state = choose_wrapping(d, bytes, taken, n, room, n_out);
        if (state != DECODER_MORE || d->first) {
            return state;
        }
    }
    while (*taken < n && *n_out < DECODER_OUTPUT) {
        if (d->ended && !next_member(d)) {
            return DECODER_FAULT;
        }
        size_t in = n - *taken, out = DECODER_OUTPUT - *n_out;
        int result = inflate_into(d, bytes + *taken, &in, room + *n_out, &out);
        *taken += in;
        *n_out += out;
        /* All input is taken, and the output is full: zlib may hold some thousand bytes more. The
         * buffer has room for them, so that no output waits for further input. */
        if (result == Z_OK && *taken == n && *n_out == DECODER_OUTPUT) {
            in = 0;
            out = DECODER_ROOM - *n_out;
            result = inflate_into(d, bytes, &in, room + *n_out, &out);
            *n_out += out;
        }
        if (result == Z_STREAM_END) {
            d->ended = true;
        } else if (result != Z_OK) {
            d->fault = fault_of(d, result);
            return result == Z_MEM_ERROR ? DECODER_NO_MEMORY : DECODER_FAULT;
        }
    }
    return DECODER_MORE;
}

/* ---- a reply ---- */

struct encoder {
    z_stream z;
};

struct encoder *encoder_new(enum coding coding, enum coding_effort effort) {
    struct encoder *e = calloc(1, sizeof *e);
    if (e == NULL) {
        return NULL;
    }
    const int level = effort == CODING_FAST ? Z_BEST_SPEED : Z_BEST_COMPRESSION;
    if (deflateInit2(&e->z, level, Z_DEFLATED, coding == CODING_GZIP ? WINDOW_GZIP : WINDOW_ZLIB,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK) {
        return e;
    }
    free(e);
    return NULL;
}

void encoder_free(struct encoder *e) {
    if (e == NULL) {
        return;
    }
    (void)deflateEnd(&e->z);
    free(e);
}

void encoder_put(struct encoder *e, const char *bytes, size_t n, bool last, struct buf *out) {
    for (bool more = n > 0 || last; more && !out->failed;) {
        const size_t part = n < PIECE ? n : PIECE;
        if (!buf_reserve(out, PIECE + PIECE / 8 + 64)) {
            return;
        }
        e->z.next_in = (unsigned char *)(uintptr_t)bytes;
        e->z.avail_in = (unsigned)part;
        e->z.next_out = (unsigned char *)out->data + out->size;
        e->z.avail_out =
            (unsigned)(out->capacity - out->size < INT32_MAX ? out->capacity - out->size
                                                             : INT32_MAX);
        const unsigned before = e->z.avail_out;
        const int result = deflate(&e->z, last && part == n ? Z_FINISH : Z_NO_FLUSH);
        out->size += before - e->z.avail_out;
        bytes += part - e->z.avail_in;
        n -= part - e->z.avail_in;
        more = n > 0 || e->z.avail_out == 0 || (last && result != Z_STREAM_END);
    }
}
