/* Checks the token of a request (RFC 6750). */
#include "api/access.h"
#include "api/api.h"
#include "api/handlers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LIGHT_BODY 65536 /* bytes of a body that makes no call heavy */

/* ---- replies ---- */

/* Sets WWW-Authenticate. error: as in RFC 6750, section 3.1; NULL: the request has no token. */
static void challenge(struct http_call *call, const char *error, const char *scope) {
    const char *text = arena_printf(http_arena(call), "Bearer realm=\"discern\"%s%s%s%s%s%s",
                                    error != NULL ? ", error=\"" : "", error != NULL ? error : "",
                                    error != NULL ? "\"" : "", scope != NULL ? ", scope=\"" : "",
                                    scope != NULL ? scope : "", scope != NULL ? "\"" : "");
    http_reply_header(call, "WWW-Authenticate", text != NULL ? text : "Bearer");
}

/* Counts the refusal for the audit. name: of a dataset or model; NULL: that of the path. */
static void note_refusal(struct http_call *call, bool forbidden, const char *name) {
    static const char *const placeholders[] = {"dataset", "model"};
    for (size_t i = 0; name == NULL && i < sizeof placeholders / sizeof *placeholders; i++) {
        const char *value = http_path_param(call, placeholders[i]);
        name = ids_name_valid(value, strlen(value)) ? value : NULL;
    }
    const struct http_route *route = http_route_of(call);
    const struct store_refusal refusal = {.by = api_actor(call),
                                          .name = name,
                                          .call = arena_printf(http_arena(call), "%s %s",
                                                               route->method, route->path),
                                          .forbidden = forbidden};
    store_audit_refused(((const struct api_app *)http_app(call))->store, &refusal);
}

void api_cross_origin(struct http_call *call) {
    const struct store_refusal refusal = {.by = api_actor(call),
                                          .call = arena_printf(http_arena(call),
                                                               "%s by a page of another origin",
                                                               http_method(call)),
                                          .forbidden = true};
    store_audit_refused(((const struct api_app *)http_app(call))->store, &refusal);
}

static void refuse_token(struct http_call *call, const char *error, const char *why,
                         struct problem *problem) {
    challenge(call, error, NULL);
    note_refusal(call, false, NULL);
    (void)problem_set(problem, PROBLEM_UNAUTHORIZED, "%s", why);
}

static bool refuse_scope(struct http_call *call, const struct auth_token *token, const char *scope,
                         struct problem *problem) {
    challenge(call, "insufficient_scope", scope);
    note_refusal(call, true, NULL);
    return problem_set(problem, PROBLEM_FORBIDDEN, "%s %s needs the scope %s; token \"%s\" has %s",
                       http_method(call), http_route_of(call)->path, scope, token->name,
                       token->scope_text);
}

static bool refuse_name(struct http_call *call, const struct auth_token *token, const char *noun,
                        const char *name, struct problem *problem) {
    challenge(call, "insufficient_scope", NULL);
    note_refusal(call, true, ids_name_valid(name, strlen(name)) ? name : NULL);
    return problem_set(problem, PROBLEM_FORBIDDEN,
                       "token \"%s\" is for %.300s only, not for %s \"%.100s\"", token->name,
                       token->only, noun, name);
}

/* ---- the request ---- */

static const struct {
    const char *name;
    unsigned bits;
} scopes[] = {
    [HTTP_SCOPE_NOT_SET] = {"admin", AUTH_ADMIN},
    [HTTP_SCOPE_PUBLIC] = {NULL, 0},
    [HTTP_SCOPE_ANY] = {NULL, 0},
    [HTTP_SCOPE_READ] = {"read", AUTH_READ},
    [HTTP_SCOPE_PREDICT] = {"predict", AUTH_PREDICT},
    [HTTP_SCOPE_TRAIN] = {"train", AUTH_TRAIN},
    [HTTP_SCOPE_WRITE] = {"write", AUTH_WRITE},
    [HTTP_SCOPE_ADMIN] = {"admin", AUTH_ADMIN},
};

/* Who sends a request. In the arena of the call. */
struct client {
    const struct auth_token *token; /* NULL: a certificate, without tokens */
    const char *name;               /* of the token or in the certificate; NULL: it has none */
    bool heavy;                     /* counted by auth_usage_enter */
};

