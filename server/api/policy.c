/* Checks each request against the policy of its route, before any of its body is taken: token,
 * path, query parameters, conditions, Idempotency-Key, Content-Type, Accept. */
#include "api/policy.h"
#include "api/access.h"
#include "api/idempotency.h"
#include "api/support.h"
#include "base/etag.h"
#include "base/nearest.h"
#include "formats/text/encoding.h"

#include <inttypes.h>
#include <string.h>

const struct http_media api_takes_object = {.kind = MEDIA_OBJECT};
const struct http_media api_takes_table = {.kind = MEDIA_FORMATS,
                                           .use = FORMAT_TABLE,
                                           .what = "a dataset"};
const struct http_media api_takes_instances = {.kind = MEDIA_FORMATS,
                                               .use = FORMAT_INSTANCES,
                                               .what = "instances"};
const struct http_media api_takes_labelled_rows = {.kind = MEDIA_FORMATS,
                                                   .use = FORMAT_INSTANCES,
                                                   .what = "labelled rows"};
const struct http_media api_sends_rows = {.kind = MEDIA_FORMATS,
                                          .use = FORMAT_ROWS,
                                          .what = "rows"};
const struct http_media api_sends_answers = {.kind = MEDIA_FORMATS,
                                             .use = FORMAT_ANSWERS,
                                             .what = "the reply"};
const struct http_media api_sends_weights = {.kind = MEDIA_FORMATS,
                                             .use = FORMAT_GRID,
                                             .what = "the weights"};
const struct http_media api_sends_grid = {.kind = MEDIA_FORMATS,
                                          .use = FORMAT_GRID,
                                          .what = "the grid"};
const struct http_media api_sends_list = {.kind = MEDIA_FORMATS,
                                          .use = FORMAT_GRID,
                                          .what = "the list"};
const struct http_media api_sends_history = {.kind = MEDIA_FORMATS,
                                             .use = FORMAT_GRID,
                                             .what = "the history"};
const struct http_media api_sends_leaderboard = {.kind = MEDIA_FORMATS,
                                                 .use = FORMAT_GRID,
                                                 .what = "the leaderboard"};
const struct http_media api_sends_metrics = {.kind = MEDIA_FORMATS,
                                             .use = FORMAT_GRID,
                                             .what = "the metrics"};
const struct http_media api_sends_any = {.kind = MEDIA_TYPES};

