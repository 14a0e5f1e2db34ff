/* The exchanges of a group of ranks.
 *
 * Every exchange begins with a head, which the ranks gather: what the exchange is, and how the
 * work of each rank ended. All ranks compare the same heads, and so decide the same: to exchange
 * the data, to return the error of a rank, or, if their heads are not of the same exchange, to
 * exchange nothing more. Memory is allocated before the head, so that a rank without memory is a
 * failed rank, for which no other waits.
 *
 * Sums: the ranges of blocks of a rank are added to the largest aligned nodes of the tree of
 * additions (dn_pairwise). A short vector is then gathered by all ranks, and each adds all nodes.
 * Of a long vector every rank gets a slice of all nodes, adds them, and sends the slice to all. */
#include "base/group.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    MAX_NODES = 128,     /* of one rank: at most two of each level */
    RANGES_PER_RANK = 8, /* the ranks' shares differ by one range: by 1/8 at most */
    GATHERED = 8192,     /* numbers of all nodes that are gathered instead of sliced */
    SLICED = 1 << 17,    /* numbers of a vector that are exchanged at once */
    FOLDED = 4096        /* numbers of each rank that are exchanged at once */
};

enum kind { AGREE = 1, END, SUM, LEAST, MOST, OR, ROWS, SEND, JOIN };

/* What a rank is about to do. */
struct head {
    uint64_t kind, n, size; /* equal on all ranks */
    uint64_t status;
    uint64_t own; /* a number of this rank */
};

/* The error of a rank. */
struct failure {
    int64_t code, row;
    char message[DN_MESSAGE_SIZE], field[DN_FIELD_SIZE];
};

dn_group *dni_group_of(const dn_run *run) {
    return run == NULL || run->group == NULL || run->group->n_ranks < 2 ? NULL : run->group;
}

bool dni_group_ended(const dn_run *run) {
    const dn_group *group = dni_group_of(run);
    return group != NULL && group->broken;
}

dn_run dni_group_left(const dn_run *run) {
    dn_run alone = run == NULL ? dn_run_default() : *run;
    alone.group = NULL;
    return alone;
}

/* ---- which blocks are whose ---- */
static unsigned range_level(size_t n_ranks, size_t n_blocks) {
    unsigned level = 0;
    while ((n_blocks >> (level + 1)) / RANGES_PER_RANK >= n_ranks) {
        level++;
    }
    return level;
}

static size_t count_ranges(size_t n_blocks, unsigned level) {
    return n_blocks == 0 ? 0 : ((n_blocks - 1) >> level) + 1;
}

/* Returns floor(n rank / n_ranks) without overflow. */
static size_t share(size_t n, size_t rank, size_t n_ranks) {
    return n / n_ranks * rank + n % n_ranks * rank / n_ranks;
}

static void ranges_of(size_t n_ranks, size_t rank, size_t n_blocks, size_t *out_first,
                      size_t *out_end) {
    const size_t n = count_ranges(n_blocks, range_level(n_ranks, n_blocks));
    *out_first = share(n, rank, n_ranks);
    *out_end = share(n, rank + 1, n_ranks);
}

void dn_group_blocks(size_t n_ranks, size_t rank, size_t n_blocks, size_t *out_first,
                     size_t *out_end) {
    const unsigned level = range_level(n_ranks, n_blocks);
    size_t first, end;
    ranges_of(n_ranks, rank, n_blocks, &first, &end);
    first <<= level;
    end <<= level;
    *out_first = first < n_blocks ? first : n_blocks;
    *out_end = end < n_blocks ? end : n_blocks;
}

void dni_group_ranges(const dn_group *group, size_t n_blocks, unsigned *out_level,
                      size_t *out_first, size_t *out_end) {
    *out_level = range_level(group->n_ranks, n_blocks);
    ranges_of(group->n_ranks, group->rank, n_blocks, out_first, out_end);
}

void dni_group_own(const dn_run *run, size_t n_blocks, size_t *out_first, size_t *out_end) {
    const dn_group *group = dni_group_of(run);
    *out_first = 0;
    *out_end = n_blocks;
    if (group != NULL) {
        dn_group_blocks(group->n_ranks, group->rank, n_blocks, out_first, out_end);
    }
}

