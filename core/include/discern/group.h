/* One training by a group of processes (ranks).
 *
 * Every rank of a group makes the same call of dn_train, with the same request, the same table and
 * a run that differs in `group` only, and gets the same model, whose bytes are those that one
 * process computes. The ranks differ in the rows that they process: the blocks of the training rows
 * are divided into aligned ranges of 2^level blocks, and every rank owns consecutive ranges. It
 * keeps the encoded rows of these blocks only.
 *
 *   sums over blocks   A rank adds the vectors of its blocks pairwise, as far as they are nodes of
 *                      the tree of additions of one process (dn_pairwise). The ranks exchange the
 *                      vectors of these nodes, and every element is added in the order of one
 *                      process.
 *   extremes, levels   Minima, maxima and sets of categories of the encoder are merged. They do not
 *                      depend on the order.
 *   scores             A rank scores its own rows. Scores and classes of a block are sent to all
 *                      ranks, which add them to their metrics in the order of the rows.
 *   everything else    Target, weights, groups, the division into training and validation rows,
 *                      validation tables, vocabularies and solvers: every rank reads and computes
 *                      the same. Encoded rows of other ranks that this needs are encoded again.
 *
 * The library calls the two functions below on the thread that called dn_train only, and on all
 * ranks in the same order. Before data are exchanged the ranks compare what they are about to do
 * and how their part ended. If one rank has failed (no memory, cancelled, out of time, damaged
 * data), all ranks end with its error. A rank that is ended by dn_run.stop is noticed by the
 * others at their next exchange, at the latest when they have processed their blocks.
 *
 * dn_train refuses methods whose fit is not made of sums over blocks (dn_params_alone). */
#ifndef DISCERN_GROUP_H
#define DISCERN_GROUP_H

#include <discern/api.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

typedef struct dn_group dn_group;
struct dn_group {
    size_t struct_size;   /* sizeof, or 0: see api.h */
    size_t rank, n_ranks; /* this process is number `rank` of n_ranks >= 1 */

    /* Sends size[rank] bytes to all ranks, and receives size[r] bytes of every rank r into `all`,
     * one after the other. `size` [n_ranks] is the same on all ranks. Returns false if the ranks
     * are no longer connected. */
    bool (*gather)(const dn_group *group, const void *mine, const size_t *size, void *all);

    /* Sends send_size[r] bytes to every rank r, one after the other from `send` on, and receives
     * receive_size[r] bytes of every rank r into `receive`, one after the other. Returns false if
     * the ranks are no longer connected. */
    bool (*exchange)(const dn_group *group,
                     const void *send,
                     const size_t *send_size,
                     void *receive,
                     const size_t *receive_size);

    void *ctx; /* not used by the library */

    /* Set by the library, initially {0}: the ranks are not in step or not connected, and nothing
     * more is exchanged; exchanges so far, and bytes that this rank sent in them, counted once for
     * all receivers of a gather. */
    bool broken;
    uint64_t n_exchanges, n_bytes;
};

/* Sets *first and *end to the blocks first ... end - 1 that a rank owns, of n_blocks. Rank r has
 * none if first == end, which happens with more ranks than blocks. */
void dn_group_blocks(
    size_t n_ranks, size_t rank, size_t n_blocks, size_t *out_first, size_t *out_end);

DN_END_DECLS

#endif
