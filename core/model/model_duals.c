/* Support vectors of a model: serialization and access. */
#include "model/model_duals.h"
#include "machine/machine_kind.h"
#include "model/model_impl.h"

#include <math.h>

enum { NONE = 0, OMITTED = 1, PRESENT = 2 };
enum { BOUNDED = 1, INSIDE = 2 };
enum { DUAL_SIZE = 8 + 8 + 8 + 1 }; /* bytes of a support vector */

const dn_duals *dn_model_duals(const dn_model *model, size_t i) {
    return i < model->n_machines ? model->machines[i]->duals : NULL;
}

/* ---- bytes ---- */
static uint8_t state_of(dn_machine *const *machines, size_t n) {
    uint8_t state = PRESENT;
    for (size_t i = 0; i < n && state != NONE; i++) {
        const dn_duals *duals = machines[i]->duals;
        state = duals == NULL ? NONE : duals->omitted ? OMITTED : state;
    }
    return state;
}

void dni_duals_write(dn_machine *const *machines, size_t n_machines, dni_writer *writer) {
    const uint8_t state = state_of(machines, n_machines);
    dni_write_u8(writer, state);
    for (size_t i = 0; i < n_machines && state == PRESENT; i++) {
        const dn_duals *duals = machines[i]->duals;
        dni_write_f64(writer, duals->residual);
        dni_write_u64(writer, duals->n);
        for (size_t k = 0; k < duals->n; k++) {
            const dn_dual *dual = &duals->items[k];
            dni_write_u64(writer, dual->row);
            dni_write_f64(writer, dual->coef);
            dni_write_f64(writer, dual->slack);
            dni_write_u8(writer,
                         (uint8_t)((dual->bounded ? BOUNDED : 0) | (dual->inside ? INSIDE : 0)));
        }
    }
}

static bool read_dual(dni_reader *reader, dn_dual *out) {
    const uint64_t row = dni_read_u64(reader);
    out->coef = dni_read_f64(reader);
    out->slack = dni_read_f64(reader);
    const uint8_t flags = dni_read_u8(reader);
    out->row = (size_t)row;
    out->bounded = (flags & BOUNDED) != 0;
    out->inside = (flags & INSIDE) != 0;
    return !reader->failed && row <= SIZE_MAX / 2 && isfinite(out->coef) && out->coef != 0 &&
           isfinite(out->slack) && out->slack >= 0 && flags <= (BOUNDED | INSIDE);
}

static dn_status read_machine(dni_reader *reader, dn_machine *machine, dn_error *err) {
    dn_dual *items;
    const double residual = dni_read_f64(reader);
    const size_t n = dni_read_count(reader, DUAL_SIZE);
    if (reader->failed || !isfinite(residual) || residual < 0) {
        return dni_machine_corrupt("the support vectors are truncated", err);
    }
    dn_status status = dni_machine_new_duals(machine, n, &items, err);
    if (status != DN_OK) {
        return status;
    }
    machine->duals->residual = residual;
    for (size_t k = 0; k < n; k++) {
        if (!read_dual(reader, &items[k]) || (k > 0 && items[k].row <= items[k - 1].row)) {
            return dni_machine_corrupt("a support vector is missing or out of range", err);
        }
    }
    return DN_OK;
}

dn_status dni_duals_read(dni_reader *reader, dn_machine *const *machines, size_t n_machines,
                         dn_error *err) {
    const uint8_t state = dni_read_u8(reader);
    dn_dual *items;
    if (reader->failed || state > PRESENT) {
        return dni_machine_corrupt("the state of the support vectors is unknown", err);
    }
    dn_status status = DN_OK;
    for (size_t i = 0; i < n_machines && state != NONE && status == DN_OK; i++) {
        if (machines[i]->n_classes != 2) {
            return dni_machine_corrupt("a machine of several classes has support vectors", err);
        }
        if (state == PRESENT) {
            status = read_machine(reader, machines[i], err);
            continue;
        }
        status = dni_machine_new_duals(machines[i], 0, &items, err);
        if (status == DN_OK) {
            dni_machine_omit_duals(machines[i]);
        }
    }
    return status;
}
