/* Encoder, rows, learner, model, metrics of one fit. */
#include "training/fit.h"
#include "evaluate/evaluate_rows.h"
#include "model/model_impl.h"
#include "task/weights.h"
#include "training/constant_inputs.h"
#include "training/fit_machines.h"
#include "training/training_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dn_status bad_product(size_t row, double weight, const char *class_name, double factor,
                             dn_error *err) {
    dn_status status = dn_error_set(err, DN_ERR_DATA,
                                    "row %zu: its weight %g times %g of its class \"%.64s\" is not "
                                    "from 1e-100 to 1e100: take weights nearer "
                                    "to 1",
                                    row, weight, factor, class_name);
    dn_error_set_field(err, "class_weight");
    dn_error_set_row(err, (int64_t)row);
    return status;
}

/* labels->value ← weight · class weight of the training rows. */
static dn_status weigh(const dni_fit *t, dn_error *err) {
    const dn_train_request *r = t->request;
    const dni_labels *l = t->labels;
    size_t n = r->source->n_rows, K = l->classes.shown.n;
    if (l->value == NULL) {
        return DN_OK;
    }
    double *factor = malloc(K * sizeof *factor);
    if (factor == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the weights of %zu classes", K);
    }
    dni_class_factors(r->class_weight, r->class_weights, K, l->index, l->role, l->weight, n,
                      factor);
    dn_status status = DN_OK;
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        l->value[i] = 0;
        if (l->role[i] != DN_ROW_TRAIN) {
            continue;
        }
        size_t k = (size_t)l->index[i];
        double own = l->weight == NULL ? 1 : l->weight[i];
        l->value[i] = own * factor[k];
        if (!dni_weight_counts(l->value[i])) {
            status = bad_product(i, own, l->class_name[k], factor[k], err);
        }
    }
    free(factor);
    return status;
}

dn_status dni_training_calibrate(dni_fit *t, dn_error *err) {
    size_t fits = 0, of = 1;
    dn_status status =
        dni_calibrate(t->request, t->labels, t->run, &t->calibrated, &fits, &of, err);
    if (status != DN_OK || of == 1) {
        return status;
    }
    dni_share_init(&t->share, t->run, fits, of);
    t->run = &t->share.run;
    return DN_OK;
}

dn_status dni_fit_encode(dni_fit *t, dn_error *err) {
    const dn_train_request *r = t->request;
    const dni_labels *l = t->labels;
    const double *weight = l->value == NULL ? l->weight : l->value;
    size_t n_classes = l->classes.shown.n;
    t->n_train = 0;
    for (size_t i = 0; i < r->source->n_rows; i++) {
        t->n_train += l->role[i] == DN_ROW_TRAIN;
    }
    dn_status status = weigh(t, err);
    if (status != DN_OK) {
        return status;
    }
    dn_encoder_spec spec = r->features;
    const bool has_target = r->target != DN_NO_TARGET;
    spec.target = has_target ? l->index : NULL;
    spec.n_classes = has_target ? n_classes : 1;
    status = dn_encoder_fit(r->source, &spec, l->role, weight, t->run, &t->encoder, err);
    if (status != DN_OK) {
        return status;
    }
    size_t n_features = dn_encoder_n_features(t->encoder);
    t->set = (dni_training_set){.source = r->source,
                                .encoder = t->encoder,
                                .role = l->role,
                                .index = spec.target,
                                .weight = weight,
                                .n_rows = t->n_train,
                                .n_classes = n_classes,
                                .params = r->params,
                                .class_names = l->class_name,
                                .reserve =
                                    dni_rows_memory(r, r->source->n_rows, n_features,
                                                    dn_encoder_entries(t->encoder), n_classes, 1) +
                                    dni_ranking_memory(t->n_train, n_classes, l->weight != NULL)};
    return dni_training_rows(&t->set, t->run, &t->rows, &t->streamed, err);
}

/* The machines become a model that says with what it was trained: "auto" is no answer. */
static dn_status make_model(dni_fit *t, dn_machine **machines, size_t n_machines, dn_error *err) {
    const dn_train_request *r = t->request;
    const char *target = r->target == DN_NO_TARGET ? "" : r->source->columns[r->target].name;
    dni_classes classes = {0};
    dn_params *used;
    dn_status status = dn_params_copy(r->params, &used, err);
    if (status != DN_OK) {
        return status;
    }
    dn_decision decision = dn_params_decision(used);
    status = dn_params_settle(used, t->rows->n_rows, t->rows->n_cols,
                              decision == DN_DECISION_NATIVE ? t->set.n_classes : 2, err);
    if (status == DN_OK) {
        status = dni_classes_copy(&t->labels->classes, &classes, err);
    }
    dni_model_parts parts = {.params = used,
                             .seed = t->run->seed,
                             .target = target,
                             .target_length = strlen(target),
                             .classes = &classes,
                             .encoder = t->encoder,
                             .decision = decision,
                             .machines = machines,
                             .n_machines = n_machines,
                             .calibration = t->calibrated.calibration};
    if (status == DN_OK) {
        status = dni_model_new(&parts, &t->model, err);
    }
    dn_params_free(used);
    if (status == DN_OK) {
        t->encoder = NULL; /* the model's now; its rows still borrow it */
    } else {
        dni_classes_done(&classes);
    }
    return status;
}

dn_status dni_fit_train(dni_fit *t, dn_error *err) {
    dn_machine **machines;
    size_t n_machines;
    dn_status status =
        dni_fit_machines(&t->set, t->rows, t->run, &machines, &n_machines, &t->report, err);
    if (status != DN_OK) {
        return status;
    }
    dni_clear_constant_weights(t->encoder, machines, n_machines);
    dn_report_text(&t->report, "rows", t->streamed ? "streamed" : "in memory");
    dni_calibrated_tell(&t->calibrated, &t->report);
    status = make_model(t, machines, n_machines, err);
    if (status == DN_OK) {
        t->calibrated.calibration = NULL; /* the model's now */
    } else {
        dni_machines_free(machines, n_machines);
    }
    return status;
}

dn_status dni_fit_evaluate(const dni_fit *t, enum dn_row_role role, bool curves, dn_metrics **out,
                           dn_error *err) {
    const dni_labels *l = t->labels;
    dn_rows *own = NULL;
    if (role != DN_ROW_TRAIN) {
        dn_status status = dn_rows_from_source(t->request->source, t->model->encoder, l->role, role,
                                               l->index, NULL, false, t->run, &own, err);
        if (status != DN_OK) {
            return status;
        }
    }
    const dni_evaluate_input input = {own == NULL ? t->rows : own, l->weight, l->role,
                                      (uint8_t)role, curves};
    dn_status status = dni_evaluate_rows(&input, t->model, t->run, out, err);
    dn_rows_free(own);
    return status;
}

void dni_fit_release_rows(dni_fit *t) {
    dn_rows_free(t->rows);
    t->rows = NULL;
}

void dni_fit_done(dni_fit *t) {
    dni_fit_release_rows(t);
    dn_encoder_unref(t->encoder);
    dn_model_unref(t->model);
    dni_calibrated_done(&t->calibrated);
    dn_report_done(&t->report);
    *t = (dni_fit){0};
}
