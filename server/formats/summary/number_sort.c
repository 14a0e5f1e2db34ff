/* Merge sort of numbers. Eights by a network of comparisons; halves of equal size are merged from
 * both ends at once, so that two chains of comparisons run side by side and no end has to be
 * watched for. */
#include "formats/summary/number_sort.h"

#include <stdbool.h>
#include <string.h>

enum { FEW = 8 };

static void sort_few(double *x, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const double at = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1] > at; j--) {
            x[j] = x[j - 1];
        }
        x[j] = at;
    }
}

static inline void order(double *a, double *b) {
    const double x = *a, y = *b;
    *a = y < x ? y : x;
    *b = y < x ? x : y;
}

/* Batcher's network of 19 comparisons (1968). */
static void sort_eight(double *x) {
    double a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];
    order(&a, &b), order(&c, &d), order(&e, &f), order(&g, &h);
    order(&a, &c), order(&b, &d), order(&e, &g), order(&f, &h);
    order(&b, &c), order(&f, &g), order(&a, &e), order(&d, &h);
    order(&b, &f), order(&c, &g), order(&b, &e), order(&d, &g);
    order(&c, &e), order(&d, &f), order(&d, &e);
    x[0] = a, x[1] = b, x[2] = c, x[3] = d, x[4] = e, x[5] = f, x[6] = g, x[7] = h;
}

/* Two sorted halves of the same size. */
static void merge_equal(double *x, size_t half, double *room) {
    memcpy(room, x, 2 * half * sizeof *x);
    const double *high = room + half;
    size_t i = 0, j = half; /* taken of the lower half from its beginning; left of it at its end */
    for (size_t out = 0; out < half; out++) {
        const double a = room[i], b = high[out - i];
        x[out] = b < a ? b : a;
        i += a <= b;
        const size_t left = 2 * half - out; /* of both */
        const double c = room[j - 1], d = high[left - j - 1];
        x[left - 1] = d < c ? c : d;
        j -= d < c;
    }
}

static void merge_any(double *x, size_t half, size_t n, double *room) {
    memcpy(room, x, half * sizeof *x);
    size_t i = 0, j = half, out = 0;
    while (i < half && j < n) {
        const bool second = x[j] < room[i];
        x[out++] = second ? x[j] : room[i];
        j += second;
        i += !second;
    }
    memcpy(x + out, room + i, (half - i) * sizeof *x);
}

void number_sort(double *x, size_t n, double *room) {
    if (n == FEW) {
        sort_eight(x);
        return;
    }
    if (n < FEW) {
        sort_few(x, n);
        return;
    }
    /* a multiple of a power of two that leaves eights */
    size_t half = n / 2;
    half = n >= 4 * FEW && n % FEW != 0 ? half / FEW * FEW : half;
    number_sort(x, half, room);
    number_sort(x + half, n - half, room);
    if (x[half - 1] <= x[half]) {
        return;
    }
    if (n == 2 * half) {
        merge_equal(x, half, room);
    } else {
        merge_any(x, half, n, room);
    }
}