/* ---- one exchange ---- */
static dn_status disconnected(dn_group *group, dn_error *err) {
    group->broken = group->disconnected = true;
    return dn_error_set(err, DN_ERR_SOURCE, "the ranks of the training are no longer connected");
}

static bool gather(dn_group *group, const void *mine, const size_t *size, void *all) {
    assert(group->rank < group->n_ranks);
    group->n_exchanges++;
    group->n_bytes += size[group->rank];
    return group->gather(group, mine, size, all);
}

/* Returns the error of rank `from`, which all ranks need. */
static dn_status take_failure(dn_group *group, size_t from, dn_status own, dn_error *err) {
    size_t size[DN_MAX_RANKS] = {0};
    struct failure failure = {.row = -1};
    size[from] = sizeof failure;
    if (group->rank == from) {
        failure.code = (int64_t)own;
        if (err != NULL) {
            failure.row = err->row;
            memcpy(failure.message, err->message, sizeof failure.message);
            memcpy(failure.field, err->field, sizeof failure.field);
        }
    }
    if (!gather(group, &failure, size, &failure)) {
        return disconnected(group, err);
    }
    if (err != NULL && group->rank != from) {
        dn_error_clear(err);
        (void)dn_error_set(err, (dn_status)failure.code, "%s", failure.message);
        dn_error_set_field(err, failure.field);
        dn_error_set_row(err, failure.row);
    }
    return (dn_status)failure.code;
}

/* Begins an exchange: gathers the heads. all: [n_ranks] the heads. If this returns DN_OK, the
 * data of the exchange follow. */
static dn_status begin(dn_group *group, struct head mine, dn_status status, struct head *all,
                       dn_error *err) {
    size_t size[DN_MAX_RANKS];
    if (group->broken) {
        return status != DN_OK ? status : disconnected(group, err);
    }
    for (size_t r = 0; r < group->n_ranks; r++) {
        size[r] = sizeof mine;
    }
    mine.status = (uint64_t)status;
    if (!gather(group, &mine, size, all)) {
        return disconnected(group, err);
    }
    size_t failed = SIZE_MAX;
    for (size_t r = 0; r < group->n_ranks; r++) {
        failed = failed == SIZE_MAX && all[r].status != DN_OK ? r : failed;
        group->broken = group->broken || all[r].kind != all[0].kind || all[r].n != all[0].n ||
                        all[r].size != all[0].size;
    }
    if (failed != SIZE_MAX) {
        return take_failure(group, failed, status, err);
    }
    return group->broken ? dn_error_set(err, DN_ERR_SOURCE,
                                        "the ranks of the training do not compute the same")
                         : DN_OK;
}

static dn_status begin_plain(dn_group *group, enum kind kind, size_t n, size_t size,
                             dn_status status, dn_error *err) {
    struct head all[DN_MAX_RANKS];
    return begin(group, (struct head){.kind = kind, .n = n, .size = size}, status, all, err);
}

dn_status dni_group_agree(const dn_run *run, dn_status status, dn_error *err) {
    dn_group *group = dni_group_of(run);
    return group == NULL ? status : begin_plain(group, AGREE, 0, 0, status, err);
}

dn_status dni_group_end(const dn_run *run, dn_status status, dn_error *err) {
    dn_group *group = dni_group_of(run);
    return group == NULL ? status : begin_plain(group, END, 0, 0, status, err);
}

/* ---- sums ---- */
/* A node of the tree of additions: the ranges first ... first + 2^level - 1. */
struct node {
    size_t first;
    unsigned level;
};

/* Divides ranges first ... end - 1 into the largest aligned nodes. Returns their number. */
static size_t nodes_of(size_t first, size_t end, struct node nodes[MAX_NODES]) {
    size_t n = 0;
    while (first < end) {
        unsigned level = 0;
        while ((first >> level) % 2 == 0 && end - first >= (size_t)2 << level) {
            level++;
        }
        nodes[n++] = (struct node){first, level};
        first += (size_t)1 << level;
    }
    return n;
}

