/* The distribution of more numbers than can be kept: their ranks, about, in memory that does not
 * grow. Private to formats.
 *
 * Some levels of at most k numbers; a number of level h stands for 2^h of those that came. A level
 * that is full is sorted, and every other number goes up a level (Munro and Paterson 1980; Manku,
 * Rajagopalan and Lindsay, SIGMOD 1998; Karnin, Lang and Liberty, FOCS 2016): the odd and the even
 * places in turn, so that each pair of such steps at level h moves no rank by more than 2^h. When
 * 16·k·2^H numbers have come, the lowest level H gives way: from then on one number of each 2^(H +
 * 1) that follow each other stands for them. Which one is told by a mixing of their place in the
 * column: the same sequence for every column, without a seed, so that the sketch depends on the
 * numbers and their order and nothing else, and is like chance to whatever period the numbers have.
 * Sorting costs for the first 16·k numbers and for 8·k more each time they double; others are
 * passed over. */
#ifndef WIRE_QUANTILE_SKETCH_H
#define WIRE_QUANTILE_SKETCH_H

#include "formats/summary/number_tally.h"

enum {
    QUANTILE_LEVELS = 6,                       /* 16·k·2^H numbers never fill the level H + 5 */
    QUANTILE_DUE = 1 << (QUANTILE_LEVELS - 2), /* that 16 */
    QUANTILE_MIN_K = 8,
    QUANTILE_MAX_K = 1024
};

struct quantile_sketch {
    size_t k;        /* even */
    unsigned height; /* H, of the lowest level */
    size_t n_items[QUANTILE_LEVELS];
    bool
        odd[QUANTILE_LEVELS]; /* the next number that goes up from a level stands at an odd place */
    int64_t n;                /* numbers that came */
    int64_t group,
        pick; /* numbers of the present group of 2^H, and which of them, from 0, stands for it */
    double picked, last; /* that number when it has come; the last one that came */
    double moved;        /* no rank was moved by more by what went up */
    double squares;      /* of the sizes of groups of which one was picked */
    double item[];       /* [QUANTILE_LEVELS × k] level h at (h modulo QUANTILE_LEVELS)·k */
};

/* The memory of a sketch with this k. */
#define QUANTILE_MEMORY(k) (sizeof(struct quantile_sketch) + (k)*QUANTILE_LEVELS * sizeof(double))
/* NULL: no memory. */
struct quantile_sketch *quantile_sketch_new(size_t k);
void quantile_sketch_free(struct quantile_sketch *s);
size_t quantile_sketch_memory(const struct quantile_sketch *s); /* of NULL: 0 */
/* n further numbers, none of them NaN. */
void quantile_sketch_add(struct quantile_sketch *s, const double *x, size_t n);
/* Numbers that were counted before, ascending: the first that a sketch is given, and only then. */
void quantile_sketch_begin(struct quantile_sketch *s, const struct number_count *list, size_t n);
/* What it holds, ascending, malloc'ed, *n of them, their counts n together; NULL: no memory. */
struct number_count *quantile_sketch_list(const struct quantile_sketch *s, size_t *n);
/* How far a rank that is read off that list may be from the true one, as a share of n: proven for
 * what went up; for what was passed over the chance that any of a column's ranks is farther off is
 * one in a million if the numbers do not follow the sketch's own sequence (Hoeffding 1963). */
double quantile_sketch_error(const struct quantile_sketch *s);

#endif
