/* A client on a bare socket: sends bytes exactly as given. Thread-safe. */
#ifndef TESTS_LIB_RAW_H
#define TESTS_LIB_RAW_H

#include "lib/client.h"

/* Connects to the_daemon; −1 on failure. */
int raw_open(void);
/* Sends all, then reads until the daemon closes the connection or `seconds` are over. Parses the
 * first answer (status 0: there is none). Does not close fd. */
const struct response *raw_talk(int fd, const void *bytes, size_t size, double seconds);
/* … on a new connection, for at most a minute. */
const struct response *raw_once(const void *bytes, size_t size);
/* … of a text that begins with the request line. */
const struct response *raw_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Sends all and reads nothing. Returns false if the peer has closed the connection. */
bool raw_send(int fd, const void *bytes, size_t size);
bool raw_send_text(int fd, const char *text);
/* Reads until the text contains the words, and returns all that was received: `received` ("" at
 * first) and what follows. Fails the test after a minute of silence or at the end of the stream. */
const char *raw_until(int fd, const char *received, const char *words);
/* Parses an answer; status 0: it is none. */
const struct response *raw_parse(const char *bytes, size_t size);

#endif
