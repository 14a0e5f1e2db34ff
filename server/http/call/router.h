/* The router: a tree of path segments made of the route table. Immutable after router_new. */
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
    const struct http_route *route;        /* NULL: the path is none, or has no such method */
    bool known_path;                       /* the path exists, with whatever method */
    const char *values[ROUTER_MAX_PARAMS]; /* decoded segments of the placeholders, in order; one
                                              before ":verb" is copied to the arena */
    size_t n_values;
    const char *allow; /* "GET, HEAD, OPTIONS": what Allow says; set when known_path */
};

/* NULL: a route is wrong or given twice (problem names it), or no memory. The routes must outlive
 * the router. */
struct router *router_new(const struct http_route *routes, size_t n, struct problem *problem);
void router_free(struct router *router);
/* skip: number of leading segments that are the base path. false: out of memory. */
bool router_match(const struct router *router, const char *method, const struct target *target,
                  size_t skip, struct arena *arena, struct router_match *out);
/* The value of the placeholder of that name; NULL: the route has none. */
const char *router_value(const struct router_match *match, const char *name);
bool router_method_known(const char *method);

#endif
