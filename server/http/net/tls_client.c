/* The client side of TLS, for `discernd --healthcheck` and the watchdog. */
#include "base/process/clock.h"
#include "http/http.h"
#include <gnutls/gnutls.h>

#define PATIENCE_NS 3000000000

/* Returns true if the call is to be repeated, until a time. GNUTLS_E_AGAIN may be a ticket that has
 * arrived, or a time-out of the socket. */
static bool again(ssize_t code, int64_t until) {
    return code < 0 && gnutls_error_is_fatal((int)code) == 0 && clock_monotonic_ns() < until;
}

static size_t ask(gnutls_session_t session, const char *request, size_t n, char *answer,
                  size_t room) {
    const int64_t until = clock_monotonic_ns() + PATIENCE_NS;
    ssize_t code;
    size_t have = 0;
    do {
        code = gnutls_handshake(session);
    } while (again(code, until));
    if (code != 0 || gnutls_record_send(session, request, n) != (ssize_t)n) {
        return 0;
    }
    do {
        code = gnutls_record_recv(session, answer + have, room - have);
        have += code > 0 ? (size_t)code : 0;
    } while (have < room && (code > 0 || again(code, until)));
    return have;
}

size_t http_tls_ask(int fd, const char *request, size_t n, char *answer, size_t room) {
    gnutls_certificate_credentials_t credentials = NULL;
    gnutls_session_t session = NULL;
    size_t have = 0;
    if (gnutls_certificate_allocate_credentials(&credentials) == 0 &&
        gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) == 0 &&
        gnutls_set_default_priority(session) == 0 &&
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials) == 0) {
        gnutls_transport_set_int(session, fd);
        have = ask(session, request, n, answer, room);
    }
    if (session != NULL) {
        gnutls_deinit(session);
    }
    if (credentials != NULL) {
        gnutls_certificate_free_credentials(credentials);
    }
    return have;
}