static void release(void *arg) {
    const struct client *c = arg;
    if (c->heavy) {
        auth_usage_leave(c->token->usage);
    }
    auth_release(c->token);
}

/* Takes the reference to the token; NULL: none. name: logged with the request. Returns false if out
 * of memory. */
static bool set_client(struct http_call *call, const struct auth_token *token, const char *name) {
    struct client *c = arena_alloc(http_arena(call), sizeof *c);
    if (c == NULL) {
        auth_release(token);
        return false;
    }
    *c = (struct client){.token = token, .name = name};
    http_set_client(call, name, c, release);
    return true;
}

/* Returns the secret in "Bearer SECRET", of *n bytes. NULL: another scheme or form. */
static const char *secret_of(const char *value, size_t *n) {
    static const char scheme[] = "Bearer ";
    if (strncasecmp(value, scheme, sizeof scheme - 1) != 0) {
        return NULL;
    }
    const char *secret = value + sizeof scheme - 1;
    secret += strspn(secret, " ");
    *n = strlen(secret);
    while (*n > 0 && (secret[*n - 1] == ' ' || secret[*n - 1] == '\t')) {
        --*n; /* blanks behind a value are not part of it (RFC 9110, section 5.5) */
    }
    return *n > 0 ? secret : NULL;
}

static const struct auth_token *take_token(struct http_call *call, enum auth_result result,
                                           const struct auth_token *token,
                                           struct problem *problem) {
    if (!set_client(call, token, token->name)) {
        (void)problem_no_memory(problem);
        return NULL;
    }
    if (result == AUTH_EXPIRED) {
        refuse_token(call, "invalid_token", "the token has expired", problem);
        return NULL;
    }
    return token;
}

/* Returns the token that the client's certificate names, for a request without a secret; NULL after
 * setting the problem. */
static const struct auth_token *find_named(struct http_call *call, struct auth *auth,
                                           struct problem *problem) {
    const struct auth_token *token = NULL;
    const char *text;
    const enum http_peer peer = http_peer(call, &text);
    if (peer == HTTP_PEER_VALID) {
        const enum auth_result result = auth_find_named(auth, text, &token);
        if (result != AUTH_UNKNOWN && token != NULL) {
            return take_token(call, result, token, problem);
        }
    }
    challenge(call, NULL, NULL);
    note_refusal(call, false, NULL);
    if (peer == HTTP_PEER_NONE) {
        problem_set(problem, PROBLEM_UNAUTHORIZED,
                    "a token is needed: Authorization: Bearer SECRET");
    } else if (peer == HTTP_PEER_INVALID) {
        problem_set(problem, PROBLEM_UNAUTHORIZED, "the client certificate is not accepted: %s",
                    text);
    } else if (text[0] == '\0') {
        problem_set(problem, PROBLEM_UNAUTHORIZED,
                    "the client certificate names no token: its subject must have one common name "
                    "(CN)");
    } else {
        problem_set(problem, PROBLEM_UNAUTHORIZED,
                    "the client certificate is for \"%.100s\", which is the name of no token",
                    text);
    }
    return NULL;
}

/* Returns the token of the request; NULL after setting the problem. A secret precedes the client's
 * certificate. */
static const struct auth_token *find_token(struct http_call *call, struct auth *auth,
                                           struct problem *problem) {
    const char *value, *secret;
    const struct auth_token *token = NULL;
    const unsigned count = http_authorization(call, &value);
    size_t n = 0;
    if (count == 0) {
        return find_named(call, auth, problem);
    }
    if (count > 1) {
        challenge(call, "invalid_request", NULL);
        problem_set(problem, PROBLEM_BAD_REQUEST, "Authorization is given %u times", count);
        return NULL;
    }
    secret = secret_of(value, &n);
    if (secret == NULL) {
        refuse_token(call, "invalid_token", "Authorization must be \"Bearer SECRET\"", problem);
        return NULL;
    }
    const enum auth_result result = auth_find(auth, secret, n, &token);
    if (result == AUTH_UNKNOWN || token == NULL) {
        refuse_token(call, "invalid_token", "the token is not known", problem);
        return NULL;
    }
    return take_token(call, result, token, problem);
}

