/* The log: its level, the names of levels and formats, and the two functions that write lines. */
#include "base/log/log.h"
#include "base/log/log_line.h"
#include "base/log/log_output.h"
#include "base/process/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int log_threshold = LOG_INFO;

static const char *const format_names[] = {"text", "json"};

void log_open(int fd, enum log_format format, enum log_level threshold) {
    log_output_open(fd, format);
    atomic_store(&log_threshold, (int)threshold);
}

bool log_level_parse(const char *name, enum log_level *out) {
    for (int i = LOG_DEBUG; i <= LOG_ERROR; i++) {
        if (strcmp(name, log_level_name((enum log_level)i)) == 0) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

bool log_format_parse(const char *name, enum log_format *out) {
    for (int i = LOG_TEXT; i <= LOG_JSON; i++) {
        if (strcmp(name, format_names[i]) == 0) {
            *out = (enum log_format)i;
            return true;
        }
    }
    return false;
}

bool log_enabled(enum log_level level) {
    return (int)level >= atomic_load_explicit(&log_threshold, memory_order_relaxed);
}

void log_write(enum log_level level, const char *event, const struct log_field *fields, size_t n) {
    if (log_enabled(level)) {
        /* logging must not change errno */
        const int saved = errno;
        log_output_write(clock_real_ms(), level, event, fields, n);
        errno = saved;
    }
}

void log_write_later(enum log_level level, const char *event, const struct log_field *fields,
                     size_t n) {
    if (log_enabled(level)) {
        const int saved = errno;
        log_output_later(clock_real_ms(), level, event, fields, n);
        errno = saved;
    }
}
