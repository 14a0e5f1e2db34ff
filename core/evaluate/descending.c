/* Bottom-up merge sort: insertion sort for short runs, then merges of pairs of runs between two
 * arrays. Knuth, The Art of Computer Programming, volume 3, section 5.2.4. */
#include "evaluate/descending.h"

#include <string.h>

enum {
    RUN = 32,      /* length of the runs that insertion sort sorts */
    POLL = 1 << 20 /* number of pairs merged between two checks for cancellation */
};

static void insertion(dni_pairs p, size_t begin, size_t end) {
    for (size_t i = begin + 1; i < end; i++) {
        double key = p.key[i];
        uint32_t row = p.row[i];
        size_t j = i;
        for (; j > begin && p.key[j - 1] < key; j--) {
            p.key[j] = p.key[j - 1];
            p.row[j] = p.row[j - 1];
        }
        p.key[j] = key;
        p.row[j] = row;
    }
}

/* Merges the sorted runs [begin, middle) and [middle, end) of `from` into to[begin … end). */
static void merge(dni_pairs from, size_t begin, size_t middle, size_t end, dni_pairs to) {
    size_t a = begin, b = middle;
    for (size_t i = begin; i < end; i++) {
        size_t taken = a < middle && (b == end || from.key[a] >= from.key[b]) ? a++ : b++;
        to.key[i] = from.key[taken];
        to.row[i] = from.row[taken];
    }
}

dn_status dni_sort_descending(dni_pairs pairs, size_t n, dni_pairs scratch, const dn_run *run,
                              dn_error *err) {
    dni_pairs from = pairs, to = scratch;
    size_t n_merged = 0; /* since the last check for cancellation */
    for (size_t begin = 0; begin < n; begin += RUN) {
        insertion(from, begin, n - begin < RUN ? n : begin + RUN);
    }
    for (size_t width = RUN; width < n; width *= 2) {
        for (size_t begin = 0; begin < n; begin += 2 * width) {
            size_t middle = n - begin < width ? n : begin + width,
                   end = n - begin < 2 * width ? n : begin + 2 * width;
            merge(from, begin, middle, end, to);
            n_merged += end - begin;
            if (n_merged < POLL) {
                continue;
            }
            n_merged = 0;
            dn_status status = dn_run_stop(run, err);
            if (status != DN_OK) {
                return status;
            }
        }
        dni_pairs swapped = from;
        from = to;
        to = swapped;
    }
    if (from.key != pairs.key) {
        memcpy(pairs.key, from.key, n * sizeof *pairs.key);
        memcpy(pairs.row, from.row, n * sizeof *pairs.row);
    }
    return DN_OK;
}
