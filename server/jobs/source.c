/* A table source over stored chunks. A blob that was read is kept in its encoded form, which is
 * smaller, until the limit is reached; later passes decode it again. */
#include "jobs/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOST_PAUSE_NS = 200000000 }; /* between two reads of a database that cannot be reached */

/* An encoded blob in memory. */
struct kept {
    size_t size;
    char bytes[];
};

/* The decoder of one column in one slot. */
struct decoder {
    dn_column_chunk *chunk; /* NULL until first used */
    size_t charged;         /* bytes of `chunk` that are charged to the budget */
};

struct jobs_source {
    dn_table_source table; /* first member: given to callers; table.ctx points to this struct */
    struct store *store;
    int64_t dataset_id;
    struct store_chunk *chunks; /* [table.n_chunks] */
    size_t *first_row;          /* [n_chunks + 1] */
    dn_table_column *columns;   /* [n_cols]; copies, also of the names */
    size_t *stored_index;       /* [n_cols] */
    size_t *kept_as;            /* [n_cols] the column that keeps the blobs: parts of the same
                                 * datetime column share them */
    dn_run run;                 /* its allocator is the budget, which decoders are charged to */
    struct decoder *decoders;   /* [n_slots × n_cols] */
    struct buf *blobs;          /* [n_slots] a blob that was read and is not kept */
    size_t *blobs_charged;      /* [n_slots] bytes of blobs that are charged to the budget */
    struct kept *_Atomic *kept; /* [n_chunks × n_cols]; NULL: this blob is not kept */
    _Atomic int64_t room;       /* bytes that may still be kept */
    atomic_int failed;          /* enum problem_type of the first read that failed */
};

/* Converts the problem of a read, and notes its type. */
static dn_status read_failed(struct jobs_source *s, struct problem *problem, dn_error *err) {
    int none = PROBLEM_NONE;
    (void)atomic_compare_exchange_strong(&s->failed, &none, (int)problem->type);
    const dn_status status =
        dn_error_set(err, DN_ERR_SOURCE, "%s", problem->detail ? problem->detail : "out of memory");
    problem_done(problem);
    return status;
}

/* Keeps a copy of the blob if `room` allows. If two threads keep the same blob, the first copy
 * stays. */
static void keep(struct jobs_source *s, struct kept *_Atomic *place, const struct buf *bytes) {
    int64_t n = (int64_t)(sizeof(struct kept) + bytes->size);
    if (atomic_fetch_sub(&s->room, n) < n) {
        atomic_fetch_add(&s->room, n);
        return;
    }
    struct kept *k = malloc((size_t)n), *none = NULL;
    if (k) {
        k->size = bytes->size;
        memcpy(k->bytes, bytes->data, bytes->size);
        if (atomic_compare_exchange_strong(place, &none, k)) {
            return;
        }
    }
    free(k);
    atomic_fetch_add(&s->room, n);
}

/* Charges the budget for memory that grew to `bytes`. */
static dn_status charge_growth(const struct jobs_source *s, size_t bytes, size_t *charged,
                               dn_error *err) {
    dn_status status = DN_OK;
    if (bytes > *charged) {
        status = dn_run_charge(&s->run, bytes - *charged, "a decoded chunk of the dataset", err);
        *charged = status == DN_OK ? bytes : *charged;
    }
    return status;
}

/* Adds the column and the row to the error of a cell that does not have the type of the source. */
static dn_status name_cell(const dn_table_source *table, size_t chunk, size_t column,
                           dn_error *err) {
    const char *name = table->columns[column].name;
    const dn_error cell = *err;
    dn_error_clear(err);
    dn_status status =
        cell.row < 0
            ? dn_error_set(err, cell.code, "column \"%.128s\": %.300s", name, cell.message)
            : dn_error_set(err, cell.code, "column \"%.128s\", row %zu (counted from 1): %.300s",
                           name, table->chunk_first_row[chunk] + (size_t)cell.row + 1,
                           cell.message);
    dn_error_set_field(err, name);
    return status;
}

