/* Names, numbers, conditions, bodies and replies of all resources. list.c has lists, query.c query
 * parameters. */
#include "api/support.h"
#include "base/hash.h"
#include "base/json/json_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DESCRIPTION = 4000, MAX_TAGS = 100, MAX_TAG = 100 };

struct api_app *api_app_of(const struct http_call *call) {
    return http_app(call);
}

int64_t api_path_number(const struct http_call *call, const char *placeholder) {
    int64_t number = 0;
    (void)ids_number_parse(http_path_param(call, placeholder), &number);
    return number;
}

struct store_condition api_condition(const struct http_call *call) {
    return (struct store_condition){.if_match = http_condition(call, HTTP_IF_MATCH),
                                    .if_none_match = http_condition(call, HTTP_IF_NONE_MATCH)};
}

void api_reply_json(struct http_call *call, int status, struct buf *body) {
    buf_putc(body, '\n'); /* so that a shell prompt begins on a new line */
    http_reply(call, status, API_JSON, body);
}

const char *api_etag(struct http_call *call, const void *bytes, size_t n) {
    uint8_t digest[HASH_BLAKE2B_SIZE];
    char hex[HASH_BLAKE2B_TEXT];
    struct hash_blake2b *h = hash_blake2b_new();
    if (!h) {
        return NULL;
    }
    hash_blake2b_add(h, bytes, n);
    hash_blake2b_end(h, digest);
    hash_blake2b_free(h);
    hash_hex(digest, 16, hex);
    return arena_printf(http_arena(call), "\"%s\"", hex);
}

void api_reply_unchanging(struct http_call *call, const char *content_type, struct buf *body) {
    const char *etag = body->failed ? NULL : api_etag(call, body->data, body->size);
    if (etag) {
        http_etag(call, etag);
    }
    http_reply(call, 200, content_type, body);
}

json_t *api_body_object(struct http_call *call) {
    struct problem problem = {0};
    size_t size;
    const char *bytes = http_body_bytes(call, &size);
    json_t *root = json_parse(bytes, size, &problem);
    if (root) {
        json_read_root(root, "", &problem);
    }
    if (problem.type) {
        json_decref(root);
        http_reply_problem(call, &problem);
        return NULL;
    }
    return root;
}

void api_put_members(struct json_writer *w, const char *object) {
    const char *first = object ? strchr(object, '{') : NULL,
               *last = object ? strrchr(object, '}') : NULL;
    if (!first || !last || last <= first) {
        return;
    }
    first++;
    first += strspn(first, " \t\r\n");
    if (first < last) {
        json_put_raw(w, first, (size_t)(last - first));
    }
}

/* Reads the tags; *out is JSON text in the arena. Returns false if out of memory. Faults are added
 * to the problem. */
static bool read_tags(const json_t *root, struct arena *arena, const char **out,
                      struct problem *problem) {
    const char **tags = NULL;
    size_t n = 0;
    if (!json_read_strings(root, "tags", false, "", MAX_TAGS, arena, &tags, &n, problem)) {
        return true;
    }
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    json_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(tags[i]);
        if (length == 0 || length > MAX_TAG) {
            char key[24];
            (void)snprintf(key, sizeof key, "%zu", i);
            json_fault(problem, "/tags", key, "must be 1 to %d bytes long, got %zu", MAX_TAG,
                       length);
        }
        json_put_string(&w, tags[i]);
    }
    json_end_array(&w);
    const char *json = buf_cstr(&text);
    *out = json ? arena_strdup(arena, json) : NULL;
    buf_done(&text);
    return *out != NULL;
}

bool api_patch_read(struct http_call *call, struct store_patch *out) {
    static const char *const known[] = {"description", "tags", "expires_in", NULL};
    json_t *root = api_body_object(call);
    if (!root) {
        return false;
    }
    struct problem problem = {0};
    struct store_patch patch = {0};
    const char *description = NULL;
    bool room = read_tags(root, http_arena(call), &patch.tags, &problem);
    if (json_is_null(json_object_get(root, "tags"))) {
        patch.tags = "[]";
    }
    if (json_is_null(json_object_get(root, "description"))) {
        patch.description = "";
    } else if (json_read_string(root, "description", false, "", &description, &problem)) {
        if (strlen(description) > MAX_DESCRIPTION) {
            json_fault(&problem, "", "description", "must be at most %d bytes long, got %zu",
                       MAX_DESCRIPTION, strlen(description));
        }
        patch.description = arena_strdup(http_arena(call), description);
        room = room && patch.description;
    }
    patch.expires = json_object_get(root, "expires_in") != NULL;
    json_read_int(root, "expires_in", false, "", STORE_EXPIRES_MIN, STORE_EXPIRES_MAX,
                  &patch.expires_in, &problem);
    json_refuse_unknown(root, known, "", &problem);
    if (json_object_size(root) == 0) {
        json_fault(&problem, "", NULL, "must have at least one of description, tags, expires_in");
    }
    if (!room) {
        problem_no_memory(&problem);
    }
    json_decref(root);
    if (problem.type) {
        http_reply_problem(call, &problem);
        return false;
    }
    *out = patch;
    return true;
}
