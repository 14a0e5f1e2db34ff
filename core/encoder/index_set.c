/* Creates index sets, and writes them to bytes and reads them. */
#include "encoder/index_set.h"
#include "encoder/encoder_impl.h"

#include <stdlib.h>
#include <string.h>

bool dn_index_filter_is_valid(const dn_index_filter *filter, size_t width) {
    if (filter->kind == DN_INDICES_ALL) {
        return true;
    }
    for (size_t k = 0; k < filter->n; k++) {
        if (filter->index[k] >= width || (k > 0 && filter->index[k] <= filter->index[k - 1])) {
            return false;
        }
    }
    return dn_index_filter_count(filter, width) > 0;
}

static size_t n_buckets(const dni_index_set *set) {
    return (set->width >> set->shift) + 1;
}

/* Fills set->index from a list of indices that are kept or dropped. */
static void set_list(dni_index_set *set, const dn_index_filter *filter) {
    if (filter->kind == DN_INDICES_KEPT) {
        memcpy(set->index, filter->index, set->n * sizeof *set->index);
        return;
    }
    size_t index = 0, n = 0;
    for (size_t k = 0; k <= filter->n; k++, index++) {
        for (const size_t end = k < filter->n ? filter->index[k] : set->width; index < end;
             index++) {
            set->index[n++] = (uint32_t)index;
        }
    }
}

dn_status dni_index_set_init(dni_index_set *set, const dn_index_filter *filter, size_t width,
                             dn_error *err) {
    *set = (dni_index_set){.width = width, .n = dn_index_filter_count(filter, width)};
    if (set->n == width) {
        return DN_OK;
    }
    while ((width >> set->shift) / 2 > set->n) {
        set->shift++;
    }
    set->index = calloc(set->n + 1, sizeof *set->index);
    set->start = malloc((n_buckets(set) + 1) * sizeof *set->start);
    if (set->index == NULL || set->start == NULL) {
        dni_index_set_done(set);
        return dni_encoder_no_memory(err);
    }
    set_list(set, filter);
    size_t k = 0;
    for (size_t b = 0; b <= n_buckets(set); b++) {
        while (k < set->n && set->index[k] >> set->shift < b) {
            k++;
        }
        set->start[b] = (uint32_t)k;
    }
    return DN_OK;
}

void dni_index_set_done(dni_index_set *set) {
    free(set->index);
    free(set->start);
    *set = (dni_index_set){0};
}

size_t dni_index_set_bytes(const dni_index_set *set) {
    return set->index == NULL ? 0 : (set->n + n_buckets(set) + 1) * sizeof *set->index;
}

/* ---- bytes ---- */
void dni_index_set_write(const dni_index_set *set, dni_writer *writer) {
    const size_t dropped = set->width - set->n;
    const dn_index_filter_kind kind = set->index == NULL ? DN_INDICES_ALL
                                      : dropped < set->n ? DN_INDICES_DROPPED
                                                         : DN_INDICES_KEPT;
    dni_write_u8(writer, (uint8_t)kind);
    if (kind == DN_INDICES_ALL) {
        return;
    }
    dni_write_u64(writer, kind == DN_INDICES_KEPT ? set->n : dropped);
    if (kind == DN_INDICES_KEPT) {
        dni_write_u32s(writer, set->index, set->n);
        return;
    }
    size_t index = 0;
    for (size_t k = 0; k <= set->n; k++, index++) {
        for (const size_t end = k < set->n ? set->index[k] : set->width; index < end; index++) {
            dni_write_u32(writer, (uint32_t)index);
        }
    }
}

static dn_status corrupt(dn_error *err) {
    return dn_error_set(
        err, DN_ERR_CORRUPT,
        "an encoder is damaged: the indices of a sparse input are not in order or out of range");
}

dn_status dni_index_set_read(dni_reader *reader, size_t width, double *n_features,
                             dni_index_set *set, dn_error *err) {
    dn_index_filter filter = {.kind = (dn_index_filter_kind)dni_read_u8(reader)};
    if (reader->failed || filter.kind > DN_INDICES_DROPPED) {
        return corrupt(err);
    }
    if (filter.kind == DN_INDICES_ALL) {
        return dni_index_set_init(set, &filter, width, err);
    }
    filter.n = dni_read_count(reader, sizeof(uint32_t));
    uint32_t *listed = malloc((filter.n + 1) * sizeof *listed);
    if (listed == NULL) {
        return dni_encoder_no_memory(err);
    }
    filter.index = listed;
    const bool read =
        dni_read_u32s(reader, listed, filter.n) && dn_index_filter_is_valid(&filter, width);
    /* A list of dropped indices may leave many more features than it has bytes. To prevent a
     * small input from requesting much memory, more than DN_MAX_DENSE_FEATURES features of all
     * sets must be followed by a byte each. */
    *n_features += read ? (double)dn_index_filter_count(&filter, width) : 0;
    const bool valid =
        read && (filter.kind == DN_INDICES_KEPT || *n_features <= DN_MAX_DENSE_FEATURES ||
                 *n_features <= (double)reader->left);
    dn_status status = valid ? dni_index_set_init(set, &filter, width, err) : corrupt(err);
    free(listed);
    return status;
}
