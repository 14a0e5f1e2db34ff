/* The bytes of a body for readers of text: a part of the body in one piece, checked to be UTF-8 up
 * to some byte. Private to formats. */
#ifndef FORMATS_TEXT_INPUT_H
#define FORMATS_TEXT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_INPUT_SLACK 64          /* bytes after the data that may be read; they are 0 */
#define TEXT_INPUT_SLICE (64 * 1024) /* bytes that readers append at a time */

struct text_input {
    char *data; /* allocated, with TEXT_INPUT_SLACK bytes after `size` */
    size_t size, capacity;
    size_t checked; /* the bytes before it were checked: valid, or recorded as wrong */
    bool started;   /* a byte order mark was skipped, or there is none */
};

void text_input_done(struct text_input *in);
/* Appends bytes. false: no memory. */
bool text_input_append(struct text_input *in, const char *bytes, size_t n);
/* Before the first check: marks a byte order mark as checked. final: there are
 * no more bytes. false: more bytes are needed. */
bool text_input_start(struct text_input *in, bool final);
/* Checks the bytes that were not checked. NULL: all are valid, or the last ones may be completed by
 * more. Otherwise a text about the byte at `checked`. */
const char *text_input_check(struct text_input *in, bool final);
/* Removes the first n bytes, which must be checked. */
void text_input_drop(struct text_input *in, size_t n);

#endif
