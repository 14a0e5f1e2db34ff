/* Reads and writes machines of any kind as bytes. Contains the table of kinds. */
#include "machine/machine_bytes.h"
#include "linalg/vector.h"
#include "machine/machine_kind.h"

#include <assert.h>

/* All kinds by id. The compiler warns of an id that is used twice (-Woverride-init). */
static const dni_machine_kind *const kinds[] = {
    [DNI_KIND_LINEAR] = &dni_linear_kind,   [DNI_KIND_GAUSSIAN] = &dni_gaussian_kind,
    [DNI_KIND_BAYES] = &dni_bayes_kind,     [DNI_KIND_KERNEL] = &dni_kernel_kind,
    [DNI_KIND_NETWORK] = &dni_network_kind, [DNI_KIND_NEIGHBOURS] = &dni_neighbours_kind,
};

static const dni_machine_kind *find_kind(uint8_t id) {
    return id < sizeof kinds / sizeof kinds[0] ? kinds[id] : NULL;
}

/* ---- writing ---- */
void dni_machine_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer) {
    assert(find_kind(machine->kind->id) == machine->kind);
    dni_write_u8(writer, machine->kind->id);
    dni_write_u64(writer, machine->n_classes);
    machine->kind->write(machine, first, writer);
    dni_write_u64(writer, machine->n_components);
    dni_write_f64s(writer, machine->projection, machine->n_components * machine->n_features);
}

/* ---- reading ---- */
static dn_status read_projection(dni_reader *r, dn_machine *m, dn_error *err) {
    const size_t d = m->n_features;
    const uint64_t n = dni_read_u64(r);
    double *projection;
    if (r->failed || n > d || !dni_machine_fits(r, (size_t)n, d)) {
        return dni_machine_corrupt("the projection of a machine is truncated", err);
    }
    if (n == 0) {
        return DN_OK;
    }
    dn_status status = dni_machine_new_projection(m, (size_t)n, &projection, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dni_read_f64s(r, projection, (size_t)n * d) ||
        !dni_all_finite(projection, (size_t)n * d)) {
        return dni_machine_corrupt("the projection of a machine is not finite", err);
    }
    return DN_OK;
}

dn_status dni_machine_read(dni_reader *r, size_t n_classes, size_t n_features,
                           const dn_machine *first, dn_machine **out, dn_error *err) {
    const dni_machine_kind *kind = find_kind(dni_read_u8(r));
    const uint64_t K = dni_read_u64(r);
    dn_machine *m = NULL;
    if (r->failed || kind == NULL) {
        return dni_machine_corrupt("the kind of a machine is unknown", err);
    }
    if (((kind->flags & DNI_MACHINE_TWO) != 0 && n_classes != 2) ||
        (first != NULL && first->kind != kind)) {
        return dni_machine_corrupt("the machines are of different kinds, or not of two classes",
                                   err);
    }
    if (K != n_classes) {
        return dni_machine_corrupt("a machine has another number of classes than the model", err);
    }
    dn_status status = kind->read(r, n_classes, n_features, first, &m, err);
    if (status == DN_OK) {
        status = read_projection(r, m, err);
    }
    if (status != DN_OK) {
        dn_machine_free(m);
        return status;
    }
    *out = m;
    return DN_OK;
}
