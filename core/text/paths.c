/* Graphs: parses the text of edges to adjacency lists and enumerates the paths. */
#include "text/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#define SHOWN 40 /* number of bytes of an edge shown in an error message */

void dni_paths_done(dni_paths *paths) {
    dni_string_set_done(&paths->labels);
    free(paths->edge);
    free(paths->next);
    free(paths->first);
    free(paths->seen);
    *paths = (dni_paths){0};
}

/* ---- edges ---- */
static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* An edge as it is written in the text. */
struct edge {
    const char *text;
    size_t n;      /* number of bytes */
    size_t number; /* number of the edge in the text, from 1 */
};

static dn_status refuse(const struct edge *edge, const char *rule, dn_error *err) {
    size_t shown = edge->n;
    if (u8_check((const uint8_t *)edge->text, edge->n) != NULL) {
        return dn_error_set(err, DN_ERR_DATA, "edge %zu is not UTF-8", edge->number);
    }
    for (shown = shown < SHOWN ? shown : SHOWN;
         shown > 0 && shown < edge->n && ((unsigned char)edge->text[shown] & 0xc0) == 0x80;) {
        shown--;
    }
    return dn_error_set(err, DN_ERR_DATA, "edge %zu, \"%.*s%s\", %s", edge->number, (int)shown,
                        edge->text, shown < edge->n ? "..." : "", rule);
}

static dn_status refuse_label(const struct edge *edge, unsigned length, dn_error *err) {
    char rule[128];
    (void)snprintf(rule, sizeof rule,
                   "has a label of more than %zu bytes, the limit for paths of up to %u labels",
                   dni_path_label_bytes(length), length);
    return refuse(edge, rule, err);
}

static dn_status no_memory(size_t bytes, dn_error *err) {
    return dn_error_set(
        err, DN_ERR_MEMORY,
        "the paths of a graph need %zu bytes of memory, which the system does not have", bytes);
}

static dn_status grow_edges(dni_paths *p, dn_error *err) {
    const size_t capacity = p->edge_capacity + p->edge_capacity / 2 + 64,
                 bytes = 2 * capacity * sizeof *p->edge;
    uint32_t *edge = realloc(p->edge, bytes);
    p->edge = edge == NULL ? p->edge : edge;
    uint32_t *next = realloc(p->next, bytes);
    p->next = next == NULL ? p->next : next;
    if (edge == NULL || next == NULL) {
        return no_memory(2 * bytes, err);
    }
    p->edge_capacity = capacity;
    return DN_OK;
}

