/* SQL text that differs between engines. A statement is one text for all engines, written for
 * SQLite. Where PostgreSQL needs other text, the statement has that in a comment, which the engine
 * for PostgreSQL puts in place of the text behind it when it prepares the statement:
 *
 *   / *{text for PostgreSQL* /text for SQLite/ *}* /
 *
 * The text for SQLite may have such places, too; the text for PostgreSQL may not. Values that were
 * damaged on the disk have wrong types in SQLite only: the columns of PostgreSQL have types. */
#ifndef STORE_DIALECT_H
#define STORE_DIALECT_H

#define STORE_EITHER(sqlite, postgresql) "/*{" postgresql "*/" sqlite "/*}*/"

/* A sum of integers, as an integer; 0 of no rows. */
#define STORE_SUM(value) "CAST(coalesce(sum(" value "), 0) AS BIGINT)"
/* Conditions: the value has this type. */
#define STORE_IS_INTEGER(value) STORE_EITHER("typeof(" value ") = 'integer'", "true")
#define STORE_IS_TEXT(value) STORE_EITHER("typeof(" value ") = 'text'", "true")
/* A condition: the name matches one of the patterns of struct store_limit, which the parameter
 * has. */
#define STORE_ONLY(name, parameter)                                                                \
    "(" parameter " IS NULL OR " STORE_EITHER("EXISTS (SELECT 1 FROM json_each(" parameter         \
                                              ") WHERE " name " GLOB value)",                      \
                                              "glob_any(" name ", " parameter ")") ")"
/* The number at a path of a JSON document; null if there is none. */
#define STORE_JSON_NUMBER(document, path)                                                          \
    STORE_EITHER("CAST(json_extract(" document ", " path ") AS REAL)",                             \
                 "json_number(" document ", " path ")")
/* Begins an INSERT of a row whose key a damaged row may have, which is then replaced. */
#define STORE_INSERT_ANEW STORE_EITHER("INSERT OR REPLACE", "INSERT")
/* The checksum of a row that is inserted. */
#define STORE_ROW_CRC(values) STORE_EITHER("row_crc(" values ")", "CAST(NULL AS BIGINT)")

#endif
