/* Carries progress and history from the training to the reporter, and the reason to stop from the
 * reporter to the training. The history has every iteration to 1,000 and at most 900 rows for each
 * further power of ten. */
#include "jobs/mailbox.h"
#include "base/memory/array.h"

#include "base/json/json_write.h"
#include "base/log/log.h"
#include <stdlib.h>
#include <string.h>

void mailbox_init(struct mailbox *m) {
    memset(m, 0, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->delivered, NULL);
    atomic_init(&m->stop, STOP_NOT);
    atomic_init(&m->drain, false);
    atomic_init(&m->beat, true);
}

void mailbox_rows_free(struct store_history_row *rows, size_t n_rows) {
    for (size_t i = 0; i < n_rows; i++) {
        free((void *)(uintptr_t)rows[i].doc);
    }
    free(rows);
}

void mailbox_done(struct mailbox *m) {
    free(m->trial);
    mailbox_rows_free(m->rows, m->n_rows);
    pthread_cond_destroy(&m->delivered);
    pthread_mutex_destroy(&m->lock);
}

void mailbox_open(struct mailbox *m, const struct store_claim *claim) {
    pthread_mutex_lock(&m->lock);
    m->claim = *claim;
    m->fresh = m->ending = false;
    m->progress = (dn_progress){0};
    m->row_iteration = 0;
    m->elapsed = 0;
    atomic_store(&m->stop, STOP_NOT);
    pthread_mutex_unlock(&m->lock);
}

void mailbox_stop(struct mailbox *m, enum stop_reason reason) {
    int none = STOP_NOT;
    if (reason == STOP_DRAIN) {
        atomic_store(&m->drain, true);
        return;
    }
    atomic_compare_exchange_strong(&m->stop, &none, (int)reason);
}

/* Several threads of a job call this often: they write only if the value changes. */
void mailbox_beat(struct mailbox *m) {
    if (!atomic_load_explicit(&m->beat, memory_order_relaxed)) {
        atomic_store_explicit(&m->beat, true, memory_order_relaxed);
    }
}

bool mailbox_take_beat(struct mailbox *m) {
    return atomic_exchange_explicit(&m->beat, false, memory_order_relaxed);
}

bool mailbox_draining(struct mailbox *m) {
    mailbox_beat(m);
    return atomic_load(&m->drain);
}

enum stop_reason mailbox_stopped(struct mailbox *m) {
    mailbox_beat(m);
    enum stop_reason reason =
        (enum stop_reason)atomic_load_explicit(&m->stop, memory_order_relaxed);
    return reason == STOP_NOT && atomic_load_explicit(&m->drain, memory_order_relaxed) ? STOP_DRAIN
                                                                                       : reason;
}

/* Whether the iteration has a row in the history: each to 1,000, every 10th to 10,000, every 100th
 * to 100,000 ... */
static bool history_wants(size_t iteration) {
    size_t step = 1;
    while (iteration / step > 1000) {
        step *= 10;
    }
    return iteration % step == 0;
}

/* Writes the number of the report. A report of an update has the numbers of the update, of its pass
 * and of its row. */
static void put_number(const dn_progress *p, struct json_writer *w) {
    if (p->pass == 0) {
        json_kv_int(w, "iteration", (int64_t)p->iteration);
        return;
    }
    json_kv_int(w, "update", (int64_t)p->iteration);
    json_kv_int(w, "iteration", (int64_t)p->pass);
    if (p->row != SIZE_MAX) {
        json_kv_int(w, "row", (int64_t)p->row);
    }
}

static char *history_doc(const dn_progress *p, double elapsed) {
    struct buf out = {0};
    struct json_writer w = json_writer_of(&out);
    json_begin_object(&w);
    put_number(p, &w);
    json_kv_double(&w, "loss", p->loss);
    json_kv_double(&w, "gradient_norm", p->gradient_norm);
    json_kv_double(&w, "train_error", p->train_error);
    if (p->condition != 0) {
        json_kv_double(&w, "condition", p->condition);
    }
    json_kv_double(&w, "elapsed", elapsed);
    json_end_object(&w);
    return buf_take(&out, NULL);
}