/* The nodes of all ranks in order, and the work of a sum. */
struct addition {
    dn_group *group;
    size_t n_ranges, n_nodes, n_own; /* all ranges; nodes of all ranks, and of this rank */
    size_t of_rank[DN_MAX_RANKS];    /* number of nodes of each rank */
    unsigned range_level;
    size_t slice; /* capacity: numbers of each node that this rank adds at once */
    double *send, *received, *partials;
};

static void addition_init(struct addition *a, dn_group *group, size_t n_blocks) {
    struct node nodes[MAX_NODES];
    a->group = group;
    a->range_level = range_level(group->n_ranks, n_blocks);
    a->n_ranges = count_ranges(n_blocks, a->range_level);
    a->n_nodes = 0;
    for (size_t r = 0; r < group->n_ranks; r++) {
        size_t first, end;
        ranges_of(group->n_ranks, r, n_blocks, &first, &end);
        a->of_rank[r] = nodes_of(first, end, nodes);
        a->n_nodes += a->of_rank[r];
    }
    a->n_own = a->of_rank[group->rank];
}

/* Adds the totals of the ranges of each node of this rank. The total of node k moves to row k. */
static void add_ranges(const struct addition *a, size_t n_blocks, double *totals, size_t n_out) {
    struct node nodes[MAX_NODES];
    size_t first, end;
    ranges_of(a->group->n_ranks, a->group->rank, n_blocks, &first, &end);
    const size_t n = nodes_of(first, end, nodes);
    for (size_t k = 0; k < n && n_out > 0; k++) {
        double *at = totals + (nodes[k].first - first) * n_out;
        dn_pairwise sum;
        dn_pairwise_init(&sum, n_out, at);
        for (size_t r = 0; r < (size_t)1 << nodes[k].level; r++) {
            if (sum.depth != r) {
                memcpy(at + sum.depth * n_out, at + r * n_out, n_out * sizeof *at);
            }
            dn_pairwise_push(&sum, 0);
        }
        memmove(totals + k * n_out, at, n_out * sizeof *at);
    }
}

/* Adds the vectors [n_nodes × n] of all nodes in the order of one process. */
static void add_nodes(const struct addition *a, size_t n_blocks, const double *vectors, size_t n,
                      double *out) {
    struct node nodes[MAX_NODES];
    dn_pairwise sum;
    dn_pairwise_init(&sum, n, a->partials);
    for (size_t r = 0; r < a->group->n_ranks; r++) {
        size_t first, end;
        ranges_of(a->group->n_ranks, r, n_blocks, &first, &end);
        const size_t n_of = nodes_of(first, end, nodes);
        for (size_t k = 0; k < n_of; k++, vectors += n) {
            assert(vectors != NULL);
            memcpy(dn_pairwise_next(&sum), vectors, n * sizeof *vectors);
            dn_pairwise_push(&sum, a->range_level + nodes[k].level);
        }
    }
    dn_pairwise_total(&sum, out);
}

/* Gathers all nodes of a short vector. */
static bool add_gathered(const struct addition *a, size_t n_blocks, const double *totals,
                         size_t n_out, double *out) {
    size_t size[DN_MAX_RANKS];
    for (size_t r = 0; r < a->group->n_ranks; r++) {
        size[r] = a->of_rank[r] * n_out * sizeof *totals;
    }
    if (!gather(a->group, totals, size, a->received)) {
        return false;
    }
    add_nodes(a, n_blocks, a->received, n_out, out);
    return true;
}

