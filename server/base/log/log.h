/* Structured log: one line for each event, key=value or one JSON object. Lines of one thread keep
 * their order, and lines are never mixed. Thread safe.
 *
 *   log_info("job.finished", log_int("job", 7), log_str("state", "succeeded"));
 *   → 2026-05-04T03:02:01.000Z info job.finished job=7 state=succeeded
 *
 * Control characters, quotes and invalid UTF-8 in values are escaped, so that text of a client
 * cannot forge a line. Values are truncated to 2,000 bytes, lines to 16 KiB. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_field {
    const char *key;
    enum { LOG_FIELD_STR, LOG_FIELD_INT, LOG_FIELD_DBL } kind;
    const char *str; /* NULL is written as "-" */
    size_t length;   /* length of str in bytes; SIZE_MAX: str is NUL-terminated */
    int64_t i;
    double d;
};

/* Sets the output. Without this call: text, level info, standard error. */
void log_open(int fd, enum log_format format, enum log_level threshold);
bool log_level_parse(const char *name, enum log_level *out);
bool log_format_parse(const char *name, enum log_format *out);
bool log_enabled(enum log_level level);
/* Writes a line before returning. */
void log_write(enum log_level level, const char *event, const struct log_field *fields, size_t n);
/* For frequent lines. After log_gather_start the values are copied, and a thread formats and writes
 * the line: within about 20 ms, before the next line of log_write, or when the process crashes.
 * After SIGKILL gathered lines are lost. `event` and the keys must be string literals: only their
 * addresses are kept. At most 32 fields. */
void log_write_later(enum log_level level, const char *event, const struct log_field *fields,
                     size_t n);
/* Returns the number of lines of log_write_later that were dropped since the start. Lines are
 * dropped while write(2) blocks (for example on a pipe with a slow reader) and 1 MiB of records are
 * waiting. When writing continues, a line "log.dropped" reports their number. */
int64_t log_dropped(void);
/* Starts the thread, and installs handlers for the signals of crashes that have none. Returns false
 * if the thread cannot be started: then lines are written at once. */
bool log_gather_start(void);
/* Writes the gathered lines and ends the thread. No other thread may call log_write_later at this
 * time. */
void log_gather_stop(void);

static inline struct log_field log_str(const char *key, const char *s) {
    return (struct log_field){.key = key, .kind = LOG_FIELD_STR, .str = s, .length = SIZE_MAX};
}
static inline struct log_field log_strn(const char *key, const char *s, size_t n) {
    return (struct log_field){.key = key, .kind = LOG_FIELD_STR, .str = s, .length = n};
}
static inline struct log_field log_int(const char *key, int64_t v) {
    return (struct log_field){.key = key, .kind = LOG_FIELD_INT, .i = v};
}
static inline struct log_field log_dbl(const char *key, double v) {
    return (struct log_field){.key = key, .kind = LOG_FIELD_DBL, .d = v};
}

#define LOG_WITH(write, level, event, ...)                                                         \
    do {                                                                                           \
        if (log_enabled(level)) {                                                                  \
            const struct log_field log_fields_[] = {{0}, __VA_ARGS__};                             \
            write(level, event, log_fields_ + 1, sizeof log_fields_ / sizeof log_fields_[0] - 1);  \
        }                                                                                          \
    } while (0)
#define LOG_WRITE(level, event, ...) LOG_WITH(log_write, level, event, __VA_ARGS__)
#define LOG_WRITE_LATER(level, event, ...) LOG_WITH(log_write_later, level, event, __VA_ARGS__)
#define log_debug(event, ...) LOG_WRITE(LOG_DEBUG, event, __VA_ARGS__)
#define log_info(event, ...) LOG_WRITE(LOG_INFO, event, __VA_ARGS__)
#define log_warn(event, ...) LOG_WRITE(LOG_WARN, event, __VA_ARGS__)
#define log_error(event, ...) LOG_WRITE(LOG_ERROR, event, __VA_ARGS__)

#endif
