/* Writes and reads the documents of trials. */
#include "jobs/search/trial.h"

#include "base/json/json.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/search/search_space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void trial_write(const dn_trial *trial, const char *text, double elapsed, struct buf *out) {
    const bool good = trial->status == DN_OK;
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_int(&w, "candidate", (int64_t)trial->candidate);
    json_put_raw(&w, text + 1, strlen(text) - 2); /* its members */
    json_kv_double(&w, "share", trial->share);
    json_kv_double(&w, "mean", good ? trial->mean : (double)NAN);
    json_kv_double(&w, "standard_error", good ? trial->error : (double)NAN);
    json_put_vector(&w, "values", trial->values, good ? trial->n_values : 0);
    json_kv_double(&w, "fit_seconds", trial->fit_seconds);
    json_kv_double(&w, "row_microseconds", trial->row_seconds * 1e6);
    json_kv_double(&w, "model_bytes", trial->bytes);
    json_kv_bool(&w, "converged", good && trial->n_unconverged == 0);
    json_kv_int(&w, "unconverged", (int64_t)trial->n_unconverged);
    json_kv_int(&w, "warnings", (int64_t)trial->n_warnings);
    json_kv_string(&w, "warning", good && trial->message[0] != '\0' ? trial->message : NULL);
    json_kv_string(&w, "error", good ? NULL : trial->message);
    json_kv_double(&w, "elapsed", elapsed);
    json_end_object(&w);
}

void trial_combination(const dn_search_member *members, size_t n, const struct jobs_search *search,
                       struct buf *out) {
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_string(&w, "algorithm", dn_algorithm_combination()->id);
    json_kv_raw(&w, "params", "{}");
    json_kv_raw(&w, "features", "{}");
    json_kv_begin_array(&w, "members");
    for (size_t m = 0; m < n; m++) {
        const char *text = search->list[members[m].candidate].text;
        json_begin_object(&w);
        json_kv_int(&w, "candidate", (int64_t)members[m].candidate);
        json_kv_double(&w, "share", members[m].share);
        json_put_raw(&w, text + 1, strlen(text) - 2);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
}

bool trial_is_of(const char *document, size_t number, const char *text) {
    char head[48];
    const int n = snprintf(head, sizeof head, "{\"candidate\":%zu,", number);
    const size_t n_members = strlen(text) - 2;
    return strncmp(document, head, (size_t)n) == 0 &&
           strncmp(document + n, text + 1, n_members) == 0 &&
           document[(size_t)n + n_members] == ',';
}

static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Returns a count; 0 if the object has none. */
static size_t count_of(const json_t *object, const char *key) {
    const double value = number_of(object, key);
    return value >= 0 && value <= 1e9 ? (size_t)value : 0;
}

static void copy_text(char *out, size_t size, const json_t *text) {
    const char *from = json_string_value(text);
    (void)snprintf(out, size, "%s", from != NULL ? from : "");
}

/* Copies the numbers of an array; NaN for null. Returns NULL if out of memory. */
static const double *copy_values(const json_t *values, struct arena *arena) {
    const size_t n = json_array_size(values);
    double *numbers = arena_alloc(arena, (n + 1) * sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < n; i++) {
        const json_t *value = json_array_get(values, i);
        numbers[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    return numbers;
}

/* Copies the members of a combination. Returns NULL if out of memory. */
static const dn_search_member *copy_members(const json_t *members, struct arena *arena) {
    const size_t n = json_array_size(members);
    dn_search_member *copy = arena_alloc(arena, (n + 1) * sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++) {
        const json_t *member = json_array_get(members, i);
        const double share = number_of(member, "share");
        copy[i] = (dn_search_member){.candidate = count_of(member, "candidate"),
                                     .share = isfinite(share) && share >= 0 ? share : 0};
    }
    return copy;
}

static bool read_figures(const json_t *doc, struct arena *arena, dn_trial *out, double *elapsed) {
    const json_t *values = json_object_get(doc, "values"), *error = json_object_get(doc, "error");
    const double candidate = number_of(doc, "candidate"), share = number_of(doc, "share");
    const json_t *combined = json_object_get(doc, "members");
    const double *numbers = arena != NULL ? copy_values(values, arena) : NULL;
    const dn_search_member *members = arena != NULL ? copy_members(combined, arena) : NULL;
    if (!(candidate >= 0 && candidate <= SEARCH_SPACE_MOST) || !(share > 0 && share <= 1) ||
        (arena != NULL && (numbers == NULL || members == NULL))) {
        return false;
    }
    *out = (dn_trial){.candidate = (size_t)candidate,
                      .share = share,
                      .status = json_is_string(error) ? DN_ERR_NUMERIC : DN_OK,
                      .mean = number_of(doc, "mean"),
                      .error = number_of(doc, "standard_error"),
                      .n_values = json_array_size(values),
                      .values = numbers,
                      .fit_seconds = number_of(doc, "fit_seconds"),
                      .row_seconds = number_of(doc, "row_microseconds") * 1e-6,
                      .bytes = number_of(doc, "model_bytes"),
                      .n_unconverged = count_of(doc, "unconverged"),
                      .n_warnings = count_of(doc, "warnings"),
                      .n_members = json_array_size(combined),
                      .members = members};
    copy_text(out->message, sizeof out->message,
              json_is_string(error) ? error : json_object_get(doc, "warning"));
    if (elapsed != NULL) {
        *elapsed = number_of(doc, "elapsed");
    }
    return true;
}

bool trial_read(const char *text, struct arena *arena, dn_trial *out, double *elapsed) {
    struct problem ignored = {0};
    json_t *doc = json_parse(text, strlen(text), &ignored);
    const bool good = doc != NULL && read_figures(doc, arena, out, elapsed);
    json_decref(doc);
    problem_done(&ignored);
    return good;
}

void trial_write_row(const char *text, size_t rank, struct buf *out) {
    buf_printf(out, "{\"rank\":%zu,%s", rank, text + 1);
}
