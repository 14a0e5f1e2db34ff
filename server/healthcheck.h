/* `discernd --healthcheck`: asks the daemon at this address whether it is ready. For containers
 * without curl. */
#ifndef HEALTHCHECK_H
#define HEALTHCHECK_H

#include <stdbool.h>

/* tls: the address speaks TLS; its certificate is not checked. */

/* Sends GET /readyz to the address of --listen (0.0.0.0 and [::] mean this machine; port 0: the
 * port is read from port_file). Returns true if the status is 200 within 3 s; otherwise writes one
 * line to stderr. */
bool healthcheck_run(const char *listen, const char *port_file, bool tls);
/* Returns true if GET /healthz of this address ("127.0.0.1:8080" or "unix:/path") is answered, with
 * any status, within 3 s. Writes nothing. */
bool healthcheck_answers(const char *address, bool tls);

#endif
