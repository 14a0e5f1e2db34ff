/* Edit distances by Myers' bit-parallel algorithm. A column of the distance table is stored as the
 * differences between adjacent entries: in one word a bit for each difference of +1, in another
 * word a bit for each difference of −1. */
#include "kernels/edit.h"

#include <string.h>

enum {
    BITS = 64,
    BLOCKS = 8,
    PART = BITS * BLOCKS
}; /* PART: symbols of the pattern that are processed at a time */

size_t dni_edit_work(size_t n_symbols, size_t longest) {
    return BLOCKS * n_symbols + longest / sizeof(double) + 1;
}

void dni_edit_begin(dni_edit *edit, const uint32_t *pattern, size_t n, size_t n_symbols,
                    double *work) {
    *edit = (dni_edit){.pattern = pattern,
                       .n = n,
                       .n_symbols = n_symbols,
                       .masks = (uint64_t *)(void *)work,
                       .step = (signed char *)(work + BLOCKS * n_symbols),
                       .first = SIZE_MAX};
    memset(edit->masks, 0, BLOCKS * n_symbols * sizeof *edit->masks);
}

static size_t part_length(const dni_edit *edit, size_t first) {
    return edit->n - first < PART ? edit->n - first : PART;
}

static void mark(dni_edit *edit, size_t first) {
    for (size_t i = 0; edit->first != SIZE_MAX && i < part_length(edit, edit->first); i++) {
        if (edit->pattern[edit->first + i] < edit->n_symbols) {
            edit->masks[i / BITS * edit->n_symbols + edit->pattern[edit->first + i]] = 0;
        }
    }
    for (size_t i = 0; i < part_length(edit, first); i++) {
        if (edit->pattern[first + i] < edit->n_symbols) {
            edit->masks[i / BITS * edit->n_symbols + edit->pattern[first + i]] |= (uint64_t)1
                                                                                  << i % BITS;
        }
    }
    edit->first = first;
}

/* Computes the distance table for a block of `rows` pattern characters and all columns (characters
 * of the text). step[j] is the change of the distance from column j to column j + 1: on entry in
 * the row above the block, on return in the last row of the block. */
static void pass_block(const uint64_t *masks, size_t n_symbols, size_t rows, const uint32_t *text,
                       size_t n, signed char *step) {
    /* Differences between rows of a column: bit i of `more` is set for +1, of `less` for −1. */
    uint64_t more = ~(uint64_t)0, less = 0;
    const size_t last = rows - 1;
    for (size_t j = 0; j < n; j++) {
        uint64_t equal = text[j] < n_symbols ? masks[text[j]] : 0;
        const uint64_t vertical = equal | less;
        equal |= step[j] < 0;
        const uint64_t diagonal = (((equal & more) + more) ^ more) | equal;
        uint64_t up = less | ~(diagonal | more), down = more & diagonal;
        const signed char below = (signed char)((int)(up >> last & 1) - (int)(down >> last & 1));
        up = up << 1 | (step[j] > 0);
        down = down << 1 | (step[j] < 0);
        more = down | ~(vertical | up);
        less = up & vertical;
        step[j] = below;
    }
}

size_t dni_edit_distance(dni_edit *edit, const uint32_t *text, size_t n) {
    size_t distance = edit->n;
    if (n == 0 || edit->n == 0) {
        return n + edit->n;
    }
    memset(edit->step, 1, n);
    for (size_t first = 0; first < edit->n; first += PART) {
        const size_t length = part_length(edit, first);
        if (edit->first != first) {
            mark(edit, first);
        }
        for (size_t i = 0; i < length; i += BITS) {
            pass_block(edit->masks + i / BITS * edit->n_symbols, edit->n_symbols,
                       length - i < BITS ? length - i : BITS, text, n, edit->step);
        }
    }
    for (size_t j = 0; j < n; j++) {
        distance += (size_t)edit->step[j]; /* (size_t)−1 subtracts 1, by wraparound */
    }
    return distance;
}
