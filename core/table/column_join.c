/* Encoded chunks put one behind the other: the cells of a chunk into a builder, as they were written. */
#include "table/column_numbers.h"

#include <math.h>

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
        status = dn_column_builder_entries(builder, view->place + from, view->number + from,
                                           view->row_start[i + 1] - from, err);
    }
    return status;
}

/* Numbers of which some have a spelling of their own, and the others are padded. */
static dn_status add_spelled(dn_column_builder *builder, const dni_column_numbers *numbers,
                             const double *value, dn_error *err) {
    dn_status status = DN_OK;
    size_t k = 0;
    if (!dni_column_ends_ascend(numbers->spelled_end, numbers->n_spelled, numbers->text_size)) {
        return dni_column_corrupt(err, "its spellings are not in order");
    }
    for (size_t i = 0; status == DN_OK && i < numbers->n_rows; i++) {
        char text[DNI_COLUMN_TEXT_SIZE];
        const char *spelling = NULL;
        size_t length = 0;
        if (k < numbers->n_spelled && dni_column_spelled_row(numbers, k) == i) {
            spelling = dni_column_spelled_text(numbers, k++, &length);
        } else if (numbers->decimals > 0 && !isnan(value[i])) {
            length = dni_column_number_text(value[i], numbers->decimals, text);
            spelling = text;
        }
        status = dn_column_builder_number(builder, value[i], spelling, length, err);
    }
    if (status == DN_OK && k != numbers->n_spelled) {
        return dni_column_corrupt(err, "the rows of its spellings are not in order");
    }
    return status;
}

static dn_status add_numbers(dn_column_builder *builder, dni_reader *reader,
                             const dn_column_view *view, dn_error *err) {
    dni_column_numbers numbers = {0};
    dn_status status = dni_column_numbers_read(reader, view->n_rows, &numbers, err);
    if (status != DN_OK) {
        return status;
    }
    return numbers.n_spelled == 0 && numbers.decimals == 0
               ? dn_column_builder_numbers(builder, view->number, 1, view->n_rows, 0, err)
               : add_spelled(builder, &numbers, view->number, err);
}

dn_status dn_column_builder_chunk(dn_column_builder *builder, dn_column_chunk *room,
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
    dn_status status = dn_column_chunk_decode(room, bytes, size, type, &view,
                                              err); /* which looks at all that was passed over */
    if (status != DN_OK) {
        return status;
    }
    return type == DN_SPARSE ? add_entries(builder, &view, err)
           : type == DN_TEXT ? add_strings(builder, &view, err)
                             : add_numbers(builder, &reader, &view, err);
}
