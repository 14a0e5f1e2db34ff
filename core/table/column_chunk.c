/* Decodes column chunks: as numbers or as codes of strings, independent of the stored kind, or as
 * sparse rows. Also appends chunks to a builder. All bytes are validated. */
#include "base/argument.h"
#include "table/column_format.h"

#include "base/bytes.h"
#include "base/string_set.h"
#include "table/column_memory.h"
#include "table/column_sparse.h"
#include "table/column_values.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dn_column_chunk {
    double *number; /* numbers, for views of numbers */
    size_t number_capacity;
    uint32_t *code; /* codes, for views of strings; the strings are in `start` and `bytes`, or in
                     * `set` */
    size_t code_capacity;
    uint32_t *start;
    size_t start_capacity;
    char *bytes;
    size_t bytes_capacity;
    double *parsed; /* the numeric values of the strings */
    size_t parsed_capacity;
    dni_string_set set;     /* the distinct strings, if the strings of the chunk may repeat */
    dni_sparse_view sparse; /* for views of sparse rows */
};

/* The parts of a chunk of numbers: views into its bytes. */
struct numbers {
    enum dni_column_encoding encoding;
    bool has_missing;
    unsigned decimals; /* number of digits to which regular spellings are padded */
    size_t n_rows, n_spelled;
    const unsigned char *values;
    const unsigned char *spelled_row, *spelled_end; /* u32 each */
    const char *text;
    size_t text_size;
};

/* The parts of a chunk of strings. */
struct strings {
    unsigned width; /* bytes of a code */
    bool distinct;
    size_t n_rows, n_strings;
    const unsigned char *end; /* u32 each */
    const unsigned char *codes;
    const char *text;
    size_t text_size;
};

dn_status dn_column_chunk_new(dn_column_chunk **out, dn_error *err) {
    dn_column_chunk *chunk = calloc(1, sizeof *chunk);
    if (chunk == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a column chunk needs %zu bytes of memory, which the system does not have",
            sizeof *chunk);
    }
    *out = chunk;
    return DN_OK;
}

void dn_column_chunk_free(dn_column_chunk *chunk) {
    if (chunk == NULL) {
        return;
    }
    free(chunk->number);
    free(chunk->code);
    free(chunk->start);
    free(chunk->bytes);
    free(chunk->parsed);
    dni_string_set_done(&chunk->set);
    dni_sparse_view_done(&chunk->sparse);
    free(chunk);
}

size_t dn_column_chunk_memory(const dn_column_chunk *chunk) {
    return sizeof *chunk + chunk->number_capacity * sizeof *chunk->number +
           chunk->code_capacity * sizeof *chunk->code +
           chunk->start_capacity * sizeof *chunk->start + chunk->bytes_capacity +
           chunk->parsed_capacity * sizeof *chunk->parsed + dni_string_set_memory(&chunk->set) +
           dni_sparse_view_memory(&chunk->sparse);
}

static dn_status corrupt(dn_error *err, const char *what) {
    return dn_error_set(err, DN_ERR_CORRUPT, "a column chunk is damaged: %s", what);
}

/* Returns true if the ends of n texts (u32 each) ascend and the last end is the size of all
 * texts. */
static bool ends_ascend(const unsigned char *end, size_t n, size_t size) {
    uint32_t before = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t here = dni_get_u32(end + 4 * i);
        if (here < before) {
            return false;
        }
        before = here;
    }
    return before == size;
}

/* Returns text k of texts with the given ends (u32 each). */
static const char *text_at(const char *texts, const unsigned char *end, size_t k, size_t *length) {
    const uint32_t first = k == 0 ? 0 : dni_get_u32(end + 4 * (k - 1));
    *length = dni_get_u32(end + 4 * k) - first;
    return texts + first;
}

/* ---- numbers ---- */
/* Reads the part of a chunk after the kind and the number of rows. Checks that the last end of
 * the spellings is the size of their text, but not that the ends ascend (see ends_ascend). */
