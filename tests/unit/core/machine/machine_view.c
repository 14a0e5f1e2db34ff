#include "unit/core/machine/machine_view.h"

struct machine_view machine_view(const dn_machine *machine) {
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
