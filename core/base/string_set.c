/* Byte strings in one array with a hash table. */
#include "base/string_set.h"

#include "base/string_hash.h"
#include <stdlib.h>
#include <string.h>

void dni_string_set_done(dni_string_set *set) {
    free(set->start);
    free(set->bytes);
    free(set->slots);
    *set = (dni_string_set){0};
}

size_t dni_string_set_memory(const dni_string_set *set) {
    return set->start_capacity * sizeof *set->start + set->capacity +
           set->n_slots * sizeof *set->slots;
}

/* Resets all slots. With more than a few strings this is faster than finding the slots of the
 * strings. */
void dni_string_set_clear(dni_string_set *set) {
    set->n = 0;
    if (set->slots != NULL) {
        memset(set->slots, 0xff, set->n_slots * sizeof *set->slots);
    }
}

void dni_string_set_restart(dni_string_set *set, size_t n) {
    if (set->n_slots / 16 > n + 16) {
        dni_string_set_done(set);
    } else {
        dni_string_set_clear(set);
    }
}

dn_strings dni_string_set_view(const dni_string_set *set) {
    static const uint32_t none[1] = {0};
    if (set->n == 0) {
        return (dn_strings){.n = 0, .start = none, .bytes = ""};
    }
    return (dn_strings){.n = set->n, .start = set->start, .bytes = set->bytes};
}

static bool same(const dni_string_set *set, uint32_t index, const char *text, size_t length) {
    uint32_t first = set->start[index];
    return set->start[index + 1] - first == length &&
           (length == 0 || memcmp(set->bytes + first, text, length) == 0);
}

uint32_t dni_string_set_find(const dni_string_set *set, const char *text, size_t length) {
    if (set->n_slots == 0) {
        return DNI_NO_STRING;
    }
    uint32_t hash = dni_string_hash(set->seed, text, length);
    for (size_t at = hash & (set->n_slots - 1);; at = (at + 1) & (set->n_slots - 1)) {
        dni_string_slot slot = set->slots[at];
        if (slot.index == DNI_NO_STRING) {
            return DNI_NO_STRING;
        }
        if (slot.hash == hash && same(set, slot.index, text, length)) {
            return slot.index;
        }
    }
}

static dn_status no_memory(dn_error *err, size_t bytes) {
    return dn_error_set(
        err, DN_ERR_MEMORY,
        "a list of strings needs %zu bytes of memory, which the system does not have", bytes);
}

/* Doubles the number of slots, so that at most half of the slots are used. */
static dn_status grow_slots(dni_string_set *set, dn_error *err) {
    size_t n_slots = set->n_slots == 0 ? 64 : 2 * set->n_slots;
    dni_string_slot *slots = malloc(n_slots * sizeof *slots);
    if (slots == NULL) {
        return no_memory(err, n_slots * sizeof *slots);
    }
    memset(slots, 0xff, n_slots * sizeof *slots);
    for (size_t i = 0; i < set->n_slots; i++) {
        dni_string_slot slot = set->slots[i];
        if (slot.index == DNI_NO_STRING) {
            continue;
        }
        size_t at = slot.hash & (n_slots - 1);
        while (slots[at].index != DNI_NO_STRING) {
            at = (at + 1) & (n_slots - 1);
        }
        slots[at] = slot;
    }
    if (set->n_slots == 0) { /* the seed is an address, which is unknown outside the process */
        set->seed = dni_hash_fold((uint64_t)(uintptr_t)slots ^ UINT64_C(0xa0761d6478bd642f),
                                  (uint64_t)(uintptr_t)set | UINT64_C(0xe7037ed1a0b428db));
    }
    free(set->slots);
    set->slots = slots;
    set->n_slots = n_slots;
    return DN_OK;
}

static dn_status grow_text(dni_string_set *set, size_t length, dn_error *err) {
    if (set->n + 2 > set->start_capacity) {
        size_t start_capacity = set->start_capacity + set->start_capacity / 2 + 64;
        uint32_t *start = realloc(set->start, start_capacity * sizeof *start);
        if (start == NULL) {
            return no_memory(err, start_capacity * sizeof *start);
        }
        if (set->start_capacity == 0) {
            start[0] = 0;
        }
        set->start = start;
        set->start_capacity = start_capacity;
    }
    size_t used = set->start[set->n];
    if (length > UINT32_MAX - used || set->n >= DNI_NO_STRING - 1) {
        return dn_error_set(err, DN_ERR_DATA, "a list of strings holds at most 4 GiB of text");
    }
    if (used + length > set->capacity) {
        size_t capacity = set->capacity + set->capacity / 2 + 256;
        if (capacity < used + length) {
            capacity = used + length;
        }
        char *bytes = realloc(set->bytes, capacity);
        if (bytes == NULL) {
            return no_memory(err, capacity);
        }
        set->bytes = bytes;
        set->capacity = capacity;
    }
    return DN_OK;
}

dn_status dni_string_set_append(dni_string_set *set, const char *text, size_t length, uint32_t *out,
                                dn_error *err) {
    dn_status status = grow_text(set, length, err);
    if (status != DN_OK) {
        return status;
    }
    uint32_t used = set->start[set->n];
    if (length > 0) {
        memcpy(set->bytes + used, text, length);
    }
    *out = (uint32_t)set->n++;
    set->start[set->n] = used + (uint32_t)length;
    return DN_OK;
}

dn_status dni_string_set_add(dni_string_set *set, const char *text, size_t length, uint32_t *out,
                             dn_error *err) {
    if (2 * (set->n + 1) > set->n_slots) {
        dn_status status = grow_slots(set, err);
        if (status != DN_OK) {
            return status;
        }
    }
    uint32_t hash = dni_string_hash(set->seed, text, length);
    size_t at = hash & (set->n_slots - 1);
    for (; set->slots[at].index != DNI_NO_STRING; at = (at + 1) & (set->n_slots - 1)) {
        dni_string_slot slot = set->slots[at];
        if (slot.hash == hash && same(set, slot.index, text, length)) {
            *out = slot.index;
            return DN_OK;
        }
    }
    dn_status status = dni_string_set_append(set, text, length, out, err);
    if (status == DN_OK) {
        set->slots[at] = (dni_string_slot){.hash = hash, .index = *out};
    }
    return status;
}
