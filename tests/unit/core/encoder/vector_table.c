#include "unit/core/encoder/vector_table.h"

uint64_t vector_table_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Entries of row i of the sparse column: sometimes none; its last index occurs in one row. */
static void vector_table_fill_sparse(vector_table *t, size_t i, uint64_t *s) {
    size_t at = t->row_start[i];
    for (uint32_t j = 0; j < VECTORS_WIDTH && at < t->row_start[i] + VECTORS_MAX_ENTRIES; j++) {
        double x = 0;
        if (j == 3) {
            x = 1;
        } else if (j == VECTORS_WIDTH - 1) {
            x = i == 4321 ? 7 : 0;
        } else if (j != 10 && vector_table_random(s) % 10 == 0) {
            x = (double)(vector_table_random(s) % 9) / 2 - 1; /* sometimes an entry is 0 */
        } else if (j == 10 || vector_table_random(s) % 50 != 0) {
            continue;
        }
        t->index[at] = j;
        t->entry[at++] = x;
        t->dense[j][i] = x;
    }
    t->row_start[i + 1] = at;
}

static void vector_table_fill_note(vector_table *t, size_t i, uint64_t *s) {
    static const char *const separators[] = {" ", ", ", " -- ", "!\n"};
    size_t length = 0;
    t->note[i] = t->text[i];
    if (vector_table_random(s) % 11 == 0) {
        t->note[i] = NULL;
        return;
    }
    for (size_t k = vector_table_random(s) % 8; k-- > 0;) {
        size_t word = vector_table_random(s) % (VECTORS_WORDS - 3) %
                      (1 + vector_table_random(s) % (VECTORS_WORDS - 3));
        length += (size_t)snprintf(t->text[i] + length, VECTORS_TEXT - length, "%s%s",
                                   t->words[word], separators[vector_table_random(s) % 4]);
        t->count[i][word]++;
    }
    if (i % 3000 == 17 && i / 3000 < 3) {
        snprintf(t->text[i] + length, VECTORS_TEXT - length, "%s",
                 t->words[VECTORS_WORDS - 3 + i / 3000]);
        t->count[i][VECTORS_WORDS - 3 + i / 3000]++;
    }
}

vector_table *vector_table_new(size_t K) {
    static const char *const kinds[] = {"new", "old", "worn"}, *const classes[] = {"a", "b", "c"};
    vector_table *t = xcalloc(1, sizeof *t);
    uint64_t s = 4711;
    for (size_t w = 0; w < VECTORS_WORDS; w++) {
        snprintf(t->words[w], sizeof t->words[w], "w%02u", (unsigned)w % 100);
    }
    for (size_t i = 0; i < VECTORS_ROWS; i++) {
        t->age[i] = vector_table_random(&s) % 6 == 0 ? (double)NAN
                                                     : (double)(vector_table_random(&s) % 1000) / 8;
        t->kind[i] = vector_table_random(&s) % 7 == 0 ? NULL : kinds[vector_table_random(&s) % 3];
        vector_table_fill_sparse(t, i, &s);
        vector_table_fill_note(t, i, &s);
        double g = t->dense[0][i] - t->dense[1][i] + (double)t->count[i][0] -
                   (double)t->count[i][1] + (double)(vector_table_random(&s) % 100) / 40 - 1;
        size_t k = K == 2 ? g > 0 : g > 0.7 ? 2 : g > -0.4;
        t->class[i] = classes[k];
        t->target[i] = (double)k;
        t->weight[i] = (double)(vector_table_random(&s) % 4) / 2;
        t->role[i] = (uint8_t)(vector_table_random(&s) % 3);
    }
    t->columns[L_AGE] =
        (chunked_column){.column = {.name = "age", .type = DN_NUMERIC}, .number = t->age};
    t->columns[L_SPARSE] = (chunked_column){
        .column = {.name = "f", .type = DN_SPARSE, .width = VECTORS_WIDTH, .first_index = 1},
        .number = t->entry,
        .row_start = t->row_start,
        .index = t->index};
    t->columns[L_KIND] =
        (chunked_column){.column = {.name = "kind", .type = DN_CATEGORICAL}, .text = t->kind};
    t->columns[L_NOTE] =
        (chunked_column){.column = {.name = "note", .type = DN_TEXT}, .text = t->note};
    t->columns[L_CLASS] =
        (chunked_column){.column = {.name = "class", .type = DN_CATEGORICAL}, .text = t->class};
    for (size_t j = 0; j < VECTORS_WIDTH; j++) {
        snprintf(t->sparse_names[j], sizeof t->sparse_names[j], "f%u", (unsigned)j % 1000 + 1);
        t->numbers[j] = (chunked_column){.column = {.name = t->sparse_names[j], .type = DN_NUMERIC},
                                         .number = t->dense[j]};
    }
    return t;
}

void vector_table_source(vector_table *t, const chunked_column *columns, size_t n, size_t way,
                         chunked *out) {
    static const size_t cuts[4][6] = {{0},
                                      {1, 1, 4096, 4100, 8192, 9000},
                                      {300, 2500, 2500, 5000, 7000, 7001},
                                      {4000, 4000, 4001, 4500, 8000, 8999}};
    size_t n_chunks = way == 0 ? 1 : 7;
    t->borders[way][0] = 0;
    for (size_t c = 1; c < n_chunks; c++) {
        t->borders[way][c] = cuts[way][c - 1];
    }
    t->borders[way][n_chunks] = VECTORS_ROWS;
    chunked_init(out, columns, n, VECTORS_ROWS, t->borders[way], n_chunks);
}

double vector_table_idf(double n, double df) {
    return 1 + log((1 + n) / (1 + df));
}
