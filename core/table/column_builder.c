/* A column chunk under construction. It stores numbers until the first cell that is not a number;
 * then it stores strings. A builder of sparse rows stores only sparse rows. */
#include "table/column_format.h"
#include "table/column_memory.h"
#include "table/column_sparse.h"
#include "table/column_values.h"

#include "base/bytes.h"
#include "base/string_set.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The dictionary is abandoned if strings rarely repeat: searching every string would cost more
 * than storing some strings twice. */
#define DICTIONARY_TRIAL 1024 /* number of distinct strings after which this is decided */
/* Maximum number of distinct strings of a dictionary, for two-byte codes. */
#define MAX_DICTIONARY 65535
#define MAX_ROWS (UINT32_MAX - 1)

enum form { NUMBERS, STRINGS, SPARSE };

struct dn_column_builder {
    enum form form; /* the group of members below that is in use */
    size_t n_rows;

    double *number; /* [n_rows], NaN: missing */
    size_t number_capacity;
    /* the paddings from min_decimals to max_decimals reproduce all regular spellings so far */
    unsigned min_decimals, max_decimals;
    /* canonical numbers without a stored spelling were appended before a padding was chosen */
    bool has_canonical;
    bool unpadded;     /* padding would change some of these numbers: the chunk stays unpadded */
    uint32_t *spelled; /* [n_spelled] rows whose spelling is stored */
    uint32_t *spelled_end; /* [n_spelled] end of each stored spelling in `spelling` */
    size_t n_spelled, spelled_capacity;
    char *spelling;
    size_t spelling_size, spelling_capacity;

    uint32_t *code; /* [n_rows], DN_CODE_MISSING: missing */
    size_t code_capacity;
    dni_string_set set;
    bool repeats; /* true: the dictionary was abandoned, so that strings may occur twice */

    dni_sparse_rows sparse;
};

static void builder_clear(dn_column_builder *builder) {
    builder->form = NUMBERS;
    builder->repeats = false;
    builder->n_rows = 0;
    builder->min_decimals = 0;
    builder->max_decimals = DNI_COLUMN_MAX_DECIMALS;
    builder->has_canonical = builder->unpadded = false;
    builder->n_spelled = 0;
    builder->spelling_size = 0;
    if (builder->set.n > 0) {
        dni_string_set_clear(&builder->set);
    }
    dni_sparse_rows_clear(&builder->sparse);
}

dn_status dn_column_builder_new(dn_column_builder **out, dn_error *err) {
    dn_column_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a column chunk needs %zu bytes of memory, which the system does not have",
            sizeof *builder);
    }
    builder_clear(builder);
    *out = builder;
    return DN_OK;
}

void dn_column_builder_free(dn_column_builder *builder) {
    if (builder == NULL) {
        return;
    }
    free(builder->number);
    free(builder->spelled);
    free(builder->spelled_end);
    free(builder->spelling);
    free(builder->code);
    dni_string_set_done(&builder->set);
    dni_sparse_rows_done(&builder->sparse);
    free(builder);
}

size_t dn_column_builder_n_rows(const dn_column_builder *builder) {
    return builder->n_rows;
}

size_t dn_column_builder_bytes(const dn_column_builder *builder) {
    if (builder->form == SPARSE) {
        return DNI_COLUMN_HEADER + 4 * builder->n_rows + 12 * builder->sparse.n_entries;
    }
    if (builder->form == NUMBERS) {
        return DNI_COLUMN_HEADER + 8 * builder->n_rows + 8 * builder->n_spelled +
               builder->spelling_size;
    }
    const dni_string_set *set = &builder->set;
    return DNI_COLUMN_HEADER + 4 * builder->n_rows + 4 * set->n +
           (set->n == 0 ? 0 : set->start[set->n]);
}

static dn_status check_rows(const dn_column_builder *builder, dn_error *err) {
    if (builder->n_rows < MAX_ROWS) {
        return DN_OK;
    }
    return dn_error_set(err, DN_ERR_DATA, "a column chunk holds at most %zu rows",
                        (size_t)MAX_ROWS);
}

/* Returns the error for a chunk that has both single cells and sparse rows. */
static dn_status not_sparse(dn_error *err) {
    return dn_error_set(err, DN_ERR_ARGUMENT,
                        "a column chunk has either sparse rows or single cells, not both");
}

/* ---- sparse rows ---- */
dn_status dn_column_builder_entries(dn_column_builder *builder, const uint32_t *index,
                                    const double *value, size_t n, dn_error *err) {
    if (builder->form != SPARSE && builder->n_rows > 0) {
        return not_sparse(err);
    }
    dn_status status = check_rows(builder, err);
    if (status == DN_OK) {
        status = dni_sparse_rows_add(&builder->sparse, index, value, n, err);
    }
    if (status != DN_OK) {
        return status;
    }
    builder->form = SPARSE;
    builder->n_rows++;
    return DN_OK;
}