/* Without tokens: every client with a valid certificate may do everything. */
static bool admit_certificate(struct http_call *call, struct problem *problem) {
    const char *text;
    switch (http_peer(call, &text)) {
    case HTTP_PEER_VALID:
        return set_client(call, NULL, text[0] != '\0' ? text : NULL) || problem_no_memory(problem);
    case HTTP_PEER_INVALID:
        return problem_set(problem, PROBLEM_FORBIDDEN, "the client certificate is not accepted: %s",
                           text);
    case HTTP_PEER_NONE:
        break;
    }
    return problem_set(problem, PROBLEM_FORBIDDEN, "a client certificate is needed");
}

/* A public route needs no token: a token that is not valid has no effect. */
static void find_public(struct http_call *call, struct auth *auth) {
    const char *value, *secret, *name;
    const struct auth_token *token = NULL;
    enum auth_result result = AUTH_UNKNOWN;
    struct problem problem = {0};
    const unsigned count = http_authorization(call, &value);
    size_t n = 0;
    if (auth == NULL) {
        if (!admit_certificate(call, &problem)) {
            problem_done(&problem);
        }
        return;
    }
    if (count == 0 && http_peer(call, &name) == HTTP_PEER_VALID) {
        result = auth_find_named(auth, name, &token);
    } else if (count == 1 && (secret = secret_of(value, &n)) != NULL) {
        result = auth_find(auth, secret, n, &token);
    }
    switch (result) {
    case AUTH_KNOWN:
        (void)set_client(call, token, token->name); /* without memory as without a token */
        break;
    case AUTH_UNKNOWN:
        break;
    case AUTH_EXPIRED:
        auth_release(token);
        break;
    }
}

/* Checks the name at a placeholder of the path, if the path has it. */
static bool admit_path_name(struct http_call *call, const struct auth_token *token,
                            const char *placeholder, struct problem *problem) {
    const char *name = http_path_param(call, placeholder);
    return name[0] == '\0' || auth_token_matches(token, name) ||
           refuse_name(call, token, placeholder, name, problem);
}

static void set_retry_after(struct http_call *call, double wait) {
    char seconds[24];
    (void)snprintf(seconds, sizeof seconds, "%.0f", fmin(fmax(ceil(wait), 1), 86400));
    http_reply_header(call, "Retry-After", seconds);
}

/* Whether a call has rows: an upload, or a computation with a model, which has a body. */
static bool takes_rows(const struct http_route *route) {
    return route->body == HTTP_BODY_STREAM ||
           (route->scope == HTTP_SCOPE_PREDICT && route->body != HTTP_BODY_NONE);
}

/* Counts the request. */
static bool admit_use(struct http_call *call, const struct auth_token *token,
                      struct problem *problem) {
    const struct auth_limits *l = &token->limits;
    const bool has_rows = takes_rows(http_route_of(call));
    const double wait = auth_usage_request(token->usage, l, has_rows);
    if (wait <= 0) {
        return true;
    }
    set_retry_after(call, wait);
    if (l->rows <= 0 || !has_rows) {
        return problem_set(problem, PROBLEM_TOO_MANY_REQUESTS,
                           "token \"%s\" may send %.0f requests in a second", token->name,
                           l->requests);
    }
    return problem_set(problem, PROBLEM_TOO_MANY_REQUESTS,
                       l->requests > 0
                           ? "token \"%s\" may send %.0f rows and %.0f requests in a second"
                           : "token \"%s\" may send %.0f rows in a second",
                       token->name, l->rows, l->requests);
}

/* A call is heavy that may take long or much memory: an upload, a computation with a model that is
 * no prediction, and a long body. Computations other than predictions have a body. */
static bool is_heavy(const struct http_call *call) {
    const struct http_route *route = http_route_of(call);
    const int64_t length = http_body_length(call);
    return route->body == HTTP_BODY_STREAM ||
           (route->scope == HTTP_SCOPE_PREDICT &&
            ((route->where == HTTP_ON_POOL && route->sink == NULL &&
              route->body != HTTP_BODY_NONE) ||
             length < 0 || length > LIGHT_BODY));
}

