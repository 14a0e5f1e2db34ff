/* The slots of the cache form a circular doubly linked list in the order of their last use. */
#include "learners/shared/smo/row_cache.h"

#include <math.h>
#include <string.h>

struct dni_row_slot {
    uint32_t variable;     /* variable of the row; DNI_NO_PLACE: the slot is free */
    uint32_t before, next; /* links of the list; slot 0 is the head and holds no row */
};

dni_row_cache_shape dni_row_cache_shape_of(size_t n, double bytes) {
    const double floats = fmin(floor(bytes / sizeof(float)), (double)n * (double)n);
    return (dni_row_cache_shape){.n = n, .n_floats = (size_t)fmin(floats, (double)(SIZE_MAX / 8))};
}

void dni_row_cache_layout(dni_layout *layout, const void *shape, void *cache) {
    const dni_row_cache_shape *s = shape;
    dni_row_cache *c = cache;
    c->kept = dni_layout_array(layout, s->n_floats, sizeof *c->kept);
    c->slots = dni_layout_array(layout, s->n + 1, sizeof *c->slots);
    c->slot_of = dni_layout_array(layout, s->n, sizeof *c->slot_of);
}

void dni_row_cache_init(dni_row_cache *cache, const dni_row_cache_shape *shape) {
    cache->n = shape->n;
    cache->n_floats = shape->n_floats;
    dni_row_cache_clear(cache, shape->n);
}

static size_t slots_for(const dni_row_cache *cache, size_t n_active) {
    const size_t n_slots = n_active == 0 ? 0 : cache->n_floats / n_active;
    return n_slots > cache->n ? cache->n : n_slots;
}

void dni_row_cache_clear(dni_row_cache *cache, size_t n_active) {
    cache->n_active = n_active;
    cache->n_slots = slots_for(cache, n_active);
    memset(cache->slot_of, 0, cache->n * sizeof *cache->slot_of);
    for (size_t s = 0; s <= cache->n_slots; s++) {
        cache->slots[s].variable = DNI_NO_PLACE;
        cache->slots[s].before = (uint32_t)(s == 0 ? cache->n_slots : s - 1);
        cache->slots[s].next = (uint32_t)(s == cache->n_slots ? 0 : s + 1);
    }
}

/* ---- the list ---- */
static void list_remove(dni_row_cache *cache, uint32_t s) {
    const struct dni_row_slot *slot = &cache->slots[s];
    cache->slots[slot->before].next = slot->next;
    cache->slots[slot->next].before = slot->before;
}

/* Inserts slot s as the most recently used, before the head. */
static void list_push_back(dni_row_cache *cache, uint32_t s) {
    struct dni_row_slot *slot = &cache->slots[s], *head = &cache->slots[0];
    slot->before = head->before;
    slot->next = 0;
    cache->slots[head->before].next = s;
    head->before = s;
}

/* Frees slot s and inserts it after the head, so that it is used next. */
static void list_push_front(dni_row_cache *cache, uint32_t s) {
    struct dni_row_slot *slot = &cache->slots[s], *head = &cache->slots[0];
    slot->variable = DNI_NO_PLACE;
    slot->before = 0;
    slot->next = head->next;
    cache->slots[head->next].before = s;
    head->next = s;
}

float *dni_row_cache_get(dni_row_cache *cache, size_t variable, bool *known) {
    uint32_t s = cache->slot_of[variable];
    if (cache->n_slots == 0) {
        return NULL;
    }
    *known = s != 0;
    if (s == 0) {
        s = cache->slots[0].next;
        if (cache->slots[s].variable != DNI_NO_PLACE) {
            cache->slot_of[cache->slots[s].variable] = 0;
        }
        cache->slots[s].variable = (uint32_t)variable;
        cache->slot_of[variable] = s;
    }
    list_remove(cache, s);
    list_push_back(cache, s);
    return cache->kept + (s - 1) * cache->n_active;
}

void dni_row_cache_narrow(dni_row_cache *cache, const uint32_t *active, size_t n_active,
                          const uint32_t *place) {
    const size_t before = cache->n_active, n_slots = cache->n_slots;
    for (size_t s = 1; s <= n_slots; s++) {
        if (cache->slots[s].variable == DNI_NO_PLACE) {
            continue;
        }
        const float *from = cache->kept + (s - 1) * before;
        float *to = cache->kept + (s - 1) * n_active;
        for (size_t k = 0; k < n_active; k++) {
            to[k] = from[place[active[k]]];
        }
    }
    cache->n_active = n_active;
    cache->n_slots = slots_for(cache, n_active);
    for (uint32_t s = (uint32_t)n_slots + 1; s <= cache->n_slots; s++) {
        list_push_front(cache, s);
    }
}

void dni_row_cache_drop(dni_row_cache *cache, const uint32_t *place) {
    for (uint32_t s = 1; s <= cache->n_slots; s++) {
        const uint32_t variable = cache->slots[s].variable;
        if (variable == DNI_NO_PLACE || place[variable] != DNI_NO_PLACE) {
            continue;
        }
        cache->slot_of[variable] = 0;
        list_remove(cache, s);
        list_push_front(cache, s);
    }
}
