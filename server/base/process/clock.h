/* Time: a monotonic clock for durations, the real clock for timestamps. Thread safe. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

int64_t clock_monotonic_ns(void);
int64_t clock_real_ms(void); /* milliseconds since 1970, UTC */
/* Writes a time as RFC 3339 in UTC with milliseconds: "2026-05-04T03:02:01.000Z". */
#define CLOCK_TEXT_SIZE 32
void clock_format(int64_t real_ms, char out[CLOCK_TEXT_SIZE]);

/* Reads a date, as "2026-05-04", or a time in UTC, as "2026-05-04T03:02:01Z" or with milliseconds.
 * Years 1970 to 9999. Returns false if the text has another form or names no such time. */
bool clock_parse(const char *text, int64_t *real_ms);

#endif
