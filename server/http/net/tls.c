/* TLS: certificates, sessions, certificates of clients. */
#include "http/net/tls.h"
#include "base/config_file.h"
#include "base/log/log.h"
#include "base/memory/buf.h"
#include "base/process/reloader.h"
#include "http/net/connections.h"
#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* Forward secrecy always, encryption with authentication always, no SHA-1. */
#define PRIORITIES                                                                                 \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-256-CBC:-AES-128-CBC:-SHA1:"             \
    "%SERVER_PRECEDENCE"
#define TLS_HANDSHAKE_RECORD 22 /* first byte of a client that speaks TLS */
#define NAME_SIZE 256           /* bytes of the name in a client's certificate, with NUL */
#define WARNED_SECONDS (14 * 86400)

/* A certificate with its key, and what belongs to it. Immutable, shared by reference. */
struct identity {
    atomic_int references;
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t ticket_key; /* of this process and this certificate; data NULL: no tickets */
    bool asks;                 /* clients are asked for a certificate */
    int64_t begins, expires;   /* s since 1970 */
};

enum { FILE_CERT, FILE_KEY, FILE_CA, N_FILES };
static const char *const OPTIONS[N_FILES] = {"--tls-cert", "--tls-key", "--tls-client-ca"};

struct tls {
    char *paths[N_FILES]; /* NULL: not given */
    gnutls_priority_t priorities;
    void (*spoke_plain)(struct connection *c);
    void (*read)(void *app, bool loaded, const char *what); /* http_settings.tls_read */
    void *app;
    struct reloader reloader;
    pthread_mutex_t lock;      /* guards `identity`; a leaf */
    struct identity *identity; /* changed by the reloader only */
    _Atomic unsigned loads;    /* number of identities so far */
    struct stat seen[N_FILES]; /* files as they were read. Reloader only */
    char *refused;             /* last reason that was logged; NULL: none. Reloader only */
    char *suspected;           /* a reason that was found once. Reloader only */
};

struct tls_link {
    struct tls *tls;
    struct connection *connection;
    gnutls_session_t session;
    struct identity *identity; /* whose certificate the session has */
    unsigned loads;            /* tls->loads when the client's certificate was checked */
    int fd;
    bool began;   /* bytes have arrived */
    bool checked; /* `peer`, `until` and `text` are set */
    enum http_peer peer;
    int64_t until;        /* HTTP_PEER_VALID: s since 1970, end of the client's certificates */
    char text[NAME_SIZE]; /* the name, or why the certificate is not valid */
};

/* ---- the files ---- */

/* The text of a key is not left in freed memory. */
static void wipe(struct buf *b) {
    if (b->data != NULL) {
        gnutls_memset(b->data, 0, b->size);
    }
    buf_done(b);
}

static gnutls_datum_t datum_of(const struct buf *b) {
    return (gnutls_datum_t){.data = (unsigned char *)b->data, .size = (unsigned)b->size};
}

static bool fail(const struct tls *tls, int file, const char *what, int code,
                 struct problem *problem) {
    return problem_set(problem, PROBLEM_INVALID, "%s %.300s %s: %s", OPTIONS[file],
                       tls->paths[file], what, gnutls_strerror(code));
}

/* Reads the files that are given into texts[N_FILES], and sets seen[N_FILES]. */
static bool read_files(const struct tls *tls, struct buf *texts, struct stat *seen,
                       struct problem *problem) {
    static const struct config_file_rule rules[N_FILES] = {
        [FILE_CERT] = {S_IWGRP | S_IWOTH, "may be written by its group or by others",
                       "who could replace it; chmod 644 it"},
        [FILE_KEY] = {S_IWGRP | S_IRWXO,
                      "may be read by others, or written by its group or by others",
                      "who could pass for this server; chmod 600 it"},
        [FILE_CA] = {S_IWGRP | S_IWOTH, "may be written by its group or by others",
                     "who could let clients in; chmod 644 it"},
    };
    for (int i = 0; i < N_FILES; i++) {
        struct problem why = {0};
        if (tls->paths[i] == NULL ||
            config_file_read(tls->paths[i], &rules[i], &texts[i], &seen[i], &why)) {
            continue;
        }
        problem_set(problem, PROBLEM_INVALID, "%s %s", OPTIONS[i],
                    why.detail != NULL ? why.detail : "cannot be read: out of memory");
        problem_done(&why);
        return false;
    }
    return true;
}

