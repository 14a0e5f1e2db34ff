/* The request header. Finds what the library accepts and a proxy may read differently: repeated
 * fields, names that are not tokens, control characters, dropped and moved bytes. */
#include "http/protocol/headers.h"
#include "http/library_quirks.h"
#include "http/protocol/fields.h"
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct known {
    const char *name;
    size_t size;
    size_t at; /* offset in struct headers */
};
#define KNOWN(text, field)                                                                         \
    { text, sizeof text - 1, offsetof(struct headers, field) }
static const struct known KNOWN_HEADERS[] = {
    KNOWN("Host", host),
    KNOWN("Origin", origin),
    KNOWN("Accept", accept),
    KNOWN("Accept-Encoding", accept_encoding),
    KNOWN("Content-Type", content_type),
    KNOWN("Content-Length", content_length),
    KNOWN("Content-Encoding", content_encoding),
    KNOWN("Content-Range", content_range),
    KNOWN("Transfer-Encoding", transfer_encoding),
    KNOWN("Expect", expect),
    KNOWN("X-Request-Id", request_id),
    KNOWN("Forwarded", forwarded),
    KNOWN("X-Forwarded-For", x_forwarded_for),
    KNOWN("X-Forwarded-Host", x_forwarded_host),
    KNOWN("X-Forwarded-Proto", x_forwarded_proto),
    KNOWN("Authorization", authorization),
    KNOWN("If-Match", if_match),
    KNOWN("If-None-Match", if_none_match),
    KNOWN("Idempotency-Key", idempotency_key),
    KNOWN("Discern-Change", change),
    KNOWN("Access-Control-Request-Method", preflight),
};

/* Returns what is wrong with a field; NULL: nothing. */
static const char *field_fault(const char *name, size_t name_size, const char *value,
                               size_t value_size) {
    /* RFC 9110, section 5.6.2 */
    if (!part_consists_of((struct part){name, name_size}, "!#$%&'*+-.^_`|~")) {
        return "a field name that is not a token";
    }
    for (size_t i = 0; i < value_size; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return "a control character in a field";
        }
    }
    return NULL;
}

struct reading {
    struct headers *headers;
    struct library_lines lines;
};

static enum MHD_Result take(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size,
                            const char *value, size_t value_size) {
    (void)kind;
    struct reading *reading = cls;
    struct headers *h = reading->headers;
    h->n++;
    h->bytes += name_size + value_size + 4;
    if (value == NULL) {
        h->fault = "a field without a value";
        return MHD_NO;
    }
    library_lines_add(&reading->lines, name, value, value_size);
    if (h->fault == NULL) {
        h->fault = field_fault(name, name_size, value, value_size);
    }
    for (size_t i = 0; i < sizeof KNOWN_HEADERS / sizeof KNOWN_HEADERS[0]; i++) {
        const struct known *k = &KNOWN_HEADERS[i];
        if (k->size != name_size || strncasecmp(k->name, name, name_size) != 0) {
            continue;
        }
        const char **field = (const char **)(void *)((char *)h + k->at);
        if (*field == NULL) {
            *field = value;
        }
        h->n_host += field == &h->host;
        h->n_origin += field == &h->origin;
        h->n_content_encoding += field == &h->content_encoding;
        h->n_content_length += field == &h->content_length;
        h->n_transfer_encoding += field == &h->transfer_encoding;
        h->n_authorization += field == &h->authorization;
        h->n_idempotency_key += field == &h->idempotency_key;
        h->n_change += field == &h->change;
        h->n_forwarding += field == &h->forwarded || field == &h->x_forwarded_for ||
                           field == &h->x_forwarded_host || field == &h->x_forwarded_proto;
        break;
    }
    return MHD_YES;
}

static int64_t length_of(const char *digits) {
    int64_t length = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++) { /* the library refuses other characters */
        if (length > (INT64_MAX - 9) / 10) {
            return INT64_MAX;
        }
        length = length * 10 + (*digits - '0');
    }
    return length;
}

