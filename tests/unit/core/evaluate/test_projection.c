/* Fisher's criterion over the angle: two classes against S_W⁻¹(m_2 − m_1), weights as repeated
 * rows, chunk borders, columns of very different units; refused options, data and allocations. */
#include "unit/core/support.h"

#include "unit/core/table/chunked.h"
#include <discern/projection.h>

enum { N = 50 };

struct data {
    double x[2][N], weight[N];
    const char *label[N];
    chunked_column columns[4];
    chunked source;
};

static const size_t one_chunk[] = {0, N}, chunks[] = {0, 1, 17, 18, N};

static void data_init(struct data *t, double unit, const size_t *borders, size_t n_chunks) {
    for (size_t i = 0; i < N; i++) {
        t->x[0][i] = 100 + sin((double)i) + 0.7 * (double)(i % 2);
        t->x[1][i] = unit * (cos(3.0 * (double)i) + 0.5 * t->x[0][i] - (double)(i % 2));
        t->weight[i] = (double)(i % 3);
        t->label[i] = i % 11 == 5 ? NULL : i % 2 == 0 ? "a" : "b";
    }
    const chunked_column columns[] = {
        {.column = {.name = "x", .type = DN_NUMERIC}, .number = t->x[0]},
        {.column = {.name = "y", .type = DN_NUMERIC}, .number = t->x[1]},
        {.column = {.name = "class", .type = DN_CATEGORICAL}, .text = t->label},
        {.column = {.name = "w", .type = DN_NUMERIC}, .number = t->weight}};
    memcpy(t->columns, columns, sizeof columns);
    chunked_init(&t->source, t->columns, 4, N, borders, n_chunks);
}

