#include "api/idempotency.h"
#include "api/access.h"
#include "api/api.h"
#include "api/support.h"
#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

enum { KEY_MOST = 255 };

/* ---- the header ---- */

/* Reads a string of RFC 8941: "…" with \" and \\. Returns NULL if it is not one, or out of
 * memory. */
static const char *read_string(struct arena *arena, const char *text) {
    const size_t n = strlen(text);
    char *out = n >= 2 ? arena_alloc(arena, n) : NULL, *at = out;
    if (out == NULL || text[n - 1] != '"') {
        return NULL;
    }
    for (size_t i = 1; i < n - 1; i++) {
        if (text[i] == '\\') {
            i++;
            if (i == n - 1 || (text[i] != '"' && text[i] != '\\')) {
                return NULL;
            }
        } else if (text[i] == '"') {
            return NULL;
        }
        *at++ = text[i];
    }
    *at = '\0';
    return out;
}

/* Returns the key in the header value: a string of RFC 8941, or, as many clients send it, the bare
 * characters. NULL: it is not valid. */
static const char *read_key(struct http_call *call, const char *value) {
    const char *key = value[0] == '"' ? read_string(http_arena(call), value)
                                      : arena_strdup(http_arena(call), value);
    const size_t n = key != NULL ? strlen(key) : 0;
    bool printable = n >= 1 && n <= KEY_MOST;
    for (size_t i = 0; i < n && printable; i++) {
        printable = key[i] >= ' ' && key[i] <= '~';
    }
    return printable ? key : NULL;
}

bool api_admit_key(struct http_call *call) {
    const struct http_route *route = http_route_of(call);
    const char *value;
    const unsigned count = http_idempotency_key(call, &value);
    if (count == 0 || (!route->changes && !route->keyed)) {
        return true; /* a call that changes nothing may be repeated */
    }
    if (!route->keyed) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "%s %s does not take Idempotency-Key: a repetition has no further effect%s",
                  route->method, route->path,
                  route->conditions != 0 ? "; If-Match prevents lost updates" : "");
        return false;
    }
    if (count > 1) {
        http_fail(call, PROBLEM_BAD_REQUEST, "Idempotency-Key is given %u times", count);
        return false;
    }
    if (read_key(call, value) == NULL) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "Idempotency-Key must be 1 to %d printable ASCII characters, bare or as a string "
                  "in double quotes (got \"%.300s\")",
                  KEY_MOST, value);
        return false;
    }
    return true;
}

/* ---- digests ---- */

/* Hashes a text with its length, so that no two lists of texts have the same bytes. */
static void add_text(struct hash_sha256 *h, const char *text, size_t n) {
    const uint64_t length = n;
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(length >> 8 * i);
    }
    hash_sha256_add(h, bytes, sizeof bytes);
    hash_sha256_add(h, text, n);
}

/* Hashes what the request is: the route, the names in its path, its query, and how its body is to
 * be read. Returns false if out of memory. */
static bool digest_request(const struct http_call *call, char out[STORE_DIGEST_SIZE]) {
    static const char *const placeholders[] = {"dataset", "model", "version", "id"};
    struct hash_sha256 *h = hash_sha256_new();
    const struct http_route *route = http_route_of(call);
    const char *name, *value;
    size_t n;
    if (h == NULL) {
        return false;
    }
    add_text(h, route->method, strlen(route->method));
    add_text(h, route->path, strlen(route->path));
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; i++) {
        value = http_path_param(call, placeholders[i]);
        add_text(h, value, strlen(value));
    }
    value = http_content_type(call);
    add_text(h, value, strlen(value));
    value = http_charset(call, &n);
    add_text(h, value, n);
    for (size_t i = 0; i < http_query_count(call); i++) {
        http_query_at(call, i, &name, &value);
        add_text(h, name, strlen(name));
        add_text(h, value, strlen(value));
    }
    hash_sha256_hex(h, out);
    hash_sha256_free(h);
    return true;
}

bool api_key_digest(struct http_call *call, struct api_key *k, struct problem *problem) {
    size_t size;
    const char *bytes = http_body_bytes(call, &size);
    if (k->use == NULL) {
        return true;
    }
    struct hash_sha256 *h = hash_sha256_new();
    if (h == NULL) {
        return problem_no_memory(problem);
    }
    hash_sha256_add(h, bytes, size);
    hash_sha256_hex(h, k->key.body);
    hash_sha256_free(h);
    return true;
}

/* ---- a call ---- */

bool api_key_begin(struct http_call *call, struct api_key *k) {
    const struct api_app *app = http_app(call);
    const char *value;
    struct problem problem = {0};
    *k = (struct api_key){0};
    if (http_idempotency_key(call, &value) == 0) {
        return true;
    }
    const char *owner = api_quota(call).owner;
    k->store = app->store;
    k->key = (struct store_key){.owner = owner != NULL ? owner : "",
                                .key = read_key(call, value),
                                .max_keys = app->max_keys};
    if (k->key.key == NULL || !digest_request(call, k->key.request)) {
        problem_no_memory(&problem);
    } else {
        k->use = store_key_enter(app->store, &k->key, &problem);
    }
    if (k->use == NULL) {
        http_reply_problem(call, &problem);
    }
    return k->use != NULL;
}

bool api_key_find(struct api_key *k, struct problem *problem) {
    return k->use == NULL || store_key_find(k->store, &k->key, &k->first, &k->repeats, problem);
}

static void reply(struct http_call *call, struct store_answer *a) {
    const char *link = a->location[0] != '\0' ? http_link(call, "%s", a->location) : "";
    if (link[0] != '\0') {
        http_reply_header(call, "Location", link);
    }
    if (a->etag[0] != '\0') {
        http_etag(call, a->etag);
    }
    http_reply(call, a->status, API_JSON, &a->body);
}

void api_key_repeat(struct http_call *call, struct api_key *k) {
    struct problem problem = {0};
    struct store_answer first = k->first;
    const bool same = store_key_check(&k->key, &first, &problem);
    k->first = (struct store_answer){0};
    api_key_leave(k);
    if (same) {
        http_reply_header(call, "Idempotent-Replayed", "true");
        reply(call, &first);
    } else {
        http_reply_problem(call, &problem);
    }
    store_answer_done(&first);
}

void api_key_reply(struct http_call *call, struct api_key *k) {
    struct store_answer answer = k->key.answer;
    k->key.answer = (struct store_answer){0};
    api_key_leave(k);
    reply(call, &answer);
    store_answer_done(&answer);
}

void api_key_reply_problem(struct http_call *call, struct api_key *k, struct problem *problem) {
    const int64_t retry_s = k->key.retry_s;
    char seconds[24];
    api_key_leave(k);
    if (retry_s > 0) {
        (void)snprintf(seconds, sizeof seconds, "%" PRId64, retry_s);
        http_reply_header(call, "Retry-After", seconds);
    }
    http_reply_problem(call, problem);
}

void api_key_leave(struct api_key *k) {
    if (k->use != NULL) {
        store_key_leave(k->store, k->use);
        store_answer_done(&k->first);
        store_answer_done(&k->key.answer);
    }
    k->use = NULL;
}

struct store_key *api_key_of(struct api_key *k) {
    return k->use != NULL ? &k->key : NULL;
}
