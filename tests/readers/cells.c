/* Prints what our reader of separated text makes of stdin, for test_csv_differential to compare:
 * the bytes are fed in random pieces.
 *
 *   cells DELIMITER SEED   rows of cells: u32 number of cells, for each u32 length, u8 whether it
 * is a number, f64 that number, the text table SEED             the whole way through a table: u32
 * columns, u64 rows, then for each column u8 type, and for each row a f64 (numeric, boolean; NaN:
 * missing) or u32 length (UINT32_MAX: missing) and the text
 *
 * Integers and doubles as the machine has them. Exit code 1 with a line on stderr: refused, or a
 * number is not what strtod makes of its text. */
#include "formats/csv/csv.h"
#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what, const char *detail) {
    fprintf(stderr, "%s: %s\n", what, detail != NULL ? detail : "");
    return 1;
}

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void put_text(const char *text, size_t n) {
    const uint32_t length = (uint32_t)n;
    fwrite(&length, sizeof length, 1, stdout);
    fwrite(text, 1, n, stdout);
}

/* ---- cells ---- */
static bool as_strtod(const char *text, size_t n, double number) {
    char *copy = malloc(n + 1);
    char *end = NULL;
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, text, n);
    copy[n] = '\0';
    const double expected = strtod(copy, &end);
    const bool same = *end == '\0' && memcmp(&expected, &number, sizeof number) == 0;
    if (!same) {
        fprintf(stderr, "%s: %a is not %a\n", copy, number, expected);
    }
    free(copy);
    return same;
}

static bool put_row(void *arg, const struct csv_row *row) {
    const uint32_t n = (uint32_t)row->n_cells;
    fwrite(&n, sizeof n, 1, stdout);
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct csv_cell *cell = &row->cells[i];
        const char *text = csv_cell_text(row, cell);
        double number = 0;
        uint8_t is_number = dn_number_parse(text, cell->length, &number);
        if (cell->kind != CSV_TEXT &&
            (!is_number || memcmp(&number, &cell->number, sizeof number) != 0)) {
            fprintf(stderr, "the reader's number differs from that of the text: %.*s\n",
                    (int)cell->length, text);
            *(bool *)arg = true;
        }
        if (is_number && !as_strtod(text, cell->length, number)) {
            *(bool *)arg = true;
        }
        const uint32_t length = cell->length;
        fwrite(&length, sizeof length, 1, stdout);
        fwrite(&is_number, 1, 1, stdout);
        fwrite(&number, sizeof number, 1, stdout);
        fwrite(text, 1, length, stdout);
    }
    return true;
}

static void put_fault(void *arg, int64_t line, int64_t column, bool fatal, const char *text) {
    fprintf(stderr, "%s at %lld:%lld: %s\n", fatal ? "fatal" : "fault", (long long)line,
            (long long)column, text);
    *(bool *)arg = true;
}

static int cells(char delimiter, uint64_t seed, const char *body, size_t size) {
    struct csv csv;
    bool wrong = false;
    csv_init(&csv, delimiter, TABLE_MAX_CELL, TABLE_MAX_COLUMNS,
             &(struct csv_handler){put_row, put_fault, &wrong});
    for (size_t at = 0; at < size;) {
        const size_t room = size - at, take = 1 + next(&seed) % 100000,
                     n = take < room ? take : room;
        csv_feed(&csv, body + at, n);
        at += n;
    }
    csv_end(&csv);
    csv_done(&csv);
    return wrong;
}

/* ---- table ---- */
struct store {
    struct table_blob *blobs; /* [n_chunks × n_columns] */
    int64_t *rows;            /* [n_chunks] */
    size_t n_chunks, n_columns;
};

static bool take_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    struct store *s = arg;
    s->n_columns = n_columns;
    struct table_blob *grown = realloc(s->blobs, (s->n_chunks + 1) * n_columns * sizeof *grown);
    int64_t *rows = realloc(s->rows, (s->n_chunks + 1) * sizeof *rows);
    s->blobs = grown != NULL ? grown : s->blobs;
    s->rows = rows != NULL ? rows : s->rows;
    if (grown == NULL || rows == NULL || (size_t)chunk != s->n_chunks) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "chunk %lld cannot be kept",
                           (long long)chunk);
    }
    memcpy(s->blobs + s->n_chunks * n_columns, blobs, n_columns * sizeof *blobs);
    s->rows[s->n_chunks++] = n_rows;
    return true;
}