#define SENDS(name, what_, ...)                                                                    \
    static const char *const name##_types[] = {__VA_ARGS__, NULL};                                 \
    const struct http_media name = {.kind = MEDIA_TYPES, .what = what_, .types = name##_types}
SENDS(api_sends_events, "events", "text/event-stream");
SENDS(api_sends_held_out, "predictions", "text/csv", "application/x-ndjson");
SENDS(api_sends_page, "the page", "text/html");
SENDS(api_sends_file, "a file of the page", "text/javascript", "text/css", "image/svg+xml",
      "text/html", "text/plain");
SENDS(api_sends_root, "the first page", API_JSON, "text/html");
SENDS(api_sends_pages, "the pages of the manual", "text/html", "text/css");
SENDS(api_sends_series, "metrics", "text/plain");
SENDS(api_sends_database, "the database", "application/vnd.sqlite3");
static const char *const document_types[] = {API_JSON, NULL};
static const struct http_media sends_document = {.kind = MEDIA_TYPES,
                                                 .what = "the reply",
                                                 .types = document_types};
#undef SENDS

static void refuse_unknown(struct http_call *call, const char *name) {
    const char *const *known = http_route_of(call)->query;
    struct buf list = {0};
    struct nearest nearest = nearest_to(name, strlen(name));
    for (size_t i = 0; known[i] != NULL; i++) {
        buf_printf(&list, "%s%s", i > 0 ? ", " : " (known: ", known[i]);
        nearest_offer(&nearest, known[i], strlen(known[i]));
    }
    buf_puts(&list, known[0] != NULL ? ")" : ": the call has no query parameters");
    const char *text = buf_cstr(&list);
    http_fail(call, PROBLEM_BAD_REQUEST, "unknown query parameter \"%.100s\"%s%s", name,
              text != NULL ? text : "", nearest.hint);
    buf_done(&list);
}

/* Checks the name at a placeholder of the path. Returns true if the path has no such placeholder or
 * the name is valid; otherwise false after a reply. */
static bool admit_name(struct http_call *call, const char *placeholder, enum problem_type unknown) {
    const char *name = http_path_param(call, placeholder);
    if (name[0] == '\0' || ids_name_valid(name, strlen(name))) {
        return true;
    }
    if (http_route_of(call)->creates) {
        http_fail(call, PROBLEM_BAD_REQUEST, "the %s's name %s, got \"%s\"", placeholder,
                  IDS_NAME_RULE, name);
    } else {
        http_fail(call, unknown, "there is no %s \"%s\"", placeholder, name);
    }
    return false;
}

/* Like admit_name, for a number. */
static bool admit_number(struct http_call *call, const char *placeholder, const char *noun,
                         enum problem_type unknown) {
    const char *text = http_path_param(call, placeholder);
    int64_t number;
    if (text[0] == '\0' || ids_number_parse(text, &number)) {
        return true;
    }
    http_fail(call, unknown,
              "there is no %s \"%s\": the number must be an integer from 1 to %" PRId64, noun, text,
              API_NUMBER_MAX);
    return false;
}

static bool admit_path(struct http_call *call) {
    const bool of_model = http_path_param(call, "model")[0] != '\0';
    return admit_name(call, "dataset", PROBLEM_UNKNOWN_DATASET) &&
           admit_name(call, "model", PROBLEM_UNKNOWN_MODEL) &&
           admit_number(call, "version", "version",
                        of_model ? PROBLEM_UNKNOWN_MODEL : PROBLEM_UNKNOWN_DATASET) &&
           admit_number(call, "id", "job", PROBLEM_UNKNOWN_JOB);
}

/* Checks that each parameter is known and given once. */
static bool admit_query(struct http_call *call) {
    const char *const *known = http_route_of(call)->query;
    uint32_t seen = 0; /* bit k: known[k] was given */
    for (size_t i = 0; known != NULL && i < http_query_count(call); i++) {
        const char *name, *value;
        size_t k = 0;
        http_query_at(call, i, &name, &value);
        while (known[k] != NULL && strcmp(known[k], name) != 0) {
            k++;
        }
        if (known[k] == NULL) {
            refuse_unknown(call, name);
            return false;
        }
        if ((seen & UINT32_C(1) << k) != 0) {
            http_fail(call, PROBLEM_BAD_REQUEST, "query parameter \"%s\" is given more than once",
                      name);
            return false;
        }
        seen |= UINT32_C(1) << k;
    }
    return true;
}

/* Checks one condition: the route applies it, and it is a list of tags. */
static bool admit_condition(struct http_call *call, enum http_condition condition,
                            const char *name) {
    const struct http_route *route = http_route_of(call);
    const char *list = http_header(call, name);
    if (list == NULL) {
        return true;
    }
    if ((route->conditions & condition) != 0) {
        list = http_condition(call, condition);
        if (etag_list_valid(list)) {
            return true;
        }
        http_fail(
            call, PROBLEM_BAD_REQUEST,
            "%s must be \"*\" or a list of entity tags, each in double quotes (got \"%.100s\")",
            name, list);
        return false;
    }
    /* What has no ETag has none of the list: the reply is the whole resource. */
    if (condition == HTTP_IF_NONE_MATCH && strcmp(route->method, "GET") == 0) {
        return true;
    }
    http_fail(call, PROBLEM_BAD_REQUEST, "%s %s does not apply %s", route->method, route->path,
              name);
    return false;
}

/* A condition is applied or refused, and never ignored by a call that changes something. */
static bool admit_conditions(struct http_call *call) {
    if (!admit_condition(call, HTTP_IF_MATCH, "If-Match") ||
        !admit_condition(call, HTTP_IF_NONE_MATCH, "If-None-Match")) {
        return false;
    }
    if (http_route_of(call)->changes && http_header(call, "If-Unmodified-Since") != NULL &&
        http_condition(call, HTTP_IF_MATCH) == NULL) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "If-Unmodified-Since is not applied, because nothing has a Last-Modified: use "
                  "If-Match with an ETag");
        return false;
    }
    return true;
}

/* Returns true if Content-Type is that of a JSON object: application/json, or a type that is
 * written in JSON. */
static bool is_json(const char *type) {
    const size_t n = strlen(type);
    return n == 0 || strcmp(type, API_JSON) == 0 || (n >= 5 && strcmp(type + n - 5, "+json") == 0);
}

/* Checks the charset. Rows may be in any encoding that is known. Lines of instances are read as
 * they arrive, and JSON objects are UTF-8 by their definition (RFC 8259). */
