/* Formats one line of the log. Private to the log. */
#ifndef BASE_LOG_LINE_H
#define BASE_LOG_LINE_H

#include "base/log/log.h"

/* limit of the length of a line in bytes */
#define LOG_LINE_MAX 16384
/* limit of the length of a value in bytes; longer values are truncated */
#define LOG_VALUE_MAX 2000

const char *log_level_name(enum log_level level);

struct log_line {
    char *data;  /* [LOG_LINE_MAX] the caller's memory */
    size_t size; /* bytes in use */
    bool full;   /* a field did not fit and was left out */
};

/* Replaces the contents of the line by a new line. */
void log_line_build(struct log_line *l, enum log_format format, int64_t time_ms,
                    enum log_level level, const char *event, const struct log_field *fields,
                    size_t n);

#endif
