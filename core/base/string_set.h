/* A growing list of byte strings with a hash table (open addressing), for dictionaries of column
 * chunks and levels of the encoder. */
#ifndef DNI_STRING_SET_H
#define DNI_STRING_SET_H

#include <discern/table.h>

#define DNI_NO_STRING UINT32_MAX

typedef struct dni_string_slot {
    uint32_t hash;
    uint32_t index; /* index of the string; DNI_NO_STRING: the slot is empty */
} dni_string_slot;

/* A zero-initialised set is empty. Memory is allocated by malloc; at most 4 GiB of text. */
typedef struct dni_string_set {
    uint32_t *start;       /* [n + 1], as in dn_strings; NULL before the first string */
    char *bytes;           /* the concatenated strings */
    size_t n;              /* number of strings */
    size_t start_capacity; /* allocated elements of `start` */
    size_t capacity;       /* allocated size of `bytes` */
    dni_string_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    uint64_t seed;  /* seed of the hash; secret; does not affect results */
} dni_string_set;

void dni_string_set_done(dni_string_set *set);
size_t dni_string_set_memory(const dni_string_set *set); /* bytes allocated */
void dni_string_set_clear(dni_string_set *set); /* removes all strings; the memory is kept */
/* Removes all strings, to prepare for at most n new strings. A hash table that is much too large
 * for n strings is freed, so that clearing it does not slow down small texts after a large text. */
void dni_string_set_restart(dni_string_set *set, size_t n);

/* Returns the index of a string, or DNI_NO_STRING if it is not in the set. Concurrent calls are
 * safe while no string is added. */
uint32_t dni_string_set_find(const dni_string_set *set, const char *text, size_t length);
/* *out ← the index of a string; a new string is added. DN_ERR_MEMORY, or DN_ERR_DATA beyond 4 GiB
 * of text; on failure the set is unchanged. */
DN_MUST_USE dn_status dni_string_set_add(dni_string_set *set, const char *text, size_t length,
                                         uint32_t *out, dn_error *err);
/* Adds a string without a search for duplicates. dni_string_set_find does not find strings added
 * by this function. */
DN_MUST_USE dn_status dni_string_set_append(dni_string_set *set, const char *text, size_t length,
                                            uint32_t *out, dn_error *err);

dn_strings dni_string_set_view(const dni_string_set *set);
/* Returns the total number of bytes of all strings. */
static inline size_t dni_string_set_size(const dni_string_set *set) {
    return set->n == 0 ? 0 : set->start[set->n];
}

#endif
