/* Bases in a job's request: the default of every member that may be left out, and exact limits. */
#include "support.h"

#include "jobs/request/features.h"

static const struct jobs_column inputs[] = {{.index = 3, .name = "a", .type = DN_NUMERIC},
                                            {.index = 4, .name = "c", .type = DN_CATEGORICAL},
                                            {.index = 5, .name = "b", .type = DN_BOOLEAN}};

/* Reads {"basis": [`text`]}. Returns whether there was no fault. */
static bool read_basis(const char *text, struct arena *arena, dn_basis_spec *out) {
    char body[512];
    struct problem problem = {0};
    struct jobs_features features = {0};
    (void)snprintf(body, sizeof body, "{\"basis\": [%s]}", text);
    json_t *object = json_loads(body, JSON_DECODE_INT_AS_REAL, NULL);
    assert_non_null(object);
    jobs_bases_read(object, "/features", inputs, 3, arena, &features, &problem);
    const bool valid = problem.n_errors == 0 && features.n_bases == 1;
    if (features.n_bases == 1) {
        *out = features.bases[0];
    }
    problem_done(&problem);
    json_decref(object);
    return valid;
}

static void every_default(void **unused) {
    (void)unused;
    struct arena arena;
    dn_basis_spec b;
    arena_init(&arena, 1 << 20);

    assert_true(read_basis("{\"type\": \"polynomial\"}", &arena, &b));
    assert_int_equal(b.kind, DN_BASIS_POLYNOMIAL);
    assert_int_equal(b.degree, 2);
    assert_true(b.interactions && !b.standardize && b.columns == NULL);

    assert_true(read_basis("{\"type\": \"gaussian\", \"centres\": 3}", &arena, &b));
    assert_int_equal(b.kind, DN_BASIS_GAUSSIAN);
    assert_int_equal(b.n_points, 3);
    assert_true(b.points == NULL && b.width == 0 && b.columns == NULL);
    assert_true(!b.keep && !b.standardize);

    assert_true(read_basis("{\"type\": \"distance\", \"points\": [[1, 2]]}", &arena, &b));
    assert_int_equal(b.kind, DN_BASIS_DISTANCE);
    assert_int_equal(b.n_points, 1);
    assert_true(b.points[0] == 1 && b.points[1] == 2 && !b.keep && !b.standardize);

    assert_true(read_basis("{\"type\": \"random_fourier\"}", &arena, &b));
    assert_int_equal(b.kind, DN_BASIS_RANDOM_FOURIER);
    assert_int_equal(b.n_features, 100);
    assert_true(b.width == 0 && !b.keep && !b.standardize && b.columns == NULL);

    assert_true(read_basis("{\"type\": \"fisher\"}", &arena, &b));
    assert_int_equal(b.kind, DN_BASIS_FISHER);
    assert_int_equal(b.n_features, 0); /* all directions */
    assert_true(!b.keep && !b.standardize && b.columns == NULL);
    arena_done(&arena);
}

/* The type, the centres of a gaussian basis and the points of a distance basis have no default. */
static void required_members(void **unused) {
    (void)unused;
    struct arena arena;
    dn_basis_spec b;
    arena_init(&arena, 1 << 20);
    assert_false(read_basis("{}", &arena, &b));
    assert_false(read_basis("{\"type\": \"wavelet\"}", &arena, &b));
    assert_false(read_basis("{\"type\": \"gaussian\"}", &arena, &b));
    assert_false(read_basis("{\"type\": \"distance\"}", &arena, &b));
    arena_done(&arena);
}

static void limits_are_exact(void **unused) {
    (void)unused;
    static const struct {
        const char *start;
        int least, most;
    } members[] = {{"{\"type\": \"polynomial\", \"degree\": ", 1, DN_MAX_DEGREE},
                   {"{\"type\": \"random_fourier\", \"features\": ", 1, DN_MAX_BASIS_FEATURES},
                   {"{\"type\": \"gaussian\", \"centres\": ", 1, DN_MAX_BASIS_FEATURES},
                   {"{\"type\": \"fisher\", \"components\": ", 1, DN_MAX_BASIS_FEATURES}};
    struct arena arena;
    dn_basis_spec b;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        for (int past = -1; past < 2; past++) {
            char text[128];
            const int value = past < 0 ? members[i].least - 1 : members[i].most + past;
            (void)snprintf(text, sizeof text, "%s%d}", members[i].start, value);
            assert_true(read_basis(text, &arena, &b) == (past == 0));
        }
    }
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_default),
                                       cmocka_unit_test(required_members),
                                       cmocka_unit_test(limits_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
