/* Edit distances of one sequence to many (Levenshtein, Soviet Physics Doklady 10, 1966): characters changed, added or left out, at least.
 *
 * Symbols are numbers 0 … n_symbols − 1, and any other number is a symbol that equals none. 64 characters of the pattern are dealt with at once: Myers, A fast bit-vector algorithm for approximate string matching,
 * JACM 46, 1999; blocks and their borders after Hyyrö, Bit-parallel approximate string matching, 2003. O(⌈m/64⌉ n) for a pattern of m and a text of n characters. */
#ifndef DNI_EDIT_H
#define DNI_EDIT_H

#include <stddef.h>
#include <stdint.h>

/* Doubles of work for texts of at most `longest` characters, patterns of any length. */
size_t dni_edit_work(size_t n_symbols, size_t longest);
typedef struct dni_edit {
    const uint32_t *pattern;
    size_t n, n_symbols;
    uint64_t *
        places; /* [BLOCKS × n_symbols] where in each block a symbol stands, of the part of the pattern at `first` */
    signed char *
        step; /* [longest] at the lower border of what is done: how the distance changes along the text */
    size_t first; /* SIZE_MAX: places are all 0 */
} dni_edit;
/* Begins with a pattern, which must stay; work [dni_edit_work]. */
void dni_edit_begin(dni_edit *edit, const uint32_t *pattern, size_t n, size_t n_symbols,
                    double *work);
size_t dni_edit_distance(dni_edit *edit, const uint32_t *text, size_t n);

#endif
