/* The request target: path and query. */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include "base/memory/arena.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>

#define TARGET_MAX_LINE (16 * 1024) /* bytes of the request line; a longer one is answered 414 */
#define TARGET_MAX_SEGMENTS 16 /* no route has more; further segments are decoded, but not kept */
#define TARGET_MAX_PARAMS 2048

struct target_param {
    const char *name;  /* decoded */
    const char *value; /* decoded; "" when there was no '=' */
};
struct target {
    char *raw;        /* the target as sent, NUL-terminated, in the arena */
    size_t raw_size;  /* bytes of raw */
    size_t path_at;   /* offset of the path in raw: after "http://host" if the target is absolute */
    size_t path_size; /* bytes of the path, up to '?' or the end */
    bool asterisk;    /* the target is "*" */
    const char *authority;                     /* host of an absolute target; NULL: none */
    const char *segments[TARGET_MAX_SEGMENTS]; /* [n_segments] decoded */
    size_t n_segments;                         /* TARGET_MAX_SEGMENTS + 1: there are more */
    struct target_param *params;               /* [n_params] in the order of the query */
    size_t n_params;
};

/* Splits raw (set by the caller) into authority, path and segments. Returns false with a problem
 * (400). */
bool target_parse_path(struct target *t, struct arena *arena, struct problem *problem);
/* Decodes the query. Returns false with a problem (400). */
bool target_parse_query(struct target *t, struct arena *arena, struct problem *problem);

#endif