/* Reads a blob. Waits while the database cannot be reached, until the run is stopped. */
static dn_status read_blob(struct jobs_source *s, size_t chunk, size_t column, struct buf *blob,
                           dn_error *err) {
    struct problem problem = {0};
    while (
        !store_chunk_read(s->store, &s->chunks[chunk], s->stored_index[column], blob, &problem)) {
        if (!problem.lost || s->run.stop == NULL) {
            return read_failed(s, &problem, err);
        }
        problem_done(&problem);
        const dn_status stopped = s->run.stop(&s->run);
        if (stopped != DN_OK) {
            return dn_error_set(err, stopped, "stopped while the database could not be reached");
        }
        nanosleep(&(struct timespec){.tv_nsec = LOST_PAUSE_NS}, NULL);
    }
    return DN_OK;
}

static dn_status source_column(const dn_table_source *table, size_t chunk, size_t column,
                               size_t slot, dn_column_view *out, dn_error *err) {
    struct jobs_source *s = table->ctx;
    struct decoder *d = &s->decoders[slot * table->n_cols + column];
    struct kept *_Atomic *place = &s->kept[chunk * table->n_cols + s->kept_as[column]];
    if (!d->chunk) {
        dn_status status = dn_column_chunk_new(&d->chunk, err);
        if (status != DN_OK) {
            return status;
        }
    }
    const struct kept *k = atomic_load(place);
    struct buf *blob = &s->blobs[slot];
    const void *bytes;
    size_t size;
    if (k) {
        bytes = k->bytes;
        size = k->size;
    } else {
        dn_status status = read_blob(s, chunk, column, blob, err);
        if (status != DN_OK) {
            return status;
        }
        status = charge_growth(s, blob->capacity, &s->blobs_charged[slot], err);
        if (status != DN_OK) {
            return status;
        }
        keep(s, place, blob);
        bytes = blob->data;
        size = blob->size;
    }
    dn_column_view view;
    const dn_table_column *as = &table->columns[column];
    dn_status status =
        as->part != DN_PART_NONE
            ? dn_column_chunk_decode_part(d->chunk, bytes, size, &as->form, as->part, &view, err)
        : as->type == DN_DATETIME
            ? dn_column_chunk_decode_datetime(d->chunk, bytes, size, &as->form, &view, err)
            : dn_column_chunk_decode(d->chunk, bytes, size, as->type, &view, err);
    if (status == DN_ERR_DATA && err != NULL) {
        return name_cell(table, chunk, column, err);
    }
    if (status == DN_OK) {
        status = charge_growth(s, dn_column_chunk_memory(d->chunk), &d->charged, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (view.n_rows != table->chunk_first_row[chunk + 1] - table->chunk_first_row[chunk]) {
        return dn_error_set(err, DN_ERR_CORRUPT,
                            "chunk %zu of column \"%s\" has %zu rows, expected %zu", chunk,
                            table->columns[column].name, view.n_rows,
                            table->chunk_first_row[chunk + 1] - table->chunk_first_row[chunk]);
    }
    *out = view;
    return DN_OK;
}

/* Copies names and types. Returns false if out of memory. */
static bool take_columns(struct jobs_source *s, const struct jobs_column *columns, size_t n) {
    s->columns = calloc(n + 1, sizeof *s->columns);
    s->stored_index = calloc(n + 1, sizeof *s->stored_index);
    s->kept_as = calloc(n + 1, sizeof *s->kept_as);
    if (!s->columns || !s->stored_index || !s->kept_as) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        s->columns[i] = jobs_table_column(&columns[i]);
        s->columns[i].name = strdup(columns[i].name);
        s->stored_index[i] = columns[i].index;
        s->kept_as[i] = jobs_column_follows(columns, i) ? s->kept_as[i - 1] : i;
        if (!s->columns[i].name) {
            return false;
        }
    }
    return true;
}

/* Sets the first row of each chunk from the store's list. Returns false if out of memory. */
static bool take_chunks(struct jobs_source *s, size_t n) {
    s->first_row = calloc(n + 1, sizeof *s->first_row);
    if (!s->first_row) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        s->first_row[i + 1] = s->first_row[i] + (size_t)s->chunks[i].n_rows;
    }
    return true;
}

