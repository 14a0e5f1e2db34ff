/* The run that is passed to one of several fits. */
#include "base/share.h"

static dn_status share_stop(const dn_run *run) {
    const dni_share *share = run->ctx;
    return share->whole->stop == NULL ? DN_OK : share->whole->stop(share->whole);
}

static double share_elapsed(const dn_run *run) {
    return dn_run_elapsed(((const dni_share *)run->ctx)->whole);
}

static dn_status share_sum(const dn_run *run, const dn_rows *rows, const dn_sum *sum, double *out,
                           dn_error *err) {
    const dni_share *share = run->ctx;
    return share->whole->sum(share->whole, rows, sum, out, err);
}

static dn_status share_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                            dn_error *err) {
    const dni_share *share = run->ctx;
    return share->whole->each(share->whole, rows, fn, arg, err);
}

static void share_progress(const dn_run *run, const dn_progress *progress) {
    dni_share *share = run->ctx;
    if (share->whole->progress == NULL) {
        return;
    }
    dn_progress p = *progress;
    share->reported = progress->iteration;
    p.fraction = ((double)share->i + progress->fraction) / (double)share->n;
    if (share->fold > 0) {
        p.fold = share->fold;
    }
    if (share->machine) {
        p.start = p.start && share->i == 0; /* a later machine starts from the last iteration */
        p.iteration += run->updates ? share->updates : share->iterations;
        p.pass += run->updates ? share->iterations : 0;
        p.max_iterations = 0; /* the total number of iterations of all machines is unknown */
    }
    if (share->machine || share->fold > 0) {
        p.w = p.w0 = NULL;
    }
    share->whole->progress(share->whole, &p);
}

void dni_share_init(dni_share *share, const dn_run *whole, size_t i, size_t n) {
    *share = (dni_share){.run = *whole, .whole = whole, .i = i, .n = n};
    share->run.ctx = share;
    share->run.stop = share_stop;
    share->run.elapsed = share_elapsed;
    share->run.sum = whole->sum == NULL ? NULL : share_sum;
    share->run.each = whole->each == NULL ? NULL : share_each;
    share->run.progress = share_progress;
}

static void without_snapshots(dni_share *share) {
    share->run.snapshots = NULL;
    share->run.n_snapshots = 0;
}

void dni_share_fold(dni_share *share, size_t fold) {
    share->fold = fold;
    without_snapshots(share);
}

void dni_share_machine(dni_share *share, size_t iterations, size_t updates) {
    share->machine = true;
    share->iterations = iterations;
    share->updates = updates;
    without_snapshots(share);
}