/* Writes w and w0 as JSON: a vector and a number for one discriminant, a matrix and a vector for
 * several. */
static char *snapshot_doc(const dn_progress *p) {
    struct buf out = {0};
    struct json_writer w = json_writer_of(&out);
    json_begin_object(&w);
    put_number(p, &w);
    if (p->n_scores == 1) {
        json_put_vector(&w, "w", p->w, p->n_features);
        json_kv_double(&w, "w0", p->w0[0]);
    } else {
        json_put_matrix(&w, "w", p->w, p->n_scores, p->n_features);
        json_put_vector(&w, "w0", p->w0, p->n_scores);
    }
    json_end_object(&w);
    return buf_take(&out, NULL);
}

/* Adds a row and takes its doc. Without memory (doc may be NULL) the row is dropped. Lock held. */
static void add_row(struct mailbox *m, struct store_history_row row) {
    if (row.doc == NULL) {
        return;
    }
    if (m->n_rows == m->room && !array_grow(&m->rows, &m->room, 64, sizeof *m->rows)) {
        free((void *)(uintptr_t)row.doc);
        return;
    }
    m->rows[m->n_rows++] = row;
}

void mailbox_report(struct mailbox *m, const dn_progress *p, double elapsed) {
    bool own = p->fold == 0; /* iterations of folds are not in the history */
    const bool wanted =
        own && (p->start || p->iteration != m->row_iteration) && history_wants(p->iteration);
    char *row = wanted ? history_doc(p, elapsed) : NULL;
    m->row_iteration = wanted ? p->iteration : m->row_iteration;
    char *snapshot = own && p->w ? snapshot_doc(p) : NULL;
    pthread_mutex_lock(&m->lock);
    m->progress = *p;
    m->progress.w = m->progress.w0 = NULL;
    m->elapsed = elapsed;
    m->fresh = true;
    const int64_t iteration = (int64_t)p->iteration;
    add_row(m, (struct store_history_row){.iteration = iteration, .doc = row});
    add_row(m,
            (struct store_history_row){.iteration = iteration, .snapshot = true, .doc = snapshot});
    pthread_mutex_unlock(&m->lock);
}

void mailbox_report_trial(struct mailbox *m, const struct dn_progress *p, const char *trial,
                          double elapsed) {
    char *row = strdup(trial), *latest = strdup(trial);
    pthread_mutex_lock(&m->lock);
    m->progress = *p;
    m->progress.w = m->progress.w0 = NULL;
    m->elapsed = elapsed;
    m->fresh = true;
    free(m->trial);
    m->trial = latest;
    add_row(m, (struct store_history_row){.trial = true, .doc = row});
    pthread_mutex_unlock(&m->lock);
}

/* Waits for the end of the current delivery. Lock held. */
static void await_delivery(struct mailbox *m) {
    while (m->delivering) {
        pthread_cond_wait(&m->delivered, &m->lock);
    }
}

void mailbox_end_search(struct mailbox *m) {
    int cancelled = STOP_CANCELLED;
    pthread_mutex_lock(&m->lock);
    await_delivery(m); /* it may have read the cancellation */
    free(m->trial);
    m->trial = NULL;
    (void)atomic_compare_exchange_strong(&m->stop, &cancelled, STOP_NOT);
    pthread_mutex_unlock(&m->lock);
}

void mailbox_complete(struct mailbox *m, double elapsed) {
    pthread_mutex_lock(&m->lock);
    m->progress.fraction = 1;
    m->elapsed = elapsed;
    pthread_mutex_unlock(&m->lock);
}

/* trial: the latest trial of a search; NULL: none */
static void progress_write(const dn_progress *p, const char *trial, double elapsed,
                           struct buf *out) {
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_double(&w, "fraction", p->fraction);
    json_kv_int(&w, "iteration", (int64_t)p->iteration);
    if (p->max_iterations > 0) {
        json_kv_int(&w, "max_iterations", (int64_t)p->max_iterations);
    } else {
        json_kv_null(&w, "max_iterations"); /* unknown for several machines */
    }
    if (p->fold > 0) {
        json_kv_int(&w, "fold", (int64_t)p->fold);
    }
    json_kv_double(&w, "loss", p->loss);
    json_kv_double(&w, "gradient_norm", p->gradient_norm);
    json_kv_double(&w, "elapsed", elapsed);
    if (trial != NULL) {
        json_kv_raw(&w, "trial", trial);
    }
    json_end_object(&w);
}

