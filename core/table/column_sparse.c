/* Sparse rows of a column chunk. Reading the indices is one pass over all entries, which counts
 * the descents: entries whose index is not above that of the previous entry. Indices ascend
 * strictly within a row; therefore the count must equal the number of rows whose first entry is a
 * descent. */
#include "table/column_sparse.h"

#include "table/column_memory.h"
#include "table/column_values.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- growing ---- */
void dni_sparse_rows_done(dni_sparse_rows *rows) {
    free(rows->length);
    free(rows->index);
    free(rows->number);
    *rows = (dni_sparse_rows){0};
}

void dni_sparse_rows_clear(dni_sparse_rows *rows) {
    rows->n_rows = rows->n_entries = 0;
    rows->max_length = rows->max_index = 0;
}

static dn_status check_entries(const uint32_t *index, const double *value, size_t n,
                               dn_error *err) {
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(value[k])) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "an entry of a sparse row must be finite (index %lu)",
                                (unsigned long)index[k]);
        }
        if (k > 0 && index[k] <= index[k - 1]) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "the indices of a sparse row must ascend (got %lu after %lu)",
                                (unsigned long)index[k], (unsigned long)index[k - 1]);
        }
    }
    return DN_OK;
}

dn_status dni_sparse_rows_add(dni_sparse_rows *rows, const uint32_t *index, const double *value,
                              size_t n, dn_error *err) {
    dn_status status = check_entries(index, value, n, err);
    if (status == DN_OK && n > UINT32_MAX - rows->n_entries) {
        return dn_error_set(err, DN_ERR_DATA, "a column chunk holds at most %lu entries",
                            (unsigned long)UINT32_MAX);
    }
    if (status == DN_OK) {
        status = dni_column_grow(&rows->length, &rows->length_capacity, rows->n_rows + 1,
                                 sizeof *rows->length, err);
    }
    if (status == DN_OK) {
        status = dni_column_grow(&rows->index, &rows->index_capacity, rows->n_entries + n,
                                 sizeof *rows->index, err);
    }
    if (status == DN_OK) {
        status = dni_column_grow(&rows->number, &rows->number_capacity, rows->n_entries + n,
                                 sizeof *rows->number, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (n > 0) {
        memcpy(rows->index + rows->n_entries, index, n * sizeof *index);
        memcpy(rows->number + rows->n_entries, value, n * sizeof *value);
        rows->max_index = index[n - 1] > rows->max_index ? index[n - 1] : rows->max_index;
        rows->max_length = n > rows->max_length ? (uint32_t)n : rows->max_length;
    }
    rows->length[rows->n_rows++] = (uint32_t)n;
    rows->n_entries += n;
    return DN_OK;
}

/* ---- as bytes ---- */
static bool all_ones(const double *number, size_t n) {
    size_t k = 0;
    while (k < n && number[k] == 1) {
        k++;
    }
    return k == n;
}

static unsigned width_of(uint32_t most) {
    return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 4;
}

/* Writes n numbers of `width` bytes each. */
static void write_narrow(dni_writer *writer, unsigned width, const uint32_t *numbers, size_t n) {
    unsigned char buffer[4096];
    if (width == 4) {
        dni_write_u32s(writer, numbers, n);
        return;
    }
    for (size_t first = 0; first < n; first += sizeof buffer / 2) {
        size_t some = n - first < sizeof buffer / 2 ? n - first : sizeof buffer / 2;
        for (size_t i = 0; i < some && width == 1; i++) {
            buffer[i] = (unsigned char)(numbers[first + i] & 0xff);
        }
        for (size_t i = 0; i < some && width == 2; i++) {
            buffer[2 * i] = (unsigned char)(numbers[first + i] & 0xff);
            buffer[2 * i + 1] = (unsigned char)(numbers[first + i] >> 8 & 0xff);
        }
        dni_write_bytes(writer, buffer, some * width);
    }
}

void dni_sparse_rows_write(dni_writer *writer, const dni_sparse_rows *rows) {
    bool missing = false; /* the values of entries are finite, so that none is missing */
    unsigned length_width = width_of(rows->max_length),
             index_width = rows->max_index <= UINT16_MAX ? 2 : 4;
    enum dni_column_encoding encoding =
        all_ones(rows->number, rows->n_entries)
            ? DNI_COLUMN_ONES
            : dni_column_encoding_of(rows->number, rows->n_entries, &missing);
    dni_write_u8(writer, (uint8_t)length_width);
    dni_write_u8(writer, (uint8_t)index_width);
    dni_write_u8(writer, (uint8_t)encoding);
    dni_write_u8(writer, 0);
    dni_write_u32(writer, (uint32_t)rows->n_entries);
    write_narrow(writer, length_width, rows->length, rows->n_rows);
    write_narrow(writer, index_width, rows->index, rows->n_entries);
    if (encoding != DNI_COLUMN_ONES) {
        dni_column_write_values(writer, encoding, rows->number, rows->n_entries);
    }
}

/* ---- decoded ---- */
void dni_sparse_view_done(dni_sparse_view *view) {
    free(view->row_start);
    free(view->index);
    free(view->number);
    *view = (dni_sparse_view){0};
}

size_t dni_sparse_view_memory(const dni_sparse_view *view) {
    return view->row_capacity * sizeof *view->row_start +
           view->index_capacity * sizeof *view->index +
           view->number_capacity * sizeof *view->number;
}

static dn_status corrupt(dn_error *err, const char *what) {
    return dn_error_set(err, DN_ERR_CORRUPT, "a column chunk is damaged: %s", what);
}

/* Number of entries per step: a constant, so that loops are vectorised; small enough that the
 * entries stay in the cache between loops. */
enum { SOME = 256 };

/* Computes the start of each row. Returns false if the total number of entries is not n_entries. */
static bool read_lengths(const unsigned char *from, unsigned width, size_t n_rows, size_t n_entries,
                         size_t *start) {
    uint64_t sum = 0; /* cannot overflow: at most 2^32 lengths below 2^32 */
    for (size_t i = 0; i < n_rows; i++) {
        const unsigned char *at = from + width * i;
        start[i] = (size_t)sum;
        sum += width == 1   ? at[0]
               : width == 2 ? (uint32_t)at[0] | (uint32_t)at[1] << 8
                            : dni_get_u32(at);
    }
    start[n_rows] = n_entries;
    return sum == n_entries;
}

/* Converts n <= SOME two-byte indices to four bytes. */
static void widen(const unsigned char *from, size_t n, uint32_t *index) {
    uint16_t narrow[SOME];
    dni_get_u16s(from, narrow, n);
    if (n == SOME) {
        for (size_t k = 0; k < SOME; k++) {
            index[k] = narrow[k];
        }
        return;
    }
    for (size_t k = 0; k < n; k++) {
        index[k] = narrow[k];
    }
}

/* Counts the descents among index[0 ... n - 1], n <= SOME. index[-1] must exist. */
static size_t count_falls(const uint32_t *index, size_t n) {
    uint32_t falls = 0;
    if (n == SOME) {
        for (size_t k = 0; k < SOME; k++) {
            falls += index[k] <= index[(ptrdiff_t)k - 1];
        }
        return falls;
    }
    for (size_t k = 0; k < n; k++) {
        falls += index[k] <= index[(ptrdiff_t)k - 1];
    }
    return falls;
}

/* Reads the indices. Returns the number of descents. */
static size_t read_indices(const unsigned char *from, unsigned width, size_t n, uint32_t *index) {
    size_t falls = 0;
    for (size_t first = 0; first < n; first += SOME) {
        size_t some = n - first < SOME ? n - first : SOME;
        if (width == 2) {
            widen(from + 2 * first, some, index + first);
        } else {
            dni_get_u32s(from + 4 * first, index + first, some);
        }
        falls += first > 0  ? count_falls(index + first, some)
                 : some > 1 ? count_falls(index + 1, some - 1)
                            : 0;
    }
    return falls;
}

/* Counts the rows that begin with a descent. */
static size_t falls_between_rows(const size_t *start, size_t n_rows, const uint32_t *index) {
    size_t falls = 0;
    for (size_t i = 1; i < n_rows; i++) {
        size_t k = start[i];
        falls += k > 0 && k < start[i + 1] && index[k] <= index[k - 1];
    }
    return falls;
}

/* Reads n finite doubles. Returns false if a value is not finite. */
static bool read_finite(const unsigned char *from, size_t n, double *number) {
    unsigned wrong = 0;
    for (size_t first = 0; first < n; first += SOME) {
        size_t some = n - first < SOME ? n - first : SOME;
        double *x = number + first;
        dni_get_f64s(from + 8 * first, x, some);
        for (size_t k = 0; k < some; k++) {
            wrong |= (unsigned)!(fabs(x[k]) <= DBL_MAX);
        }
    }
    return wrong == 0;
}

static bool read_values(dni_sparse_view *view, const unsigned char *from,
                        enum dni_column_encoding encoding, size_t n) {
    if (encoding == DNI_COLUMN_ONES) {
        for (; view->n_ones < n; view->n_ones++) {
            view->number[view->n_ones] = 1;
        }
        return true;
    }
    view->n_ones = 0;
    return encoding == DNI_COLUMN_F64
               ? read_finite(from, n, view->number)
               : dni_column_read_values(from, encoding, false, n, view->number);
}

dn_status dni_sparse_view_read(dni_sparse_view *view, dni_reader *reader, size_t n_rows,
                               dn_error *err) {
    unsigned length_width = dni_read_u8(reader), index_width = dni_read_u8(reader),
             encoding = dni_read_u8(reader);
    unsigned zero = dni_read_u8(reader);
    size_t n = dni_read_u32(reader);
    if (reader->failed || (length_width != 1 && length_width != 2 && length_width != 4) ||
        (index_width != 2 && index_width != 4) || encoding > DNI_COLUMN_ONES || zero != 0 ||
        n > SIZE_MAX / 16) {
        return corrupt(err, "the header of its sparse rows is invalid");
    }
    const unsigned char *lengths = dni_read_bytes(reader, n_rows * length_width),
                        *indices = dni_read_bytes(reader, n * index_width);
    size_t value_size =
        encoding == DNI_COLUMN_ONES ? 0 : dni_column_value_size((enum dni_column_encoding)encoding);
    const unsigned char *values = dni_read_bytes(reader, n * value_size);
    if (reader->failed) {
        return corrupt(err, "it is cut short");
    }
    if (reader->left > 0) {
        return corrupt(err, "its length differs from the length in its header");
    }
    dn_status status = dni_column_reserve(&view->row_start, &view->row_capacity, n_rows + 1,
                                          sizeof *view->row_start, err);
    if (status == DN_OK) {
        status =
            dni_column_reserve(&view->index, &view->index_capacity, n, sizeof *view->index, err);
    }
    if (n >= view->number_capacity) {
        view->n_ones = 0; /* reallocation may discard the contents */
    }
    if (status == DN_OK) {
        status =
            dni_column_reserve(&view->number, &view->number_capacity, n, sizeof *view->number, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (!read_lengths(lengths, length_width, n_rows, n, view->row_start)) {
        return corrupt(err, "the number of entries differs from the number in its header");
    }
    if (read_indices(indices, index_width, n, view->index) !=
        falls_between_rows(view->row_start, n_rows, view->index)) {
        return corrupt(err, "the indices of a row do not ascend");
    }
    if (!read_values(view, values, (enum dni_column_encoding)encoding, n)) {
        return corrupt(err, "it holds an entry that is not finite");
    }
    return DN_OK;
}
