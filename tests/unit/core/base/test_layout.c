/* Layouts: the measured size equals the allocated size, and arrays do not overlap. */
#include "base/layout.h"
#include "unit/core/support.h"

struct shape {
    size_t n, rows;
};

struct work {
    double *x, *first, *second;
    unsigned char *marks;
};

/* `first` and `second` are never in use at the same time. */
static void work_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct work *w = out;
    w->x = dni_layout_matrix(layout, s->rows, s->n);
    w->marks = dni_layout_array(layout, s->n, 1);
    const double mark = dni_layout_mark(layout);
    w->first = dni_layout_doubles(layout, 10 * s->n);
    dni_layout_rewind(layout, mark);
    w->second = dni_layout_doubles(layout, s->n);
}

static size_t allocated;
static void *count_allocate(void *ctx, size_t size) {
    allocated += size;
    return *(bool *)ctx ? malloc(size) : NULL;
}
static void count_release(void *ctx, void *memory) {
    (void)ctx;
    free(memory);
}

static void test_measured_is_allocated(void **state) {
    (void)state;
    const struct shape shape = {7, 3};
    struct work w;
    void *memory = NULL;
    bool generous = true;
    const dn_allocator allocator = {.allocate = count_allocate,
                                    .release = count_release,
                                    .ctx = &generous,
                                    .budgeted = true};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    allocated = 0;
    OK(dni_layout_take(&run, work_layout, &shape, &w, "the work", &memory, NULL));
    assert_true((double)allocated == dni_layout_bytes(work_layout, &shape, &(struct work){0}));
    assert_int_equal((uintptr_t)w.x % DNI_LAYOUT_ALIGN, 0);
    assert_int_equal((uintptr_t)w.marks % DNI_LAYOUT_ALIGN, 0);
    assert_true((char *)w.marks >= (char *)(w.x + 21));
    assert_ptr_equal(w.first, w.second);
    assert_true((char *)(w.first + 70) <= (char *)memory + allocated);
    for (size_t i = 0; i < 21; i++) {
        assert_true(w.x[i] == 0);
    }
    dn_run_free(&run, memory);
}

static void test_refused(void **state) {
    (void)state;
    const struct shape shape = {7, 3}, absurd = {SIZE_MAX / 2, SIZE_MAX / 2};
    struct work w;
    void *memory = &w;
    bool generous = false;
    const dn_allocator allocator = {.allocate = count_allocate,
                                    .release = count_release,
                                    .ctx = &generous,
                                    .budgeted = true};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    dn_error err = {0};
    assert_int_equal(dni_layout_take(&run, work_layout, &shape, &w, "the work", &memory, &err),
                     DN_ERR_BUDGET);
    assert_non_null(strstr(err.message, "the work"));
    assert_ptr_equal(memory, &w);
    assert_null(w.x);
    assert_int_not_equal(dni_layout_take_raw(NULL, work_layout, &absurd, &w, "the work", &memory,
                                             NULL),
                         DN_OK);
    assert_ptr_equal(memory, &w);
}

static void test_empty(void **state) {
    (void)state;
    const struct shape shape = {0, 0};
    struct work w;
    void *memory = &w;
    OK(dni_layout_take(NULL, work_layout, &shape, &w, "the work", &memory, NULL));
    assert_null(memory);
    assert_true(dni_layout_bytes(work_layout, &shape, &w) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured_is_allocated),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
