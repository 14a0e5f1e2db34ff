/* Estimates of the work of calls. */
#include "api/predictions/work.h"
#include "api/predictions/plan.h"
#include "api/predictions/stored_rows.h"
#include "api/support.h"
#include "base/ids.h"
#include "base/json/json.h"

#include <math.h>

#define SHORT_PRODUCTS 4e6      /* 1.5 ms */
#define LASTING_PRODUCTS 32e6   /* 10 ms */
#define BYTE_PRODUCTS 16        /* to read a byte of a body, and to write the answer for it */
#define TEXT_PRODUCTS 4e6       /* for a row if the texts of the model are costly */
#define COUNTED_BYTES (2 << 20) /* rows are counted in this many bytes; more are long anyway */
#define NAMING_BYTES 4096 /* a longer body that names a dataset is long without being parsed */

enum http_load api_load_of(double products) {
    return products <= SHORT_PRODUCTS     ? HTTP_SHORT
           : products <= LASTING_PRODUCTS ? HTTP_LASTING
                                          : HTTP_LONG;
}

static uint8_t begins_row(char c, char next) {
    return (uint8_t)((c == '\n') | (c == '[') | (c == '{') | ((c == '\r') & (next != '\n')));
}

/* Returns an upper bound of the number of rows: each has a line, which ends with LF, CR or CR LF,
 * or a bracket of JSON. */
static double most_rows(const char *bytes, size_t n) {
    enum { BLOCK = 64 }; /* compilers count a block of constant size with vectors */
    size_t rows = 1, i = 0;
    const size_t end = n < COUNTED_BYTES ? n : COUNTED_BYTES;
    for (; i + BLOCK < end; i += BLOCK) {
        uint8_t block = 0;
        for (size_t j = i; j < i + BLOCK; j++) {
            block = (uint8_t)(block + begins_row(bytes[j], bytes[j + 1]));
        }
        rows += block;
    }
    for (; i < end; i++) {
        rows += begins_row(bytes[i], i + 1 < n ? bytes[i + 1] : '\0');
    }
    return (double)rows;
}

static double row_work(const struct serving_model *m) {
    const struct predict_plan *plan = predict_plan_of(m);
    return plan->cost + (plan->costly_texts ? TEXT_PRODUCTS : 0);
}

double api_rows_work(const struct serving_model *m, const char *bytes, size_t n) {
    return (double)n * BYTE_PRODUCTS + most_rows(bytes, n) * row_work(m);
}

/* Returns the number of rows of a stored dataset; 0: there is none. The handler checks whether the
 * token permits to read it. */
static double stored_rows(struct http_call *call, const char *reference) {
    char name[IDS_NAME_SIZE];
    int64_t version;
    struct problem ignored = {0};
    struct store_dataset d;
    double rows = 0;
    if (ids_reference_parse(reference, name, &version) &&
        store_dataset_get(api_app_of(call)->store, name, version, &d, &ignored)) {
        rows = (double)d.n_rows;
        store_dataset_done(&d);
    }
    problem_done(&ignored);
    return rows;
}

double api_stored_work(struct http_call *call, const struct serving_model *m, double times) {
    const double inputs = (double)dn_encoder_n_inputs(dn_model_encoder(m->model));
    size_t size;
    const char *body = http_body_bytes(call, &size);
    struct problem ignored = {0};
    json_t *root = json_parse(body, size, &ignored);
    const char *reference = json_string_value(json_object_get(root, "dataset"));
    const double rows = reference != NULL ? stored_rows(call, reference) : 0;
    problem_done(&ignored);
    json_decref(root);
    return rows * times * (row_work(m) + 8 * BYTE_PRODUCTS * inputs);
}

double api_call_work(struct http_call *call, const struct serving_model *m) {
    size_t size;
    const char *body = http_body_bytes(call, &size);
    const double work = api_rows_work(m, body, size);
    if (size <= NAMING_BYTES) {
        return work + (*json_first(body, size) == '{' ? api_stored_work(call, m, 1) : 0);
    }
    return api_stored_rows_named(call) ? fmax(work, 2 * LASTING_PRODUCTS) : work;
}

bool api_may_work(struct http_call *call, double products, void (*handle)(struct http_call *call)) {
    const bool may = http_takes(call, api_load_of(products));
    if (!may) {
        http_defer(call, handle);
    }
    return may;
}
