#include "base/nearest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = NEAREST_LONGEST, FARTHEST = 2 };

/* Computes only the cells (i, j) with |i - j| <= FARTHEST: a path through another cell has more
 * than FARTHEST insertions or deletions. Stops at a row without a cell <= FARTHEST. */
size_t nearest_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[LONGEST + 2];
    const size_t shorter = n < m ? n : m, apart = n < m ? m - n : n - m;
    if (n > LONGEST || m > LONGEST || apart > FARTHEST) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= m + 1; j++) {
        row[j] = j <= FARTHEST ? j : FARTHEST + 1;
    }
    for (size_t i = 1; i <= n; i++) {
        const size_t first = i > FARTHEST ? i - FARTHEST : 1,
                     last = i + FARTHEST < m ? i + FARTHEST : m;
        size_t diagonal = row[first - 1], least;
        row[first - 1] = least = first == 1 ? i : FARTHEST + 1;
        for (size_t j = first; j <= last; j++) {
            const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            const size_t less = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = changed < less ? changed : less;
            least = row[j] < least ? row[j] : least;
        }
        if (least > FARTHEST) {
            return SIZE_MAX;
        }
    }
    return row[m] > FARTHEST || row[m] >= shorter ? SIZE_MAX : row[m];
}

bool nearest_same(const char *a, size_t n, const char *b, size_t m) {
    return n == m && strncasecmp(a, b, n) == 0;
}

struct nearest nearest_to(const char *name, size_t n) {
    return (struct nearest){.name = name, .n = n, .distance = SIZE_MAX};
}

void nearest_offer(struct nearest *nearest, const char *name, size_t n) {
    if (n == nearest->n && memcmp(name, nearest->name, n) == 0) {
        nearest->distance = 0;
        nearest->hint[0] = '\0';
        return;
    }
    const size_t distance = n <= LONGEST && nearest_same(name, n, nearest->name, nearest->n)
                                ? 0
                                : nearest_distance(nearest->name, nearest->n, name, n);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        (void)snprintf(nearest->hint, sizeof nearest->hint, "; did you mean \"%.*s\"?", (int)n,
                       name);
    }
}
