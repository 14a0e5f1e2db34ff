/* The route tree. A segment is compared with literals first, then with placeholders followed by a
 * ":verb", then with plain placeholders. The search backtracks, so that "/jobs/active" and
 * "/jobs/{id}/events" can both be routes. */
#include "http/call/router.h"
#include <stdlib.h>
#include <string.h>

#define ROUTER_BYTES (1u << 20) /* memory limit of a tree */

enum { N_METHODS = 6 };
static const char *const METHODS[N_METHODS] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};

enum node_kind { NODE_LITERAL, NODE_VERB, NODE_PARAM };
struct node {
    enum node_kind kind;
    /* literal, or the verb after a placeholder (":predict"); points into the route's path */
    const char *text;
    size_t text_size;   /* bytes of text; 0: a placeholder without a verb */
    struct node *child; /* first, ordered by kind */
    struct node *sibling;
    /* by method; HEAD stays NULL unless a route names it */
    const struct http_route *routes[N_METHODS];
    char allow[64]; /* "" while no route ends here */
};
struct router {
    struct arena arena; /* memory of the nodes */
    struct node root;
};

/* One search in the tree. */
struct walk {
    const struct target *target;
    const char *values[ROUTER_MAX_PARAMS]; /* [n] segments that matched placeholders */
    size_t cut[ROUTER_MAX_PARAMS];         /* [n] bytes of the verb at the end of the segment */
    size_t n;
};

static int method_index(const char *method) {
    for (int i = 0; i < N_METHODS; i++) {
        if (strcmp(METHODS[i], method) == 0) {
            return i;
        }
    }
    return -1;
}

bool router_method_known(const char *method) {
    return method_index(method) >= 0 || strcmp(method, "OPTIONS") == 0;
}

void router_free(struct router *router) {
    if (router != NULL) {
        arena_done(&router->arena);
        free(router);
    }
}

/* Returns the child for this segment of a path, and adds it if it is missing. NULL: out of memory
 * or malformed. */
static struct node *node_step(struct router *router, struct node *parent, const char *segment,
                              size_t n) {
    enum node_kind kind = NODE_LITERAL;
    if (n > 0 && segment[0] == '{') {
        const char *close = memchr(segment, '}', n);
        if (close == NULL || (close + 1 < segment + n && close[1] != ':')) {
            return NULL;
        }
        n -= (size_t)(close + 1 - segment);
        segment = close + 1;
        kind = n > 0 ? NODE_VERB : NODE_PARAM;
    }
    struct node **link = &parent->child;
    for (; *link != NULL && (*link)->kind <= kind; link = &(*link)->sibling) {
        if ((*link)->kind == kind && (*link)->text_size == n &&
            memcmp((*link)->text, segment, n) == 0) {
            return *link;
        }
    }
    struct node *node = arena_alloc(&router->arena, sizeof *node);
    if (node != NULL) {
        *node = (struct node){.kind = kind, .text = segment, .text_size = n, .sibling = *link};
        *link = node;
    }
    return node;
}

static void allow_write(struct node *node) {
    char *out = node->allow;
    for (int i = 0; i < N_METHODS; i++) {
        if (node->routes[i] == NULL && !(i == 1 && node->routes[0] != NULL)) {
            continue;
        }
        size_t n = strlen(METHODS[i]);
        memcpy(out, METHODS[i], n);
        memcpy(out + n, ", ", 3);
        out += n + 2;
    }
    memcpy(out, "OPTIONS", 8);
}

static bool route_add(struct router *router, const struct http_route *route,
                      struct problem *problem) {
    int method = method_index(route->method);
    if (method < 0 || route->path[0] != '/') {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "route %s %s has an unknown method or no path", route->method,
                           route->path);
    }
    const bool streams = route->body == HTTP_BODY_STREAM;
    if ((streams && route->sink == NULL) || (!streams && route->handle == NULL) ||
        (route->sink != NULL && !streams &&
         (route->body != HTTP_BODY_MEMORY || route->sink->wants == NULL))) {
        return problem_set(
            problem, PROBLEM_INTERNAL,
            "route %s %s: a streamed body needs a sink; other routes need a handler, and "
            "may have a sink only with HTTP_BODY_MEMORY and \"wants\"",
            route->method, route->path);
    }
    struct node *node = &router->root;
    const char *at = route->path + 1;
    for (;;) {
        size_t n = strcspn(at, "/");
        node = node_step(router, node, at, n);
        if (node == NULL) {
            return problem_set(problem, PROBLEM_INTERNAL,
                               "route %s %s is malformed, or out of memory", route->method,
                               route->path);
        }
        if (at[n] == '\0') {
            break;
        }
        at += n + 1;
    }
    if (node->routes[method] != NULL) {
        return problem_set(problem, PROBLEM_INTERNAL, "route %s %s is given twice", route->method,
                           route->path);
    }
    node->routes[method] = route;
    allow_write(node);
    return true;
}

