/* One line of the log in binary form, which the logging thread passes to the thread that writes the
 * log. Private to the log.
 *
 * A record contains copies of the values, and the addresses of the event and of the keys, which are
 * constants of the program. */
#ifndef BASE_LOG_RECORD_H
#define BASE_LOG_RECORD_H

#include "base/log/log_line.h"

/* Packs a record into out[room], which must be aligned to 8 bytes. Returns the size of the record,
 * a multiple of 8; 0 if it does not fit. Fields beyond LOG_RECORD_FIELDS are left out. */
#define LOG_RECORD_FIELDS 32
size_t log_record_pack(char *out, size_t room, int64_t time_ms, enum log_level level,
                       const char *event, const struct log_field *fields, size_t n);
/* Formats the line of a record. Returns the size of the record. */
size_t log_record_line(const char *record, enum log_format format, struct log_line *line);

#endif
