/* Measuring and carving of layouts. */
#include "base/layout.h"
#include "base/run_memory.h"

#include <math.h>
#include <stdint.h>

static void *reserve(dni_layout *layout, double bytes) {
    void *address = layout->memory == NULL ? NULL : layout->memory + (size_t)layout->at;
    layout->at += ceil(bytes / DNI_LAYOUT_ALIGN) * DNI_LAYOUT_ALIGN;
    layout->peak = fmax(layout->peak, layout->at);
    return address;
}

void *dni_layout_array(dni_layout *layout, size_t count, size_t size) {
    return reserve(layout, (double)count * (double)size);
}

double *dni_layout_doubles(dni_layout *layout, size_t count) {
    return reserve(layout, (double)count * sizeof(double));
}

double *dni_layout_matrix(dni_layout *layout, size_t rows, size_t cols) {
    return reserve(layout, (double)rows * (double)cols * sizeof(double));
}

double dni_layout_bytes(dni_layout_fn fn, const void *shape, void *work) {
    dni_layout layout = {0};
    fn(&layout, shape, work);
    return layout.peak == 0 ? 0 : layout.peak + DNI_LAYOUT_ALIGN;
}

void dni_layout_carve(void *memory, dni_layout_fn fn, const void *shape, void *work) {
    const size_t past = (size_t)((uintptr_t)memory % DNI_LAYOUT_ALIGN);
    dni_layout layout = {.memory = (char *)memory + (DNI_LAYOUT_ALIGN - past) % DNI_LAYOUT_ALIGN};
    fn(&layout, shape, work);
}

static dn_status take(const dn_run *run, dni_layout_fn fn, const void *shape, void *work,
                      bool zeroed, const char *what, void **out_memory, dn_error *err) {
    const double bytes = dni_layout_bytes(fn, shape, work);
    void *memory = NULL;
    if (bytes > 0) {
        const size_t size = bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX;
        const dn_status status = zeroed ? dn_run_alloc(run, size, 1, what, &memory, err)
                                        : dni_run_alloc_raw(run, size, 1, what, &memory, err);
        if (status != DN_OK) {
            return status;
        }
        dni_layout_carve(memory, fn, shape, work);
    }
    *out_memory = memory;
    return DN_OK;
}

dn_status dni_layout_take(const dn_run *run, dni_layout_fn fn, const void *shape, void *work,
                          const char *what, void **out_memory, dn_error *err) {
    return take(run, fn, shape, work, true, what, out_memory, err);
}

dn_status dni_layout_take_raw(const dn_run *run, dni_layout_fn fn, const void *shape, void *work,
                              const char *what, void **out_memory, dn_error *err) {
    return take(run, fn, shape, work, false, what, out_memory, err);
}
