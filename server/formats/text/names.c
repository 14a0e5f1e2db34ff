/* A set of names in a hash table with open addressing. */
#include "formats/text/names.h"
#include "base/memory/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void names_done(struct names *names) {
    free(names->text);
    free(names->slot);
    *names = (struct names){0};
}

static void put(struct names *names, size_t i) {
    size_t at =
        hash_keyed(&names->key, names->text[i].bytes, names->text[i].n) & (names->n_slots - 1);
    while (names->slot[at] != 0) {
        at = (at + 1) & (names->n_slots - 1);
    }
    names->slot[at] = (uint32_t)(i + 1);
}

static bool grow(struct names *names) {
    size_t capacity = names->capacity;
    uint32_t *slot = array_grow(&names->text, &capacity, 16, sizeof *names->text)
                         ? calloc(2 * capacity, sizeof *slot)
                         : NULL;
    if (slot == NULL) {
        return false;
    }
    if (names->n_slots == 0) {
        hash_key_make(&names->key);
    }
    free(names->slot);
    names->slot = slot;
    names->n_slots = 2 * capacity;
    names->capacity = capacity;
    for (size_t i = 0; i < names->n; i++) {
        put(names, i);
    }
    return true;
}

/* Removes the names in the reverse order of their addition. Each removal restores the table as it
 * was before that name was added. The texts must still exist. */
void names_clear(struct names *names) {
    while (names->n > 0) {
        const struct text *last = &names->text[names->n - 1];
        size_t at = hash_keyed(&names->key, last->bytes, last->n) & (names->n_slots - 1);
        while (names->slot[at] != names->n) {
            at = (at + 1) & (names->n_slots - 1);
        }
        names->slot[at] = 0;
        names->n--;
    }
}

bool names_add(struct names *names, const char *bytes, size_t n) {
    if (names->n == names->capacity && !grow(names)) {
        return false;
    }
    names->text[names->n] = (struct text){bytes, n};
    put(names, names->n++);
    return true;
}

ptrdiff_t names_find(const struct names *names, const char *bytes, size_t n) {
    if (names->n == 0) {
        return -1;
    }
    for (size_t at = hash_keyed(&names->key, bytes, n) & (names->n_slots - 1); names->slot[at] != 0;
         at = (at + 1) & (names->n_slots - 1)) {
        const struct text *t = &names->text[names->slot[at] - 1];
        if (t->n == n && memcmp(t->bytes, bytes, n) == 0) {
            return (ptrdiff_t)names->slot[at] - 1;
        }
    }
    return -1;
}

size_t names_copy(struct text name, uint32_t *last,
                  bool (*taken)(const void *arg, const char *bytes, size_t n), const void *arg,
                  char out[NAMES_COPY]) {
    int n = 0;
    do {
        n = snprintf(out, NAMES_COPY, "%.*s_%" PRIu32, (int)name.n, name.bytes, ++*last);
    } while (taken(arg, out, (size_t)n));
    return (size_t)n;
}
