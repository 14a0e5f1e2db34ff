/* A comparison of models: the request, and the answer (compare_answer.c). */
#ifndef API_COMPARE_H
#define API_COMPARE_H

#include "base/ids.h"
#include "base/problem.h"
#include "formats/instances/row_notes.h"
#include "http/http.h"
#include "jobs/budget.h"
#include "serving/serving.h"
#include <discern/compare.h>

enum { COMPARE_MODELS = 20 }; /* maximum number of models */

struct compare_model {
    const char *reference;         /* as in the request: "churn" or "churn@3" */
    const struct serving_model *m; /* NULL: not loaded */
    struct row_notes *notes;       /* about the rows; NULL: none */
};

struct compare {
    struct http_call *call;
    struct problem problem;
    /* the request */
    struct compare_model models[COMPARE_MODELS];
    size_t n;            /* number of models */
    const char *dataset; /* reference; with the version, once it is known */
    const char *name;    /* of the dataset */
    const char *target;  /* NULL: that of the models */
    const char *weight;  /* NULL: none */
    bool weight_given;   /* by the request */
    int64_t seed, samples, rows;
    double confidence;
    /* the computation */
    int64_t version; /* of the dataset */
    double n_rows;   /* of the dataset */
    struct budget budget;
    dn_run run;
    dn_comparison *comparison;
    size_t n_added; /* models that were evaluated */
};

/* Replies with the results. */
void compare_reply(struct compare *c);

#endif
