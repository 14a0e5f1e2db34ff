/* Where the lines of the log go: at once, or gathered and written together. Private to the log. */
#ifndef BASE_LOG_OUTPUT_H
#define BASE_LOG_OUTPUT_H

#include <stddef.h>

#define LOG_OUTPUT_LINE_MAX 16384 /* bytes of the longest line */

void log_output_open(int fd);
/* A whole line, behind all that were given before it by any thread; on its way when this returns.
 */
void log_output_write(const char *line, size_t size);
/* … or soon after: see log_gather_start. */
void log_output_later(const char *line, size_t size);

#endif