static dn_status read_numbers(dni_reader *reader, size_t n_rows, struct numbers *out,
                              dn_error *err) {
    unsigned encoding = dni_read_u8(reader), missing = dni_read_u8(reader),
             decimals = dni_read_u8(reader), zero = dni_read_u8(reader);
    size_t n_spelled = dni_read_u32(reader);
    if (reader->failed || encoding > DNI_COLUMN_F64 || missing > 1 ||
        decimals > DNI_COLUMN_MAX_DECIMALS || zero != 0 || n_spelled > n_rows) {
        return corrupt(err, "the header of its numbers is invalid");
    }
    *out = (struct numbers){.encoding = (enum dni_column_encoding)encoding,
                            .has_missing = missing == 1,
                            .decimals = decimals,
                            .n_rows = n_rows,
                            .n_spelled = n_spelled};
    out->values = dni_read_bytes(reader, n_rows * dni_column_value_size(out->encoding));
    out->spelled_row = dni_read_bytes(reader, 4 * n_spelled);
    out->spelled_end = dni_read_bytes(reader, 4 * n_spelled);
    out->text_size = reader->left;
    out->text = dni_read_bytes(reader, reader->left);
    if (reader->failed) {
        return corrupt(err, "it is cut short");
    }
    if (out->text_size !=
        (n_spelled == 0 ? 0 : dni_get_u32(out->spelled_end + 4 * (n_spelled - 1)))) {
        return corrupt(err, "its length differs from the length in its header");
    }
    return DN_OK;
}

static size_t spelled_row(const struct numbers *numbers, size_t k) {
    return dni_get_u32(numbers->spelled_row + 4 * k);
}

static dn_status expand_numbers(dn_column_chunk *chunk, const struct numbers *numbers,
                                dn_error *err) {
    dn_status status = dni_column_reserve(&chunk->number, &chunk->number_capacity, numbers->n_rows,
                                          sizeof *chunk->number, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dni_column_read_values(numbers->values, numbers->encoding, numbers->has_missing,
                                numbers->n_rows, chunk->number)) {
        return corrupt(err, "it holds an infinite number");
    }
    return DN_OK;
}

static dn_status check_boolean(double *number, size_t n, dn_error *err) {
    for (size_t i = 0; i < n; i++) {
        if (number[i] == 0) {
            number[i] = 0; /* -0 becomes 0 */
        } else if (number[i] != 1 && !isnan(number[i])) {
            char text[DN_NUMBER_SIZE];
            dn_number_format(number[i], text);
            return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                             "%s is not a boolean: true, false, 1 or 0", text),
                                NULL, (int64_t)i, err);
        }
    }
    return DN_OK;
}

/* Converts numbers to strings, each with its spelling. A small cache, indexed by the bits of the
 * number, avoids formatting a repeated number twice. */
