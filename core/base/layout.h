/* Layouts: the arrays that a computation needs, declared once.
 *
 * A layout function reserves arrays one after the other. It is called for two purposes. To
 * measure: all addresses are NULL and only the total size is computed. To carve: the arrays become
 * parts of one block of memory. The estimate of a fit's memory is the measured size, so that it
 * cannot differ from what the fit allocates.
 *
 *     struct work { double *x, *gradient; uint32_t *order; };
 *     static void work_layout(dni_layout *layout, const void *shape, void *out) {
 *         const struct shape *s = shape;
 *         struct work *w = out;
 *         w->x = dni_layout_doubles(layout, s->n);
 *         w->gradient = dni_layout_doubles(layout, s->n);
 *         w->order = dni_layout_array(layout, s->n_rows, sizeof *w->order);
 *     }
 *
 * The layout function of a larger computation calls the layout functions of its parts. Parts that
 * are never in use at the same time share memory: take a mark, reserve the first part, go back to
 * the mark, reserve the second. Arrays that grow with the data, and memory that is used after the
 * fit, are not part of a layout. */
#ifndef DNI_LAYOUT_H
#define DNI_LAYOUT_H

#include <discern/run.h>
#include <stddef.h>

/* Every array begins at a multiple of this many bytes. */
#define DNI_LAYOUT_ALIGN 64

typedef struct dni_layout {
    char *memory; /* NULL: measuring */
    double at;    /* bytes reserved so far; a double, because a size may exceed size_t while
                   * measuring */
    double peak;  /* the largest `at` so far */
} dni_layout;

/* Reserves count × size bytes. Returns the address of the array; NULL while measuring. */
void *dni_layout_array(dni_layout *layout, size_t count, size_t size);
/* Reserves count doubles. */
double *dni_layout_doubles(dni_layout *layout, size_t count);
/* Reserves rows × cols doubles; the product may exceed size_t while measuring. */
double *dni_layout_matrix(dni_layout *layout, size_t rows, size_t cols);

/* dni_layout_mark returns the current position of the layout; dni_layout_rewind returns to it. */
static inline double dni_layout_mark(const dni_layout *layout) {
    return layout->at;
}
static inline void dni_layout_rewind(dni_layout *layout, double mark) {
    layout->at = mark;
}

/* Reserves the arrays of a computation on data of the given shape and stores their addresses in
 * `work`, a struct of the caller. It must not read `work`; the sizes may depend only on `shape`. */
typedef void (*dni_layout_fn)(dni_layout *layout, const void *shape, void *work);

/* Returns the number of bytes that dni_layout_take allocates. The members of `work` are
 * overwritten. */
double dni_layout_bytes(dni_layout_fn fn, const void *shape, void *work);

/* Allocates the layout from the run's memory, filled with zeros, and stores the addresses in
 * `work`.
 *
 *   work        the caller's struct; its pointers are NULL after a failure
 *   what        names the memory in messages: "the weights"
 *   out_memory  the block, to be released with dn_run_free; NULL if the layout is empty
 *
 * Errors: those of dn_run_alloc. On failure *out_memory is unchanged. */
DN_MUST_USE dn_status dni_layout_take(const dn_run *run, dni_layout_fn fn, const void *shape,
                                      void *work, const char *what, void **out_memory,
                                      dn_error *err);

/* Like dni_layout_take, but the memory is not filled with zeros. Use it for large arrays that are
 * written before they are read. */
DN_MUST_USE dn_status dni_layout_take_raw(const dn_run *run, dni_layout_fn fn, const void *shape,
                                          void *work, const char *what, void **out_memory,
                                          dn_error *err);

/* Carves the layout from memory of the caller: stores the addresses of the arrays in `work`. The
 * memory has at least dni_layout_bytes(fn, shape, work) bytes and is aligned for any type. */
void dni_layout_carve(void *memory, dni_layout_fn fn, const void *shape, void *work);

#endif