/* Sets the period in which the first certificate of the list, the server's, is valid. */
static bool read_period(const struct tls *tls, const struct buf *text, struct identity *id,
                        struct problem *problem) {
    gnutls_x509_crt_t *list = NULL;
    unsigned n = 0;
    const gnutls_datum_t pem = datum_of(text);
    const int code = gnutls_x509_crt_list_import2(&list, &n, &pem, GNUTLS_X509_FMT_PEM,
                                                  GNUTLS_X509_CRT_LIST_SORT);
    if (code < 0) {
        return fail(tls, FILE_CERT, "has no certificate in PEM form", code, problem);
    }
    if (n > 0) {
        id->begins = gnutls_x509_crt_get_activation_time(list[0]);
        id->expires = gnutls_x509_crt_get_expiration_time(list[0]);
    }
    for (unsigned i = 0; i < n; i++) {
        gnutls_x509_crt_deinit(list[i]);
    }
    gnutls_free(list);
    return n > 0 || fail(tls, FILE_CERT, "has no certificate in PEM form", code, problem);
}

static bool check_key(const struct tls *tls, const struct buf *text, struct problem *problem) {
    gnutls_x509_privkey_t key = NULL;
    const gnutls_datum_t pem = datum_of(text);
    int code = gnutls_x509_privkey_init(&key);
    if (code == 0) {
        code = gnutls_x509_privkey_import2(key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
        gnutls_x509_privkey_deinit(key);
    }
    return code == 0 ||
           fail(tls, FILE_KEY, "has no private key in PEM form, or a password protects it", code,
                problem);
}

static bool take_files(const struct tls *tls, const struct buf *texts, struct identity *id,
                       struct problem *problem) {
    const gnutls_datum_t cert = datum_of(&texts[FILE_CERT]), key = datum_of(&texts[FILE_KEY]),
                         ca = datum_of(&texts[FILE_CA]);
    if (!read_period(tls, &texts[FILE_CERT], id, problem) ||
        !check_key(tls, &texts[FILE_KEY], problem)) {
        return false;
    }
    const int code = gnutls_certificate_set_x509_key_mem2(id->credentials, &cert, &key,
                                                          GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
        return problem_set(problem, PROBLEM_INVALID,
                           "--tls-key %.300s is not the key of the first certificate in "
                           "--tls-cert %.300s",
                           tls->paths[FILE_KEY], tls->paths[FILE_CERT]);
    }
    if (code < 0) {
        return fail(tls, FILE_CERT, "cannot be used with its key", code, problem);
    }
    if (tls->paths[FILE_CA] == NULL) {
        return true;
    }
    id->asks = true;
    const int n = gnutls_certificate_set_x509_trust_mem(id->credentials, &ca, GNUTLS_X509_FMT_PEM);
    return n > 0 || fail(tls, FILE_CA, "has no certificate in PEM form",
                         n < 0 ? n : GNUTLS_E_NO_CERTIFICATE_FOUND, problem);
}

static void identity_unref(struct identity *id) {
    if (id == NULL || atomic_fetch_sub(&id->references, 1) > 1) {
        return;
    }
    if (id->credentials != NULL) {
        gnutls_certificate_free_credentials(id->credentials);
    }
    if (id->ticket_key.data != NULL) {
        gnutls_memset(id->ticket_key.data, 0, id->ticket_key.size);
    }
    gnutls_free(id->ticket_key.data);
    free(id);
}

/* Sessions are resumed by tickets, unless clients have certificates: those are checked anew on each
 * connection. */
static struct identity *identity_load(const struct tls *tls, struct stat *seen,
                                      struct problem *problem) {
    struct buf texts[N_FILES] = {{0}};
    struct identity *id = calloc(1, sizeof *id);
    bool good = id != NULL && gnutls_certificate_allocate_credentials(&id->credentials) == 0;
    if (!good) {
        problem_no_memory(problem);
    }
    if (id != NULL) {
        atomic_init(&id->references, 1);
    }
    good = good && read_files(tls, texts, seen, problem) && take_files(tls, texts, id, problem);
    if (good && !id->asks && gnutls_session_ticket_key_generate(&id->ticket_key) != 0) {
        good = problem_no_memory(problem);
    }
    for (int i = 0; i < N_FILES; i++) {
        wipe(&texts[i]);
    }
    if (!good) {
        identity_unref(id);
        return NULL;
    }
    return id;
}

static struct identity *identity_of(struct tls *tls) {
    pthread_mutex_lock(&tls->lock);
    struct identity *id = tls->identity;
    atomic_fetch_add(&id->references, 1);
    pthread_mutex_unlock(&tls->lock);
    return id;
}

/* Logs the certificate, and reports it if it was read again. */
static void log_loaded(const struct tls *tls, const struct identity *id) {
    char until[32] = "", what[64];
    struct tm tm;
    const time_t expires = (time_t)id->expires, now = time(NULL);
    if (gmtime_r(&expires, &tm) != NULL) {
        (void)strftime(until, sizeof until, "%Y-%m-%dT%H:%M:%SZ", &tm);
    }
    log_info("tls.loaded", log_str("certificate", tls->paths[FILE_CERT]), log_str("until", until));
    if (tls->read != NULL) {
        (void)snprintf(what, sizeof what, "the certificate is valid until %s", until);
        tls->read(tls->app, true, what);
    }
    if (now > id->expires) {
        log_warn("tls.expired", log_str("certificate", tls->paths[FILE_CERT]),
                 log_str("until", until), log_str("clients", "will refuse it"));
    } else if (now < id->begins) {
        log_warn("tls.not_yet_valid", log_str("certificate", tls->paths[FILE_CERT]),
                 log_str("clients", "will refuse it"));
    } else if (id->expires - now < WARNED_SECONDS) {
        log_warn("tls.expires_soon", log_str("certificate", tls->paths[FILE_CERT]),
                 log_str("until", until));
    }
}

/* ---- reading the files again ---- */

/* Logs and reports a reason once. The two files of a pair are replaced one after the other. So a
 * fault that was not asked for counts when it is found a second time. */
static void log_refused(struct tls *tls, struct problem *problem, bool asked) {
    const char *reason = problem->detail != NULL ? problem->detail : "out of memory";
    const bool again = tls->suspected != NULL && strcmp(tls->suspected, reason) == 0;
    free(tls->suspected);
    tls->suspected = strdup(reason);
    if ((asked || again) && (tls->refused == NULL || strcmp(tls->refused, reason) != 0)) {
        log_error("tls.refused", log_str("reason", reason),
                  log_str("certificate", "the one read before stays"));
        if (tls->read != NULL) {
            tls->read(tls->app, false, reason);
        }
        free(tls->refused);
        tls->refused = strdup(reason);
    }
    problem_done(problem);
}

static void check(void *arg, bool asked) {
    struct tls *tls = arg;
    struct problem problem = {0};
    bool changed = asked;
    for (int i = 0; i < N_FILES; i++) {
        changed =
            changed || (tls->paths[i] != NULL && config_file_changed(tls->paths[i], &tls->seen[i]));
    }
    if (!changed) {
        return;
    }
    const struct stat before[N_FILES] = {tls->seen[0], tls->seen[1], tls->seen[2]};
    memset(tls->seen, 0, sizeof tls->seen);
    struct identity *fresh = identity_load(tls, tls->seen, &problem);
    if (fresh == NULL) {
        memset(tls->seen, 0, sizeof tls->seen);
        log_refused(tls, &problem, asked);
        return;
    }
    pthread_mutex_lock(&tls->lock);
    struct identity *old = tls->identity;
    tls->identity = fresh;
    pthread_mutex_unlock(&tls->lock);
    atomic_fetch_add(&tls->loads, 1);
    bool same = true; /* read again because it had just changed */
    for (int i = 0; i < N_FILES; i++) {
        same = same && before[i].st_ino == tls->seen[i].st_ino &&
               before[i].st_ctim.tv_sec == tls->seen[i].st_ctim.tv_sec &&
               before[i].st_ctim.tv_nsec == tls->seen[i].st_ctim.tv_nsec;
    }
    if (asked || !same || tls->refused != NULL) {
        log_loaded(tls, fresh);
    }
    free(tls->refused);
    free(tls->suspected);
    tls->refused = tls->suspected = NULL;
    identity_unref(old);
}

static bool set_paths(struct tls *tls, const struct http_settings *s, struct problem *problem) {
    const char *const paths[N_FILES] = {s->tls_cert, s->tls_key, s->tls_client_ca};
    for (int i = 0; i < N_FILES; i++) {
        tls->paths[i] = paths[i] != NULL ? strdup(paths[i]) : NULL;
        if (paths[i] != NULL && tls->paths[i] == NULL) {
            return problem_no_memory(problem);
        }
    }
    const int code = gnutls_priority_init(&tls->priorities, PRIORITIES, NULL);
    return code == 0 || problem_set(problem, PROBLEM_INTERNAL, "GnuTLS cannot be set up: %s",
                                    gnutls_strerror(code));
}

/* Makes the state without a thread. */
static struct tls *tls_new(const struct http_settings *s, struct problem *problem) {
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL) {
        problem_no_memory(problem);
        return NULL;
    }
    pthread_mutex_init(&tls->lock, NULL);
    if (set_paths(tls, s, problem)) {
        tls->identity = identity_load(tls, tls->seen, problem);
    }
    if (tls->identity == NULL) {
        tls_close(tls);
        return NULL;
    }
    return tls;
}