void headers_read(struct headers *h, struct MHD_Connection *mhd, const char *method,
                  const char *target, size_t target_size, const char *version) {
    struct reading reading = {.headers = h};
    *h = (struct headers){.http_1_0 = strcmp(version, "HTTP/1.0") == 0};
    if (!library_lines_begin(&reading.lines, method, target, target_size, version)) {
        h->fault = "a NUL byte or stray blanks in its first line";
    }
    (void)MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, take, &reading);
    if (h->fault == NULL && !library_lines_end(&reading.lines, mhd)) {
        h->fault =
            "a line that is not a header field (folded, without a name, with a NUL byte, or not "
            "ended by CR LF)";
    }
    h->body = library_lines_body(&reading.lines);
    h->chunked = h->transfer_encoding != NULL;
    h->length = h->chunked ? -1 : h->content_length != NULL ? length_of(h->content_length) : 0;
    h->continues = h->expect != NULL && !h->http_1_0 && strcasecmp(h->expect, "100-continue") == 0;
}

bool headers_check_framing(const struct headers *h, struct problem *problem) {
    if (h->fault != NULL) {
        return problem_set(problem, PROBLEM_BAD_FRAMING, "the request holds %s", h->fault);
    }
    if (h->n_content_length > 1) {
        return problem_set(problem, PROBLEM_BAD_FRAMING, "Content-Length is given %u times",
                           h->n_content_length);
    }
    if (h->n_host > 1) {
        return problem_set(problem, PROBLEM_BAD_FRAMING, "Host is given %u times", h->n_host);
    }
    if (h->n_origin > 1) {
        return problem_set(problem, PROBLEM_BAD_FRAMING, "Origin is given %u times", h->n_origin);
    }
    if (h->n_transfer_encoding > 0 && h->n_content_length > 0) {
        return problem_set(problem, PROBLEM_BAD_FRAMING,
                           "Content-Length and Transfer-Encoding are both given");
    }
    if (h->n_transfer_encoding > 1 ||
        (h->transfer_encoding != NULL && strcasecmp(h->transfer_encoding, "chunked") != 0)) {
        return problem_set(problem, PROBLEM_BAD_FRAMING,
                           "Transfer-Encoding must be \"chunked\", once, got \"%.100s\"",
                           h->transfer_encoding);
    }
    if (h->transfer_encoding != NULL && h->http_1_0) {
        return problem_set(problem, PROBLEM_BAD_FRAMING,
                           "Transfer-Encoding cannot be used in HTTP/1.0");
    }
    if (h->host == NULL && !h->http_1_0) {
        return problem_set(problem, PROBLEM_BAD_FRAMING, "Host is missing");
    }
    return true;
}

bool headers_check_limits(const struct headers *h, struct problem *problem) {
    if (h->n > HEADERS_MAX_COUNT) {
        return problem_set(problem, PROBLEM_HEADERS_TOO_LARGE,
                           "the request has %zu header fields, more than %d", h->n,
                           HEADERS_MAX_COUNT);
    }
    if (h->bytes > HEADERS_MAX_BYTES) {
        return problem_set(problem, PROBLEM_HEADERS_TOO_LARGE,
                           "the request header has %zu bytes, more than %d", h->bytes,
                           HEADERS_MAX_BYTES);
    }
    if (h->expect != NULL && !h->http_1_0 && !h->continues) {
        return problem_set(problem, PROBLEM_EXPECTATION_FAILED,
                           "Expect must be \"100-continue\", got \"%.100s\"", h->expect);
    }
    return true;
}

bool headers_check_content(const struct headers *h, const char *method, struct problem *problem) {
    if (h->n_content_encoding > 1) {
        return problem_set(problem, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                           "Content-Encoding is given %u times; a body may be coded once",
                           h->n_content_encoding);
    }
    if (h->content_range != NULL && strcmp(method, "PUT") == 0) { /* RFC 9110, section 14.5 */
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "Content-Range cannot be used with PUT; send the whole body");
    }
    return true;
}

struct joining {
    const char *name;
    struct arena *arena;
    const char *text; /* so far */
    bool failed;
};

static enum MHD_Result join(void *cls, enum MHD_ValueKind kind, const char *name,
                            const char *value) {
    (void)kind;
    struct joining *j = cls;
    if (value == NULL || strcasecmp(name, j->name) != 0) {
        return MHD_YES;
    }
    j->text = j->text == NULL ? value : arena_printf(j->arena, "%s, %s", j->text, value);
    j->failed = j->text == NULL;
    return j->failed ? MHD_NO : MHD_YES;
}

const char *headers_join(struct MHD_Connection *mhd, const char *name, struct arena *arena) {
    struct joining j = {.name = name, .arena = arena};
    (void)MHD_get_connection_values(mhd, MHD_HEADER_KIND, join, &j);
    return j.failed ? NULL : j.text;
}
