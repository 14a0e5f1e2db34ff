/* A group over MPI. Counts of MPI are ints: longer parts are sent piece by piece. */
#include "train/mpi_group.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 30 };

/* Counts and starts of the parts of all ranks. */
struct parts {
    int *count, *start; /* [n_ranks] each */
    size_t own_start, total;
};

/* Sets *parts. Returns false if the parts are longer than an int together, or memory is short. */
static bool parts_init(struct parts *parts, const dn_group *group, const size_t *size) {
    *parts = (struct parts){.count = malloc(2 * group->n_ranks * sizeof *parts->count)};
    for (size_t r = 0; r < group->n_ranks; r++) {
        parts->own_start = r == group->rank ? parts->total : parts->own_start;
        if (parts->count != NULL && parts->total <= INT_MAX && size[r] <= INT_MAX) {
            parts->start = parts->count + group->n_ranks;
            parts->count[r] = (int)size[r];
            parts->start[r] = (int)parts->total;
        }
        parts->total += size[r];
    }
    return parts->count != NULL && parts->total <= INT_MAX;
}

/* Sends every rank's part in pieces. */
static bool gather_pieces(const dn_group *group, const void *mine, const size_t *size, char *all) {
    bool good = true;
    for (size_t r = 0; r < group->n_ranks && good; all += size[r++]) {
        if (r == group->rank && all != mine) {
            memcpy(all, mine, size[r]);
        }
        for (size_t at = 0; at < size[r] && good; at += PIECE) {
            const size_t left = size[r] - at;
            good = MPI_Bcast(all + at, left < PIECE ? (int)left : PIECE, MPI_BYTE, (int)r,
                             MPI_COMM_WORLD) == MPI_SUCCESS;
        }
    }
    return good;
}

static bool mpi_gather(const dn_group *group, const void *mine, const size_t *size, void *all) {
    struct parts parts;
    /* the sizes are equal on all ranks, and so is this choice unless memory is short */
    const bool whole = parts_init(&parts, group, size);
    bool good;
    if (parts.count == NULL) {
        return false;
    }
    if (whole) {
        const bool in_place = mine == (const char *)all + parts.own_start;
        good =
            MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine, parts.count[group->rank], MPI_BYTE, all,
                           parts.count, parts.start, MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS;
    } else {
        good = gather_pieces(group, mine, size, all);
    }
    free(parts.count);
    return good;
}

static bool mpi_exchange(const dn_group *group, const void *send, const size_t *send_size,
                         void *receive, const size_t *receive_size) {
    struct parts out, in;
    bool good = parts_init(&out, group, send_size);
    good = parts_init(&in, group, receive_size) && good;
    good = good && MPI_Alltoallv(send, out.count, out.start, MPI_BYTE, receive, in.count, in.start,
                                 MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS;
    free(out.count);
    free(in.count);
    return good;
}

bool mpi_group_init(dn_group *group) {
    int level, rank = 0, n_ranks = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &n_ranks) != MPI_SUCCESS) {
        (void)fprintf(stderr, "discern-train: MPI cannot be initialised\n");
        return false;
    }
    if (level < MPI_THREAD_FUNNELED) {
        (void)fprintf(stderr, "discern-train: this MPI allows no threads\n");
        return false;
    }
    *group = (dn_group){.struct_size = sizeof *group,
                        .rank = (size_t)rank,
                        .n_ranks = (size_t)n_ranks,
                        .gather = mpi_gather,
                        .exchange = mpi_exchange};
    return true;
}

void mpi_group_done(void) {
    (void)MPI_Finalize();
}

void mpi_group_abort(void) {
    (void)fflush(NULL);
    (void)MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}
