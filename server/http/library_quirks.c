/* Workarounds for libmicrohttpd, and the two of its functions that are replaced.
 *
 * The library calls MHD_queue_response and MHD_lookup_connection_value_n through the dynamic
 * linker, which finds the definitions of this file first. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "http/library_quirks.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

typedef enum MHD_Result queue_function(struct MHD_Connection *mhd, unsigned int status,
                                       struct MHD_Response *response);
typedef enum MHD_Result lookup_function(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                                        const char *key, size_t key_size, const char **value,
                                        size_t *value_size);

/* Set once by library_quirks_init, before any I/O thread. */
static queue_function *library_queue;
static lookup_function *library_lookup;
static library_refused *on_refused;
static atomic_bool asked_for_cookies;

/* Stores the library's own function of that name. ISO C has no cast between object and function
 * pointers. */
static bool find_next(const char *name, void *out, size_t size) {
    void *next = dlsym(RTLD_NEXT, name);
    if (next != NULL) {
        memcpy(out, &next, size);
    }
    return next != NULL;
}

bool library_quirks_init(library_refused *refused) {
    on_refused = refused;
    return find_next("MHD_queue_response", &library_queue, sizeof library_queue) &&
           find_next("MHD_lookup_connection_value_n", &library_lookup, sizeof library_lookup);
}

/* Error pages. Needed by: 0.9.75 to 1.0.1, which answer requests that they refuse themselves with
 * HTML. Tests: test_framing, "framing" and "many_of_all".
 *
 * Only the library calls this function: the server calls library_queue_response. */
enum MHD_Result MHD_queue_response(struct MHD_Connection *mhd, unsigned int status,
                                   struct MHD_Response *response) {
    (void)response;
    on_refused(mhd, status);
    return MHD_NO;
}

enum MHD_Result library_queue_response(struct MHD_Connection *mhd, unsigned status,
                                       struct MHD_Response *response) {
    return library_queue(mhd, status, response);
}

/* Cookies. Needed by: 0.9.75, which reads freed memory when the cookies of a request do not fit the
 * memory of its connection (parse_connection_headers; valgrind shows it with 5,000 cookies), and
 * 1.0.1, which refuses such a request although the Cookie header itself fits. No option turns the
 * parsing off. Test: test_framing, "many_of_all".
 *
 * The library is answered that there is no Cookie header. MHD_get_connection_values finds it. */
enum MHD_Result MHD_lookup_connection_value_n(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                                              const char *key, size_t key_size, const char **value,
                                              size_t *value_size) {
    static const char cookie[] = MHD_HTTP_HEADER_COOKIE;
    if (kind == MHD_HEADER_KIND && key != NULL && key_size == sizeof cookie - 1 &&
        strncasecmp(key, cookie, key_size) == 0) {
        if (!atomic_load_explicit(&asked_for_cookies, memory_order_relaxed)) {
            atomic_store(&asked_for_cookies, true);
        }
        return MHD_NO;
    }
    return library_lookup(mhd, kind, key, key_size, value, value_size);
}

bool library_asked_for_cookies(void) {
    return atomic_load(&asked_for_cookies);
}

/* Ambiguous framing. Needed by: 1.0.1, which by default accepts folded lines, bare line feeds and
 * NUL bytes. Version 0.9.75 has no such option: see library_lines. Test: test_framing. */
struct MHD_OptionItem *library_options(void) {
    static struct MHD_OptionItem options[] = {
#if MHD_VERSION >= 0x00097701
        {MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1, NULL},
#endif
        {MHD_OPTION_END, 0, NULL}
    };
    return options;
}

/* Handshakes of TLS. Needed by: 0.9.75, whose epoll loop takes a socket for readable until a
 * request is read from it: while a handshake waits for the client, the I/O thread does not sleep.
 * With poll it does. Test: test_tls, "waiting_handshakes". */
unsigned library_event_loop(bool secure) {
    return secure ? MHD_USE_POLL_INTERNAL_THREAD : MHD_USE_EPOLL_INTERNAL_THREAD;
}

/* Chunked bodies. Needed by: 0.9.75 and 1.0.1, which call the handler again with the next chunk in
 * their buffer after the handler has suspended the connection. Test: test_bodies. */
bool library_is_suspended(struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_SUSPENDED);
    return info != NULL && info->suspended != MHD_NO;
}

/* ---- responses without a body ---- */

/* Needed by: 0.9.75, which sends "Content-Length: 0" with every empty response to HEAD and with
 * every 304. A response of unknown length does not have the field, but ends the connection, since
 * chunks are switched off: the library would send the last chunk. Later versions have a flag. Test:
 * test_framing, "head". */
#if MHD_VERSION < 0x00097701
static ssize_t no_body(void *cls, uint64_t position, char *out, size_t most) {
    (void)cls;
    (void)position;
    (void)out;
    (void)most;
    return MHD_CONTENT_READER_END_OF_STREAM;
}
#endif