static dn_status numbers_as_strings(dn_column_chunk *chunk, const struct numbers *numbers,
                                    dn_error *err) {
    enum { MEMO = 1024 };
    struct memo {
        uint64_t bits;
        uint32_t code;
        bool used;
    } memo[MEMO] = {0};
    if (!ends_ascend(numbers->spelled_end, numbers->n_spelled, numbers->text_size)) {
        return corrupt(err, "its spellings are not in order");
    }
    dn_status status = expand_numbers(chunk, numbers, err);
    if (status == DN_OK) {
        status = dni_column_reserve(&chunk->code, &chunk->code_capacity, numbers->n_rows,
                                    sizeof *chunk->code, err);
    }
    dni_string_set_clear(&chunk->set);
    size_t k = 0;
    for (size_t i = 0; status == DN_OK && i < numbers->n_rows; i++) {
        bool spelled = k < numbers->n_spelled && spelled_row(numbers, k) == i;
        uint64_t bits;
        memcpy(&bits, &chunk->number[i], sizeof bits);
        struct memo *known = &memo[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
        if (spelled) {
            size_t length;
            const char *spelling = text_at(numbers->text, numbers->spelled_end, k++, &length);
            status = dni_string_set_add(&chunk->set, spelling, length, &chunk->code[i], err);
        } else if (isnan(chunk->number[i])) {
            chunk->code[i] = DN_CODE_MISSING;
        } else if (known->used && known->bits == bits) {
            chunk->code[i] = known->code;
        } else {
            char text[DNI_COLUMN_TEXT_SIZE];
            size_t length = dni_column_number_text(chunk->number[i], numbers->decimals, text);
            status = dni_string_set_add(&chunk->set, text, length, &chunk->code[i], err);
            *known = (struct memo){.bits = bits, .code = chunk->code[i], .used = true};
        }
    }
    if (status == DN_OK && k != numbers->n_spelled) {
        return corrupt(err, "the rows of its spellings are not in order");
    }
    return status;
}

/* ---- strings ---- */
static dn_status read_strings(dni_reader *reader, size_t n_rows, struct strings *out,
                              dn_error *err) {
    unsigned width = dni_read_u8(reader), distinct = dni_read_u8(reader),
             zero = dni_read_u16(reader);
    size_t n_strings = dni_read_u32(reader);
    if (reader->failed || (width != 1 && width != 2 && width != 4) || distinct > 1 || zero != 0 ||
        n_strings > n_rows) {
        return corrupt(err, "the header of its strings is invalid");
    }
    *out = (struct strings){.width = width,
                            .distinct = distinct == 1,
                            .n_rows = n_rows,
                            .n_strings = n_strings};
    out->end = dni_read_bytes(reader, 4 * n_strings);
    out->codes = dni_read_bytes(reader, width * n_rows);
    out->text_size = reader->left;
    out->text = dni_read_bytes(reader, reader->left);
    if (reader->failed) {
        return corrupt(err, "it is cut short");
    }
    if (!ends_ascend(out->end, n_strings, out->text_size)) {
        return corrupt(err, "its strings are not in order");
    }
    return DN_OK;
}

/* Reads the codes and checks that each is the code of a string. */
static dn_status expand_codes(dn_column_chunk *chunk, const struct strings *strings,
                              dn_error *err) {
    dn_status status = dni_column_reserve(&chunk->code, &chunk->code_capacity, strings->n_rows,
                                          sizeof *chunk->code, err);
    if (status != DN_OK) {
        return status;
    }
    uint32_t *code = chunk->code;
    uint32_t missing = strings->width == 1   ? UINT8_MAX
                       : strings->width == 2 ? UINT16_MAX
                                             : DN_CODE_MISSING;
    bool valid = true;
    for (size_t i = 0; i < strings->n_rows; i++) {
        const unsigned char *at = strings->codes + strings->width * i;
        uint32_t c = strings->width == 1   ? at[0]
                     : strings->width == 2 ? (uint32_t)(at[0] | at[1] << 8)
                                           : dni_get_u32(at);
        code[i] = c == missing ? DN_CODE_MISSING : c;
        valid = valid && (c == missing || c < strings->n_strings);
    }
    return valid ? DN_OK : corrupt(err, "a code is out of range");
}

/* Removes duplicates from the list of strings; the order of first appearance is kept. */
static dn_status remove_duplicates(dn_column_chunk *chunk, const struct strings *strings,
                                   dn_error *err) {
    dni_string_set_clear(&chunk->set);
    for (size_t i = 0; i < strings->n_rows; i++) {
        uint32_t c = chunk->code[i];
        if (c == DN_CODE_MISSING) {
            continue;
        }
        size_t length;
        const char *text = text_at(strings->text, strings->end, c, &length);
        dn_status status = dni_string_set_add(&chunk->set, text, length, &chunk->code[i], err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status copy_strings(dn_column_chunk *chunk, const struct strings *strings,
                              dn_error *err) {
    dn_status status = dni_column_reserve(&chunk->start, &chunk->start_capacity,
                                          strings->n_strings + 1, sizeof *chunk->start, err);
    if (status == DN_OK) {
        status =
            dni_column_reserve(&chunk->bytes, &chunk->bytes_capacity, strings->text_size, 1, err);
    }
    if (status != DN_OK) {
        return status;
    }
    chunk->start[0] = 0;
    for (size_t i = 0; i < strings->n_strings; i++) {
        chunk->start[i + 1] = dni_get_u32(strings->end + 4 * i);
    }
    memcpy(chunk->bytes, strings->text, strings->text_size);
    return DN_OK;
}

static bool equals_ignoring_case(const char *text, size_t length, const char *word) {
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        if (word[i] == '\0' || c != word[i]) {
            return false;
        }
    }
    return word[length] == '\0';
}

/* The type with which a chunk is decoded. */
struct target {
    dn_column_type type;
    const dn_datetime_form *form; /* DN_DATETIME */
};

/* Returns the value of a string as a number, boolean or time; INFINITY if the string is invalid. */
static double value_of(const char *text, size_t length, const struct target *target) {
    double value;
    if (target->type == DN_NUMERIC) {
        return dn_number_parse(text, length, &value) ? value : (double)INFINITY;
    }
    while (length > 0 && (text[0] == ' ' || text[0] == '\t')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
        length--;
    }
    if (target->type == DN_DATETIME) {
        return dn_datetime_parse(text, length, target->form, &value) ? value : (double)INFINITY;
    }
    if (equals_ignoring_case(text, length, "true") || equals_ignoring_case(text, length, "1")) {
        return 1;
    }
    return equals_ignoring_case(text, length, "false") || equals_ignoring_case(text, length, "0")
               ? 0
               : (double)INFINITY;
}

static dn_status not_a_value(const struct strings *strings, uint32_t code,
                             const struct target *target, size_t row, dn_error *err) {
    char form[DN_DATETIME_FORM_SIZE + 16] = "date or time as ";
    size_t size;
    if (target->type == DN_DATETIME) {
        (void)dn_datetime_form_write(target->form, form + strlen(form));
    }
    const char *text = text_at(strings->text, strings->end, code, &size);
    const bool cut = size > 40;
    int length = cut ? 40 : (int)size;
    while (cut && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        length--; /* do not cut inside a UTF-8 character */
    }
    return dni_error_at(dn_error_set(err, DN_ERR_DATA, "\"%.*s%s\" is not a %s", length, text,
                                     cut ? "…" : "",
                                     target->type == DN_NUMERIC ? "number"
                                     : target->type == DN_DATETIME
                                         ? form
                                         : "boolean: true, false, 1 or 0"),
                        NULL, (int64_t)row, err);
}

/* Converts strings to numbers; each string of the list is parsed once. */
static dn_status strings_as_numbers(dn_column_chunk *chunk, const struct strings *strings,
                                    const struct target *target, dn_error *err) {
    dn_status status = dni_column_reserve(&chunk->parsed, &chunk->parsed_capacity,
                                          strings->n_strings, sizeof *chunk->parsed, err);
    if (status == DN_OK) {
        status = dni_column_reserve(&chunk->number, &chunk->number_capacity, strings->n_rows,
                                    sizeof *chunk->number, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < strings->n_strings; i++) {
        size_t length;
        const char *text = text_at(strings->text, strings->end, i, &length);
        chunk->parsed[i] = value_of(text, length, target);
    }
    for (size_t i = 0; i < strings->n_rows; i++) {
        uint32_t code = chunk->code[i];
        double value = code == DN_CODE_MISSING ? (double)NAN : chunk->parsed[code];
        if (isinf(value)) {
            return not_a_value(strings, code, target, i, err);
        }
        chunk->number[i] = value;
    }
    return DN_OK;
}

/* ---- decode ---- */
/* Numbers are no dates: a chunk of numbers that is read as dates has missing cells only. */
static dn_status check_missing(const double *number, size_t n, dn_error *err) {
    for (size_t i = 0; i < n; i++) {
        if (!isnan(number[i])) {
            return dni_error_at(dn_error_set(err, DN_ERR_DATA, "%g is not a date or time",
                                             number[i]),
                                NULL, (int64_t)i, err);
        }
    }
    return DN_OK;
}

static dn_status decode_numbers(dn_column_chunk *chunk, dni_reader *reader, size_t n_rows,
                                dn_column_type type, dn_column_view *view, dn_error *err) {
    struct numbers numbers = {0};
    dn_status status = read_numbers(reader, n_rows, &numbers, err);
    if (status != DN_OK) {
        return status;
    }
    if (type == DN_CATEGORICAL || type == DN_TEXT) {
        status = numbers_as_strings(chunk, &numbers, err);
        view->code = chunk->code;
        view->strings = dni_string_set_view(&chunk->set);
        return status;
    }
    status = expand_numbers(chunk, &numbers, err);
    if (status == DN_OK && type == DN_BOOLEAN) {
        status = check_boolean(chunk->number, n_rows, err);
    } else if (status == DN_OK && type == DN_DATETIME) {
        status = check_missing(chunk->number, n_rows, err);
    }
    view->number = chunk->number;
    return status;
}

static dn_status decode_strings(dn_column_chunk *chunk, dni_reader *reader, size_t n_rows,
                                const struct target *target, dn_column_view *view, dn_error *err) {
    struct strings strings = {0};
    dn_status status = read_strings(reader, n_rows, &strings, err);
    if (status == DN_OK) {
        status = expand_codes(chunk, &strings, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (target->type == DN_NUMERIC || target->type == DN_BOOLEAN || target->type == DN_DATETIME) {
        status = strings_as_numbers(chunk, &strings, target, err);
        view->number = chunk->number;
        return status;
    }
    view->code = chunk->code;
    if (!strings.distinct) {
        status = remove_duplicates(chunk, &strings, err);
        view->strings = dni_string_set_view(&chunk->set);
        return status;
    }
    status = copy_strings(chunk, &strings, err);
    view->strings =
        (dn_strings){.n = strings.n_strings, .start = chunk->start, .bytes = chunk->bytes};
    return status;
}

static dn_status decode_sparse(dn_column_chunk *chunk, dni_reader *reader, size_t n_rows,
                               dn_column_view *view, dn_error *err) {
    dn_status status = dni_sparse_view_read(&chunk->sparse, reader, n_rows, err);
    view->row_start = chunk->sparse.row_start;
    view->index = chunk->sparse.index;
    view->number = chunk->sparse.number;
    return status;
}

static dn_status decode(dn_column_chunk *chunk, const void *bytes, size_t size,
                        const struct target *target, dn_column_view *out, dn_error *err) {
    const dn_column_type type = target->type;
    dni_reader reader = dni_reader_of(bytes, size);
    unsigned mark = dni_read_u16(&reader), version = dni_read_u8(&reader),
             kind = dni_read_u8(&reader);
    size_t n_rows = dni_read_u32(&reader);
    if (reader.failed || n_rows > SIZE_MAX / 16 || mark != ('D' | 'C' << 8)) {
        return corrupt(err, "its first bytes are not those of a column chunk");
    }
    if (version != DNI_COLUMN_VERSION) {
        return dn_error_set(err, version > DNI_COLUMN_VERSION ? DN_ERR_VERSION : DN_ERR_CORRUPT,
                            "a column chunk has version %u, but this library reads version %d",
                            version, DNI_COLUMN_VERSION);
    }
    dn_column_view view = {.type = type, .n_rows = n_rows};
    dn_status status;
    if (kind <= DNI_COLUMN_SPARSE && (kind == DNI_COLUMN_SPARSE) != (type == DN_SPARSE)) {
        status = dn_error_set(err, DN_ERR_DATA,
                              kind == DNI_COLUMN_SPARSE
                                  ? "a column chunk of sparse rows cannot be read as %s"
                                  : "a column chunk without sparse rows cannot be read as %s",
                              dn_column_type_name(type));
    } else if (kind == DNI_COLUMN_SPARSE) {
        status = decode_sparse(chunk, &reader, n_rows, &view, err);
    } else if (kind == DNI_COLUMN_NUMBERS) {
        status = decode_numbers(chunk, &reader, n_rows, type, &view, err);
    } else if (kind == DNI_COLUMN_STRINGS) {
        status = decode_strings(chunk, &reader, n_rows, target, &view, err);
    } else {
        status = corrupt(err, "its kind is unknown");
    }
    if (status == DN_OK) {
        *out = view;
    }
    return status;
}

dn_status dn_column_chunk_decode(dn_column_chunk *chunk, const void *bytes, size_t size,
                                 dn_column_type type, dn_column_view *out, dn_error *err) {
    if (type == DN_DATETIME) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "a column of dates is read with their form");
    }
    return decode(chunk, bytes, size, &(struct target){type, NULL}, out, err);
}

dn_status dn_column_chunk_decode_datetime(dn_column_chunk *chunk, const void *bytes, size_t size,
                                          const dn_datetime_form *form, dn_column_view *out,
                                          dn_error *err) {
    if (!dn_datetime_is_form(form) || !dn_datetime_is_decided(form)) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "the form of a column of dates is not decided");
    }
    return decode(chunk, bytes, size, &(struct target){DN_DATETIME, form}, out, err);
}

dn_status dn_column_chunk_decode_part(dn_column_chunk *chunk, const void *bytes, size_t size,
                                      const dn_datetime_form *form, dn_date_part part,
                                      dn_column_view *out, dn_error *err) {
    dn_column_view view;
    dn_status status = dn_column_chunk_decode_datetime(chunk, bytes, size, form, &view, err);
    if (status == DN_OK) {
        status = dni_column_reserve(&chunk->code, &chunk->code_capacity, view.n_rows,
                                    sizeof *chunk->code, err);
    }
    dni_string_set_clear(&chunk->set);
    for (size_t i = 0; status == DN_OK && i < view.n_rows; i++) {
        char text[DN_DATE_PART_SIZE];
        if (isnan(view.number[i])) {
            chunk->code[i] = DN_CODE_MISSING;
        } else if (i > 0 && view.number[i] == view.number[i - 1]) {
            chunk->code[i] = chunk->code[i - 1];
        } else {
            const size_t n = dn_date_part_format(view.number[i], form, part, text);
            status = dni_string_set_add(&chunk->set, text, n, &chunk->code[i], err);
        }
    }
    if (status != DN_OK) {
        return status;
    }
    *out = (dn_column_view){.type = DN_CATEGORICAL,
                            .n_rows = view.n_rows,
                            .code = chunk->code,
                            .strings = dni_string_set_view(&chunk->set)};
    return DN_OK;
}

/* ---- appending to a builder ---- */
static dn_status add_strings(dn_column_builder *builder, const dn_column_view *view,
                             dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; status == DN_OK && i < view->n_rows; i++) {
        const uint32_t code = view->code[i];
        if (code == DN_CODE_MISSING) {
            status = dn_column_builder_missing(builder, err);
        } else {
            status =
                dn_column_builder_string(builder, view->strings.bytes + view->strings.start[code],
                                         view->strings.start[code + 1] - view->strings.start[code],
                                         err);
        }
    }
    return status;
}

static dn_status add_entries(dn_column_builder *builder, const dn_column_view *view,
                             dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; status == DN_OK && i < view->n_rows; i++) {
        const size_t from = view->row_start[i];
        status = dn_column_builder_entries(builder, view->index + from, view->number + from,
                                           view->row_start[i + 1] - from, err);
    }
    return status;
}

