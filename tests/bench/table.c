/* Tables of any length on standard output, faster than any program here can read them:
 *   table csv ROWS COLUMNS              numbers 0 … 1 with five digits, a class "a" or "b" last
 *   table svmlight ROWS WIDTH ENTRIES   a class, about ENTRIES ascending places with numbers
 *   table text ROWS WORDS VOCABULARY    a class, a tab, about WORDS words that are as rare as their
 * number says (Zipf) table ndjson ROWS                   [5.1,3.5,1.4,0.2]: what the irises model
 * is asked The same arguments give the same bytes. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double uniform(void) {
    return (double)(next() >> 11) * 0x1p-53;
}

static char *put_uint(char *at, uint64_t value, int width) {
    char digits[24];
    int n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
    } while ((value /= 10) > 0 || n < width);
    while (n > 0) {
        *at++ = digits[--n];
    }
    return at;
}

static char *put_fraction(char *at) {
    *at++ = '0';
    *at++ = '.';
    return put_uint(at, next() % 100000, 5);
}

static char *row_csv(char *at, long columns) {
    for (long j = 1; j < columns; j++) {
        at = put_fraction(at);
        *at++ = ',';
    }
    *at++ = next() & 1 ? 'a' : 'b';
    return at;
}

/* Places step by step, on average so far apart that `entries` of them fill the width. */
static char *row_svmlight(char *at, long width, long entries) {
    const uint64_t step = (uint64_t)(2 * width / (entries + 1));
    at = put_uint(at, next() & 1, 1);
    for (uint64_t place = 1 + next() % (step + 1); place <= (uint64_t)width;
         place += 1 + next() % (step > 0 ? step : 1)) {
        *at++ = ' ';
        at = put_uint(at, place, 1);
        *at++ = ':';
        at = put_fraction(at);
    }
    return at;
}

static char *row_text(char *at, long words, long vocabulary) {
    const uint64_t n = 1 + next() % (uint64_t)(2 * words), second = next() & 1;
    *at++ = second ? 'b' : 'a';
    *at++ = '\t';
    for (uint64_t i = 0; i < n; i++) {
        uint64_t word =
            (uint64_t)(pow((double)vocabulary + 1, uniform())) - 1; /* P(word) ~ 1/(word + 1) */
        if (second && word % 50 == 7) {
            word++;
        }
        *at++ = 'w';
        at = put_uint(at, word, 1);
        *at++ = ' ';
    }
    return at;
}

static char *row_ndjson(char *at) {
    static const unsigned low[] = {40, 20, 10, 1}, range[] = {40, 25, 60, 24};
    *at++ = '[';
    for (int j = 0; j < 4; j++) {
        const uint64_t tenths = low[j] + next() % range[j];
        at = put_uint(at, tenths / 10, 1);
        *at++ = '.';
        at = put_uint(at, tenths % 10, 1);
        *at++ = j < 3 ? ',' : ']';
    }
    return at;
}

int main(int argc, char **argv) {
    const char *kind = argc > 2 ? argv[1] : "";
    const long rows = argc > 2 ? atol(argv[2]) : 0, a = argc > 3 ? atol(argv[3]) : 0,
               b = argc > 4 ? atol(argv[4]) : 0;
    const size_t room = 256 + (size_t)(strcmp(kind, "csv") == 0 ? a
                                       : 2 * b > 2 * a          ? 2 * b
                                                                : 2 * a) *
                                  32;
    char *line = malloc(room);
    if (line == NULL || rows < 1 || (strcmp(kind, "ndjson") != 0 && a < 1)) {
        fprintf(stderr, "table csv ROWS COLUMNS | svmlight ROWS WIDTH ENTRIES | text ROWS WORDS "
                        "VOCABULARY | ndjson ROWS\n");
        return 2;
    }
    for (long j = 1; j < a && strcmp(kind, "csv") == 0; j++) {
        printf("c%ld,", j);
    }
    if (strcmp(kind, "csv") == 0) {
        printf("class\n");
    }
    if (strcmp(kind, "text") == 0) {
        printf("class\ttext\n");
    }
    for (long i = 0; i < rows; i++) {
        char *end = strcmp(kind, "csv") == 0        ? row_csv(line, a)
                    : strcmp(kind, "svmlight") == 0 ? row_svmlight(line, a, b)
                    : strcmp(kind, "text") == 0     ? row_text(line, a, b)
                                                    : row_ndjson(line);
        *end++ = '\n';
        if (fwrite(line, 1, (size_t)(end - line), stdout) != (size_t)(end - line)) {
            return 1; /* the reader has gone */
        }
    }
    free(line);
    return fflush(stdout) == 0 ? 0 : 1;
}
