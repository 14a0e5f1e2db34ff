/* A dn_group whose ranks are the processes of MPI_COMM_WORLD. */
#ifndef TRAIN_MPI_GROUP_H
#define TRAIN_MPI_GROUP_H

#include <discern/discern.h>

/* Initialises MPI and *group. Returns false if MPI fails, after a line on standard error. MPI ends
 * all ranks if one of them dies (mpirun does). */
bool mpi_group_init(dn_group *group);
/* Ends MPI. Waits for the other ranks. */
void mpi_group_done(void);
/* Ends all ranks, and the calling process with status 1: for a failure of this rank that the others
 * do not know, and that they would wait for. */
_Noreturn void mpi_group_abort(void);

#endif
