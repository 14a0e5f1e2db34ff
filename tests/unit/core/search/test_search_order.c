/* The order of trials under a time limit. */
#include "search/search_order.h"
#include "unit/core/support.h"

enum { N = 9 };

struct sample {
    size_t family[N];
    dn_trial trials[N];
    bool tried[N];
    dni_search_order order;
};

/* Families 0 0 0 1 1 2 2 2 2. */
static void init(struct sample *s) {
    static const size_t family[N] = {0, 0, 0, 1, 1, 2, 2, 2, 2};
    *s = (struct sample){.order = {s->family, s->trials, s->tried, true}};
    memcpy(s->family, family, sizeof family);
}

static void try(struct sample *s, size_t c, double mean) {
    s->trials[c] = (dn_trial){.candidate = c, .share = 1, .mean = mean};
    s->tried[c] = true;
}

static void assert_order(const struct sample *s, const size_t *list, size_t n,
                         const size_t *leaders, size_t n_leaders, const size_t *arranged) {
    size_t first[N], all[N];
    assert_int_equal(dni_search_leaders(&s->order, list, n, first), n_leaders);
    assert_memory_equal(first, leaders, n_leaders * sizeof *leaders);
    dni_search_arrange(&s->order, list, n, first, n_leaders, all);
    assert_memory_equal(all, arranged, n * sizeof *arranged);
}

static void every_family_comes_first(void **state) {
    (void)state;
    static const size_t list[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, some[] = {0, 2, 4, 5, 8};
    struct sample s;
    init(&s);
    assert_order(&s, list, N, (const size_t[]){1, 4, 7}, 3, list);
    try(&s, 1, 0.5);
    try(&s, 7, 0.3);
    assert_order(&s, list, N, (const size_t[]){7, 1, 4}, 3,
                 (const size_t[]){5, 6, 7, 8, 0, 1, 2, 3, 4});
    try(&s, 4, 0.4);
    try(&s, 2, 0.2);
    try(&s, 5, 0.9);
    assert_order(&s, list, N, (const size_t[]){2, 7, 4}, 3,
                 (const size_t[]){0, 1, 2, 5, 6, 7, 8, 3, 4});
    assert_order(&s, some, 5, (const size_t[]){2, 4, 5}, 3, (const size_t[]){0, 2, 4, 5, 8});
    s.order.smaller = false;
    assert_order(&s, some, 5, (const size_t[]){5, 4, 2}, 3, (const size_t[]){5, 8, 4, 0, 2});
}

static void failed_trials_come_last(void **state) {
    (void)state;
    static const size_t list[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct sample s;
    init(&s);
    try(&s, 1, 0.5);
    s.trials[1].status = DN_ERR_DATA;
    try(&s, 4, 0.7);
    try(&s, 6, 0.6);
    s.trials[6].share = 0.3;
    assert_order(&s, list, N, (const size_t[]){4, 6, 1}, 3,
                 (const size_t[]){3, 4, 5, 6, 7, 8, 0, 1, 2});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_comes_first),
        cmocka_unit_test(failed_trials_come_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
