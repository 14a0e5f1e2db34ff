/* A chunk of numbers taken apart. Trusts no byte. */
#include "table/column_numbers.h"

#include "table/column_values.h"

dn_status dni_column_corrupt(dn_error *err, const char *what) {
    return dn_error_set(err, DN_ERR_CORRUPT, "a column chunk is damaged: %s", what);
}

bool dni_column_ends_ascend(const unsigned char *end, size_t n, size_t size) {
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

dn_status dni_column_numbers_read(dni_reader *reader, size_t n_rows, dni_column_numbers *out,
                                  dn_error *err) {
    unsigned encoding = dni_read_u8(reader), missing = dni_read_u8(reader),
             decimals = dni_read_u8(reader), zero = dni_read_u8(reader);
    size_t n_spelled = dni_read_u32(reader);
    if (reader->failed || encoding > DNI_COLUMN_F64 || missing > 1 ||
        decimals > DNI_COLUMN_MAX_DECIMALS || zero != 0 || n_spelled > n_rows) {
        return dni_column_corrupt(err, "the header of its numbers is not one");
    }
    *out = (dni_column_numbers){.encoding = (enum dni_column_encoding)encoding,
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
        return dni_column_corrupt(err, "it is cut short");
    }
    if (out->text_size !=
        (n_spelled == 0 ? 0 : dni_get_u32(out->spelled_end + 4 * (n_spelled - 1)))) {
        return dni_column_corrupt(err, "its length is not what its header says");
    }
    return DN_OK;
}
