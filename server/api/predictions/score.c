/* Scores the rows of a call while they are read. */
#include "api/predictions/score.h"
#include "api/access.h"
#include "api/predictions/instances.h"
#include "api/predictions/plan.h"
#include "api/support.h"

/* Maximum number of multiplications on an I/O thread. A short body can describe many wide rows. */
enum { ON_IO_PRODUCTS = 4000000 };

#define NOBODY_WAITS                                                                               \
    "the call was cancelled because the client has left or the daemon is shutting down"

/* One call. */
struct scoring {
    struct http_call *call;
    const struct serving_model *m;
    const struct api_answer_options *how;
    bool pool;
    double cost;       /* approximate number of multiplications for one row */
    bool begun;        /* api_answer_begin was called */
    bool later;        /* a pool thread is needed */
    int64_t n_read;    /* rows of the body that were read, of all blocks */
    int64_t n_charged; /* rows that were charged to the token */
    struct api_answer answer;
    struct buf body;
    size_t held; /* capacity of `body` that is counted against --body-memory */
};

static struct scoring scoring_of(struct http_call *call, const struct serving_model *m,
                                 const struct api_answer_options *how, bool pool) {
    const struct predict_plan *plan = predict_plan_of(m);
    const unsigned outputs =
        how->kind == API_PREDICTIONS ? api_outputs_of(m->model, how->outputs) : ANSWER_SCORES;
    return (struct scoring){.call = call,
                            .m = m,
                            .how = how,
                            .pool = pool,
                            .cost = outputs == plan->outputs ? plan->cost
                                                             : api_outputs_cost(m->model, outputs)};
}

/* Counts the answer against --body-memory while it grows. */
static bool count_body(struct scoring *s, struct problem *problem) {
    if (s->body.capacity == s->held) {
        return true;
    }
    s->held = s->body.capacity;
    if (!http_may_ever_hold(s->call, s->held)) {
        return problem_set(problem, PROBLEM_BODY_TOO_LARGE,
                           "an answer of more than %zu bytes needs more memory than --body-memory "
                           "allows; send fewer instances, or application/x-ndjson",
                           s->body.size);
    }
    return http_hold(s->call, s->held) ||
           problem_set(problem, PROBLEM_UNAVAILABLE,
                       "an answer of more than %zu bytes does not fit in the memory that the "
                       "bodies and answers in flight leave of --body-memory; try again, or send "
                       "fewer instances at a time",
                       s->body.size);
}

static bool begin(struct scoring *s, size_t n_rows, struct problem *problem) {
    struct api_answer_options how = *s->how;
    how.n_rows = n_rows;
    s->begun = true;
    return api_answer_begin(&s->answer, s->m, &how, &s->body, problem);
}

/* Reports the fault of row `at` of the block, which is row number `row` of the body. */
static void refuse_row(const struct scoring *s, const struct instance_rows *rows, size_t at,
                       size_t row, struct problem *problem) {
    char why[DN_MESSAGE_SIZE];
    struct buf place = {0};
    api_answer_why_beyond(&s->answer, rows, at, why);
    const char *pointer = instance_rows_place(rows, row, &place) ? buf_cstr(&place) : NULL;
    (void)problem_add(problem, PROBLEM_INVALID_INSTANCES, pointer, "instance %zu %s", row, why);
    buf_done(&place);
}

/* Scores and writes a block. A row without a finite result is a fault of the request. */
static bool score(struct scoring *s, const struct instance_rows *rows, size_t first,
                  struct problem *problem) {
    bool beyond = false;
    for (size_t i = 0; i < rows->n && !beyond;) {
        const size_t scored = api_answer_score(&s->answer, rows, i, rows->n - i, &beyond);
        for (size_t written = 0; written < scored;) {
            written += api_answer_write(&s->answer, written, scored);
            if (!count_body(s, problem)) {
                return false;
            }
        }
        i += scored;
        if (beyond) {
            refuse_row(s, rows, i, first + i, problem);
        }
        if (s->pool && !http_go_on(s->call)) {
            return problem_set(problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
        }
    }
    return true;
}

/* Charges the first n rows of the body, unless that was done. They are charged while the body is
 * read: the client may leave before the answer. An I/O thread charges at the end, because the call
 * may begin again on a pool thread. */
static void charge(struct scoring *s, int64_t n) {
    if (n > s->n_charged) {
        api_charge_rows(s->call, n - s->n_charged);
        s->n_charged = n;
    }
}

static bool on_block(void *arg, const struct instance_rows *rows, size_t first,
                     struct problem *problem) {
    struct scoring *s = arg;
    const size_t n_rows = first + rows->n;
    s->later = !s->pool && (double)n_rows * s->cost > ON_IO_PRODUCTS;
    if (s->later) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "a pool thread is needed");
    }
    if (s->pool) {
        charge(s, (int64_t)n_rows);
    }
    return (s->begun || begin(s, rows->n, problem)) &&
           api_answer_fits(&s->answer, n_rows, problem) && score(s, rows, first, problem);
}

/* Replies, unless the call must run on a pool thread. */
static bool end(struct scoring *s, bool good, const struct row_notes *notes,
                struct problem *problem) {
    const struct format *format = s->how->format;
    if (!s->later) {
        charge(s, s->n_read);
    }
    if (s->later) {
        problem_done(problem);
        (void)http_hold(s->call, 0);
    } else if (good) {
        api_answer_end(&s->answer, notes);
        api_instances_notes(s->call, s->m->name, s->m->model, notes);
        if (format->answers->document) {
            buf_putc(&s->body, '\n'); /* so that a terminal shows its prompt on a new line */
        }
        http_reply(s->call, 200, format_media_type(format), &s->body);
    } else {
        http_reply_problem(s->call, problem);
    }
    api_answer_done(&s->answer);
    buf_done(&s->body);
    return !s->later;
}

bool api_score_body(struct http_call *call, const struct serving_model *m,
                    const struct instances_options *options, const struct api_answer_options *how,
                    bool pool) {
    struct scoring s = scoring_of(call, m, how, pool);
    struct instances_options in_blocks = *options;
    struct instance_rows rest = {0};
    struct problem problem = {0};
    in_blocks.block = on_block;
    in_blocks.arg = &s;
    in_blocks.schema = predict_plan_of(m)->schema;
    in_blocks.keep = how->keep;
    in_blocks.n_read = &s.n_read;
    const bool good = api_instances_read(call, &in_blocks, m->model, &rest, &problem),
               done = end(&s, good, rest.notes, &problem);
    instance_rows_done(&rest);
    return done;
}

bool api_score_rows(struct http_call *call, const struct serving_model *m,
                    const struct instance_rows *rows, const struct api_answer_options *how,
                    bool pool) {
    struct scoring s = scoring_of(call, m, how, pool);
    struct problem problem = {0};
    s.n_read = (int64_t)rows->n;
    const bool good = on_block(&s, rows, 0, &problem) && problem.type == PROBLEM_NONE;
    return end(&s, good, rows->notes, &problem);
}
