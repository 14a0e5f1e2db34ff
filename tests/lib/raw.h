/* A client that uses a raw socket and sends bytes exactly as given. Thread-safe. */
#ifndef TESTS_LIB_RAW_H
#define TESTS_LIB_RAW_H

#include "lib/client.h"

/* Connects to the_daemon. Returns the socket; -1 on failure. */
int raw_open(void);
/* Connects from 127.0.0.HOST to this port of 127.0.0.1. */
int raw_open_from(int host, int port);
/* Sends all bytes, then reads until the daemon closes the connection or `seconds` have passed.
 * Returns the first answer (status 0: there is none). Does not close fd. */
const struct response *raw_talk(int fd, const void *bytes, size_t size, double seconds);
/* As raw_talk on a new connection, for at most one minute. */
const struct response *raw_once(const void *bytes, size_t size);
/* As raw_once with a formatted text, which begins with the request line. */
const struct response *raw_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Sends all bytes and reads nothing. Returns false if the daemon has closed the connection. */
bool raw_send(int fd, const void *bytes, size_t size);
bool raw_send_text(int fd, const char *text);
/* Reads until the received text contains `words`. Returns `received` ("" in the first call) with
 * the new text appended. Fails the test if nothing arrives for a minute or the stream ends. */
const char *raw_until(int fd, const char *received, const char *words);
/* Parses the bytes of an answer; status 0: they are not an answer. */
const struct response *raw_parse(const char *bytes, size_t size);

#endif
