/* A hash table of words. The words are stored in pages. A slot of the table has the hash and the
 * offset of a word. A lookup usually reads one slot and one word. */
#include "text/vocabulary_tally.h"

#include "base/run_memory.h"
#include "base/string_hash.h"
#include <string.h>

#define PAGE ((size_t)1 << 16)
/* Alignment of words in bytes, and unit of their offsets: 32-bit offsets address 32 GiB. */
#define ALIGNMENT 8
#define OFFSETS (PAGE / ALIGNMENT)
#define FIRST_SLOTS 1024
#define SLOTS_A_POLL ((size_t)1 << 18)

void dni_tally_init(dni_tally *tally, const dn_run *run, uint64_t seed) {
    *tally = (dni_tally){.run = run, .seed = seed};
}

void dni_tally_done(dni_tally *tally) {
    for (size_t i = 0; i < tally->n_pages; i++) {
        dn_run_free(tally->run, tally->pages[i]);
    }
    dn_run_free(tally->run, (void *)tally->pages);
    dn_run_free(tally->run, tally->slots);
    *tally = (dni_tally){0};
}

static dni_tally_word *word_at(const dni_tally *tally, uint32_t offset) {
    return (dni_tally_word *)(void *)(tally->pages[offset / OFFSETS] +
                                      offset % OFFSETS * ALIGNMENT);
}

