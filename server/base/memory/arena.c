/* The arena: blocks of growing size, the newest first. A large allocation gets a block of its own
 * after the newest block in the list, so that the free space of the newest block stays in use. */
#include "base/memory/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_FIRST = 4096, ARENA_LARGEST = 65536 };

struct arena_block {
    struct arena_block *next; /* next older block */
    size_t capacity;          /* size of `data` in bytes */
    size_t used;              /* allocated bytes of `data` */
    max_align_t data[];       /* the memory */
};

void arena_init(struct arena *a, size_t limit) {
    *a = (struct arena){.limit = limit};
}

static void blocks_free(struct arena_block *block) {
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_done(struct arena *a) {
    blocks_free(a->blocks);
    a->blocks = NULL;
    a->total = 0;
}

void arena_reset(struct arena *a) {
    /* Keeps the oldest block of usual size; a larger block must not stay allocated. */
    struct arena_block *kept = NULL;
    for (struct arena_block *block = a->blocks; block != NULL;) {
        struct arena_block *next = block->next;
        if (block->capacity <= ARENA_LARGEST) {
            free(kept);
            kept = block;
        } else {
            free(block);
        }
        block = next;
    }
    if (kept != NULL) {
        kept->next = NULL;
        kept->used = 0;
    }
    a->blocks = kept;
    a->total = 0;
}

/* Returns a new block with `size` bytes, which the caller links; NULL if out of memory. */
static struct arena_block *block_new(size_t size) {
    struct arena_block *block = malloc(sizeof *block + size);
    if (block != NULL) {
        *block = (struct arena_block){.capacity = size};
    }
    return block;
}

/* Returns the block from which `size` (rounded) bytes are taken: the newest if it has room,
 * otherwise a new one. */
static struct arena_block *block_for(struct arena *a, size_t size) {
    struct arena_block *newest = a->blocks;
    if (newest != NULL && size <= newest->capacity - newest->used) {
        return newest;
    }
    size_t usual = newest == NULL ? ARENA_FIRST : 2 * newest->capacity;
    usual = usual > ARENA_LARGEST ? ARENA_LARGEST : usual;
    const bool big = size > usual / 4;
    struct arena_block *block = block_new(size > usual || (big && newest != NULL) ? size : usual);
    if (block == NULL) {
        return NULL;
    }
    if (big && newest != NULL) {
        block->next = newest->next;
        newest->next = block;
    } else {
        block->next = newest;
        a->blocks = block;
    }
    return block;
}

void *arena_alloc(struct arena *a, size_t size) {
    const size_t align = _Alignof(max_align_t);
    /* No allocator returns more than half of the address space. The limit keeps the sums below from
     * overflowing. */
    if (size > PTRDIFF_MAX - 2 * sizeof(struct arena_block) || size > SIZE_MAX - a->total ||
        (a->limit > 0 && a->total + size > a->limit)) {
        return NULL;
    }
    const size_t rounded = size == 0 ? align : (size + align - 1) / align * align;
    struct arena_block *block = block_for(a, rounded);
    if (block == NULL) {
        return NULL;
    }
    void *out = (char *)block->data + block->used;
    block->used += rounded;
    a->total += size;
    return out;
}

char *arena_strndup(struct arena *a, const char *s, size_t n) {
    if (n == SIZE_MAX) {
        return NULL;
    }
    char *copy = arena_alloc(a, n + 1);
    if (copy != NULL) {
        if (n > 0) {
            memcpy(copy, s, n);
        }
        copy[n] = '\0';
    }
    return copy;
}

char *arena_strdup(struct arena *a, const char *s) {
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char *out = NULL;
    const int n = vsnprintf(NULL, 0, format, args);
    if (n >= 0) {
        out = arena_alloc(a, (size_t)n + 1);
        if (out != NULL) {
            (void)vsnprintf(out, (size_t)n + 1, format, again);
        }
    }
    va_end(again);
    va_end(args);
    return out;
}
