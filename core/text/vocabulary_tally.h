/* A tally: the different words that one thread finds in a column, each with the total weight of
 * the rows that contain it. */
#ifndef DNI_VOCABULARY_TALLY_H
#define DNI_VOCABULARY_TALLY_H

#include <discern/run.h>

/* A word and the rows that contain it. */
typedef struct dni_tally_word {
    uint64_t units; /* total weight of the rows that contain the word, in integer units */
    uint64_t row;   /* the last row that was counted */
    uint32_t rows;  /* number of rows counted, at most UINT32_MAX */
    unsigned char length;
    char text[]; /* [length] */
} dni_tally_word;

typedef struct dni_tally_slot {
    uint32_t hash;
    uint32_t offset; /* offset of the word; DNI_NO_WORD: the slot is empty */
} dni_tally_slot;

#define DNI_NO_WORD UINT32_MAX

/* A hash table with open addressing. Words are stored consecutively in pages; growing the table
 * does not move them. The memory is that of the run. */
typedef struct dni_tally {
    const dn_run *run;
    uint64_t seed;         /* seed of the hash; must be equal in tallies that are merged */
    dni_tally_slot *slots; /* at most half full */
    size_t n_slots;        /* a power of two, or 0 */
    size_t n;              /* number of words */
    char **pages;          /* [n_pages] */
    size_t n_pages, page_capacity;
    size_t used; /* bytes used in the last page */
} dni_tally;

void dni_tally_init(dni_tally *tally, const dn_run *run, uint64_t seed);
void dni_tally_done(dni_tally *tally); /* tally may be zero-initialised */

/* Adds a word of 1 … 255 bytes that occurs in `row`, whose weight is `units`. Consecutive calls
 * for the same word and row count the row once. On failure the tally is unchanged. Errors:
 * DN_ERR_BUDGET, DN_ERR_MEMORY without a message; DN_ERR_STOPPED, DN_ERR_TIME while the table
 * grows. */
DN_MUST_USE dn_status dni_tally_add(dni_tally *tally, const char *word, size_t length, uint64_t row,
                                    uint64_t units, dn_error *err);
/* Adds all words of the tally `more`. The two tallies must have counted different rows. Errors:
 * those of dni_tally_add. */
DN_MUST_USE dn_status dni_tally_merge(dni_tally *tally, const dni_tally *more, dn_error *err);

/* An iterator over all words in memory order, initialised by {.tally = tally}. */
typedef struct dni_tally_walk {
    const dni_tally *tally;
    size_t page, at; /* page, and offset in the page, of the next word */
} dni_tally_walk;
/* Returns the next word; NULL: no word is left. */
const dni_tally_word *dni_tally_next(dni_tally_walk *walk);

#endif