/* ---- strings ---- */
static dn_status push_code(dn_column_builder *builder, uint32_t code, dn_error *err) {
    dn_status status = check_rows(builder, err);
    if (status == DN_OK) {
        status = dni_column_grow(&builder->code, &builder->code_capacity, builder->n_rows + 1,
                                 sizeof *builder->code, err);
    }
    if (status == DN_OK) {
        builder->code[builder->n_rows++] = code;
    }
    return status;
}

static dn_status intern(dn_column_builder *builder, const char *text, size_t length, size_t n_rows,
                        uint32_t *out, dn_error *err) {
    size_t n = builder->set.n;
    if (n > DICTIONARY_TRIAL && (n >= MAX_DICTIONARY || n > n_rows / 2)) {
        builder->repeats = true;
    }
    return builder->repeats ? dni_string_set_append(&builder->set, text, length, out, err)
                            : dni_string_set_add(&builder->set, text, length, out, err);
}

/* Converts all numbers to their texts, when the first string is appended after numbers. */
static dn_status numbers_to_strings(dn_column_builder *builder, dn_error *err) {
    size_t n = builder->n_rows, k = 0;
    dn_status status =
        dni_column_grow(&builder->code, &builder->code_capacity, n + 1, sizeof *builder->code, err);
    for (size_t i = 0; status == DN_OK && i < n; i++) {
        if (isnan(builder->number[i])) {
            builder->code[i] = DN_CODE_MISSING;
        } else if (k < builder->n_spelled && builder->spelled[k] == i) {
            uint32_t first = k == 0 ? 0 : builder->spelled_end[k - 1];
            status = intern(builder, builder->spelling + first, builder->spelled_end[k] - first, i,
                            &builder->code[i], err);
            k++;
        } else {
            char text[DNI_COLUMN_TEXT_SIZE];
            size_t length = dni_column_number_text(builder->number[i], builder->min_decimals, text);
            status = intern(builder, text, length, i, &builder->code[i], err);
        }
    }
    if (status != DN_OK) {
        dni_string_set_clear(&builder->set);
        builder->repeats = false;
        return status;
    }
    builder->form = STRINGS;
    builder->n_spelled = 0;
    builder->spelling_size = 0;
    return DN_OK;
}

dn_status dn_column_builder_string(dn_column_builder *builder, const char *text, size_t length,
                                   dn_error *err) {
    dn_status status = DN_OK;
    if (builder->form == SPARSE) {
        return not_sparse(err);
    }
    if (builder->form == NUMBERS) {
        status = numbers_to_strings(builder, err);
    }
    uint32_t code = 0;
    if (status == DN_OK) {
        status = check_rows(builder, err);
    }
    if (status == DN_OK) {
        status = intern(builder, text, length, builder->n_rows, &code, err);
    }
    return status == DN_OK ? push_code(builder, code, err) : status;
}

/* ---- numbers ---- */
static dn_status push_number(dn_column_builder *builder, double value, dn_error *err) {
    if (builder->n_rows == builder->number_capacity) {
        dn_status status = check_rows(builder, err);
        if (status == DN_OK) {
            status = dni_column_grow(&builder->number, &builder->number_capacity,
                                     builder->n_rows + 1, sizeof *builder->number, err);
        }
        if (status != DN_OK) {
            return status;
        }
    }
    builder->number[builder->n_rows++] = value;
    return DN_OK;
}