struct MHD_Response *library_response_without_length(void) {
    static char none[1];
#if MHD_VERSION >= 0x00097701
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, none, MHD_RESPMEM_PERSISTENT);
    const enum MHD_ResponseFlags flags = MHD_RF_HEAD_ONLY_RESPONSE;
#else
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, sizeof none, no_body, none, NULL);
    const enum MHD_ResponseFlags flags = MHD_RF_HTTP_1_0_COMPATIBLE_STRICT;
#endif
    if (response == NULL || MHD_set_response_options(response, flags, MHD_RO_END) == MHD_YES) {
        return response;
    }
    MHD_destroy_response(response);
    return NULL;
}

/* The library sends no body with status 304. On 0.9.75 the length keeps the connection open. */
struct MHD_Response *library_response_not_modified(uint64_t length) {
#if MHD_VERSION < 0x00097701
    if (length != UINT64_MAX) {
        return MHD_create_response_from_callback(length, 1, no_body, NULL, NULL);
    }
#endif
    (void)length;
    return library_response_without_length();
}

/* ---- dropped and moved bytes ---- */

/* Needed by: 0.9.75, which appends a folded line to the *name* of the field before it, and drops
 * fields without a name, the text after a NUL byte, and the difference between LF and CR LF. It
 * leaves the strings of the header where they arrived and writes NUL bytes over the separators:
 *
 *     method NUL target NUL version NUL LF  name NUL blank(s) value NUL LF  …  CR LF
 *
 * So each string must begin where the one before it ends. Only addresses are compared; nothing is
 * read through them. Tests: test_framing, "framing" and "nul_bytes". */
#if MHD_VERSION < 0x01000000
#define CHUNK_BUFFER 65536 /* bytes; more than the memory of a connection */

static bool lines_ignored; /* set before any connection is accepted */

void library_lines_ignore(void) {
    lines_ignored = true;
}

bool library_lines_begin(struct library_lines *lines, const char *method, const char *target,
                         size_t target_size, const char *version) {
    if (lines_ignored) {
        *lines = (struct library_lines){.gap = true};
        return true;
    }
    *lines = (struct library_lines){.begin = method, .next = version + strlen(version) + 2};
    return (uintptr_t)target - (uintptr_t)method == strlen(method) + 1 &&
           (uintptr_t)version - (uintptr_t)target == target_size + 1;
}

void library_lines_add(struct library_lines *lines, const char *name, const char *value,
                       size_t value_size) {
    lines->gap = lines->gap || name != lines->next;
    lines->next = value + value_size + 2;
}

const char *library_lines_body(const struct library_lines *lines) {
    return lines->gap ? NULL : lines->next + 2;
}

/* Chunk lines. Needed by: 0.9.75, which ends the lines of chunks at LF too. It keeps the header and
 * what follows it in one buffer: a piece of the body that does not lie at the beginning of the rest
 * follows the line of its chunk there, and the end of the chunk before it. A line that arrived
 * without the data of its chunk is not seen. Test: test_framing, "chunk_lines". */
bool library_chunk_line(const char *body, const char **end, const char *data, size_t n) {
    const uintptr_t at = (uintptr_t)data;
    const char *from = (uintptr_t)*end > (uintptr_t)body && (uintptr_t)*end < at ? *end : body;
    *end = data + n;
    if (body == NULL || at <= (uintptr_t)body || at - (uintptr_t)body > CHUNK_BUFFER ||
        data[-1] != '\n') {
        return true;
    }
    /* The bytes behind the piece before may have moved to the beginning of the rest. Then *end was
     * anywhere in the line, also between the CR and the LF of a good one. */
    from = *from == '\n' ? body : from;
    bool good = true;
    for (const char *p = from; p < data; p++) {
        good = good && (*p != '\n' || (p > from && p[-1] == '\r'));
    }
    return good;
}

bool library_lines_end(const struct library_lines *lines, struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return lines_ignored ||
           (!lines->gap && (info == NULL || (uintptr_t)lines->next - (uintptr_t)lines->begin + 2 ==
                                                info->header_size));
}
#else
void library_lines_ignore(void) {
}

bool library_lines_begin(struct library_lines *lines, const char *method, const char *target,
                         size_t target_size, const char *version) {
    (void)method;
    (void)target;
    (void)target_size;
    (void)version;
    *lines = (struct library_lines){.gap = false};
    return true;
}

void library_lines_add(struct library_lines *lines, const char *name, const char *value,
                       size_t value_size) {
    (void)lines;
    (void)name;
    (void)value;
    (void)value_size;
}

const char *library_lines_body(const struct library_lines *lines) {
    (void)lines;
    return NULL;
}

bool library_chunk_line(const char *body, const char **end, const char *data, size_t n) {
    (void)body;
    (void)end;
    (void)data;
    (void)n;
    return true;
}

bool library_lines_end(const struct library_lines *lines, struct MHD_Connection *mhd) {
    (void)lines;
    (void)mhd;
    return true;
}
#endif