double jobs_source_memory(const dn_table_column *columns, size_t n, size_t n_slots,
                          const struct jobs_source_shape *shape) {
    double row = sizeof(double); /* bytes of a row in the blob of one numeric column */
    bool has_text = false, has_sparse = false;
    for (size_t i = 0; i < n; i++) {
        const dn_column_type type = columns[i].type;
        const bool codes = type == DN_CATEGORICAL || type == DN_TEXT;
        row += codes ? sizeof(uint32_t) : sizeof(double);
        /* texts of dates are decoded by way of the values of the different texts */
        row += dn_datetime_is_form(&columns[i].form) ? 2 * sizeof(double) : 0;
        has_text = has_text || type == DN_TEXT;
        has_sparse = has_sparse || type == DN_SPARSE;
    }
    row += has_text ? 2 * shape->row_bytes : 0; /* texts in the blob and decoded */
    row += has_sparse ? shape->row_entries * (sizeof(uint32_t) + sizeof(double)) : 0;
    return (double)n_slots * row * shape->chunk_rows;
}

bool jobs_source_open(struct store *store, int64_t dataset_id, const struct jobs_column *columns,
                      size_t n, size_t n_slots, int64_t keep_bytes, const dn_run *run,
                      struct jobs_source **out, struct problem *problem) {
    struct jobs_source *s = calloc(1, sizeof *s);
    size_t n_chunks = 0;
    if (!s) {
        return problem_no_memory(problem);
    }
    s->store = store;
    s->run = run != NULL ? *run : dn_run_default();
    atomic_init(&s->room, keep_bytes);
    atomic_init(&s->failed, PROBLEM_NONE);
    if (!store_dataset_pin(store, dataset_id, problem)) {
        jobs_source_close(s);
        return false;
    }
    s->dataset_id = dataset_id;
    if (!store_dataset_chunks(store, dataset_id, &s->chunks, &n_chunks, problem)) {
        jobs_source_close(s);
        return false;
    }
    s->table.n_cols = n;
    s->table.n_chunks = n_chunks;
    s->table.n_slots = n_slots;
    s->decoders = calloc(n_slots * n + 1, sizeof *s->decoders);
    s->blobs = calloc(n_slots + 1, sizeof *s->blobs);
    s->blobs_charged = calloc(n_slots + 1, sizeof *s->blobs_charged);
    s->kept = calloc(n_chunks * n + 1, sizeof *s->kept);
    if (!s->decoders || !s->blobs || !s->blobs_charged || !s->kept ||
        !take_columns(s, columns, n) || !take_chunks(s, n_chunks)) {
        jobs_source_close(s);
        return problem_no_memory(problem);
    }
    s->table.n_rows = s->first_row[n_chunks];
    s->table.columns = s->columns;
    s->table.chunk_first_row = s->first_row;
    s->table.column = source_column;
    s->table.ctx = s;
    *out = s;
    return true;
}

const dn_table_source *jobs_source_table(const struct jobs_source *s) {
    return &s->table;
}

enum problem_type jobs_source_failed(const struct jobs_source *s) {
    return (enum problem_type)atomic_load(&s->failed);
}

void jobs_source_close(struct jobs_source *s) {
    if (!s) {
        return;
    }
    for (size_t i = 0; s->decoders && i < s->table.n_slots * s->table.n_cols; i++) {
        dn_column_chunk_free(s->decoders[i].chunk);
        dn_run_discharge(&s->run, s->decoders[i].charged);
    }
    for (size_t i = 0; s->blobs && s->blobs_charged && i < s->table.n_slots; i++) {
        buf_done(&s->blobs[i]);
        dn_run_discharge(&s->run, s->blobs_charged[i]);
    }
    for (size_t i = 0; s->kept && i < s->table.n_chunks * s->table.n_cols; i++) {
        free(atomic_load(&s->kept[i]));
    }
    for (size_t i = 0; s->columns && i < s->table.n_cols; i++) {
        free((void *)(uintptr_t)s->columns[i].name);
    }
    free(s->decoders);
    free(s->blobs);
    free(s->blobs_charged);
    free((void *)s->kept);
    free(s->columns);
    free(s->stored_index);
    free(s->kept_as);
    free(s->first_row);
    free(s->chunks);
    store_dataset_unpin(s->store, s->dataset_id);
    free(s);
}
