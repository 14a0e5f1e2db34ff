/* A linear model with given weights: the classes, inputs and decision of a trained model. */
#include "base/argument.h"
#include "linalg/vector.h"
#include "machine/linear.h"
#include "model/model_impl.h"

#include <stdlib.h>
#include <string.h>

bool dn_model_takes_weights(const dn_model *model) {
    return model->linear && model->n_machines == 1 &&
           dni_linear_machine_of(model->machines[0])->gaussians == NULL;
}

/* *out ← a machine for encoded features with the weights w and w0 of raw features. */
static dn_status machine_of(const dn_model *model, const double *w, const double *w0,
                            dn_machine **out, dn_error *err) {
    const size_t S = model->n_scores, d = model->n_features;
    dn_status status = dni_linear_machine_new(model->classes.view.n, d, false, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_machine *to = dni_linear_machine_of(*out);
    to->base.threshold = model->machines[0]->threshold;
    const double *mean = dn_encoder_mean(model->encoder), *scale = dn_encoder_scale(model->encoder);
    for (size_t k = 0; k < S; k++) {
        to->w0[k] = w0[k];
        for (size_t j = 0; j < d; j++) {
            to->w[k * d + j] = scale == NULL ? w[k * d + j] : w[k * d + j] * scale[j];
            to->w0[k] += mean == NULL ? 0 : w[k * d + j] * mean[j];
        }
    }
    if (!dni_all_finite(to->w, S * d) || !dni_all_finite(to->w0, S)) {
        return dn_error_set(err, DN_ERR_NUMERIC, "the weights are not finite");
    }
    return DN_OK;
}

dn_status dn_model_with_weights(const dn_model *model, const double *w, const double *w0,
                                dn_model **out, dn_error *err) {
    const char *missing = model == NULL ? "model"
                          : w == NULL   ? "w"
                          : w0 == NULL  ? "w0"
                          : out == NULL ? "out"
                                        : NULL;
    if (missing != NULL) {
        return dni_argument_null(missing, err);
    }
    if (!dn_model_takes_weights(model)) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "only a model with one linear machine and no class densities can be "
                            "given other weights");
    }
    dni_classes classes = {0};
    dn_machine **machines = calloc(1, sizeof *machines);
    dn_encoder *encoder = dn_encoder_ref(model->encoder);
    dn_status status = machines == NULL
                           ? dn_error_set(err, DN_ERR_MEMORY, "no memory for the weights")
                           : machine_of(model, w, w0, &machines[0], err);
    if (status == DN_OK) {
        status = dni_classes_copy(&model->classes, &classes, err);
    }
    if (status == DN_OK) {
        const dni_model_parts parts = {.params = model->params,
                                       .seed = model->seed,
                                       .target = model->target,
                                       .target_length = strlen(model->target),
                                       .classes = &classes,
                                       .encoder = encoder,
                                       .decision = model->decision,
                                       .machines = machines,
                                       .n_machines = 1};
        status = dni_model_new(&parts, out, err);
    }
    if (status != DN_OK) {
        dni_classes_done(&classes);
        dni_machines_free(machines, 1);
        dn_encoder_unref(encoder);
    }
    return status;
}