struct router *router_new(const struct http_route *routes, size_t n, struct problem *problem) {
    struct router *router = calloc(1, sizeof *router);
    if (router == NULL) {
        (void)problem_no_memory(problem);
        return NULL;
    }
    arena_init(&router->arena, ROUTER_BYTES);
    for (size_t i = 0; i < n; i++) {
        if (!route_add(router, &routes[i], problem)) {
            router_free(router);
            return NULL;
        }
    }
    return router;
}

static const struct node *walk_on(struct walk *walk, const struct node *parent, size_t depth) {
    if (depth == walk->target->n_segments) {
        return parent->allow[0] != '\0' ? parent : NULL;
    }
    const char *segment = walk->target->segments[depth];
    size_t size = strlen(segment);
    for (const struct node *node = parent->child; node != NULL; node = node->sibling) {
        bool placeholder = node->kind != NODE_LITERAL;
        if (placeholder ? size <= node->text_size : size != node->text_size) {
            continue;
        }
        if (memcmp(segment + size - node->text_size, node->text, node->text_size) != 0) {
            continue;
        }
        size_t n = walk->n;
        if (placeholder) {
            if (n == ROUTER_MAX_PARAMS) {
                continue;
            }
            walk->values[n] = segment;
            walk->cut[n] = node->text_size;
            walk->n = n + 1;
        }
        const struct node *end = walk_on(walk, node, depth + 1);
        if (end != NULL) {
            return end;
        }
        walk->n = n;
    }
    return NULL;
}

static bool values_take(const struct walk *walk, struct arena *arena, struct router_match *out) {
    for (size_t i = 0; i < walk->n; i++) {
        out->values[i] = walk->values[i];
        if (walk->cut[i] > 0) {
            out->values[i] =
                arena_strndup(arena, walk->values[i], strlen(walk->values[i]) - walk->cut[i]);
        }
        if (out->values[i] == NULL) {
            return false;
        }
    }
    out->n_values = walk->n;
    return true;
}

/* The names are read from the path of the route: routes that share a node may use different names.
 */
const char *router_value(const struct router_match *match, const char *name) {
    if (match->route == NULL) {
        return NULL;
    }
    const char *at = match->route->path;
    for (size_t i = 0; i < match->n_values; i++) {
        const char *open = strchr(at, '{');
        if (open == NULL) {
            break;
        }
        size_t n = strcspn(open + 1, "}");
        if (strncmp(open + 1, name, n) == 0 && name[n] == '\0') {
            return match->values[i];
        }
        at = open + 1 + n;
    }
    return NULL;
}

bool router_match(const struct router *router, const char *method, const struct target *target,
                  size_t skip, struct arena *arena, struct router_match *out) {
    *out = (struct router_match){.route = NULL};
    static const struct target root = {.segments = {""}, .n_segments = 1};
    const bool bare = target->n_segments == skip; /* the base path without a slash at its end */
    struct walk walk = {.target = bare ? &root : target};
    if (target->n_segments > TARGET_MAX_SEGMENTS || target->n_segments < skip) {
        return true;
    }
    const struct node *node = walk_on(&walk, &router->root, bare ? 0 : skip);
    if (node == NULL) {
        return true;
    }
    out->known_path = true;
    out->allow = node->allow;
    int index = method_index(method);
    if (index < 0) {
        return true;
    }
    out->route = node->routes[index];
    if (out->route == NULL && index == 1) {
        out->route = node->routes[0];
    }
    return out->route == NULL || values_take(&walk, arena, out);
}