/* A model of the classes; its input is x. */
static dn_model *train_on(struct data *t) {
    dn_params *p;
    size_t columns[] = {0};
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    dn_train_request request = {.source = &t->source.source, .params = p, .target = 2};
    request.features.columns = columns;
    request.features.n_columns = 1;
    dn_run run = dn_run_default();
    dn_train_result result;
    OK(dn_train(&request, &run, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    return model;
}

/* w ← S_W⁻¹(m_2 − m_1) of the weighted rows; returns J of a direction. */
static double plain(const struct data *t, double ux, double uy, double w[2]) {
    double n[2] = {0}, m[2][2] = {{0}}, s[3] = {0};
    for (size_t i = 0; i < N; i++) {
        if (t->label[i] != NULL) {
            n[i % 2] += t->weight[i];
            m[i % 2][0] += t->weight[i] * t->x[0][i];
            m[i % 2][1] += t->weight[i] * t->x[1][i];
        }
    }
    for (size_t k = 0; k < 2; k++) {
        m[k][0] /= n[k];
        m[k][1] /= n[k];
    }
    for (size_t i = 0; i < N; i++) {
        if (t->label[i] != NULL) {
            const double x = t->x[0][i] - m[i % 2][0], y = t->x[1][i] - m[i % 2][1];
            s[0] += t->weight[i] * x * x;
            s[1] += t->weight[i] * x * y;
            s[2] += t->weight[i] * y * y;
        }
    }
    const double dx = m[1][0] - m[0][0], dy = m[1][1] - m[0][1], det = s[0] * s[2] - s[1] * s[1],
                 gap = ux * dx + uy * dy;
    w[0] = (s[2] * dx - s[1] * dy) / det;
    w[1] = (s[0] * dy - s[1] * dx) / det;
    return n[0] * n[1] / (n[0] + n[1]) * gap * gap /
           (s[0] * ux * ux + 2 * s[1] * ux * uy + s[2] * uy * uy);
}

static void two_classes(void **state) {
    (void)state;
    static const double units[] = {1, 1e6, 1e-6};
    for (size_t u = 0; u < 3; u++) {
        struct data t;
        data_init(&t, units[u], u ? chunks : one_chunk, u ? 4 : 1);
        dn_model *model = train_on(&t);
        dn_projection *p = NULL;
        double w[2];
        const dn_projection_options options = {.column = {"x", "y"}, .n_angles = 37, .weight = "w"};
        OK(dn_model_projection(model, &t.source.source, &options, NULL, &p, NULL));
        assert_int_equal(p->n_angles, 37);
        for (size_t i = 0; i < 37; i++) {
            const double j = plain(&t, cos(p->angle[i]), sin(p->angle[i]), w);
            assert_true(fabs(p->value[i] - j) <= 1e-10 * j + 1e-300);
            assert_true(p->value[i] <= p->best_value * (1 + 1e-12));
        }
        const double best = plain(&t, w[0], w[1], w),
                     angle = atan2(w[1], w[0]) + (w[1] < 0 ? acos(-1) : 0);
        assert_true(fabs(p->best_value - best) <= 1e-10 * best);
        assert_true(fabs(p->best_angle - angle) <= 1e-10 * angle);
        dn_projection_free(p);
        dn_model_unref(model);
        chunked_done(&t.source);
    }
}

/* Equal class means: J is 0 at every angle. */
static void no_difference(void **state) {
    (void)state;
    struct data t;
    data_init(&t, 1, one_chunk, 1);
    dn_model *model = train_on(&t);
    chunked_done(&t.source);
    for (size_t i = 0; i < N; i++) { /* (±1, ±1) once in each class */
        t.label[i] = i < 8 ? i % 2 ? "b" : "a" : NULL;
        t.x[0][i] = i / 2 % 2 ? 1 : -1;
        t.x[1][i] = i / 4 % 2 ? 1 : -1;
    }
    chunked_init(&t.source, t.columns, 4, N, one_chunk, 1);
    dn_projection *p = NULL;
    const dn_projection_options options = {.column = {"x", "y"}};
    OK(dn_model_projection(model, &t.source.source, &options, NULL, &p, NULL));
    assert_int_equal(p->n_angles, 181);
    assert_int_equal(p->n_rows, 8);
    for (size_t i = 0; i < 181; i++) {
        assert_true(p->value[i] == 0);
    }
    assert_true(p->best_angle == 0 && p->best_value == 0);
    dn_projection_free(p);
    dn_model_unref(model);
    chunked_done(&t.source);
}

static void refusals(void **state) {
    (void)state;
    struct data t;
    data_init(&t, 1, one_chunk, 1);
    dn_model *model = train_on(&t);
    dn_projection *p = NULL;
    dn_error err;
    static const struct {
        dn_projection_options options;
        dn_status status;
        const char *field;
    } bad[] = {
        {{.column = {"x", "x"}}, DN_ERR_ARGUMENT, "columns"},
        {{.column = {"x", NULL}}, DN_ERR_ARGUMENT, "columns"},
        {{.column = {"x", "y"}, .n_angles = 1}, DN_ERR_ARGUMENT, "angles"},
        {{.column = {"x", "y"}, .n_angles = DN_MAX_ANGLES + 1}, DN_ERR_ARGUMENT, "angles"},
        {{.column = {"x", "z"}}, DN_ERR_DATA, "z"},
        {{.column = {"x", "class"}}, DN_ERR_DATA, "class"},
        {{.column = {"x", "y"}, .weight = "v"}, DN_ERR_DATA, "v"},
        {{.column = {"x", "y"}, .target = "t"}, DN_ERR_DATA, "t"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dn_model_projection(model, &t.source.source, &bad[i].options, NULL, &p,
                                             &err),
                         bad[i].status);
        assert_string_equal(err.field, bad[i].field);
    }
    const dn_projection_options good = {.column = {"x", "y"}};
    dn_error_clear(&err);
    assert_int_equal(dn_model_projection(model, &t.source.source, NULL, NULL, &p, &err),
                     DN_ERR_ARGUMENT);
    for (size_t i = 0; i < N; i++) { /* collinear */
        t.x[1][i] = 2 * t.x[0][i];
    }
    chunked_done(&t.source);
    chunked_init(&t.source, t.columns, 4, N, one_chunk, 1);
    dn_error_clear(&err);
    assert_int_equal(dn_model_projection(model, &t.source.source, &good, NULL, &p, &err),
                     DN_ERR_DATA);
    assert_non_null(strstr(err.message, "singular"));
    for (size_t i = 0; i < N; i++) {
        t.x[1][i] = (double)NAN;
    }
    chunked_done(&t.source);
    chunked_init(&t.source, t.columns, 4, N, one_chunk, 1);
    dn_error_clear(&err);
    assert_int_equal(dn_model_projection(model, &t.source.source, &good, NULL, &p, &err),
                     DN_ERR_DATA);
    for (size_t i = 0; i < N; i++) {
        t.x[1][i] = i % 3 ? 1e300 : -1e300;
    }
    chunked_done(&t.source);
    chunked_init(&t.source, t.columns, 4, N, one_chunk, 1);
    dn_error_clear(&err);
    assert_int_equal(dn_model_projection(model, &t.source.source, &good, NULL, &p, &err),
                     DN_ERR_DATA);
    assert_non_null(strstr(err.message, "overflow"));
    assert_null(p);
    dn_model_unref(model);
    chunked_done(&t.source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_classes),
        cmocka_unit_test(no_difference),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
