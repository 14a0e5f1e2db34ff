#!/usr/bin/python3
"""Fits of scikit-learn for tests/bench/fits.

  peer.py table FILE          writes the table of P10 as CSV: 200,000 rows, 100 columns, 5 classes
  peer.py densities FILE      reads the CSV and fits the four methods of P10
  peer.py softmax TRAIN TEST  fits a softmax to MNIST / 255 (P5)

Fits print "name seconds value" for each method; value: accuracy, of the training rows (P10) or of
the test rows (P5). Only the calls of fit() are timed, each the best of two (P10) or one (P5).
"""
import gzip
import sys
import time

import numpy as np

N, D, K = 200000, 100, 5


def table(path):
    random = np.random.default_rng(20261123)
    means = random.standard_normal((K, D))
    y = random.integers(0, K, N)
    x = random.standard_normal((N, D)) + means[y]
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt=["%.6g"] * D + ["%d"], comments="",
               header=",".join([f"x{j}" for j in range(D)] + ["class"]))


def timed(name, make, x, y, repeats):
    best = None
    for _ in range(repeats):
        model = make()
        start = time.perf_counter()
        model.fit(x, y)
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    return model, best


def densities(path):
    from sklearn.discriminant_analysis import (LinearDiscriminantAnalysis,
                                               QuadraticDiscriminantAnalysis)
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB

    values = np.loadtxt(path, delimiter=",", skiprows=1)
    x, y = np.ascontiguousarray(values[:, :D]), values[:, D].astype(int)
    codes = np.eye(K)[y]
    for name, make, target in (
            ("shared", lambda: LinearDiscriminantAnalysis(solver="lsqr"), y),
            ("full", QuadraticDiscriminantAnalysis, y),
            ("naive_bayes", GaussianNB, y),
            ("least_squares", LinearRegression, codes)):
        model, took = timed(name, make, x, target, 2)
        print(name, f"{took:.4f}", flush=True)


def softmax(train, test):
    from sklearn.linear_model import LogisticRegression

    def load(path):
        with gzip.open(path) as file:
            values = np.loadtxt(file, delimiter=",", skiprows=1)
        return values[:, 1:] / 255, values[:, 0].astype(int)

    x, y = load(train)
    model, took = timed("softmax", lambda: LogisticRegression(
        C=1 / (2 * 1e-4 * len(y)), solver="lbfgs", tol=1e-3, max_iter=1000), x, y, 1)
    x, y = load(test)
    print("softmax", f"{took:.3f}", f"{model.score(x, y):.4f}")


if __name__ == "__main__":
    {"table": table, "densities": densities, "softmax": softmax}[sys.argv[1]](*sys.argv[2:])