/* Moves the rows out of the mailbox. Lock held. */
static void take_rows(struct mailbox *m, struct store_history_row **rows, size_t *n_rows) {
    *rows = m->rows;
    *n_rows = m->n_rows;
    m->rows = NULL;
    m->n_rows = m->room = 0;
}

/* Puts rows that were not delivered back, before the rows that were added meanwhile. Without memory
 * they are dropped. Lock held. */
static void give_back_rows(struct mailbox *m, struct store_history_row **rows, size_t *n_rows) {
    if (m->n_rows > 0) {
        struct store_history_row *all = realloc(*rows, (*n_rows + m->n_rows) * sizeof *all);
        if (!all) {
            return;
        }
        memcpy(all + *n_rows, m->rows, m->n_rows * sizeof *all);
        free(m->rows);
        *rows = all;
        *n_rows += m->n_rows;
    }
    m->rows = *rows;
    m->n_rows = m->room = *n_rows;
    *rows = NULL;
    *n_rows = 0;
}

void mailbox_take(struct mailbox *m, struct store_history_row **rows, size_t *n_rows,
                  struct buf *progress) {
    pthread_mutex_lock(&m->lock);
    await_delivery(m);
    m->fresh = false;
    m->ending = true;
    take_rows(m, rows, n_rows);
    dn_progress p = m->progress;
    double elapsed = m->elapsed;
    pthread_mutex_unlock(&m->lock);
    progress_write(&p, NULL, elapsed, progress);
}

void mailbox_close(struct mailbox *m) {
    pthread_mutex_lock(&m->lock);
    await_delivery(m);
    m->claim = (struct store_claim){0};
    free(m->trial);
    m->trial = NULL;
    mailbox_rows_free(m->rows, m->n_rows);
    m->rows = NULL;
    m->n_rows = m->room = 0;
    pthread_mutex_unlock(&m->lock);
}

void mailbox_deliver(struct mailbox *m, struct store *store) {
    struct store_history_row *rows = NULL;
    size_t n_rows = 0;
    pthread_mutex_lock(&m->lock);
    const struct store_claim claim = m->claim;
    bool fresh = m->fresh;
    const bool ending = m->ending; /* mailbox_take waits for this delivery */
    dn_progress p = m->progress;
    double elapsed = m->elapsed;
    char *trial = fresh && m->trial != NULL ? strdup(m->trial) : NULL;
    if (claim.job != 0) {
        m->fresh = false;
        m->delivering = true;
        take_rows(m, &rows, &n_rows);
    }
    pthread_mutex_unlock(&m->lock);
    if (claim.job == 0) {
        free(trial);
        return;
    }
    struct problem problem = {0};
    struct buf doc = {0};
    const char *text = NULL;
    bool cancel = false;
    if (fresh) {
        progress_write(&p, trial, elapsed, &doc);
        text = buf_cstr(&doc);
    }
    free(trial);
    const bool good =
        store_job_report(store, &claim, text, rows, fresh ? n_rows : 0, &cancel, &problem);
    const bool lost = problem.type == PROBLEM_CONFLICT;
    if (!good && !(lost && ending)) {
        log_warn("job.progress", log_int("job", claim.job), log_str("detail", problem.detail));
    }
    problem_done(&problem);
    buf_done(&doc);
    const bool delivered = good && fresh;
    if (lost) {
        mailbox_stop(m, STOP_LOST);
    }
    pthread_mutex_lock(&m->lock);
    if (cancel && !lost) {
        mailbox_stop(m, STOP_CANCELLED);
    }
    if (!delivered) {
        give_back_rows(m, &rows, &n_rows);
    }
    m->fresh = m->fresh || (fresh && !good);
    m->delivering = false;
    pthread_cond_broadcast(&m->delivered);
    pthread_mutex_unlock(&m->lock);
    mailbox_rows_free(rows, n_rows);
}
