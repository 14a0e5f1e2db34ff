/* Edit distances of one sequence to many: the smallest number of symbols that are changed, inserted
 * or deleted.
 *
 * Symbols are numbers 0 … n_symbols − 1; any other number is a symbol that differs from all others.
 * 64 symbols of the pattern are processed at once.
 *
 * Sources: Levenshtein, Soviet Physics Doklady 10, 1966; Myers, A fast bit-vector algorithm for
 * approximate string matching, JACM 46, 1999; blocks: Hyyrö, Bit-parallel approximate string
 * matching, 2003. Cost: O(⌈m/64⌉ n) for a pattern of m and a text of n symbols. */
#ifndef DNI_EDIT_H
#define DNI_EDIT_H

#include <stddef.h>
#include <stdint.h>

/* Returns the number of doubles of scratch for texts of at most `longest` symbols and patterns of
 * any length. */
size_t dni_edit_work(size_t n_symbols, size_t longest);
typedef struct dni_edit {
    const uint32_t *pattern;
    size_t n, n_symbols;
    /* [BLOCKS × n_symbols] bit i of a mask is set if the symbol is character i of the block; for
     * the blocks of the part of the pattern that starts at `first` */
    uint64_t *masks;
    /* [longest] change of the distance from one text position to the next, in the last row of the
     * table that was computed */
    signed char *step;
    size_t first; /* first symbol of the part that `masks` describes; SIZE_MAX: all masks are 0 */
} dni_edit;
/* Initialises `edit` for a pattern, which must outlive `edit`. work: [dni_edit_work] scratch. */
void dni_edit_begin(dni_edit *edit, const uint32_t *pattern, size_t n, size_t n_symbols,
                    double *work);
size_t dni_edit_distance(dni_edit *edit, const uint32_t *text, size_t n);

#endif
