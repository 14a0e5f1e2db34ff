#include "unit/core/model/kernel_models.h"

struct km_rows km_rows_new(enum km_way way) {
    static const size_t columns[] = {L_AGE, L_SPARSE, L_KIND, L_NOTE};
    struct km_rows r = {.t = vector_table_new(3), .n = KM_ROWS, .role = xcalloc(VECTORS_ROWS, 1)};
    const dn_encoder_spec spec = {.columns = columns,
                                  .n_columns = 4,
                                  .standardize = true,
                                  .standardize_sparse = way != KM_SPARSE,
                                  .missing_indicator = true,
                                  .text = {.buckets = way == KM_SCALED ? 400 : 0}};
    chunked source;
    dn_block block;
    memset(r.role, DN_ROW_TRAIN, r.n);
    vector_table_source(r.t, r.t->columns, L_COLUMNS, 1, &source);
    OK(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &r.encoder, NULL));
    OK(dn_rows_from_source(&source.source, r.encoder, r.role, DN_ROW_TRAIN, r.t->target, NULL, true,
                           NULL, &r.rows, NULL));
    chunked_done(&source);
    OK(dn_rows_block(r.rows, 0, 0, &block, NULL));
    r.encoded = block.x;
    r.raw = raw_of(r.t, r.encoder, r.n);
    r.d = dn_encoder_n_features(r.encoder);
    r.x = xcalloc(r.n * r.d, sizeof *r.x);
    dn_encoder_apply(r.encoder, r.raw.rows, r.x);
    assert_int_equal(dn_encoder_is_sparse(r.encoder), way != KM_DENSE);
    return r;
}

void km_rows_done(struct km_rows *r) {
    dn_rows_free(r->rows);
    raw_done(&r->raw);
    dn_encoder_unref(r->encoder);
    free(r->x);
    free(r->role);
    free(r->t);
}

/* Creates KM_SUPPORT support vectors: the encoded rows 0, 2, 4, … */
static dni_support *km_support(const struct km_rows *r, const dn_kernel *kernel) {
    dni_support *support = NULL;
    size_t n_entries = 0;
    for (size_t i = 0; r->encoded.kind == DN_CSR && i < KM_SUPPORT; i++) {
        n_entries += r->encoded.row_start[2 * i + 1] - r->encoded.row_start[2 * i];
    }
    OK(dni_support_new(kernel, KM_SUPPORT, r->encoded.kind == DN_CSR ? n_entries : SIZE_MAX, NULL,
                       &support, NULL));
    for (size_t i = 0; i < KM_SUPPORT; i++) {
        dni_support_add(support, dn_matrix_rows(r->encoded, 2 * i, 1));
    }
    OK(dni_support_end(support, NULL));
    return support;
}

/* A machine that uses two of three support vectors. */
static dn_machine *km_machine(dni_support *support, size_t m) {
    dn_machine *machine;
    size_t n = 0;
    for (size_t i = 0; i < support->x.n_rows; i++) {
        n += (i + m) % 3 != 0;
    }
    OK(dni_kernel_machine_new(support, n, &machine, NULL));
    dni_kernel_machine *k = dni_kernel_machine_of(machine);
    for (size_t i = 0, at = 0; i < support->x.n_rows; i++) {
        if ((i + m) % 3 != 0) {
            k->index[at] = (uint32_t)i;
            k->coef[at++] = sin(1.3 * (double)(i + 7 * m)) + 0.1;
        }
    }
    k->w0 = 0.25 - 0.5 * (double)m;
    k->norm = 2 + (double)m;
    return machine;
}

dn_status km_try_model(const struct km_rows *r, dn_machine **machines, size_t n,
                       dn_decision decision, dn_model **out, dn_error *err) {
    static const double numbers[] = {-1, 0, 2.5};
    dni_classes classes;
    dn_params *params;
    dn_status status = dni_classes_from_numbers(DN_NUMERIC, numbers, n == 1 ? 2 : 3, &classes, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_params_new(dn_algorithm_find("perceptron"), &params, err);
    if (status == DN_OK) {
        status = dn_params_set_word(params, "multiclass", "one_vs_one", err);
    }
    const dni_model_parts parts = {.params = params,
                                   .seed = 3,
                                   .target = "class",
                                   .target_length = 5,
                                   .classes = &classes,
                                   .encoder = r->encoder,
                                   .decision = decision,
                                   .machines = machines,
                                   .n_machines = n};
    if (status == DN_OK) {
        status = dni_model_new(&parts, out, err);
    }
    if (status == DN_OK) {
        dn_encoder_ref(r->encoder); /* the model owns a reference */
    } else {
        dni_classes_done(&classes);
    }
    dn_params_free(params);
    return status;
}

dn_model *km_model(const struct km_rows *r, const dn_kernel *kernel, size_t n, dn_decision decision,
                   double threshold) {
    dni_support *support = km_support(r, kernel);
    dn_machine **machines = xcalloc(n, sizeof *machines);
    dn_model *model = NULL;
    for (size_t m = 0; m < n; m++) {
        machines[m] = km_machine(support, m);
    }
    dni_machine_set_threshold(machines[0], threshold);
    dni_support_unref(support);
    OK(km_try_model(r, machines, n, decision, &model, NULL));
    return model;
}
