/* The different words that one thread meets in a column, each with what its rows weigh. */
#ifndef DNI_VOCABULARY_TALLY_H
#define DNI_VOCABULARY_TALLY_H

#include <discern/run.h>

/* A word and its rows. */
typedef struct dni_tally_word {
    uint64_t units; /* what the rows that have it weigh, in whole units */
    uint64_t row;   /* the row that counted last */
    uint32_t rows;  /* how many counted; no more than UINT32_MAX */
    unsigned char length;
    char text[]; /* [length] */
} dni_tally_word;

typedef struct dni_tally_slot {
    uint32_t hash;
    uint32_t place; /* of the word, DNI_NO_WORD: empty */
} dni_tally_slot;

#define DNI_NO_WORD UINT32_MAX

/* Open addressing over words that lie one behind the other in pages, so that growing moves none of them. Memory of the run. */
typedef struct dni_tally {
    const dn_run *run;
    uint64_t seed;         /* of the hash; the same in tallies that are united */
    dni_tally_slot *slots; /* at most half full */
    size_t n_slots;        /* a power of two, or 0 */
    size_t n;              /* words */
    char **pages;          /* [n_pages] */
    size_t n_pages, page_room;
    size_t used; /* bytes of the last page */
} dni_tally;

void dni_tally_init(dni_tally *tally, const dn_run *run, uint64_t seed);
void dni_tally_done(dni_tally *tally); /* {0} is allowed */

/* A word of length 1 … 255 in a row, which weighs `units`: counted once for every row, rows being told apart from the one before.
 * DN_ERR_BUDGET, DN_ERR_MEMORY without a message; DN_ERR_STOPPED, DN_ERR_TIME while it grows. The tally is as before then. */
DN_MUST_USE dn_status dni_tally_add(dni_tally *tally, const char *word, size_t length, uint64_t row,
                                    uint64_t units, dn_error *err);
/* Adds all that `more` has, of other rows. The same errors. */
DN_MUST_USE dn_status dni_tally_merge(dni_tally *tally, const dni_tally *more, dn_error *err);

/* A walk over all words in the order of memory. {.tally = tally} is before the first. */
typedef struct dni_tally_walk {
    const dni_tally *tally;
    size_t page, at; /* where the next word is, if there is one */
} dni_tally_walk;
/* NULL: there is no more. */
const dni_tally_word *dni_tally_next(dni_tally_walk *walk);

#endif