/* Adds numbers first ... first + n - 1 of a long vector: rank r adds a slice of them. */
static bool add_sliced(const struct addition *a, size_t n_blocks, const double *totals,
                       size_t n_out, size_t first, size_t n, double *out) {
    dn_group *group = a->group;
    size_t sent[DN_MAX_RANKS], received[DN_MAX_RANKS], size[DN_MAX_RANKS];
    const size_t own = share(n, group->rank, group->n_ranks),
                 n_slice = share(n, group->rank + 1, group->n_ranks) - own;
    double *to = a->send;
    assert(to != NULL);
    for (size_t r = 0; r < group->n_ranks; r++) {
        const size_t from = share(n, r, group->n_ranks),
                     of_rank = share(n, r + 1, group->n_ranks) - from;
        for (size_t k = 0; k < a->n_own; k++, to += of_rank) {
            memcpy(to, totals + k * n_out + first + from, of_rank * sizeof *to);
        }
        size[r] = of_rank * sizeof *to;
        sent[r] = a->n_own * size[r];
        received[r] = a->of_rank[r] * n_slice * sizeof *to;
        group->n_bytes += r == group->rank ? 0 : sent[r];
    }
    group->n_exchanges++;
    if (!group->exchange(group, a->send, sent, a->received, received)) {
        return false;
    }
    add_nodes(a, n_blocks, a->received, n_slice, out + first + own);
    return gather(group, out + first + own, size, out + first);
}

/* Allocates the work of a sum of n_out numbers. */
static dn_status addition_memory(const dn_run *run, struct addition *a, size_t n_out,
                                 void **out_memory, dn_error *err) {
    const size_t n = n_out < SLICED ? n_out : SLICED;
    const bool gathered = a->n_nodes * n_out <= GATHERED;
    a->slice = gathered ? n_out : n / a->group->n_ranks + 1;
    const size_t n_send = gathered ? 0 : a->n_own * n, n_received = a->n_nodes * a->slice,
                 n_partials = dn_pairwise_capacity(a->n_ranges, a->slice);
    dn_status status = dn_run_alloc(run, n_send + n_received + n_partials, sizeof(double),
                                    "the sums of all ranks", out_memory, err);
    if (status == DN_OK) {
        a->send = *out_memory;
        a->received = a->send + n_send;
        a->partials = a->received + n_received;
    }
    return status;
}

dn_status dni_group_sum(const dn_run *run, dn_status status, size_t n_blocks, double *totals,
                        size_t n_out, double *out, dn_error *err) {
    struct addition a = {0};
    void *memory = NULL;
    addition_init(&a, run->group, n_blocks);
    if (status == DN_OK) {
        add_ranges(&a, n_blocks, totals, n_out);
        status = addition_memory(run, &a, n_out, &memory, err);
    }
    status = begin_plain(a.group, SUM, n_blocks, n_out, status, err);
    if (status == DN_OK && n_out > 0) {
        bool sent = true;
        if (a.n_nodes * n_out <= GATHERED) {
            sent = add_gathered(&a, n_blocks, totals, n_out, out);
        }
        for (size_t first = 0; a.n_nodes * n_out > GATHERED && sent && first < n_out;
             first += SLICED) {
            const size_t left = n_out - first;
            sent =
                add_sliced(&a, n_blocks, totals, n_out, first, left < SLICED ? left : SLICED, out);
        }
        status = sent ? DN_OK : disconnected(a.group, err);
    }
    dn_run_free(run, memory);
    return status;
}

/* ---- extremes and bits ---- */
static void fold(enum kind kind, void *into, const void *from, size_t n) {
    double *number = into;
    const double *other = from;
    unsigned char *byte = into;
    const unsigned char *bits = from;
    for (size_t i = 0; i < n; i++) {
        if (kind == OR) {
            byte[i] |= bits[i];
        } else {
            number[i] = kind == LEAST ? fmin(number[i], other[i]) : fmax(number[i], other[i]);
        }
    }
}

