/* Format of a column chunk: little-endian, without alignment.
 *
 *   u8 'D', u8 'C', u8 version, u8 kind, u32 n_rows, then by kind
 *
 *   numbers  u8 encoding, u8 has_missing, u8 decimals, u8 0, u32 n_spellings
 *            values[n_rows] as u8, i16, i32 or f64; missing is 255, -32768, -2^31 (only if
 *            has_missing) or NaN
 *            u32 row[n_spellings], strictly ascending; u32 end[n_spellings] of each text in bytes;
 *            the texts
 *   strings  u8 code_width, u8 distinct, u8 0, u8 0, u32 n_strings
 *            u32 end[n_strings] of each string in bytes; codes[n_rows] of code_width 1, 2 or 4
 *            (missing: all ones); the strings
 *   sparse   u8 length_width, u8 index_width, u8 encoding, u8 0, u32 n_entries
 *            lengths[n_rows] of length_width 1, 2 or 4: entries of each row; indices[n_entries] of
 *            index_width 2 or 4, strictly ascending within a row
 *            values[n_entries] as u8, i16, i32 or finite f64; absent if every value is 1
 *
 * The text of a number without a stored spelling is the result of dn_number_format, padded with
 * zeros to `decimals` digits after the point: "5.0", "12.50". Texts with an exponent are not
 * padded. */
#ifndef DNI_COLUMN_FORMAT_H
#define DNI_COLUMN_FORMAT_H

#include <discern/table.h>

#define DNI_COLUMN_VERSION 1
/* Size in bytes of the header of every kind: all fields before the first array. */
#define DNI_COLUMN_HEADER 16
#define DNI_COLUMN_MAX_DECIMALS 32 /* maximum number of digits to which texts are padded */
#define DNI_COLUMN_TEXT_SIZE (DN_NUMBER_SIZE + DNI_COLUMN_MAX_DECIMALS + 2)

enum dni_column_kind { DNI_COLUMN_NUMBERS = 0, DNI_COLUMN_STRINGS = 1, DNI_COLUMN_SPARSE = 2 };
/* Encodings of values. DNI_COLUMN_ONES is for sparse rows only. */
enum dni_column_encoding {
    DNI_COLUMN_U8 = 0,
    DNI_COLUMN_I16 = 1,
    DNI_COLUMN_I32 = 2,
    DNI_COLUMN_F64 = 3,
    DNI_COLUMN_ONES = 4
};

#define DNI_MISSING_U8 255
#define DNI_MISSING_I16 (-32768)
#define DNI_MISSING_I32 INT32_MIN

/* Writes the text of a finite number, padded to `decimals` digits after the point. Returns the
 * length of the text. */
size_t dni_column_number_text(double value, unsigned decimals, char out[DNI_COLUMN_TEXT_SIZE]);

/* The spelling of a number. Regular: canonical, or canonical with `zeros` zeros appended after the
 * point (and the point, if there is none). All others are irregular. */
typedef struct dni_spelling {
    bool regular;      /* false: irregular, so that the text must be stored */
    bool plain;        /* true: no exponent, so that padding applies */
    unsigned decimals; /* number of digits after the point */
    unsigned zeros;    /* number of these digits that are appended zeros */
} dni_spelling;

dni_spelling dni_spelling_of(double value, const char *text, size_t length);

#endif