static bool admit(struct http_call *call, struct auth *auth, enum http_scope scope,
                  struct problem *problem) {
    const struct auth_token *token = find_token(call, auth, problem);
    return token != NULL && admit_use(call, token, problem) &&
           (auth_token_permits(token, scopes[scope].bits) ||
            refuse_scope(call, token, scopes[scope].name, problem)) &&
           admit_path_name(call, token, "dataset", problem) &&
           admit_path_name(call, token, "model", problem) &&
           (!is_heavy(call) || api_take_heavy(call, problem));
}

bool api_admit_token(struct http_call *call) {
    const struct api_app *app = http_app(call);
    struct auth *auth = app->auth;
    const enum http_scope scope = http_route_of(call)->scope;
    struct problem problem = {0};
    if (auth == NULL && !app->client_certificates) {
        return true;
    }
    if (scope == HTTP_SCOPE_PUBLIC || api_wants_page(call)) {
        find_public(call, auth);
        return true;
    }
    if (auth != NULL ? admit(call, auth, scope, &problem) : admit_certificate(call, &problem)) {
        return true;
    }
    if (auth == NULL && problem.type == PROBLEM_FORBIDDEN) {
        note_refusal(call, true, NULL);
    }
    http_reply_problem(call, &problem);
    return false;
}

/* ---- what a token permits ---- */

const struct auth_token *api_token(const struct http_call *call) {
    const struct client *c = http_client(call);
    return c != NULL ? c->token : NULL;
}

bool api_take_heavy(struct http_call *call, struct problem *problem) {
    struct client *c = http_client(call);
    if (c == NULL || c->token == NULL || c->heavy) {
        return true;
    }
    c->heavy = auth_usage_enter(c->token->usage, &c->token->limits);
    if (c->heavy) {
        return true;
    }
    set_retry_after(call, 1);
    return problem_set(problem, PROBLEM_TOO_MANY_REQUESTS,
                       "token \"%s\" has %" PRId64 " heavy calls in progress, as many as it may",
                       c->token->name, c->token->limits.calls);
}

void api_charge_rows(struct http_call *call, int64_t rows) {
    const struct auth_token *token = api_token(call);
    if (token != NULL) {
        auth_usage_rows(token->usage, &token->limits, rows);
    }
}

struct store_quota api_quota(const struct http_call *call) {
    const struct auth_token *token = api_token(call);
    return token == NULL ? (struct store_quota){.owner = NULL}
                         : (struct store_quota){.owner = token->name,
                                                .max_jobs = token->limits.jobs,
                                                .max_bytes = token->limits.bytes};
}

struct store_actor api_actor(const struct http_call *call) {
    const struct client *c = http_client(call);
    return (struct store_actor){.token = c != NULL ? c->name : NULL,
                                .client = http_client_address(call),
                                .request = http_request_id(call)};
}

const char *api_only(const struct http_call *call) {
    const struct auth_token *token = api_token(call);
    return token != NULL ? token->only_json : NULL;
}

bool api_may_read_dataset(struct http_call *call, const char *name, struct problem *problem) {
    const struct auth_token *token = api_token(call);
    if (token == NULL) {
        return true;
    }
    if (!auth_token_permits(token, AUTH_READ)) {
        return refuse_scope(call, token, "read", problem);
    }
    return auth_token_matches(token, name) || refuse_name(call, token, "dataset", name, problem);
}

bool api_may_use_model(struct http_call *call, const char *name, struct problem *problem) {
    const struct auth_token *token = api_token(call);
    return token == NULL || auth_token_matches(token, name) ||
           refuse_name(call, token, "model", name, problem);
}

bool api_sees_job(const struct http_call *call, const char *model, const char *dataset) {
    const struct auth_token *token = api_token(call);
    return token == NULL ||
           (auth_token_matches(token, model) && auth_token_matches(token, dataset));
}

bool api_may_see_all(struct http_call *call) {
    const struct auth_token *token = api_token(call);
    if (token == NULL || token->only == NULL) {
        return true;
    }
    challenge(call, "insufficient_scope", NULL);
    note_refusal(call, true, NULL);
    http_fail(call, PROBLEM_FORBIDDEN,
              "%s shows what belongs to all names; token \"%s\" is for %.300s only",
              http_route_of(call)->path, token->name, token->only);
    return false;
}

bool api_is_known(const struct http_call *call) {
    const struct api_app *app = http_app(call);
    return (app->auth == NULL && !app->client_certificates) || http_client(call) != NULL;
}