bool tls_check(const struct http_settings *settings, struct problem *problem) {
    if (settings->tls_cert == NULL) {
        return true;
    }
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--tls-cert: the HTTP library (libmicrohttpd %s) was built without TLS",
                           MHD_get_version());
    }
    struct tls *tls = tls_new(settings, problem);
    tls_close(tls);
    return tls != NULL;
}

bool tls_open(const struct http_settings *settings, void *app,
              void (*spoke_plain)(struct connection *c), struct tls **out,
              struct problem *problem) {
    struct tls *tls = tls_new(settings, problem);
    if (tls == NULL) {
        return false;
    }
    tls->spoke_plain = spoke_plain;
    log_loaded(tls, tls->identity);
    tls->read = settings->tls_read; /* from now on: the start is no reload */
    tls->app = app;
    if (!reloader_start(&tls->reloader, check, tls)) {
        tls_close(tls);
        return problem_set(problem, PROBLEM_INTERNAL, "cannot start a thread");
    }
    *out = tls;
    return true;
}

void tls_close(struct tls *tls) {
    if (tls == NULL) {
        return;
    }
    reloader_stop(&tls->reloader);
    identity_unref(tls->identity);
    if (tls->priorities != NULL) {
        gnutls_priority_deinit(tls->priorities);
    }
    for (int i = 0; i < N_FILES; i++) {
        free(tls->paths[i]);
    }
    free(tls->refused);
    free(tls->suspected);
    pthread_mutex_destroy(&tls->lock);
    free(tls);
}