static bool admit_charset(struct http_call *call) {
    const struct http_media *accepts = http_route_of(call)->accepts;
    const struct format *format = NULL;
    size_t n;
    const char *charset = http_charset(call, &n);
    const char *encoding = n > 0 ? encoding_find(charset, n) : "";
    const int shown = n < 60 ? (int)n : 60;
    if (encoding == NULL) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                  "charset must be " ENCODING_RULE " (got \"%.*s\")", shown, charset);
        return false;
    }
    if (accepts != NULL && accepts->kind == MEDIA_FORMATS) {
        (void)format_find(http_content_type(call), accepts->use, &format);
    }
    if (encoding[0] != '\0' &&
        (accepts == NULL || accepts->kind == MEDIA_OBJECT ||
         (accepts->use == FORMAT_INSTANCES && format != NULL && format->instances->lines))) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                  "charset must be utf-8 for this body (got \"%.*s\")", shown, charset);
        return false;
    }
    return true;
}

static bool admit_body(struct http_call *call) {
    const struct http_media *accepts = http_route_of(call)->accepts;
    const char *type = http_content_type(call);
    const struct format *format;
    if (accepts != NULL && accepts->kind == MEDIA_FORMATS &&
        strcmp(type, "multipart/form-data") == 0) {
        size_t n;
        (void)http_charset(call, &n);
        http_take_form(call, n > 0 || http_query(call, "encoding") != NULL);
        return true;
    }
    if (accepts == NULL ||
        (accepts->kind == MEDIA_OBJECT ? is_json(type)
                                       : format_find(type, accepts->use, &format))) {
        return true;
    }
    if (accepts->kind == MEDIA_OBJECT) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE, "the body must be %s, got \"%s\"", API_JSON,
                  type);
        return false;
    }
    struct buf list = {0};
    format_list(accepts->use, &list);
    const char *text = buf_cstr(&list);
    http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
              "the Content-Type of %s must be %s, multipart/form-data with one file, or absent so "
              "that the format is detected; got \"%s\"",
              accepts->what, text != NULL ? text : "", type);
    buf_done(&list);
    return false;
}

/* Returns the format that Accept prefers. NULL: none is acceptable. */
static const struct format *choose(const struct http_call *call, enum format_use use,
                                   const struct format *first) {
    const struct format *offered[FORMATS_MAX + 1];
    const char *types[FORMATS_MAX + 1];
    format_offer(use, first, offered, types);
    const int chosen = http_accepts(call, types);
    return chosen >= 0 ? offered[chosen] : NULL;
}

static bool admit_reply(struct http_call *call) {
    const struct http_media *offers = http_route_of(call)->offers;
    offers = offers != NULL ? offers : &sends_document;
    if (offers->kind == MEDIA_TYPES
            ? offers->types == NULL || http_accepts(call, offers->types) >= 0
            : choose(call, offers->use, &format_json) != NULL) {
        return true;
    }
    struct buf list = {0};
    if (offers->kind == MEDIA_TYPES) {
        for (size_t i = 0; offers->types[i] != NULL; i++) {
            buf_printf(&list, "%s%s", i > 0 ? " or " : "", offers->types[i]);
        }
    } else {
        format_list(offers->use, &list);
    }
    const char *text = buf_cstr(&list);
    http_fail(call, PROBLEM_NOT_ACCEPTABLE, "%s can be sent as %s only", offers->what,
              text != NULL ? text : "");
    buf_done(&list);
    return false;
}

int64_t api_change(const struct http_call *call) {
    const struct api_app *app = http_app(call);
    return http_route_of(call)->scope == HTTP_SCOPE_PUBLIC ? 0 : store_changes_seen(app->store);
}

/* Refuses what a daemon that only trains does not serve. */
static bool admit_role(struct http_call *call) {
    if (api_app_of(call)->no_serve && http_route_of(call)->reach == HTTP_REACH_COMMON) {
        http_fail(call, PROBLEM_NOT_FOUND,
                  "%s is not served by this daemon, which only trains (--no-serve)",
                  http_route_of(call)->path);
        return false;
    }
    return true;
}

bool api_admit(struct http_call *call) {
    return admit_role(call) && api_admit_token(call) && admit_path(call) && admit_query(call) &&
           admit_conditions(call) && api_admit_key(call) && admit_body(call) &&
           admit_charset(call) && admit_reply(call);
}

const struct format *api_body_format(const struct http_call *call) {
    const struct format *format;
    (void)format_find(http_content_type(call), http_route_of(call)->accepts->use, &format);
    return format;
}

const char *api_body_encoding(const struct http_call *call) {
    size_t n;
    const char *charset = http_charset(call, &n);
    const char *encoding = n > 0 ? encoding_find(charset, n) : "";
    return encoding != NULL && encoding[0] != '\0' ? encoding : NULL;
}

const struct format *api_reply_format(const struct http_call *call, const struct format *first) {
    return choose(call, http_route_of(call)->offers->use, first);
}
