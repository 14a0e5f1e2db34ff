/* Input of the readers of text: the part of a body that is not consumed yet, in contiguous memory;
 * a prefix of it is checked to be UTF-8. Private to formats. */
#ifndef FORMATS_TEXT_INPUT_H
#define FORMATS_TEXT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* number of bytes after the data that may be read; they are 0 */
#define TEXT_INPUT_SLACK 64
/* number of bytes that readers append at a time */
#define TEXT_INPUT_SLICE (64 * 1024)

struct text_input {
    char *data; /* allocated, with TEXT_INPUT_SLACK bytes after `size` */
    size_t size, capacity;
    /* the bytes before this offset were checked: they are valid, or recorded as wrong */
    size_t checked;
    bool started; /* a byte order mark was skipped, or there is none */
};

void text_input_done(struct text_input *in);
/* Appends bytes. Returns false if out of memory. */
bool text_input_append(struct text_input *in, const char *bytes, size_t n);
/* Marks a byte order mark as checked; called before the first check. final: there are no more
 * bytes. Returns false if more bytes are needed. */
bool text_input_start(struct text_input *in, bool final);
/* Checks the new bytes. Returns NULL if all are valid, or if only an incomplete character at the
 * end is left. Otherwise returns a description of the fault in the byte at `checked`. */
const char *text_input_check(struct text_input *in, bool final);
/* Removes the first n bytes, which must have been checked. */
void text_input_drop(struct text_input *in, size_t n);

#endif