static bool reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                   struct problem *problem) {
    const struct store *s = arg;
    const struct table_blob *blob = &s->blobs[(size_t)chunk * s->n_columns + column];
    (void)problem;
    buf_append(out, blob->bytes, blob->size);
    return true;
}

static bool put_view(const dn_column_view *view) {
    if (view->type == DN_NUMERIC || view->type == DN_BOOLEAN) {
        return fwrite(view->number, sizeof *view->number, view->n_rows, stdout) == view->n_rows;
    }
    for (size_t i = 0; i < view->n_rows; i++) {
        const uint32_t code = view->code[i];
        if (code == DN_CODE_MISSING) {
            fwrite(&code, sizeof code, 1, stdout);
        } else {
            put_text(view->strings.bytes + view->strings.start[code],
                     view->strings.start[code + 1] - view->strings.start[code]);
        }
    }
    return true;
}

static int put_table(const struct store *s, const struct table_summary *sum) {
    struct schema schema = {0};
    struct problem problem = {0};
    dn_column_chunk *chunk = NULL;
    const uint32_t n_columns = (uint32_t)s->n_columns;
    if (!schema_parse(sum->columns, &schema, &problem) ||
        dn_column_chunk_new(&chunk, NULL) != DN_OK) {
        return failed("columns", problem.detail);
    }
    fwrite(&n_columns, sizeof n_columns, 1, stdout);
    fwrite(&sum->n_rows, sizeof sum->n_rows, 1, stdout);
    bool well = true;
    for (size_t j = 0; j < s->n_columns && well; j++) {
        const uint8_t type = (uint8_t)schema.columns[j].type;
        fwrite(&type, 1, 1, stdout);
        for (size_t c = 0; c < s->n_chunks && well; c++) {
            const struct table_blob *blob = &s->blobs[c * s->n_columns + j];
            dn_column_view view;
            well = dn_column_chunk_decode(chunk, blob->bytes, blob->size, schema.columns[j].type,
                                          &view, NULL) == DN_OK &&
                   put_view(&view);
        }
    }
    dn_column_chunk_free(chunk);
    schema_done(&schema);
    return well ? 0 : failed("a chunk cannot be read back", NULL);
}

static int table(uint64_t seed, const char *body, size_t size) {
    struct store store = {0};
    struct problem problem = {0};
    struct table_summary sum;
    struct table *t =
        table_new(&(struct table_options){0},
                  &(struct table_sink){.chunk = take_chunk, .reread = reread, .arg = &store});
    bool well = t != NULL;
    for (size_t at = 0; at < size && well;) {
        const size_t room = size - at, take = 1 + next(&seed) % 100000,
                     n = take < room ? take : room;
        well = table_feed(t, body + at, n, &problem);
        at += n;
    }
    well = well && table_end(t, &sum, &problem);
    const int code = well ? put_table(&store, &sum) : failed("refused", problem.detail);
    table_free(t);
    problem_done(&problem);
    for (size_t i = 0; i < store.n_chunks * store.n_columns; i++) {
        free(store.blobs[i].bytes);
    }
    free(store.blobs);
    free(store.rows);
    return code;
}

int main(int argc, char **argv) {
    struct buf body = {0};
    char piece[65536];
    size_t n = 0;
    while ((n = fread(piece, 1, sizeof piece, stdin)) > 0) {
        buf_append(&body, piece, n);
    }
    int code = 2;
    if (argc == 4 && strcmp(argv[1], "cells") == 0) {
        code = cells(argv[2][0], strtoull(argv[3], NULL, 10), body.data, body.size);
    } else if (argc == 3 && strcmp(argv[1], "table") == 0) {
        code = table(strtoull(argv[2], NULL, 10), body.data, body.size);
    } else {
        fprintf(stderr, "cells DELIMITER SEED | table SEED\n");
    }
    buf_done(&body);
    return fflush(stdout) == 0 ? code : failed("stdout", NULL);
}
