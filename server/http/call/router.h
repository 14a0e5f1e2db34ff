/* The router: a tree of path segments, made from the route table. Immutable after router_new. */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include "base/problem.h"
#include "http/http.h"
#include "http/protocol/target.h"
#include <stdbool.h>
#include <stddef.h>

#define ROUTER_MAX_PARAMS 8
struct router;

struct router_match {
    const struct http_route *route;        /* NULL: unknown path, or unknown method of the path */
    bool known_path;                       /* some method has a route of this path */
    const char *values[ROUTER_MAX_PARAMS]; /* [n_values] decoded segments of the placeholders */
    size_t n_values;
    const char *allow; /* of the header Allow: "GET, HEAD, OPTIONS"; set if known_path */
};

/* Returns NULL if a route is wrong or given twice (problem names it), or if out of memory. The
 * routes must outlive the router. */
struct router *router_new(const struct http_route *routes, size_t n, struct problem *problem);
void router_free(struct router *router);
/* Finds the route of a target. skip: number of leading segments that are the base path. A target
 * without further segments has the path "/". Returns false if out of memory. */
bool router_match(const struct router *router, const char *method, const struct target *target,
                  size_t skip, struct arena *arena, struct router_match *out);
/* Returns the value of the placeholder of that name; NULL: the route has none. */
const char *router_value(const struct router_match *match, const char *name);
bool router_method_known(const char *method);

#endif