/* Appends numbers, some of which have a stored spelling; the others are padded. */
static dn_status add_spelled(dn_column_builder *builder, const struct numbers *numbers,
                             const double *value, dn_error *err) {
    dn_status status = DN_OK;
    size_t k = 0;
    if (!ends_ascend(numbers->spelled_end, numbers->n_spelled, numbers->text_size)) {
        return corrupt(err, "its spellings are not in order");
    }
    for (size_t i = 0; status == DN_OK && i < numbers->n_rows; i++) {
        char text[DNI_COLUMN_TEXT_SIZE];
        const char *spelling = NULL;
        size_t length = 0;
        if (k < numbers->n_spelled && spelled_row(numbers, k) == i) {
            spelling = text_at(numbers->text, numbers->spelled_end, k++, &length);
        } else if (numbers->decimals > 0 && !isnan(value[i])) {
            length = dni_column_number_text(value[i], numbers->decimals, text);
            spelling = text;
        }
        status = dn_column_builder_number(builder, value[i], spelling, length, err);
    }
    if (status == DN_OK && k != numbers->n_spelled) {
        return corrupt(err, "the rows of its spellings are not in order");
    }
    return status;
}

static dn_status add_numbers(dn_column_builder *builder, dni_reader *reader,
                             const dn_column_view *view, dn_error *err) {
    struct numbers numbers = {0};
    dn_status status = read_numbers(reader, view->n_rows, &numbers, err);
    if (status != DN_OK) {
        return status;
    }
    return numbers.n_spelled == 0 && numbers.decimals == 0
               ? dn_column_builder_numbers(builder, view->number, 1, view->n_rows, 0, err)
               : add_spelled(builder, &numbers, view->number, err);
}

dn_status dn_column_builder_chunk(dn_column_builder *builder, dn_column_chunk *scratch,
                                  const void *bytes, size_t size, dn_error *err) {
    dni_reader reader = dni_reader_of(bytes, size);
    (void)dni_read_u16(&reader);
    (void)dni_read_u8(&reader);
    const unsigned kind = dni_read_u8(&reader);
    (void)dni_read_u32(&reader);
    dn_column_view view;
    const dn_column_type type = kind == DNI_COLUMN_SPARSE    ? DN_SPARSE
                                : kind == DNI_COLUMN_NUMBERS ? DN_NUMERIC
                                                             : DN_TEXT;
    dn_status status = dn_column_chunk_decode(scratch, bytes, size, type, &view,
                                              err); /* checks the header, which was skipped above */
    if (status != DN_OK) {
        return status;
    }
    return type == DN_SPARSE ? add_entries(builder, &view, err)
           : type == DN_TEXT ? add_strings(builder, &view, err)
                             : add_numbers(builder, &reader, &view, err);
}
