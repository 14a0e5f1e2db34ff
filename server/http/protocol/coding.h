/* Content codings: gzip and deflate, undone as a body comes, done for an answer where that pays.
 * zlib does both. gzip is RFC 1952, several members one behind the other included; deflate is RFC
 * 1950, and RFC 1951 without its wrapping, which many send under that name. */
#ifndef HTTP_CODING_H
#define HTTP_CODING_H

#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

enum coding { CODING_IDENTITY, CODING_GZIP, CODING_DEFLATE };

/* The value of Content-Encoding; NULL is identity. false: none of ours. */
bool coding_of_content(const char *value, enum coding *out);
/* What Accept-Encoding prefers of gzip, deflate and identity; NULL is identity (RFC 9110 12.5.3:
 * whoever says nothing gets what everybody can read). */
enum coding coding_accepted(const char *value);
/* "gzip", "deflate"; NULL for identity. */
const char *coding_name(enum coding coding);

/* ---- a body ---- */
struct decoder;                   /* of one body and one thread at a time */
#define DECODER_BYTES (64 * 1024) /* what one holds, about */
#define DECODER_OUTPUT (256 * 1024)
#define DECODER_ROOM (DECODER_OUTPUT + 32 * 1024) /* bytes of the buffer that a step writes to */
enum decoder_state { DECODER_MORE, DECODER_FAULT, DECODER_NO_MEMORY };

struct decoder *decoder_new(enum coding coding); /* NULL: no memory */
void decoder_free(struct decoder *decoder);      /* NULL is allowed */
/* Takes from bytes[n] what gives about DECODER_OUTPUT at most, says how much it took (all of it
 * unless the output is long) and what came of it: out[*n_out], in room [DECODER_ROOM]. FAULT:
 * decoder_fault says why. */
enum decoder_state decoder_step(struct decoder *decoder, const char *bytes, size_t n, size_t *taken,
                                char *room, size_t *n_out);
/* What is wrong, if the body ended here: the fault that a step found, or that it is cut off. NULL:
 * it may end, behind the end of a member or before anything came. */
const char *decoder_fault(const struct decoder *decoder);

/* ---- an answer ---- */
struct encoder;                                  /* of one answer and one thread at a time */
struct encoder *encoder_new(enum coding coding); /* NULL: no memory */
void encoder_free(struct encoder *encoder);      /* NULL is allowed */
#define ENCODER_BYTES (264 * 1024)               /* what one holds, about */
/* Appends what becomes of bytes[n] to out; last: and the end. A failure of memory is out's. */
void encoder_put(struct encoder *encoder, const char *bytes, size_t n, bool last, struct buf *out);

#endif
