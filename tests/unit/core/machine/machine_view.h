/* Access to the parameters of a machine of any kind, for tests. */
#ifndef MACHINE_VIEW_H
#define MACHINE_VIEW_H

#include "machine/bayes.h"
#include "machine/gaussians.h"
#include "machine/kernel_machine.h"
#include "machine/linear.h"
#include "machine/machine_kind.h"
#include "machine/network.h"

/* Members that the kind does not have are NULL or 0. The machine owns the arrays. */
struct machine_view {
    dn_machine *machine;
    size_t n_classes, n_features, n_components;
    double *w, *w0, *projection;
    dni_gaussians *gaussians;
    dni_naive_bayes *naive_bayes;
    dni_kernel_machine *kernel;
    dni_network *network;
};

struct machine_view machine_view(const dn_machine *machine);

#endif
