/* What a machine of any kind holds, for tests that look at its numbers. */
#ifndef MACHINE_VIEW_H
#define MACHINE_VIEW_H

#include "machine/machine_impl.h"
#include "machine/support.h"

/* Members that the kind does not have are NULL or 0. The arrays are the machine's. */
struct machine_view {
    dn_machine *machine;
    size_t n_classes, n_features, n_components;
    double *w, *w0, *projection;
    dn_gaussians *gaussians;
    dn_naive_bayes *naive_bayes;
    dn_kernel_machine *kernel;
    dn_network *network;
};

static inline struct machine_view machine_view(const dn_machine *machine) {
    dn_machine *m = (dn_machine *)(uintptr_t)machine;
    return (struct machine_view){.machine = m,
                                 .n_classes = m->n_classes,
                                 .n_features = m->n_features,
                                 .n_components = m->n_components,
                                 .w = m->w,
                                 .w0 = m->w0,
                                 .projection = m->projection,
                                 .gaussians = m->gaussians,
                                 .naive_bayes = m->naive_bayes,
                                 .kernel = m->kernel,
                                 .network = m->network};
}

#endif
