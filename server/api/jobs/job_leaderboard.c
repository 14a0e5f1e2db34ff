/* GET /v1/jobs/{id}/leaderboard: the candidates of a search in order of rank, also while it runs.
 */
#include "api/cells.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "jobs/documents.h"
#include "jobs/search/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 10000 }; /* a search has at most so many candidates */

/* A candidate that was tried. */
struct entry {
    dn_trial trial;  /* its latest trial; without values */
    const char *doc; /* the document of the trial */
    char *text;      /* the row of the leaderboard, a JSON object */
};

struct board {
    struct entry *entries; /* [n] */
    size_t n;
    size_t metric;
    bool smaller;   /* smaller values of the metric are better */
    double total;   /* number of trials, with the rounds of halving */
    size_t most;    /* maximum number of rows of the answer */
    bool truncated; /* there are more trials than --max-body allows */
};

static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int by_candidate(const void *a, const void *b) {
    const dn_trial *x = &((const struct entry *)a)->trial, *y = &((const struct entry *)b)->trial;
    if (x->candidate != y->candidate) {
        return x->candidate > y->candidate ? 1 : -1;
    }
    return (y->share > x->share) - (y->share < x->share); /* the greatest share first */
}

static int by_loss(const void *a, const void *b) {
    return dn_trial_compare(&((const struct entry *)a)->trial, &((const struct entry *)b)->trial,
                            true);
}

static int by_gain(const void *a, const void *b) {
    return dn_trial_compare(&((const struct entry *)a)->trial, &((const struct entry *)b)->trial,
                            false);
}

/* Sets the entries to the latest trial of each candidate, in order of rank. Leaves out damaged
 * documents, which a later attempt of the job repeats. */
static bool read_board(const struct store_page *page, struct board *b, struct problem *problem) {
    const struct store_history_row *rows = page->items;
    size_t n = 0;
    b->entries = calloc(page->n + 1, sizeof *b->entries);
    if (b->entries == NULL) {
        return problem_no_memory(problem);
    }
    for (size_t i = 0; i < page->n; i++) {
        struct entry *e = &b->entries[n];
        e->doc = rows[i].doc;
        n += trial_read(e->doc, NULL, &e->trial, NULL);
    }
    b->total = (double)n;
    b->truncated = page->more;
    qsort(b->entries, n, sizeof *b->entries, by_candidate);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || b->entries[i].trial.candidate != b->entries[b->n - 1].trial.candidate) {
            b->entries[b->n++] = b->entries[i];
        }
    }
    qsort(b->entries, b->n, sizeof *b->entries, b->smaller ? by_loss : by_gain);
    b->n = b->n < b->most ? b->n : b->most;
    return true;
}

/* Writes each entry as a row: its rank, then the members of its trial. */
static bool write_rows(struct board *b, struct problem *problem) {
    for (size_t i = 0; i < b->n; i++) {
        struct buf text = {0};
        trial_write_row(b->entries[i].doc, i + 1, &text);
        b->entries[i].text = buf_take(&text, NULL);
        buf_done(&text);
        if (b->entries[i].text == NULL) {
            return problem_no_memory(problem);
        }
    }
    return true;
}

/* Reads the metric of the search. Returns false after setting the problem: the job has none. */
static bool read_search(const struct store_job *j, struct board *b, struct problem *problem) {
    struct problem ignored = {0};
    json_t *spec = json_parse_stored(j->spec, "specification of the job", problem);
    const json_t *search = json_object_get(spec, "search");
    const bool good = json_is_object(search) && jobs_metric_read(search, "", &b->metric, &ignored);
    if (spec != NULL && !good) {
        problem_set(problem, PROBLEM_NOT_FOUND,
                    "job %" PRId64 " has no leaderboard: it is not a search", j->id);
    }
    problem_done(&ignored);
    json_decref(spec);
    b->smaller = good && dn_metric_is_loss(b->metric);
    return good;
}

/* Writes the number of the candidate that was trained; null before the end of the search. */
static void put_winner(const struct store_job *j, struct json_writer *w) {
    struct problem ignored = {0};
    json_t *result = j->result != NULL ? json_parse(j->result, strlen(j->result), &ignored) : NULL;
    const json_t *search = json_object_get(result, "search");
    json_kv_double(w, "winner", number_of(json_object_get(search, "winner"), "candidate"));
    problem_done(&ignored);
    json_decref(result);
}

static void write_document(const struct store_job *j, const struct board *b, struct buf *out) {
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_int(&w, "job", j->id);
    json_kv_string(&w, "state", store_job_state_name(j->state));
    json_kv_string(&w, "metric", dn_metric_name(b->metric));
    json_kv_double(&w, "trials", b->total);
    json_kv_begin_array(&w, "items");
    for (size_t i = 0; i < b->n; i++) {
        json_put_raw(&w, b->entries[i].text, strlen(b->entries[i].text));
    }
    json_end_array(&w);
    put_winner(j, &w);
    if (b->truncated) {
        json_kv_bool(&w, "truncated", true);
    }
    json_end_object(&w);
}

static bool write_answer(struct http_call *call, const struct store_job *j, size_t most,
                         const struct format *format, struct buf *out, struct problem *problem) {
    const struct api_app *app = api_app_of(call);
    const struct store_limit limit = {.bytes = (size_t)app->max_body};
    struct board b = {.most = most};
    struct store_page page = {0};
    bool good = read_search(j, &b, problem) &&
                store_job_trials(app->store, j->id, &limit, &page, problem) &&
                read_board(&page, &b, problem) && write_rows(&b, problem);
    if (good && format->answers->document) {
        write_document(j, &b, out);
    } else if (good && b.n == 0) {
        buf_puts(out, TRIAL_NAMES);
    } else if (good) {
        const char **texts = calloc(b.n + 1, sizeof *texts);
        for (size_t i = 0; texts != NULL && i < b.n; i++) {
            texts[i] = b.entries[i].text;
        }
        if (texts != NULL) {
            api_cells_table(texts, b.n, format->answers->delimiter, out);
        }
        good = texts != NULL || problem_no_memory(problem);
        free(texts);
    }
    if (b.truncated) {
        http_reply_header(call, "Discern-Truncated", "true");
    }
    for (size_t i = 0; i < b.n; i++) {
        free(b.entries[i].text);
    }
    free(b.entries);
    store_page_done(&page);
    return good;
}

void api_job_leaderboard(struct http_call *call) {
    struct problem problem = {0};
    struct store_job j;
    struct buf body = {0};
    int64_t most = MOST_ROWS;
    const struct format *format = api_reply_format(call, &format_json);
    if (!api_query_int(call, "limit", 1, MOST_ROWS, &most) || !api_job_find(call, &j)) {
        return;
    }
    const bool good = write_answer(call, &j, (size_t)most, format, &body, &problem);
    store_job_done(&j);
    if (!good) {
        buf_done(&body);
        http_reply_problem(call, &problem);
    } else if (format->answers->document) {
        api_reply_json(call, 200, &body);
    } else {
        http_reply(call, 200, format_media_type(format), &body);
    }
}
