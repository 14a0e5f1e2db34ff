/* Memory that is freed when the test ends, texts in it, whole files, and time. Thread-safe. */
#ifndef TESTS_LIB_MEMORY_H
#define TESTS_LIB_MEMORY_H

#include "lib/cmocka.h"

/* Calls release(memory) when the test ends; aborts the program if memory is NULL. Returns memory. */
void *keep(void *memory, void (*release)(void *));
/* Releases all memory passed to keep(). */
void keep_free(void);

/* Kept texts: */
char *vtext(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* … with each ' replaced by ": JSON that can be read in a C string. */
const char *quoted(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *repeat(const char *piece, size_t times);
/* A file, NUL-terminated; fails the test if it cannot be opened. size: NULL if not needed. */
const char *read_whole(const char *path, size_t *size);

/* Seconds of the monotonic clock: for waiting; no test depends on how long a call took. */
double now(void);
void pause_ms(int milliseconds);

#endif
