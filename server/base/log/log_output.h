/* Writes the lines of the log, at once or later. Private to the log. */
#ifndef BASE_LOG_OUTPUT_H
#define BASE_LOG_OUTPUT_H

#include "base/log/log.h"

void log_output_open(int fd, enum log_format format);
/* Writes a line, after all lines that any thread has logged earlier. */
void log_output_write(int64_t time_ms, enum log_level level, const char *event,
                      const struct log_field *fields, size_t n);
/* Passes a line to the thread of log_gather_start; without the thread, writes it at once. */
void log_output_later(int64_t time_ms, enum log_level level, const char *event,
                      const struct log_field *fields, size_t n);

#endif
