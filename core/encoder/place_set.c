/* Sets of the places of a sparse column. */
#include "encoder/place_set.h"

#include <stdlib.h>
#include <string.h>

static dn_status no_memory(dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "the encoder needs memory which the system does not have");
}

bool dn_places_are_well(const dn_places *places, size_t width) {
    if (places->kind == DN_PLACES_ALL) {
        return true;
    }
    for (size_t k = 0; k < places->n; k++) {
        if (places->place[k] >= width || (k > 0 && places->place[k] <= places->place[k - 1])) {
            return false;
        }
    }
    return dn_places_count(places, width) > 0;
}

static size_t n_buckets(const dni_place_set *set) {
    return (set->width >> set->shift) + 1;
}

/* The places that are listed, or those that are not. */
static void list(dni_place_set *set, const dn_places *places) {
    if (places->kind == DN_PLACES_KEPT) {
        memcpy(set->place, places->place, set->n * sizeof *set->place);
        return;
    }
    size_t place = 0, n = 0;
    for (size_t k = 0; k <= places->n; k++, place++) {
        for (const size_t end = k < places->n ? places->place[k] : set->width; place < end;
             place++) {
            set->place[n++] = (uint32_t)place;
        }
    }
}

dn_status dni_place_set_init(dni_place_set *set, const dn_places *places, size_t width,
                             dn_error *err) {
    *set = (dni_place_set){.width = width, .n = dn_places_count(places, width)};
    if (set->n == width) {
        return DN_OK;
    }
    while ((width >> set->shift) / 2 > set->n) {
        set->shift++;
    }
    set->place = calloc(set->n + 1, sizeof *set->place);
    set->start = malloc((n_buckets(set) + 1) * sizeof *set->start);
    if (set->place == NULL || set->start == NULL) {
        dni_place_set_done(set);
        return no_memory(err);
    }
    list(set, places);
    size_t k = 0;
    for (size_t b = 0; b <= n_buckets(set); b++) {
        while (k < set->n && set->place[k] >> set->shift < b) {
            k++;
        }
        set->start[b] = (uint32_t)k;
    }
    return DN_OK;
}

void dni_place_set_done(dni_place_set *set) {
    free(set->place);
    free(set->start);
    *set = (dni_place_set){0};
}

size_t dni_place_set_bytes(const dni_place_set *set) {
    return set->place == NULL ? 0 : (set->n + n_buckets(set) + 1) * sizeof *set->place;
}

/* ---- bytes ---- */
void dni_place_set_write(const dni_place_set *set, dni_writer *writer) {
    const size_t dropped = set->width - set->n;
    const dn_places_kind kind = set->place == NULL ? DN_PLACES_ALL
                                : dropped < set->n ? DN_PLACES_DROPPED
                                                   : DN_PLACES_KEPT;
    dni_write_u8(writer, (uint8_t)kind);
    if (kind == DN_PLACES_ALL) {
        return;
    }
    dni_write_u64(writer, kind == DN_PLACES_KEPT ? set->n : dropped);
    if (kind == DN_PLACES_KEPT) {
        dni_write_u32s(writer, set->place, set->n);
        return;
    }
    size_t place = 0;
    for (size_t k = 0; k <= set->n; k++, place++) {
        for (const size_t end = k < set->n ? set->place[k] : set->width; place < end; place++) {
            dni_write_u32(writer, (uint32_t)place);
        }
    }
}

static dn_status corrupt(dn_error *err) {
    return dn_error_set(
        err, DN_ERR_CORRUPT,
        "an encoder is damaged: the places of a sparse input are none of its column's");
}

dn_status dni_place_set_read(dni_reader *reader, size_t width, double *n_features,
                             dni_place_set *set, dn_error *err) {
    dn_places places = {.kind = (dn_places_kind)dni_read_u8(reader)};
    if (reader->failed || places.kind > DN_PLACES_DROPPED) {
        return corrupt(err);
    }
    if (places.kind == DN_PLACES_ALL) {
        return dni_place_set_init(set, &places, width, err);
    }
    places.n = dni_read_count(reader, sizeof(uint32_t));
    uint32_t *listed = malloc((places.n + 1) * sizeof *listed);
    if (listed == NULL) {
        return no_memory(err);
    }
    places.place = listed;
    const bool read = dni_read_u32s(reader, listed, places.n) && dn_places_are_well(&places, width);
    /* Dropped ones stand for all the others, of which there must be no more than the machines that follow tell of: of all inputs together, before memory is taken for them. */
    *n_features += read ? (double)dn_places_count(&places, width) : 0;
    const bool well =
        read && (places.kind == DN_PLACES_KEPT || *n_features <= DN_MAX_DENSE_PLACES ||
                 *n_features <= (double)reader->left);
    dn_status status = well ? dni_place_set_init(set, &places, width, err) : corrupt(err);
    free(listed);
    return status;
}