static dn_status keep_spelling(dn_column_builder *builder, const char *text, size_t length,
                               dn_error *err) {
    if (length > UINT32_MAX - builder->spelling_size) {
        return dn_error_set(err, DN_ERR_DATA, "a column chunk holds at most 4 GiB of text");
    }
    size_t n = builder->n_spelled + 1, rows_capacity = builder->spelled_capacity;
    dn_status status = dni_column_grow(&builder->spelled_end, &rows_capacity, n,
                                       sizeof *builder->spelled_end, err);
    if (status == DN_OK) {
        status = dni_column_grow(&builder->spelled, &builder->spelled_capacity, n,
                                 sizeof *builder->spelled, err);
    }
    if (status == DN_OK) {
        status = dni_column_grow(&builder->spelling, &builder->spelling_capacity,
                                 builder->spelling_size + length, 1, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (length > 0) {
        memcpy(builder->spelling + builder->spelling_size, text, length);
    }
    builder->spelling_size += length;
    builder->spelled[n - 1] = (uint32_t)builder->n_rows;
    builder->spelled_end[n - 1] = (uint32_t)builder->spelling_size;
    builder->n_spelled = n;
    return DN_OK;
}

/* Returns true if the canonical text has an exponent or at least p > 0 digits after the point, so
 * that padding to p digits does not change it. With fewer digits value·10^(p-1) is an integer; if
 * its fraction is too near to 0 or 1 to decide, the text is formatted and its digits are
 * counted. */
static bool has_decimals(double value, unsigned p) {
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    double magnitude = fabs(value);
    if (magnitude >= 1e-6 && magnitude < 1e4 && p <= sizeof power / sizeof *power) {
        double scaled = magnitude * power[p - 1], fraction = scaled - (double)(int64_t)scaled;
        if (fraction > 0.01 && fraction < 0.99) {
            return true;
        }
    }
    char text[DN_NUMBER_SIZE];
    size_t n = dn_number_format(value, text);
    const char *point = memchr(text, '.', n);
    return memchr(text, 'e', n) != NULL || (point != NULL && (size_t)(text + n - point) > p);
}

/* Returns true if padding to p digits changes none of the numbers so far whose spelling is not
 * stored. */
static bool all_have_decimals(const dn_column_builder *builder, unsigned p) {
    size_t k = 0;
    for (size_t i = 0; i < builder->n_rows; i++) {
        if (k < builder->n_spelled && builder->spelled[k] == i) {
            k++;
        } else if (!isnan(builder->number[i]) && !has_decimals(builder->number[i], p)) {
            return false;
        }
    }
    return true;
}

/* Returns true if some padding reproduces this spelling and all regular spellings before it.
 * Restricts the range of paddings accordingly. */
static inline bool fits_padding(dn_column_builder *builder, dni_spelling spelling) {
    if (!spelling.regular) {
        return false;
    }
    if (!spelling.plain) {
        return true;
    }
    if (spelling.zeros > 0) {
        if (spelling.decimals < builder->min_decimals ||
            spelling.decimals > builder->max_decimals || builder->unpadded) {
            return false;
        }
        if (builder->has_canonical && builder->min_decimals == 0 &&
            !all_have_decimals(builder, spelling.decimals)) {
            builder->unpadded = true;
            return false;
        }
        builder->min_decimals = builder->max_decimals = spelling.decimals;
        return true;
    }
    if (spelling.decimals < builder->min_decimals) {
        return false;
    }
    if (spelling.decimals < builder->max_decimals) {
        builder->max_decimals = spelling.decimals;
    }
    return true;
}

dn_status dn_column_builder_number(dn_column_builder *builder, double value, const char *spelling,
                                   size_t length, dn_error *err) {
    if (isnan(value)) {
        return dn_column_builder_missing(builder, err);
    }
    if (!isfinite(value)) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "a cell that is a number must be finite (got %sinfinity)",
                            value < 0 ? "-" : "");
    }
    char text[DN_NUMBER_SIZE];
    if (spelling == NULL && builder->form == NUMBERS &&
        (builder->min_decimals == 0 || has_decimals(value, builder->min_decimals))) {
        builder->has_canonical = true;
        return push_number(builder, value, err);
    }
    if (spelling == NULL) {
        spelling = text;
        length = dn_number_format(value, text);
    }
    if (builder->form != NUMBERS) {
        return dn_column_builder_string(builder, spelling, length, err);
    }
    size_t n_spelled = builder->n_spelled, size = builder->spelling_size;
    if (!fits_padding(builder, dni_spelling_of(value, spelling, length))) {
        dn_status status = keep_spelling(builder, spelling, length, err);
        if (status != DN_OK) {
            return status;
        }
    }
    dn_status status = push_number(builder, value, err);
    if (status != DN_OK) { /* on failure neither the cell nor its spelling is added */
        builder->n_spelled = n_spelled;
        builder->spelling_size = size;
    }
    return status;
}

unsigned dn_column_builder_padding(const dn_column_builder *builder) {
    return builder->form == NUMBERS ? builder->min_decimals : 0;
}

/* Appends numbers whose spelling need not be stored. If one is infinite, returns false and appends
 * none. */
static bool push_numbers(dn_column_builder *builder, const double *values, size_t stride,
                         size_t n) {
    double *number = builder->number + builder->n_rows;
    double not_finite = 0; /* 0 if all values are finite, otherwise NaN */
    for (size_t i = 0; i < n; i++) {
        number[i] = values[i * stride];
        not_finite += number[i] - number[i];
    }
    for (size_t i = 0; i < n && not_finite != 0; i++) { /* NaN is not 0 */
        if (isinf(number[i])) {
            return false;
        }
        number[i] = isnan(number[i]) ? (double)NAN : number[i];
    }
    builder->has_canonical = builder->has_canonical || n > 0;
    builder->n_rows += n;
    return true;
}

