/* Merge sort of numbers: runs of eight by insertion, then merges. */
#include "formats/summary/number_sort.h"

#include <stdbool.h>
#include <string.h>

enum { RUN = 8 };

static void sort_run(double *x, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const double at = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1] > at; j--) {
            x[j] = x[j - 1];
        }
        x[j] = at;
    }
}

/* Merges x[0 … half - 1] and x[half … n - 1], which are sorted. */
static void merge(double *x, size_t half, size_t n, double *room) {
    size_t i = 0, j = half, out = 0;
    if (x[half - 1] <= x[half]) {
        return;
    }
    memcpy(room, x, half * sizeof *x);
    while (i < half && j < n) {
        const bool second = x[j] < room[i];
        x[out++] = second ? x[j] : room[i];
        j += second;
        i += !second;
    }
    memcpy(x + out, room + i, (half - i) * sizeof *x);
}

void number_sort(double *x, size_t n, double *room) {
    if (n <= RUN) {
        sort_run(x, n);
        return;
    }
    const size_t half = n / 2;
    number_sort(x, half, room);
    number_sort(x + half, n - half, room);
    merge(x, half, n, room);
}
