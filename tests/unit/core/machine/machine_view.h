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

static inline struct machine_view machine_view(const dn_machine *machine) {
    dn_machine *m = (dn_machine *)(uintptr_t)machine;
    struct machine_view view = {.machine = m,
                                .n_classes = m->n_classes,
                                .n_features = m->n_features,
                                .n_components = m->n_components,
                                .projection = m->projection};
    if (m->kind == &dni_linear_kind) {
        const dni_linear_machine *linear = dni_linear_machine_of(m);
        view.w = linear->w;
        view.w0 = linear->w0;
        view.gaussians = linear->gaussians;
    } else if (m->kind == &dni_gaussian_kind) {
        view.gaussians = dni_gaussians_of(m);
    } else if (m->kind == &dni_bayes_kind) {
        view.naive_bayes = dni_bayes_of(m);
    } else if (m->kind == &dni_kernel_kind) {
        view.kernel = dni_kernel_machine_of(m);
    } else if (m->kind == &dni_network_kind) {
        view.network = dni_network_of(m);
    }
    return view;
}

#endif
