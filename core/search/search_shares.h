/* The shares of the members of a combination: a non-negative multinomial logistic regression on
 * the logarithms of their probabilities. */
#ifndef DNI_SEARCH_SHARES_H
#define DNI_SEARCH_SHARES_H

#include <discern/model.h>
#include <discern/run.h>

/* Rows that no member was trained on. */
typedef struct dni_share_rows {
    const double *logs;   /* [n × n_members × n_classes] logarithms of probabilities */
    const size_t *truth;  /* [n] */
    const double *weight; /* [n] */
    const bool *used;     /* [n] rows with false are ignored; NULL: all are used */
    size_t n, n_members, n_classes;
} dni_share_rows;

/* shares [n_members] ← the minimum over s >= 0 of
 *
 *   (1/V) Σ_i v_i (ln Σ_k exp z_ik − z_i,truth) + (1/2n) Σ_m (s_m − 1/M)²,   z_ik = Σ_m s_m L_imk
 *
 * where v are the weights, V their sum, and L the logarithms. The last term makes the minimum
 * unique and finite: without information the shares are equal. Projected Newton: Bertsekas, SIAM
 * Journal on Control and Optimization 20, 1982. Without rows all shares are 1/M.
 *
 * Cost: O(n · K · M²) for each of about ten iterations, on one thread. Polls the run every few
 * thousand rows. DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_fit_shares(const dni_share_rows *rows, const dn_run *run, double *shares,
                                     dn_error *err);

#endif
