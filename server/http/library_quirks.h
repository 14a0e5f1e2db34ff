/* All workarounds for defects and gaps of libmicrohttpd. These files do not depend on the server.
 * Supported versions: 0.9.75 (Debian 12) and 1.0.1 (Debian 13). The soname of libunistring differs
 * between the two releases, so a binary always runs with the version that it was compiled for, and
 * MHD_VERSION decides at compile time which workarounds exist. */
#ifndef HTTP_LIBRARY_QUIRKS_H
#define HTTP_LIBRARY_QUIRKS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called in place of an error page of the library, on the connection's I/O thread. The library
 * closes the connection when this function has returned. */
typedef void library_refused(struct MHD_Connection *mhd, unsigned status);

/* Installs the replacements. To be called before any daemon is started. Returns false if the
 * library is linked statically. library_probe.c finds out whether the library calls them. */
bool library_quirks_init(library_refused *refused);

/* Calls MHD_queue_response of the library itself. */
enum MHD_Result library_queue_response(struct MHD_Connection *mhd, unsigned status,
                                       struct MHD_Response *response);

/* Whether the library has asked the replacement of MHD_lookup_connection_value_n for cookies. */
bool library_asked_for_cookies(void);

/* Options of MHD_start_daemon that make the library refuse ambiguous requests. */
struct MHD_OptionItem *library_options(void);
/* The flag of the event loop of a daemon with or without TLS. */
unsigned library_event_loop(bool secure);

/* Makes a response without a body and without Content-Length. NULL: out of memory. */
struct MHD_Response *library_response_without_length(void);

/* Makes a response without a body whose Content-Length is `length`, for status 304. NULL: out of
 * memory. */
struct MHD_Response *library_response_not_modified(uint64_t length);

/* Whether the library calls the request handler although the connection is suspended. */
bool library_is_suspended(struct MHD_Connection *mhd);

/* Checks that the strings of the request header lie where they arrived, without a gap between them.
 * A gap means that the library dropped or moved bytes. From version 1.0 on nothing is checked:
 * library_lines_begin and library_lines_end return true. */
struct library_lines {
    const char *begin; /* method in the request line */
    const char *next;  /* address where the next line must begin */
    bool gap;          /* a gap was found in the header lines */
};
/* Turns these checks off, because the library keeps the strings in another way. To be called before
 * any connection is accepted from a client. */
void library_lines_ignore(void);
/* Begins with the request line. Returns false if it has a gap. target_size: bytes of the target as
 * sent. */
bool library_lines_begin(struct library_lines *lines, const char *method, const char *target,
                         size_t target_size, const char *version);
/* Adds the next header field. */
void library_lines_add(struct library_lines *lines, const char *name, const char *value,
                       size_t value_size);
/* To be called when the header is complete. Returns false if there was a gap between its lines. */
bool library_lines_end(const struct library_lines *lines, struct MHD_Connection *mhd);
/* Returns the address at which the body begins, for library_chunk_line. NULL: unknown. */
const char *library_lines_body(const struct library_lines *lines);

/* To be called with each piece data[n] of a chunked body. *end: NULL at first; the end of the piece
 * before. Returns false if a line of a chunk in front of the piece does not end with CR LF. From
 * version 1.0 on the library refuses such lines. */
bool library_chunk_line(const char *body, const char **end, const char *data, size_t n);

#endif
