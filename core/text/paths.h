/* The label sequences along the simple paths of a graph that a text tells: what a text becomes with DN_TEXT_PATHS (encoder.h has the grammar and what is counted).
 *
 * Begun for a text, it goes through the paths depth first: from every node, along every edge to a node that the path does not have yet, so that each path is met once from each of its ends. */
#ifndef DNI_PATHS_H
#define DNI_PATHS_H

#include "base/string_set.h"
#include <discern/encoder.h>
#include <discern/text.h>

/* {0} is empty. One thread's; memory by malloc, that of the largest graph so far. */
typedef struct dni_paths {
    unsigned
        length; /* most labels of a path, 1 … DN_MAX_PATH_LABELS: the caller's, before dni_paths_begin */
    dni_string_set labels; /* of the nodes; node i has label i */
    uint32_t *edge;        /* [2 n_edges] the nodes of each edge as the text has it */
    uint32_t *next; /* [2 n_edges] the nodes' neighbours, each once, one node's after the other's */
    uint32_t *first; /* [nodes + 2] where those of a node begin */
    uint32_t *seen;  /* [nodes] work: the node + 1 that had this one as a neighbour last */
    size_t n_edges, edge_room, node_room;
    uint32_t root; /* the next node to begin with */
    unsigned depth;
    uint32_t node[DN_MAX_PATH_LABELS];    /* [depth] of the path */
    uint32_t at[DN_MAX_PATH_LABELS];      /* [depth] the next neighbour to try */
    size_t end[DN_MAX_PATH_LABELS];       /* [depth] bytes of the labels up to there */
    char sequence[DN_MAX_WORD_BYTES + 1]; /* of the path */
} dni_paths;

void dni_paths_done(dni_paths *paths);

/* Most bytes of a label, so that a sequence of so many fits DN_MAX_WORD_BYTES. */
static inline size_t dni_path_label_bytes(unsigned length) {
    return (DN_MAX_WORD_BYTES + 1) / length - 1;
}

/* The graph of text [n]. DN_ERR_DATA says which edge is wrong, or that there are too many edges or paths; its message names no column. DN_ERR_MEMORY. O(n) and the number of paths. */
DN_MUST_USE dn_status dni_paths_begin(dni_paths *paths, const char *text, size_t n, dn_error *err);
/* The next path's labels, "-" between them, in paths->sequence: their length. 0: there is no more. No two are the same. */
size_t dni_paths_next(dni_paths *paths);

#endif