static dn_status add_edge(dni_paths *p, const struct edge *edge, dn_error *err) {
    const char *dash = memchr(edge->text, '-', edge->n), *end = edge->text + edge->n;
    const size_t before = dash == NULL ? 0 : (size_t)(dash - edge->text),
                 behind = dash == NULL ? 0 : edge->n - before - 1;
    if (before == 0 || behind == 0 || memchr(dash + 1, '-', (size_t)(end - dash - 1)) != NULL) {
        return refuse(edge, "must be two labels joined by one \"-\"", err);
    }
    if (u8_check((const uint8_t *)edge->text, edge->n) != NULL) {
        return refuse(edge, "", err);
    }
    if (before > dni_path_label_bytes(p->length) || behind > dni_path_label_bytes(p->length)) {
        return refuse_label(edge, p->length, err);
    }
    if (p->n_edges == DN_MAX_PATHS) {
        return dn_error_set(err, DN_ERR_DATA, "the graph has more than %d edges", DN_MAX_PATHS);
    }
    if (p->n_edges == p->edge_capacity) {
        dn_status status = grow_edges(p, err);
        if (status != DN_OK) {
            return status;
        }
    }
    uint32_t *nodes = &p->edge[2 * p->n_edges];
    dn_status status = dni_string_set_add(&p->labels, edge->text, before, &nodes[0], err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_string_set_add(&p->labels, dash + 1, behind, &nodes[1], err);
    if (status != DN_OK) {
        return status;
    }
    if (nodes[0] == nodes[1]) {
        return refuse(edge, "joins a node with itself: a label names one node", err);
    }
    p->n_edges++;
    return DN_OK;
}

static dn_status read_edges(dni_paths *p, const char *text, size_t n, dn_error *err) {
    dn_status status = DN_OK;
    struct edge edge = {0};
    dni_string_set_restart(&p->labels, n / 2);
    p->n_edges = 0;
    for (size_t i = 0, end; status == DN_OK && i < n; i = end) {
        for (; i < n && is_space(text[i]); i++) {
        }
        for (end = i; end < n && !is_space(text[end]); end++) {
        }
        if (end == i) {
            break;
        }
        edge = (struct edge){.text = text + i, .n = end - i, .number = edge.number + 1};
        status = add_edge(p, &edge, err);
    }
    return status;
}

/* ---- neighbours ---- */
static bool grow_nodes(dni_paths *p) {
    const size_t capacity = p->labels.n + p->labels.n / 2 + 64,
                 bytes = (capacity + 2) * sizeof *p->first;
    uint32_t *first = realloc(p->first, bytes);
    p->first = first == NULL ? p->first : first;
    uint32_t *seen = realloc(p->seen, bytes);
    p->seen = seen == NULL ? p->seen : seen;
    if (first == NULL || seen == NULL) {
        return false;
    }
    p->node_capacity = capacity;
    return true;
}

/* Builds the adjacency lists and removes duplicate neighbours. first[i + 2] first counts the
 * neighbours of node i; first[i + 1] is then the next free position of node i and finally the end
 * of its list. */
static dn_status join(dni_paths *p, dn_error *err) {
    const size_t n = p->labels.n;
    if (((p->node_capacity == 0 || n > p->node_capacity) && !grow_nodes(p)) || p->first == NULL ||
        p->seen == NULL) {
        return no_memory(3 * n * sizeof *p->first, err);
    }
    memset(p->first, 0, (n + 2) * sizeof *p->first);
    memset(p->seen, 0, (n + 1) * sizeof *p->seen);
    for (size_t e = 0; e < 2 * p->n_edges; e++) {
        p->first[p->edge[e] + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++) {
        p->first[i] += p->first[i - 1];
    }
    for (size_t e = 0; e < 2 * p->n_edges; e++) {
        p->next[p->first[p->edge[e] + 1]++] = p->edge[e ^ 1];
    }
    uint32_t kept = 0, begin = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t end = p->first[i + 1];
        p->first[i] = kept;
        for (uint32_t k = begin; k < end; k++) {
            const uint32_t other = p->next[k];
            if (p->seen[other] == i + 1) {
                continue;
            }
            p->seen[other] = i + 1;
            p->next[kept++] = other;
        }
        begin = end;
    }
    p->first[n] = kept;
    return DN_OK;
}

/* ---- paths ---- */
static bool push(dni_paths *p, uint32_t node) {
    p->node[p->depth] = node;
    p->at[p->depth++] = p->first[node];
    return true;
}

static bool has(const dni_paths *p, uint32_t node) {
    for (unsigned k = 0; k < p->depth; k++) {
        if (p->node[k] == node) {
            return true;
        }
    }
    return false;
}

/* Advances to the next path in depth-first order: extends the current path by a node, or removes
 * its last nodes and appends another node. */
static bool step(dni_paths *p) {
    for (; p->depth > 0; p->depth--) {
        uint32_t *at = &p->at[p->depth - 1];
        const uint32_t end = p->first[p->node[p->depth - 1] + 1];
        while (p->depth < p->length && *at < end) {
            const uint32_t node = p->next[(*at)++];
            if (!has(p, node)) {
                return push(p, node);
            }
        }
    }
    return p->root < p->labels.n && push(p, p->root++);
}

dn_status dni_paths_begin(dni_paths *paths, const char *text, size_t n, dn_error *err) {
    dn_status status = read_edges(paths, text, n, err);
    if (status != DN_OK) {
        return status;
    }
    status = join(paths, err);
    if (status != DN_OK) {
        return status;
    }
    paths->root = 0;
    paths->depth = 0;
    for (size_t count = 0; step(paths); count++) {
        if (count == DN_MAX_PATHS) {
            return dn_error_set(err, DN_ERR_DATA,
                                "the graph has more than %d paths of up to %u labels", DN_MAX_PATHS,
                                paths->length);
        }
    }
    paths->root = 0;
    paths->depth = 0;
    return DN_OK;
}

size_t dni_paths_next(dni_paths *paths) {
    if (!step(paths)) {
        return 0;
    }
    const unsigned last = paths->depth - 1;
    const uint32_t *start = paths->labels.start + paths->node[last];
    size_t n = last == 0 ? 0 : paths->end[last - 1];
    if (last > 0) {
        paths->sequence[n++] = '-';
    }
    memcpy(paths->sequence + n, paths->labels.bytes + start[0], start[1] - start[0]);
    return paths->end[last] = n + start[1] - start[0];
}
