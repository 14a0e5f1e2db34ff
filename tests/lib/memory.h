/* Memory that is freed when the test ends, and texts in it; reading of whole files; time.
 * Thread-safe. */
#ifndef TESTS_LIB_MEMORY_H
#define TESTS_LIB_MEMORY_H

#include "lib/cmocka.h"

/* Calls release(memory) when the test ends, and returns memory. Aborts the program if memory is
 * NULL. */
void *keep(void *memory, void (*release)(void *));
/* Releases all memory that was passed to keep(). */
void keep_free(void);

/* The next functions return texts that are freed when the test ends. */
char *vtext(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As text, with each ' replaced by ": JSON that is easy to read in a C string. */
const char *quoted(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *repeat(const char *piece, size_t times);
/* Returns the bytes of a file and a NUL. Fails the test if the file cannot be opened. size: the
 * number of bytes; NULL: not needed. */
const char *read_whole(const char *path, size_t *size);

/* Seconds of the monotonic clock. It is used for time limits of waiting; no test checks how long a
 * call took. */
double now(void);
void pause_ms(int milliseconds);

#endif