void tls_reload(struct tls *tls) {
    reloader_ask(&tls->reloader);
}

int64_t tls_expires(struct tls *tls) {
    struct identity *id = identity_of(tls);
    const int64_t expires = id->expires;
    identity_unref(id);
    return expires;
}

/* ---- the library ---- */

/* The library does not start with TLS unless it has a certificate or this function. Sessions never
 * call it: tls_begin replaces what they would ask. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *names, int n_names,
                          const gnutls_pk_algorithm_t *algorithms, int n_algorithms,
                          gnutls_pcert_st **certificates, unsigned *n_certificates,
                          gnutls_privkey_t *key) {
    (void)session;
    (void)names;
    (void)n_names;
    (void)algorithms;
    (void)n_algorithms;
    (void)certificates;
    (void)n_certificates;
    (void)key;
    return -1;
}

struct MHD_OptionItem *tls_library_options(void) {
    static struct MHD_OptionItem options[] = {{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, NULL},
                                              {MHD_OPTION_END, 0, NULL}};
    gnutls_certificate_retrieve_function2 *const function = no_certificate;
    memcpy(&options[0].ptr_value, &function, sizeof function);
    return options;
}

/* ---- a session ---- */

/* Sends the response that another thread has left, if it has ended the connection. */
static void send_left(struct tls_link *link) {
    struct connection *c = link->connection;
    (void)pthread_mutex_lock(&c->lock);
    char *text = c->final_response;
    const size_t size = c->final_response_size;
    c->final_response = NULL;
    (void)pthread_mutex_unlock(&c->lock);
    if (text != NULL) {
        tls_write(c, text, size);
        c->linger = true;
    }
    free(text);
}

