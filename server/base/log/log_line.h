/* One line of the log as text. Private to the log. */
#ifndef BASE_LOG_LINE_H
#define BASE_LOG_LINE_H

#include "base/log/log.h"

#define LOG_LINE_MAX 16384 /* bytes of the longest line */
#define LOG_VALUE_MAX 2000 /* bytes of a value; longer ones are cut */

const char *log_level_name(enum log_level level);

struct log_line {
    char *data;  /* [LOG_LINE_MAX] the caller's */
    size_t size; /* bytes in use */
    bool full;   /* a field did not fit and was left out */
};

/* Replaces the contents of the line. */
void log_line_build(struct log_line *l, enum log_format format, int64_t time_ms,
                    enum log_level level, const char *event, const struct log_field *fields,
                    size_t n);

#endif
