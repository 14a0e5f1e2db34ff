/* The label sequences of the simple paths of a graph, for DN_TEXT_PATHS. The grammar of graphs
 * is in discern/encoder.h.
 *
 * Paths are enumerated depth first: from every node, along every edge to a node that the path
 * does not contain. Each path is visited once from each of its ends. */
#ifndef DNI_PATHS_H
#define DNI_PATHS_H

#include "base/string_set.h"
#include <discern/encoder.h>
#include <discern/text.h>

/* The workspace of one thread; {0} is empty. Memory is allocated by malloc and is not reduced after
 * a large graph. */
typedef struct dni_paths {
    /* maximum number of labels, 1 … DN_MAX_PATH_LABELS; set by the caller before dni_paths_begin */
    unsigned length;
    dni_string_set labels; /* label i is the label of node i */
    uint32_t *edge;        /* [2 × n_edges] the two nodes of each edge, in the order of the text */
    /* [2 × n_edges] neighbours of all nodes, grouped by node, without duplicates */
    uint32_t *next;
    uint32_t *first; /* [n_nodes + 2] start of the neighbours of each node in `next` */
    uint32_t *seen;  /* [n_nodes] work: 1 + the last node for which this node was listed as
                      * neighbour */
    size_t n_edges, edge_capacity, node_capacity;
    uint32_t root; /* the next node at which paths start */
    unsigned depth;
    uint32_t node[DN_MAX_PATH_LABELS];    /* [depth] nodes of the current path */
    uint32_t at[DN_MAX_PATH_LABELS];      /* [depth] index in `next` of the next neighbour to try */
    size_t end[DN_MAX_PATH_LABELS];       /* [depth] length in bytes of the label sequence up to
                                           * this node */
    char sequence[DN_MAX_WORD_BYTES + 1]; /* label sequence of the current path */
} dni_paths;

void dni_paths_done(dni_paths *paths);

/* Returns the maximum length in bytes of a label: a sequence of `length` such labels fits in
 * DN_MAX_WORD_BYTES. */
static inline size_t dni_path_label_bytes(unsigned length) {
    return (DN_MAX_WORD_BYTES + 1) / length - 1;
}

/* Parses the graph of text [n] and counts its paths. O(n + number of paths). Errors: DN_ERR_DATA
 * for an invalid edge, or too many edges or paths; DN_ERR_MEMORY. The message does not name the
 * column. */
DN_MUST_USE dn_status dni_paths_begin(dni_paths *paths, const char *text, size_t n, dn_error *err);
/* Writes the label sequence of the next path, joined by "-", to paths->sequence. Returns its
 * length in bytes; 0: no path is left. All sequences of a graph are different. */
size_t dni_paths_next(dni_paths *paths);

#endif
