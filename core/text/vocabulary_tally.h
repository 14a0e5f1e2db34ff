/* A tally: the different words that one thread finds in a column, each with the weight of its
 * rows. */
#ifndef DNI_VOCABULARY_TALLY_H
#define DNI_VOCABULARY_TALLY_H

#include <discern/run.h>

/* A word and its rows. */
typedef struct dni_tally_word {
    uint64_t units; /* weight of the rows that have it, in integer units */
    uint64_t row;   /* the row counted last */
    uint32_t rows;  /* number of rows counted, at most UINT32_MAX */
    unsigned char length;
    char text[]; /* [length] */
} dni_tally_word;

typedef struct dni_tally_slot {
    uint32_t hash;
    uint32_t offset; /* of the word; DNI_NO_WORD: the slot is empty */
} dni_tally_slot;

#define DNI_NO_WORD UINT32_MAX

/* A hash table with open addressing. Words are stored consecutively in pages and do not move
 * when it grows. Memory of the run. */
typedef struct dni_tally {
    const dn_run *run;
    uint64_t seed;         /* of the hash; equal in tallies that are merged */
    dni_tally_slot *slots; /* at most half full */
    size_t n_slots;        /* a power of two, or 0 */
    size_t n;              /* number of words */
    char **pages;          /* [n_pages] */
    size_t n_pages, page_capacity;
    size_t used; /* bytes used in the last page */
} dni_tally;

void dni_tally_init(dni_tally *tally, const dn_run *run, uint64_t seed);
void dni_tally_done(dni_tally *tally); /* {0} is allowed */

/* Adds a word of 1 … 255 bytes of a row that weighs `units`. A word is counted once for
 * consecutive calls with the same row. On failure the tally is unchanged. Errors: DN_ERR_BUDGET,
 * DN_ERR_MEMORY without a message; DN_ERR_STOPPED, DN_ERR_TIME while it grows. */
DN_MUST_USE dn_status dni_tally_add(dni_tally *tally, const char *word, size_t length, uint64_t row,
                                    uint64_t units, dn_error *err);
/* Adds all words of another tally, whose rows must be different. Errors: the same. */
DN_MUST_USE dn_status dni_tally_merge(dni_tally *tally, const dni_tally *more, dn_error *err);

/* A walk over all words in memory order. It begins with {.tally = tally}. */
typedef struct dni_tally_walk {
    const dni_tally *tally;
    size_t page, at; /* position of the next word */
} dni_tally_walk;
/* Returns the next word; NULL: there are no more. */
const dni_tally_word *dni_tally_next(dni_tally_walk *walk);

#endif
