#include "base/nearest.h"

#include <stdint.h>

enum { LONGEST = 60, FARTHEST = 2 };

size_t nearest_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[LONGEST + 1];
    const size_t shorter = n < m ? n : m, apart = n < m ? m - n : n - m;
    if (n > LONGEST || m > LONGEST || apart > FARTHEST) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= m; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            const size_t less = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = changed < less ? changed : less;
        }
    }
    return row[m] > FARTHEST || row[m] >= shorter ? SIZE_MAX : row[m];
}
