/* SQL functions on rows of metadata: row_crc, the checksum of a row (migrations/sqlite), and
 * row_listed, which leaves damaged rows out of lists (engine/rows.h). */
#ifndef STORE_ROW_CRC_H
#define STORE_ROW_CRC_H

#include <sqlite3.h>

/* Adds the functions to a connection. Returns an SQLite result code. */
int store_row_crc_add(sqlite3 *db);

#endif