/* Reads bytes of the socket for GnuTLS. */
static ssize_t pull(gnutls_transport_ptr_t arg, void *bytes, size_t size) {
    struct tls_link *link = arg;
    struct connection *c = link->connection;
    if (connection_phase(c) == PHASE_CUT) {
        send_left(link);
    }
    const ssize_t n = recv(link->fd, bytes, size, 0);
    if (n <= 0) {
        return n;
    }
    if (!link->began) {
        const unsigned char first = *(const unsigned char *)bytes;
        link->began = true;
        if (first >= 'A' && first <= 'Z' && connection_enter(c, PHASE_SEND)) {
            link->tls->spoke_plain(c);
        }
        if (first != TLS_HANDSHAKE_RECORD) {
            errno = ECONNRESET;
            return -1;
        }
    }
    (void)atomic_fetch_add_explicit(&c->pulled, (uint64_t)n, memory_order_relaxed);
    return n;
}

/* After the last message of the client in a handshake. What arrives next is a request. */
static int on_finished(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                       const gnutls_datum_t *message) {
    struct tls_link *link = gnutls_transport_get_ptr(session);
    struct connection *c = link->connection;
    (void)type;
    (void)when;
    (void)message;
    if (incoming != 0 && connection_phase(c) == PHASE_HANDSHAKE) {
        atomic_store(&c->handshake, atomic_load_explicit(&c->pulled, memory_order_relaxed));
        (void)connection_enter(c, PHASE_HEADER);
    }
    return 0;
}

bool tls_begin(struct tls *tls, struct connection *c, void *session) {
    struct tls_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        return false;
    }
    *link = (struct tls_link){.tls = tls,
                              .connection = c,
                              .session = session,
                              .loads = atomic_load(&tls->loads),
                              .identity = identity_of(tls),
                              .fd = c->fd};
    c->tls = link;
    if (gnutls_credentials_set(link->session, GNUTLS_CRD_CERTIFICATE,
                               link->identity->credentials) != 0 ||
        gnutls_priority_set(link->session, tls->priorities) != 0 ||
        (!link->identity->asks &&
         gnutls_session_ticket_enable_server(link->session, &link->identity->ticket_key) != 0)) {
        return false;
    }
    gnutls_certificate_server_set_request(link->session, link->identity->asks ? GNUTLS_CERT_REQUEST
                                                                              : GNUTLS_CERT_IGNORE);
    gnutls_transport_set_ptr2(link->session, link, (gnutls_transport_ptr_t)(intptr_t)link->fd);
    gnutls_transport_set_pull_function(link->session, pull);
    gnutls_handshake_set_hook_function(link->session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST,
                                       on_finished);
    return true;
}

void tls_end(struct connection *c) {
    if (c->tls != NULL) {
        identity_unref(c->tls->identity);
        free(c->tls);
        c->tls = NULL;
    }
}

