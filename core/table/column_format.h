/* One column chunk as bytes, little-endian, nothing padded.
 *
 *   u8 'D', u8 'C', u8 version, u8 kind, u32 n_rows, then by kind
 *
 *   numbers  u8 encoding, u8 has_missing, u8 decimals, u8 0, u32 n_spellings
 *            values[n_rows] as u8, i16, i32 or f64; missing is 255, -32768, -2^31 (only when has_missing), NaN
 *            u32 row[n_spellings] strictly ascending, u32 end[n_spellings] of each text in bytes, the bytes
 *   strings  u8 code_width, u8 distinct, u8 0, u8 0, u32 n_strings
 *            u32 end[n_strings] of each string in bytes, codes[n_rows] of code_width 1, 2 or 4 (all ones: missing), the bytes
 *   sparse   u8 length_width, u8 place_width, u8 encoding, u8 0, u32 n_entries
 *            lengths[n_rows] of length_width 1, 2 or 4: entries of each row; places[n_entries] of place_width 2 or 4, strictly ascending within a row;
 *            values[n_entries] as u8, i16, i32 or finite f64, or none at all: every one is 1
 *
 * A number that has no spelling of its own was written canonically (dn_number_format), padded with zeros to `decimals` digits behind the point: "5.0", "12.50"; never padded
 * is one that is written with an exponent. */
#ifndef DNI_COLUMN_FORMAT_H
#define DNI_COLUMN_FORMAT_H

#include <discern/table.h>

#define DNI_COLUMN_VERSION 1
#define DNI_COLUMN_HEADER 16       /* bytes before the values or the string ends */
#define DNI_COLUMN_MAX_DECIMALS 32 /* of padding */
#define DNI_COLUMN_TEXT_SIZE (DN_NUMBER_SIZE + DNI_COLUMN_MAX_DECIMALS + 2)

enum dni_column_kind { DNI_COLUMN_NUMBERS = 0, DNI_COLUMN_STRINGS = 1, DNI_COLUMN_SPARSE = 2 };
/* DNI_COLUMN_ONES: of sparse rows only. */
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

/* The text of a finite number padded to `decimals`; returns its length. */
size_t dni_column_number_text(double value, unsigned decimals, char out[DNI_COLUMN_TEXT_SIZE]);

/* How a number was spelled: canonically, or canonically with `zeros` more digits 0 behind the point (which itself may have been added), or otherwise. */
typedef struct dni_spelling {
    bool regular;      /* false: its text must be kept */
    bool plain;        /* without an exponent, so that padding applies to it */
    unsigned decimals; /* digits behind the point */
    unsigned zeros;    /* of which were padded */
} dni_spelling;

dni_spelling dni_spelling_of(double value, const char *text, size_t length);

#endif
