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

/* The workspace of one thread; {0} is empty. Memory by malloc, as much as the largest graph
 * needed. */
typedef struct dni_paths {
    unsigned
        /* maximum number of labels, 1 … DN_MAX_PATH_LABELS; set by the caller before
         * dni_paths_begin */
        length;
    dni_string_set labels; /* label i is that of node i */
    uint32_t *edge;        /* [2 × n_edges] the nodes of each edge as written */
    /* [2 × n_edges] neighbours of all nodes, grouped by node, without duplicates */
    uint32_t *next;
    uint32_t *first; /* [nodes + 2] begin of each node's neighbours in `next` */
    uint32_t *seen;  /* [nodes] work: the last node, plus 1, of which this one is a neighbour */
    size_t n_edges, edge_capacity, node_capacity;
    uint32_t root; /* the next node to start from */
    unsigned depth;
    uint32_t node[DN_MAX_PATH_LABELS];    /* [depth] nodes of the path */
    uint32_t at[DN_MAX_PATH_LABELS];      /* [depth] the next neighbour to try */
    size_t end[DN_MAX_PATH_LABELS];       /* [depth] length of the sequence up to this node */
    char sequence[DN_MAX_WORD_BYTES + 1]; /* of the path */
} dni_paths;

void dni_paths_done(dni_paths *paths);

/* Returns the maximum length of a label, such that a sequence of `length` labels fits
 * DN_MAX_WORD_BYTES. */
static inline size_t dni_path_label_bytes(unsigned length) {
    return (DN_MAX_WORD_BYTES + 1) / length - 1;
}

/* Reads the graph of text [n] and counts its paths. O(n + number of paths). Errors: DN_ERR_DATA
 * for a wrong edge or too many edges or paths, DN_ERR_MEMORY. The message does not name the
 * column. */
DN_MUST_USE dn_status dni_paths_begin(dni_paths *paths, const char *text, size_t n, dn_error *err);
/* Stores the label sequence of the next path, joined by "-", in paths->sequence. Returns its
 * length; 0: there are no more. All sequences are different. */
size_t dni_paths_next(dni_paths *paths);

#endif