void tls_write(struct connection *c, const char *text, size_t size) {
    while (size > 0) {
        const ssize_t n = gnutls_record_send(c->tls->session, text, size);
        if (n == GNUTLS_E_INTERRUPTED) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        text += n;
        size -= (size_t)n;
    }
}

/* ---- certificates of clients ---- */

static enum http_peer set_invalid(struct tls_link *link, const char *why) {
    (void)snprintf(link->text, sizeof link->text, "%s", why);
    return HTTP_PEER_INVALID;
}

/* Sets `text` to the common name of the subject. "": there is none, several, or one that is too
 * long or has a NUL byte. */
static void read_name(struct tls_link *link, gnutls_x509_crt_t certificate) {
    char name[NAME_SIZE];
    size_t size = sizeof name, more = 0;
    link->text[0] = '\0';
    if (gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name,
                                      &size) == 0 &&
        size < sizeof name && strlen(name) == size &&
        gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 1, 0, NULL,
                                      &more) == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) {
        memcpy(link->text, name, size + 1);
    }
}

/* Sets the name of the first certificate, and the time at which the first one of them ends. */
static enum http_peer read_certificates(struct tls_link *link, const gnutls_datum_t *list,
                                        unsigned n) {
    link->until = INT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        gnutls_x509_crt_t certificate = NULL;
        bool good = gnutls_x509_crt_init(&certificate) == 0 &&
                    gnutls_x509_crt_import(certificate, &list[i], GNUTLS_X509_FMT_DER) == 0;
        if (good) {
            const int64_t until = gnutls_x509_crt_get_expiration_time(certificate);
            link->until = until < link->until ? until : link->until;
        }
        if (good && i == 0) {
            read_name(link, certificate);
        }
        gnutls_x509_crt_deinit(certificate);
        if (!good) {
            return set_invalid(link, "it cannot be parsed");
        }
    }
    return HTTP_PEER_VALID;
}

static enum http_peer verify(struct tls_link *link) {
    char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st data = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                  .data = (unsigned char *)purpose};
    unsigned n = 0, status = 0;
    const gnutls_datum_t *list = gnutls_certificate_get_peers(link->session, &n);
    link->text[0] = '\0';
    if (list == NULL || n == 0) {
        return HTTP_PEER_NONE;
    }
    const int code = gnutls_certificate_verify_peers(link->session, &data, 1, &status);
    if (code != 0) {
        return set_invalid(link, gnutls_strerror(code));
    }
    if (status != 0) {
        return set_invalid(link, (status & GNUTLS_CERT_EXPIRED) != 0         ? "it has expired"
                                 : (status & GNUTLS_CERT_NOT_ACTIVATED) != 0 ? "it is not valid yet"
                                 : (status & GNUTLS_CERT_PURPOSE_MISMATCH) != 0
                                     ? "it is not for TLS clients"
                                     : "no authority of --tls-client-ca has signed it");
    }
    return read_certificates(link, list, n);
}

/* Certificates of clients are checked again if the files were read again. */
enum http_peer tls_peer(struct connection *c, const char **text) {
    struct tls_link *link = c->tls;
    *text = "";
    if (link == NULL || !link->identity->asks) {
        return HTTP_PEER_NONE;
    }
    const unsigned loads = atomic_load(&link->tls->loads);
    if (link->checked && loads != link->loads) {
        struct identity *fresh = identity_of(link->tls), *old = link->identity;
        if (gnutls_credentials_set(link->session, GNUTLS_CRD_CERTIFICATE, fresh->credentials) !=
            0) {
            identity_unref(fresh);
            return set_invalid(link, "out of memory");
        }
        link->identity = fresh;
        link->checked = false;
        identity_unref(old);
    }
    if (!link->checked) {
        link->loads = loads;
        link->peer = verify(link);
        link->checked = true;
    }
    if (link->peer == HTTP_PEER_VALID && time(NULL) > link->until) {
        link->peer = set_invalid(link, "it has expired");
    }
    *text = link->text;
    return link->peer;
}