static size_t size_of(size_t length) {
    return (offsetof(dni_tally_word, text) + length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Doubles the number of slots; allocates FIRST_SLOTS slots in an empty table. */
static dn_status grow_slots(dni_tally *tally, dn_error *err) {
    size_t n_slots = tally->n_slots == 0 ? FIRST_SLOTS : 2 * tally->n_slots;
    void *memory = NULL;
    dn_status status =
        dni_run_alloc_raw(tally->run, n_slots, sizeof *tally->slots, "", &memory, NULL);
    if (status != DN_OK) {
        return status;
    }
    dni_tally_slot *slots = memory;
    memset(slots, 0xff, n_slots * sizeof *slots);
    for (size_t i = 0; i < tally->n_slots; i++) {
        dni_tally_slot slot = tally->slots[i];
        if (i % SLOTS_A_POLL == SLOTS_A_POLL - 1) {
            status = dn_run_stop(tally->run, err);
        }
        if (status != DN_OK) {
            dn_run_free(tally->run, memory);
            return status;
        }
        if (slot.offset == DNI_NO_WORD) {
            continue;
        }
        size_t at = slot.hash & (n_slots - 1);
        while (slots[at].offset != DNI_NO_WORD) {
            at = (at + 1) & (n_slots - 1);
        }
        slots[at] = slot;
    }
    dn_run_free(tally->run, tally->slots);
    tally->slots = slots;
    tally->n_slots = n_slots;
    return DN_OK;
}

static dn_status grow_list(dni_tally *tally) {
    size_t capacity = tally->page_capacity == 0 ? 16 : 2 * tally->page_capacity;
    void *pages = NULL;
    dn_status status =
        dni_run_alloc_raw(tally->run, capacity, sizeof *tally->pages, "", &pages, NULL);
    if (status != DN_OK) {
        return status;
    }
    if (tally->n_pages > 0) {
        memcpy(pages, (void *)tally->pages, tally->n_pages * sizeof *tally->pages);
    }
    dn_run_free(tally->run, (void *)tally->pages);
    tally->pages = pages;
    tally->page_capacity = capacity;
    return DN_OK;
}

/* Marks the end of a page by a word of length 0, if there is space for one. */
static void end_page(dni_tally *tally) {
    if (PAGE - tally->used >= size_of(0)) {
        word_at(tally, (uint32_t)((tally->n_pages - 1) * OFFSETS + tally->used / ALIGNMENT))
            ->length = 0;
    }
}

const dni_tally_word *dni_tally_next(dni_tally_walk *walk) {
    const dni_tally *tally = walk->tally;
    for (; walk->page < tally->n_pages; walk->page++, walk->at = 0) {
        const size_t end = walk->page + 1 < tally->n_pages ? PAGE : tally->used;
        if (end - walk->at < size_of(0)) {
            continue;
        }
        const dni_tally_word *word =
            word_at(tally, (uint32_t)(walk->page * OFFSETS + walk->at / ALIGNMENT));
        if (word->length == 0) {
            continue;
        }
        walk->at += size_of(word->length);
        return word;
    }
    return NULL;
}

/* Reserves space for a word in the last page, or in a new page if it does not fit. */
static dn_status make_word(dni_tally *tally, size_t length, uint32_t *out) {
    size_t size = size_of(length);
    if (tally->n_pages == 0 || size > PAGE - tally->used) {
        void *page = NULL;
        if (tally->n_pages == tally->page_capacity) {
            dn_status status = grow_list(tally);
            if (status != DN_OK) {
                return status;
            }
        }
        if (tally->n_pages >= DNI_NO_WORD / OFFSETS) {
            return DN_ERR_MEMORY;
        }
        dn_status status = dni_run_alloc_raw(tally->run, PAGE, 1, "", &page, NULL);
        if (status != DN_OK) {
            return status;
        }
        if (tally->n_pages > 0) {
            end_page(tally);
        }
        tally->pages[tally->n_pages++] = page;
        tally->used = 0;
    }
    *out = (uint32_t)((tally->n_pages - 1) * OFFSETS + tally->used / ALIGNMENT);
    tally->used += size;
    return DN_OK;
}

static uint32_t rows_sum(uint32_t a, uint32_t b) {
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Adds a word with a known hash. `found` has the length, row, rows and units to add. Consecutive
 * calls for the same word and row count the row once. */
static dn_status add(dni_tally *tally, uint32_t hash, const char *word, const dni_tally_word *found,
                     dn_error *err) {
    const size_t length = found->length;
    if (2 * (tally->n + 1) > tally->n_slots) {
        dn_status status = grow_slots(tally, err);
        if (status != DN_OK) {
            return status;
        }
    }
    size_t at = hash & (tally->n_slots - 1);
    for (; tally->slots[at].offset != DNI_NO_WORD; at = (at + 1) & (tally->n_slots - 1)) {
        if (tally->slots[at].hash != hash) {
            continue;
        }
        dni_tally_word *known = word_at(tally, tally->slots[at].offset);
        if (known->length != length || memcmp(known->text, word, length) != 0) {
            continue;
        }
        if (known->row != found->row) {
            known->units += found->units;
            known->rows = rows_sum(known->rows, found->rows);
            known->row = found->row;
        }
        return DN_OK;
    }
    uint32_t offset = 0;
    dn_status status = make_word(tally, length, &offset);
    if (status != DN_OK) {
        return status;
    }
    dni_tally_word *fresh = word_at(tally, offset);
    *fresh = *found;
    memcpy(fresh->text, word, length);
    tally->slots[at] = (dni_tally_slot){.hash = hash, .offset = offset};
    tally->n++;
    return DN_OK;
}

dn_status dni_tally_add(dni_tally *tally, const char *word, size_t length, uint64_t row,
                        uint64_t units, dn_error *err) {
    const dni_tally_word found = {.units = units,
                                  .row = row,
                                  .rows = 1,
                                  .length = (unsigned char)length};
    return add(tally, dni_string_hash(tally->seed, word, length), word, &found, err);
}

dn_status dni_tally_merge(dni_tally *tally, const dni_tally *more, dn_error *err) {
    for (size_t i = 0; i < more->n_slots; i++) {
        dn_status status = i % SLOTS_A_POLL == 0 ? dn_run_stop(tally->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
        if (more->slots[i].offset == DNI_NO_WORD) {
            continue;
        }
        const dni_tally_word *word = word_at(more, more->slots[i].offset);
        status = add(tally, more->slots[i].hash, word->text, word, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}
