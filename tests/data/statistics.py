"""Reference figures of the statistics of weights: softmax and penalised fits, by NumPy.

Newton's method on the full Hessian; the covariance is the pseudo-inverse on the weights that sum to
0 over the classes. Standardised columns, as the service trains; the figures are of the raw columns.
With nnet::multinom of R (maxit 10000, reltol 1e-15) the standard errors of the differences to the
weights of the first class agree to 1e-7 (cases softmax and softmax-weights).
A line of the output: case, JSON pointer within "statistics", value.
"""
import csv

import numpy as np
from scipy import stats

rows = list(csv.DictReader(open("statistics.csv")))


def design(v, all_levels, standardise=True):
    x = np.array([[float(r[c]) for c in ("x1", "x2", "x3")] for r in rows])
    m, s = np.zeros(3), np.ones(3)
    if standardise:
        m = v @ x / v.sum()
        s = np.sqrt(v @ (x - m) ** 2 / v.sum())
    levels = ["blue", "green", "red", "white"][0 if all_levels else 1:]
    c = np.array([[r["color"] == level for level in levels] for r in rows], float)
    X = np.hstack([(x - m) / s, c, np.ones((len(rows), 1))])
    d = X.shape[1] - 1
    T = np.eye(d + 1)  # raw = T trained
    T[:3, :3] = np.diag(1 / s)
    T[d, :3] = -m / s
    return X, T


def put(case, path, value):
    print(f"{case} {path} {float(value)!r}")


def put_scores(case, w, cov, quantile, survival, odds):
    error = np.sqrt(np.diag(cov)).reshape(w.shape)
    for k in range(w.shape[0]):
        for j in range(w.shape[1]):
            to, b, e = f"/scores/{k}/weights/{j}", w[k, j], error[k, j]
            put(case, to + "/weight", b)
            put(case, to + "/standard_error", e)
            put(case, to + "/statistic", b / e)
            put(case, to + "/p", 2 * survival(abs(b / e)))
            put(case, to + "/low", b - quantile * e)
            put(case, to + "/high", b + quantile * e)
            if odds:
                put(case, to + "/odds_ratio", np.exp(b))


def softmax(case, target, v, lam):
    classes = sorted({r[target] for r in rows})
    K, two = len(classes), len(classes) == 2
    y = np.array([classes.index(r[target]) for r in rows])
    X, T = design(v, lam > 0)
    n, width = X.shape
    S = 1 if two else K
    P = np.diag(np.r_[np.full(width - 1, 2 * lam * v.sum()), 0])
    w = np.zeros((S, width))

    def probabilities(w):
        g = np.c_[np.zeros(n), X @ w[0]] if two else X @ w.T
        g = np.exp(g - g.max(1, keepdims=True))
        return g / g.sum(1, keepdims=True)

    for _ in range(100):
        p = probabilities(w)[:, 1:] if two else probabilities(w)
        r = (y == 1)[:, None] if two else y[:, None] == np.arange(K)
        gradient = ((v[:, None] * (p - r)).T @ X + w @ P).ravel()
        J = np.zeros((S * width, S * width))
        for k in range(S):
            for l in range(S):
                c = v * p[:, k] * ((k == l) - p[:, l])
                J[k * width:(k + 1) * width, l * width:(l + 1) * width] = (X.T * c) @ X
        H = J + np.kron(np.eye(S), P)
        if not two:  # weights that sum to 0 over the classes: an orthonormal basis
            Z = np.kron(np.linalg.svd(np.eye(K) - 1 / K)[0][:, :K - 1], np.eye(width))
        else:
            Z = np.eye(width)
        step = -Z @ np.linalg.solve(Z.T @ H @ Z, Z.T @ gradient)
        w = w + step.reshape(w.shape)
        if np.abs(step).max() < 1e-14:
            break
    cov = Z @ np.linalg.inv(Z.T @ H @ Z) @ Z.T
    parameters = np.trace(cov @ J)
    raw = np.kron(np.eye(S), T)
    w, cov = (raw @ w.ravel()).reshape(w.shape), raw @ cov @ raw.T
    put_scores(case, w, cov, stats.norm.ppf(0.975), stats.norm.sf, True)
    for i in range(cov.shape[0]):
        for j in range(cov.shape[0]):
            put(case, f"/covariance/{i}/{j}", cov[i, j])
    of = np.array([v[y == k].sum() for k in range(K)])
    null = -2 * (of * np.log(of / v.sum())).sum()
    deviance = -2 * (v * np.log(probabilities_raw(X, T, w, two)[np.arange(n), y])).sum()
    put(case, "/parameters", parameters)
    to = "/responses/0"
    put(case, to + "/null_deviance", null)
    put(case, to + "/deviance", deviance)
    put(case, to + "/aic", deviance + 2 * parameters)
    put(case, to + "/bic", deviance + np.log(n) * parameters)
    put(case, to + "/mcfadden_r_squared", 1 - deviance / null)
    put(case, to + "/df_residual", n * (K - 1) - parameters)
    if lam == 0:
        df = (K - 1) * (width - 1)
        put(case, to + "/chi_squared", null - deviance)
        put(case, to + "/df", df)
        put(case, to + "/p", stats.chi2.sf(null - deviance, df))


def probabilities_raw(X, T, w, two):
    trained = np.linalg.solve(T, w.T).T
    g = X @ trained.T
    g = np.hstack([np.zeros_like(g), g]) if two else g
    g = np.exp(g - g.max(1, keepdims=True))
    return g / g.sum(1, keepdims=True)


def ridge(case, target, v, lam):
    """Standardised columns, all levels; targets -1, 1."""
    classes = sorted({r[target] for r in rows})
    y = np.array([2.0 * (r[target] == classes[1]) - 1 for r in rows])
    X, T = design(v, True)
    n, width = X.shape
    G = (X.T * v) @ X
    A = G + np.diag(np.r_[np.full(width - 1, lam * v.sum()), 0])
    w = np.linalg.solve(A, X.T @ (v * y))
    rss = (v * (y - X @ w) ** 2).sum()
    inverse = np.linalg.inv(A)
    parameters = np.trace(inverse @ G)
    variance = rss / (n - parameters)
    w, unscaled = T @ w, T @ inverse @ T.T
    t = stats.t(n - parameters)
    put_scores(case, w[None, :], variance * unscaled, t.ppf(0.975), t.sf, False)
    for i in range(width):
        for j in range(width):
            put(case, f"/unscaled_covariance/{i}/{j}", unscaled[i, j])
    put(case, "/parameters", parameters)
    put(case, "/responses/0/deviance", rss)
    put(case, "/responses/0/residual_variance", variance)


ones = np.ones(len(rows))
v = np.array([float(r["v"]) for r in rows])
softmax("softmax", "k", ones, 0)
softmax("softmax-weights", "k", v, 0)
softmax("softmax-penalised", "k", v, 0.01)
softmax("penalised", "y", ones, 0.02)
ridge("ridge", "y", v, 0.05)
