/* The parts of a chunk of numbers (column_format.h has the layout), for those who read one: column_chunk.c and column_join.c. */
#ifndef DNI_COLUMN_NUMBERS_H
#define DNI_COLUMN_NUMBERS_H

#include "base/bytes.h"
#include "table/column_format.h"

/* Views into the chunk's bytes. */
typedef struct dni_column_numbers {
    enum dni_column_encoding encoding;
    bool has_missing;
    unsigned decimals; /* padding of the regular spellings */
    size_t n_rows, n_spelled;
    const unsigned char *values;
    const unsigned char *spelled_row, *spelled_end; /* u32 each */
    const char *text;
    size_t text_size;
} dni_column_numbers;

/* Reads what follows the chunk's kind and number of rows. DN_ERR_CORRUPT; the spellings are not looked through: dni_column_ends_ascend(spelled_end, n_spelled, text_size). */
DN_MUST_USE dn_status dni_column_numbers_read(dni_reader *reader, size_t n_rows,
                                              dni_column_numbers *out, dn_error *err);
/* n ends of texts (u32 each): ascending, the last one being the size of all. */
bool dni_column_ends_ascend(const unsigned char *end, size_t n, size_t size);
/* The row of spelling k, and its text. */
static inline size_t dni_column_spelled_row(const dni_column_numbers *numbers, size_t k) {
    return dni_get_u32(numbers->spelled_row + 4 * k);
}
static inline const char *dni_column_spelled_text(const dni_column_numbers *numbers, size_t k,
                                                  size_t *length) {
    const uint32_t first = k == 0 ? 0 : dni_get_u32(numbers->spelled_end + 4 * (k - 1));
    *length = dni_get_u32(numbers->spelled_end + 4 * k) - first;
    return numbers->text + first;
}

/* DN_ERR_CORRUPT: "a column chunk is damaged: <what>". */
dn_status dni_column_corrupt(dn_error *err, const char *what);

#endif
