#include "kernel_model.h"
#include "kernel_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void find_same(struct kernel_model *p) {
    const struct view *view = p->view;
    for (size_t i = 0; i < TRAINED; i++) {
        size_t first = 0;
        while (p->rows->class_[first] != p->rows->class_[i] ||
               memcmp(view->raw + first * view->d, view->raw + i * view->d,
                      view->d * sizeof *view->raw) != 0) {
            first++;
        }
        p->same[i] = first;
    }
}

/* Covariance S of the columns: estimated, or the matrix in the job (what /weights prints). Returns
 * S⁻¹ in standardised units. */
static double *inverse_covariance(const struct kernel_model *p, const json_t *given) {
    const struct view *view = p->view;
    const size_t d = view->d;
    double n = 0, *s = keep(calloc(d * d, sizeof *s), free);
    for (size_t i = 0; i < TRAINED; i++) {
        n += p->v[i];
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < d; k++) {
            const double unit = view->scale[j] * view->scale[k];
            for (size_t i = 0; given == NULL && i < TRAINED; i++) {
                s[j * d + k] +=
                    p->v[i] / n * view->x[i * d + j] * view->x[i * d + k]; /* their mean is 0 */
            }
            if (given != NULL) {
                s[j * d + k] =
                    json_number_value(json_array_get(json_array_get(given, j), k)) / unit;
            }
            assert_true(fabs(real_at(p->weights, text("/kernel/covariance/%zu/%zu", j, k)) / unit -
                             s[j * d + k]) <= 1e-9);
        }
    }
    return plain_inverse(s, d);
}

/* The kernel that /weights prints is the kernel of the request. */
static void check_kernel(const struct kernel_model *p, json_t *asked) {
    const char *key;
    json_t *value;
    json_object_foreach(asked, key, value) {
        const json_t *said = value_at(p->weights, text("/kernel/%s", key));
        if (!json_is_array(value)) {
            assert_true(json_is_number(value) ? json_number_value(said) == json_number_value(value)
                                              : json_equal(said, value));
        }
    }
}

static void compute_kernel(struct kernel_model *p, const json_t *asked) {
    const size_t d = p->view->d;
    const json_t *width = json_find(p->weights->json, "/kernel/width");
    struct plain_kernel kernel = plain_kernel_of(asked, json_number_value(width));
    const bool given = strcmp(kernel.type, "precomputed") == 0;
    if (strcmp(kernel.type, "mahalanobis") == 0) {
        kernel.inverse = inverse_covariance(p, json_object_get(asked, "covariance"));
    }
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < TRAINED; k++) {
            p->K[i][k] =
                given ? kernel_gram(i, k)
                      : plain_kernel_value(&kernel, p->view->x + i * d, p->view->x + k * d, d);
        }
    }
}

/* Value e of a support vector and its feature, *j. Dense vectors list all features, sparse ones [j,
 * x] pairs. */
static double entry_of(const json_t *row, size_t e, bool sparse, size_t *j) {
    const json_t *entry = json_array_get(row, e);
    *j = sparse ? (size_t)json_integer_value(json_array_get(entry, 0)) : e;
    return json_number_value(sparse ? json_array_get(entry, 1) : entry);
}

/* Support vector s in the units of the columns, its values found by the features' names. */
static double *support_vector(const struct kernel_model *p, size_t s) {
    const json_t *features = value_at(p->weights, "/features"),
                 *row = value_at(p->weights, text("/support_vectors/%zu", s));
    const bool sparse = json_is_true(value_at(p->weights, "/sparse"));
    double *out = keep(calloc(p->view->d, sizeof *out), free);
    for (size_t e = 0; e < json_array_size(row); e++) {
        size_t place, j = 0;
        const double value = entry_of(row, e, sparse, &place);
        const char *name = json_string_value(json_array_get(features, place));
        while (value != 0 && j < p->view->d && strcmp(p->view->names[j], name) != 0) {
            j++;
        }
        if (value != 0) {
            assert_true(j < p->view->d);
            out[j] = value;
        }
    }
    return out;
}

static bool alike(const double *a, const double *b, size_t d) {
    for (size_t j = 0; j < d; j++) {
        if (!(fabs(a[j] - b[j]) <= 1e-9 * (1 + fabs(b[j])))) {
            return false;
        }
    }
    return true;
}

static void find_support(struct kernel_model *p) {
    p->n_support = count_at(p->weights, "/support_vectors");
    assert_true(p->n_support <= TRAINED &&
                p->n_support == (size_t)whole_at(p->weights, "/n_support_vectors"));
    for (size_t s = 0; s < p->n_support; s++) {
        const double *vector = support_vector(p, s);
        size_t found = 0;
        for (size_t i = 0; i < TRAINED; i++) {
            if (p->same[i] == i && alike(vector, p->view->raw + i * p->view->d, p->view->d)) {
                p->row_of_support[s] = i;
                found++;
            }
        }
        if (found != 1) {
            fail_msg("support vector %zu is %zu of the rows", s, found);
        }
    }
}

/* The means and scales of standardised features are the means and deviations of the training
 * rows. */
static void check_scales(const struct kernel_model *p) {
    const struct view *view = p->view;
    const bool standardised = p->kind == VIEW_NUMBERS || p->kind == VIEW_MIXED;
    assert_true(has(p->weights, "/mean") == standardised &&
                has(p->weights, "/scale") == standardised);
    for (size_t f = 0; standardised && f < count_at(p->weights, "/features"); f++) {
        for (size_t j = 0; j < view->d; j++) {
            if (strcmp(string_at(p->weights, text("/features/%zu", f)), view->names[j]) == 0) {
                assert_true(fabs(real_at(p->weights, text("/mean/%zu", f)) - view->mean[j]) <=
                            1e-12 * view->scale[j]);
                assert_close(real_at(p->weights, text("/scale/%zu", f)), view->scale[j], 1e-12);
            }
        }
    }
}

void kernel_model_train(struct kernel_model *p, const char *dataset, const char *kernel,
                        const char *features, const char *params, const char *more) {
    const char *type, *body = kernel_rows_body(p->kind, &type);
    json_t *asked = keep(json_loads(quoted("%s", kernel), 0, NULL), (void (*)(void *))json_decref);
    p->job = job_train("{'model':'m','dataset':'%s',%s,'params':{'kernel':%s%s},'features':{%s}}",
                       dataset, more, kernel, params, features);
    assert_json(p->job, "/result/converged", "true");
    p->weights = status_check(call_get("/v1/models/m/weights"), 200);
    p->predictions =
        status_check(call(&(struct request){
                         .method = "POST",
                         .path = "/v1/models/m/predict?output=label,scores,distance,contributions",
                         .headers = HEADERS(type),
                         .body = body}),
                     200);
    assert_int_equal(count_at(p->predictions, "/predictions"), ROWS);
    assert_string_equal(string_at(p->weights, "/kind"), "kernel");
    p->view = view_of(p->kind, p->v);
    find_same(p);
    check_kernel(p, asked);
    check_scales(p);
    compute_kernel(p, asked);
    find_support(p);
}
