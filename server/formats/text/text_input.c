#include "formats/text/text_input.h"
#include "base/memory/array.h"
#include "formats/csv/csv_text.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 4096 };

void text_input_done(struct text_input *in) {
    free(in->data);
    *in = (struct text_input){0};
}

bool text_input_append(struct text_input *in, const char *bytes, size_t n) {
    while (in->size + n + TEXT_INPUT_SLACK > in->capacity) {
        if (!array_grow(&in->data, &in->capacity, FIRST_BYTES, 1)) {
            return false;
        }
    }
    memcpy(in->data + in->size, bytes, n);
    in->size += n;
    memset(in->data + in->size, 0, TEXT_INPUT_SLACK);
    return true;
}

bool text_input_start(struct text_input *in, bool final) {
    static const char mark[3] = "\xEF\xBB\xBF";
    in->started = final || in->size >= sizeof mark;
    if (in->started && in->size >= sizeof mark && memcmp(in->data, mark, sizeof mark) == 0) {
        in->checked = sizeof mark;
    }
    return in->started;
}

const char *text_input_check(struct text_input *in, bool final) {
    const char *wrong = NULL;
    in->checked += csv_text_check(in->data + in->checked, in->size - in->checked, final, &wrong);
    return wrong;
}

void text_input_drop(struct text_input *in, size_t n) {
    memmove(in->data, in->data + n, in->size - n + TEXT_INPUT_SLACK);
    in->size -= n;
    in->checked -= n;
}