static dn_status fold_ranks(const dn_run *run, dn_status status, enum kind kind, void *values,
                            size_t n, size_t width, dn_error *err) {
    dn_group *group = dni_group_of(run);
    size_t size[DN_MAX_RANKS];
    void *all = NULL;
    if (group == NULL) {
        return status;
    }
    const size_t at_once = n < FOLDED ? n : FOLDED;
    if (status == DN_OK) {
        status = dn_run_alloc(run, group->n_ranks * at_once, width, "the extremes of all ranks",
                              &all, err);
    }
    status = begin_plain(group, kind, n, width, status, err);
    for (size_t first = 0; status == DN_OK && first < n; first += at_once) {
        const size_t left = n - first, part = left < at_once ? left : at_once;
        char *at = (char *)values + first * width;
        for (size_t r = 0; r < group->n_ranks; r++) {
            size[r] = part * width;
        }
        assert(all != NULL);
        if (!gather(group, at, size, all)) {
            status = disconnected(group, err);
            break;
        }
        for (size_t r = 0; r < group->n_ranks; r++) { /* in order: -0 and 0 are equal */
            if (r == 0) {
                memcpy(at, all, part * width);
            } else {
                fold(kind, at, (const char *)all + r * part * width, part);
            }
        }
    }
    dn_run_free(run, all);
    return status;
}

dn_status dni_group_least(const dn_run *run, dn_status status, double *values, size_t n,
                          dn_error *err) {
    return fold_ranks(run, status, LEAST, values, n, sizeof *values, err);
}

dn_status dni_group_most(const dn_run *run, dn_status status, double *values, size_t n,
                         dn_error *err) {
    return fold_ranks(run, status, MOST, values, n, sizeof *values, err);
}

dn_status dni_group_or(const dn_run *run, dn_status status, unsigned char *bytes, size_t n,
                       dn_error *err) {
    return fold_ranks(run, status, OR, bytes, n, 1, err);
}

/* ---- rows and bytes ---- */
dn_status dni_group_rows(const dn_run *run, dn_status status, size_t n_rows, void *rows,
                         size_t row_size, dn_error *err) {
    dn_group *group = dni_group_of(run);
    const size_t n_blocks = n_rows / DN_BLOCK_ROWS + (n_rows % DN_BLOCK_ROWS != 0);
    size_t size[DN_MAX_RANKS], start = 0;
    if (group == NULL) {
        return status;
    }
    status = begin_plain(group, ROWS, n_rows, row_size, status, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t r = 0; r < group->n_ranks; r++) {
        size_t first, end;
        dn_group_blocks(group->n_ranks, r, n_blocks, &first, &end);
        const size_t from = first * DN_BLOCK_ROWS < n_rows ? first * DN_BLOCK_ROWS : n_rows,
                     to = end * DN_BLOCK_ROWS < n_rows ? end * DN_BLOCK_ROWS : n_rows;
        size[r] = (to - from) * row_size;
        start = r == group->rank ? from * row_size : start;
    }
    return gather(group, (char *)rows + start, size, rows) ? DN_OK : disconnected(group, err);
}

dn_status dni_group_send(const dn_run *run, dn_status status, size_t from, void *bytes, size_t n,
                         dn_error *err) {
    dn_group *group = dni_group_of(run);
    size_t size[DN_MAX_RANKS] = {0};
    if (group == NULL) {
        return status;
    }
    status = begin_plain(group, SEND, from, n, status, err);
    if (status != DN_OK) {
        return status;
    }
    size[from] = n;
    return gather(group, bytes, size, bytes) ? DN_OK : disconnected(group, err);
}

dn_status dni_group_join(const dn_run *run, dn_status status, const void *mine, size_t size,
                         void **out, size_t *out_size, dn_error *err) {
    dn_group *group = dni_group_of(run);
    struct head heads[DN_MAX_RANKS];
    size_t sizes[DN_MAX_RANKS], total = 0;
    void *all = NULL;
    if (group == NULL) {
        return status;
    }
    status = begin(group, (struct head){.kind = JOIN, .own = size}, status, heads, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t r = 0; r < group->n_ranks; r++) {
        sizes[r] = (size_t)heads[r].own;
        total += sizes[r];
    }
    status = dn_run_alloc(run, total, 1, "the categories of all ranks", &all, err);
    status = dni_group_agree(run, status, err);
    if (status == DN_OK && !gather(group, mine, sizes, all)) {
        status = disconnected(group, err);
    }
    if (status != DN_OK) {
        dn_run_free(run, all);
        return status;
    }
    *out = all;
    *out_size = total;
    return DN_OK;
}
