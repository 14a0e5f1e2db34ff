/* Histograms of the coordinates of a stored dataset, by class. */
#include "api/predictions/grids/histogram.h"
#include "api/policy.h"
#include "api/predictions/answer.h"
#include "api/predictions/evaluation.h"
#include "api/predictions/instances.h"
#include "api/predictions/plan.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "jobs/documents.h"

#include <string.h>

/* Maximum size in bytes of a body that names a dataset. */
enum { REQUEST_BYTES = 4096, USUAL_BINS = 30 };

struct request {
    const dn_model *model;
    dn_histogram_options options;
    dn_histogram *result;
};

/* Returns the body if it is a JSON object with a member "histogram", otherwise NULL. */
static json_t *read_body(struct http_call *call) {
    struct problem ignored = {0};
    size_t size;
    const char *body = http_body_bytes(call, &size), *type = http_content_type(call);
    if (size > REQUEST_BYTES || (type[0] != '\0' && strcmp(type, API_JSON) != 0) ||
        *json_first(body, size) != '{') {
        return NULL;
    }
    json_t *root = json_parse(body, size, &ignored);
    problem_done(&ignored); /* the reader of instances reports the same fault in more detail */
    if (json_object_get(root, "histogram") == NULL) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static dn_status compute(void *arg, const dn_table_source *table, const char *target,
                         const dn_run *run, dn_error *err) {
    struct request *r = arg;
    r->options.target = target;
    return dn_model_histogram(r->model, table, &r->options, run, &r->result, err);
}

/* Checks that one answer can hold the histograms. */
static bool check_size(const struct request *r, struct problem *problem) {
    const double n_components = (double)dn_model_n_components(r->model, r->options.coordinates),
                 numbers = n_components * (double)(r->options.bins + 1) *
                           (double)(dn_model_classes(r->model)->n + 1);
    return numbers <= OUTPUTS_MAX_NUMBERS ||
           problem_set(problem, PROBLEM_ANSWER_TOO_LONG,
                       "histograms of %.0f components have %.0f numbers, more than the %d that one "
                       "answer may hold: take fewer bins",
                       n_components, numbers, OUTPUTS_MAX_NUMBERS);
}

static void write_component(struct json_writer *w, const dn_histogram *h, size_t c) {
    json_begin_object(w);
    json_put_vector(w, "edges", h->edges + c * (h->n_bins + 1), h->n_bins + 1);
    json_put_matrix(w, "counts", h->counts + c * h->n_classes * h->n_bins, h->n_classes, h->n_bins);
    json_end_object(w);
}

static void reply(struct http_call *call, const struct serving_model *m, const dn_histogram *h) {
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_int(&w, "components", (int64_t)h->n_components);
    json_kv_int(&w, "rows", (int64_t)h->n_rows);
    jobs_classes_write("classes", dn_model_classes(m->model), &w);
    json_kv_begin_array(&w, "histograms");
    for (size_t c = 0; c < h->n_components; c++) {
        write_component(&w, h, c);
    }
    json_end_array(&w);
    json_end_object(&w);
    api_reply_json(call, 200, &body);
}

static bool make(struct http_call *call, struct request *r, const json_t *root,
                 const struct serving_model *m, const struct instances_options *options,
                 struct problem *problem) {
    static const char *const known[] = {"dataset", "target", "weight", "histogram", NULL};
    struct dataset_work work = {.schema = predict_plan_of(m)->schema,
                                .options = options,
                                .compute = compute,
                                .arg = r};
    int64_t bins = USUAL_BINS;
    json_refuse_unknown(root, known, "", problem);
    json_read_string(root, "dataset", true, "", &work.dataset, problem);
    json_read_string(root, "target", false, "", &work.target, problem);
    json_read_string(root, "weight", false, "", &work.weight, problem);
    json_read_int(root, "histogram", true, "", 1, DN_MAX_BINS, &bins, problem);
    if (problem->type) {
        return false;
    }
    r->options.bins = (size_t)bins;
    r->options.weight = work.weight;
    return api_coordinates_check(m, r->options.coordinates, problem) && check_size(r, problem) &&
           api_dataset_work(call, m->model, &work, problem);
}

bool api_histogram_answer(struct http_call *call, const struct serving_model *m,
                          dn_coordinates coordinates) {
    struct request r = {.model = m->model, .options = {.coordinates = coordinates}};
    struct instances_options options;
    struct problem problem = {0};
    json_t *root = read_body(call);
    if (root == NULL) {
        return false;
    }
    if (!api_reply_format(call, &format_json)->answers->document) {
        http_fail(call, PROBLEM_NOT_ACCEPTABLE, "histograms can be sent as " API_JSON " only");
    } else if (http_query(call, "keep") != NULL || http_query(call, "extra") != NULL) {
        problem_set(&problem, PROBLEM_BAD_REQUEST,
                    "query parameter \"%s\" is for rows: a histogram has none",
                    http_query(call, "keep") != NULL ? "keep" : "extra");
        http_reply_problem(call, &problem);
    } else if (!api_instances_stored(call, &options)) {
        json_decref(root);
        return true; /* answered */
    } else if (make(call, &r, root, m, &options, &problem)) {
        reply(call, m, r.result);
    } else {
        http_reply_problem(call, &problem);
    }
    dn_histogram_free(r.result);
    json_decref(root);
    return true;
}
