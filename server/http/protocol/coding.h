/* Content codings gzip and deflate, by zlib. gzip is RFC 1952, with any number of members. deflate
 * is RFC 1950; RFC 1951 without a header, which many clients send under that name, is decoded too.
 */
#ifndef HTTP_CODING_H
#define HTTP_CODING_H

#include "base/memory/buf.h"
#include <stdbool.h>
#include <stddef.h>

enum coding { CODING_IDENTITY, CODING_GZIP, CODING_DEFLATE };

/* Parses Content-Encoding; NULL is identity. Returns false if the coding is not supported. */
bool coding_of_content(const char *value, enum coding *out);
/* Returns the coding that Accept-Encoding prefers of gzip, deflate and identity; NULL is identity
 * (RFC 9110, section 12.5.3). */
enum coding coding_accepted(const char *value);
/* Returns "gzip" or "deflate"; NULL for identity. */
const char *coding_name(enum coding coding);

/* ---- a body ---- */
struct decoder;                   /* for one body; one thread at a time */
#define DECODER_BYTES (64 * 1024) /* approximate memory of a decoder */
#define DECODER_OUTPUT (256 * 1024)
#define DECODER_ROOM (DECODER_OUTPUT + 32 * 1024) /* bytes of the buffer that a step writes to */
enum decoder_state { DECODER_MORE, DECODER_FAULT, DECODER_NO_MEMORY };

struct decoder *decoder_new(enum coding coding); /* NULL: no memory */
void decoder_free(struct decoder *decoder);      /* NULL is allowed */
/* Decodes *taken of bytes[n] to room[*n_out]; room has DECODER_ROOM bytes. Takes all bytes, unless
 * their output is longer than about DECODER_OUTPUT. DECODER_FAULT: decoder_fault returns the
 * reason. */
enum decoder_state decoder_step(struct decoder *decoder, const char *bytes, size_t n, size_t *taken,
                                char *room, size_t *n_out);
/* Returns what is wrong if the body ends here: the fault of a step, or that the body is cut off.
 * NULL: nothing. */
const char *decoder_fault(const struct decoder *decoder);

/* ---- an answer ---- */
struct encoder; /* for one answer; one thread at a time */
/* CODING_FAST: half the time for a tenth more bytes. CODING_SMALL: for answers that caches keep. */
enum coding_effort { CODING_FAST, CODING_SMALL };
struct encoder *encoder_new(enum coding coding, enum coding_effort effort); /* NULL: no memory */
void encoder_free(struct encoder *encoder);                                 /* NULL is allowed */
#define ENCODER_BYTES (264 * 1024) /* approximate memory of an encoder */
/* Encodes bytes[n] and appends the result to out. last: ends the stream. out->failed: out of
 * memory. */
void encoder_put(struct encoder *encoder, const char *bytes, size_t n, bool last, struct buf *out);

#endif