dn_status dn_column_builder_numbers(dn_column_builder *builder, const double *values, size_t stride,
                                    size_t n, unsigned decimals, dn_error *err) {
    dn_status status = DN_OK;
    if (builder->form == NUMBERS && decimals == builder->min_decimals &&
        n <= MAX_ROWS - builder->n_rows) {
        status = dni_column_grow(&builder->number, &builder->number_capacity, builder->n_rows + n,
                                 sizeof *builder->number, err);
        if (status != DN_OK || push_numbers(builder, values, stride, n)) {
            return status;
        }
    }
    for (size_t i = 0; status == DN_OK && i < n; i++) {
        const double value = values[i * stride];
        char text[DNI_COLUMN_TEXT_SIZE];
        if (decimals == 0 || !isfinite(value)) {
            status = dn_column_builder_number(builder, value, NULL, 0, err);
        } else {
            status = dn_column_builder_number(builder, value, text,
                                              dni_column_number_text(value, decimals, text), err);
        }
    }
    return status;
}

dn_status dn_column_builder_missing(dn_column_builder *builder, dn_error *err) {
    if (builder->form == SPARSE) {
        return not_sparse(err);
    }
    return builder->form == STRINGS ? push_code(builder, DN_CODE_MISSING, err)
                                    : push_number(builder, (double)NAN, err);
}

/* ---- bytes ---- */
static void write_header(dni_writer *writer, enum dni_column_kind kind, size_t n_rows) {
    dni_write_u8(writer, 'D');
    dni_write_u8(writer, 'C');
    dni_write_u8(writer, DNI_COLUMN_VERSION);
    dni_write_u8(writer, (uint8_t)kind);
    dni_write_u32(writer, (uint32_t)n_rows);
}

static void write_numbers(dni_writer *writer, const dn_column_builder *builder) {
    bool missing = false;
    enum dni_column_encoding encoding =
        dni_column_encoding_of(builder->number, builder->n_rows, &missing);
    write_header(writer, DNI_COLUMN_NUMBERS, builder->n_rows);
    dni_write_u8(writer, (uint8_t)encoding);
    dni_write_u8(writer, encoding != DNI_COLUMN_F64 && missing);
    dni_write_u8(writer, (uint8_t)builder->min_decimals);
    dni_write_u8(writer, 0);
    dni_write_u32(writer, (uint32_t)builder->n_spelled);
    dni_column_write_values(writer, encoding, builder->number, builder->n_rows);
    dni_write_u32s(writer, builder->spelled, builder->n_spelled);
    dni_write_u32s(writer, builder->spelled_end, builder->n_spelled);
    dni_write_bytes(writer, builder->spelling, builder->spelling_size);
}

static void write_strings(dni_writer *writer, const dn_column_builder *builder) {
    dn_strings strings = dni_string_set_view(&builder->set);
    unsigned width = strings.n <= UINT8_MAX ? 1 : strings.n <= UINT16_MAX ? 2 : 4;
    write_header(writer, DNI_COLUMN_STRINGS, builder->n_rows);
    dni_write_u8(writer, (uint8_t)width);
    dni_write_u8(writer, !builder->repeats);
    dni_write_u16(writer, 0);
    dni_write_u32(writer, (uint32_t)strings.n);
    dni_write_u32s(writer, strings.start + 1, strings.n);
    if (width == 4) {
        dni_write_u32s(writer, builder->code, builder->n_rows);
    }
    for (size_t i = 0; i < builder->n_rows && width < 4; i++) {
        if (width == 1) {
            dni_write_u8(writer,
                         (uint8_t)(builder->code[i] & 0xff)); /* a missing cell becomes 0xff */
        } else {
            dni_write_u16(writer, (uint16_t)(builder->code[i] & 0xffff));
        }
    }
    dni_write_bytes(writer, strings.bytes, strings.start[strings.n]);
}

dn_status dn_column_builder_encode(dn_column_builder *builder, void **out, size_t *out_size,
                                   dn_error *err) {
    dni_writer writer;
    dni_writer_init(&writer);
    if (builder->form == STRINGS) {
        write_strings(&writer, builder);
    } else if (builder->form == SPARSE) {
        write_header(&writer, DNI_COLUMN_SPARSE, builder->n_rows);
        dni_sparse_rows_write(&writer, &builder->sparse);
    } else {
        write_numbers(&writer, builder);
    }
    dn_status status = dni_writer_take(&writer, out, out_size, err);
    if (status == DN_OK) {
        builder_clear(builder);
    }
    return status;
}
