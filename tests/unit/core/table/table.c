#include "unit/core/table/table.h"

uint64_t mixed_table_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

table *mixed_table_new(size_t cities) {
    table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        abort();
    }
    static const char *const colours[] = {"red", "green", "blue", "", "green apple"};
    uint64_t s = 12345;
    for (size_t i = 0; i < cities; i++) {
        snprintf(t->names[i], sizeof t->names[i], "c%zu", i);
    }
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        double u = (double)(mixed_table_random(&s) >> 11) * 0x1p-53;
        t->number[T_PLAIN][i] = 10 * u - 3;
        t->number[T_HOLES][i] = mixed_table_random(&s) % 5 == 0 || i < 5000 ? (double)NAN : u * u;
        t->number[T_STAMP][i] = 1.7e9 + (double)(mixed_table_random(&s) % 1000);
        t->number[T_CONSTANT][i] = 0.1;
        t->number[T_EMPTY][i] = (double)NAN;
        t->number[T_FLAG][i] =
            mixed_table_random(&s) % 7 == 0 ? (double)NAN : (double)(mixed_table_random(&s) % 2);
        t->number[T_WHOLE][i] = (double)(mixed_table_random(&s) % 256);
        t->number[T_LAST][i] = (double)(i % 3) * 1e-5;
        t->text[T_COLOUR][i] = mixed_table_random(&s) % 9 == 0
                                   ? NULL
                                   : colours[mixed_table_random(&s) % (i < 4500 ? 3 : 5)];
        t->text[T_CITY][i] = t->names[mixed_table_random(&s) % cities];
        t->target[i] = (double)(mixed_table_random(&s) % 3);
        t->weight[i] = (double)(mixed_table_random(&s) % 4) / 2;
        t->role[i] = (uint8_t)(mixed_table_random(&s) % 3);
    }
    static const dn_table_column columns[] = {
        {.name = "plain", .type = DN_NUMERIC},      {.name = "holes", .type = DN_NUMERIC},
        {.name = "stamp", .type = DN_NUMERIC},      {.name = "constant", .type = DN_NUMERIC},
        {.name = "empty", .type = DN_NUMERIC},      {.name = "flag", .type = DN_BOOLEAN},
        {.name = "colour", .type = DN_CATEGORICAL}, {.name = "city", .type = DN_CATEGORICAL},
        {.name = "whole", .type = DN_NUMERIC},      {.name = "last", .type = DN_NUMERIC}};
    for (size_t c = 0; c < T_COLUMNS; c++) {
        bool number = columns[c].type == DN_NUMERIC || columns[c].type == DN_BOOLEAN;
        t->columns[c] = (chunked_column){.column = columns[c],
                                         .number = number ? t->number[c] : NULL,
                                         .text = number ? NULL : t->text[c]};
    }
    return t;
}

size_t mixed_table_cut(size_t kind, size_t *borders) {
    size_t n = 0;
    static const size_t odd[] = {1, 0, 300, 4095, 7, 255, 1, 2000, 0, 513};
    borders[0] = 0;
    while (borders[n] < TABLE_ROWS) {
        size_t step = kind == 0   ? TABLE_ROWS
                      : kind == 1 ? DN_BLOCK_ROWS
                      : kind == 2 ? 777
                                  : odd[n % 10];
        borders[n + 1] = borders[n] + step < TABLE_ROWS ? borders[n] + step : TABLE_ROWS;
        n++;
    }
    if (kind == 3) {
        borders[++n] = TABLE_ROWS;
    }
    return n;
}
