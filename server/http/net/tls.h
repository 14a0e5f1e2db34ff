/* TLS 1.2 and 1.3 of --listen, by GnuTLS. libmicrohttpd makes a session for each connection and
 * drives it; tls_begin gives the session the certificate in use, the rules and a function that
 * reads from the socket. The files of the certificate are read at the start, and again on
 * tls_reload and when they change. A connection keeps the certificate that it began with.
 *
 * A session is used by the I/O thread of its connection only. Another thread that ends a connection
 * leaves the response with it (connections.h) and calls shutdown(SHUT_RD): the I/O thread then
 * reads from the socket, and the function that reads sends the response first.
 *
 * This header shows no type of GnuTLS. */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "base/problem.h"
#include "http/http.h"
#include <stdbool.h>
#include <stddef.h>

struct connection;
struct tls;      /* what all connections share */
struct tls_link; /* what belongs to one connection */
struct MHD_OptionItem;

/* Checks the files of the settings: a certificate with its key, the certificates of the authority.
 * True if the settings have no certificate. */
bool tls_check(const struct http_settings *settings, struct problem *problem);
/* Loads the files and starts the thread that reads them again. Logs what it loads. spoke_plain: is
 * called on the I/O thread if the first bytes are those of an HTTP request; it may write to the
 * descriptor. app: for settings->tls_read. */
bool tls_open(const struct http_settings *settings, void *app,
              void (*spoke_plain)(struct connection *c), struct tls **out, struct problem *problem);
void tls_close(struct tls *tls); /* after all connections; NULL is allowed */
void tls_reload(struct tls *tls);
/* Returns the time in s after which the certificate in use is not valid. Any thread. */
int64_t tls_expires(struct tls *tls);
/* The options of the library for a daemon with TLS. */
struct MHD_OptionItem *tls_library_options(void);

/* The rest is for the I/O thread of the connection. */
/* Begins with a connection: session is the library's (MHD_CONNECTION_INFO_GNUTLS_SESSION). After a
 * failure the connection must be closed. */
bool tls_begin(struct tls *tls, struct connection *c, void *session);
void tls_end(struct connection *c); /* frees what tls_begin made */
/* Sends as many bytes as the socket takes without blocking. */
void tls_write(struct connection *c, const char *text, size_t size);
/* Checks the certificate of the client, as http_peer does. */
enum http_peer tls_peer(struct connection *c, const char **text);

#endif
