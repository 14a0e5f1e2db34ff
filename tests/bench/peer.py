#!/usr/bin/python3
"""Fits of scikit-learn for tests/bench/fits and tests/bench/search.

  peer.py table FILE          writes the table of P10 as CSV: 200,000 rows, 100 columns, 5 classes
  peer.py densities FILE      reads the CSV and fits the four methods of P10
  peer.py softmax TRAIN TEST  fits a softmax to MNIST / 255 (P5)
  peer.py path FILE FOLDS     LogisticRegressionCV with 50 values of lambda (P14)
  peer.py grid FILE FOLDS     GridSearchCV of an SVC with 5 × 5 values of gamma and C (P14)
  peer.py auto FILE HELD      GridSearchCV over the families of "auto"; HELD has the rows of the test

Fits print "name seconds value" for each method; value: accuracy, of the training rows (P10) or of
the test rows (P5). Only the calls of fit() are timed, each the best of two (P10) or one (P5, P14).
A search prints "seconds S", "winner PARAMETERS" and a line "PARAMETERS mean" for each candidate, with
the parameters of Discern. FOLDS has a line "row fold" for each row.
"""
import csv
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


def encoded(path):
    """The numeric columns standardised, an indicator for each category; the last column."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    columns = []
    for column in list(zip(*rows))[:-1]:
        try:
            values = np.array(column, float)
            columns.append(((values - values.mean()) / values.std())[:, None])
        except ValueError:
            levels, code = np.unique(column, return_inverse=True)
            columns.append(np.eye(len(levels))[code])
    return np.hstack(columns), np.array([row[-1] for row in rows])


def split(path):
    from sklearn.model_selection import PredefinedSplit

    folds = np.loadtxt(path, dtype=int)
    return PredefinedSplit(folds[np.argsort(folds[:, 0]), 1])


def path(file, folds):
    from sklearn.linear_model import LogisticRegressionCV

    x, y = encoded(file)
    lambdas = np.logspace(-8, 0, 50)
    # C multiplies the sum of the losses, of four fifths of the rows, against half the square
    model = LogisticRegressionCV(Cs=1 / (2 * lambdas * 0.8 * len(y)), cv=split(folds),
                                 scoring="neg_log_loss", max_iter=2000, n_jobs=-1)
    start = time.perf_counter()
    model.fit(x, y)
    print("seconds", f"{time.perf_counter() - start:.3f}")
    print("note", f"lbfgs, {x.shape[1]} features, at most {model.n_iter_.max()} iterations")
    means = -model.scores_[model.classes_[1]].mean(axis=0)
    print("winner", f"{lambdas[means.argmin()]:.9e}")
    for value, mean in zip(lambdas, means):
        print(f"{value:.9e} {mean:.12g}")


def grid(file, folds):
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    values = np.loadtxt(file, delimiter=",", skiprows=1)
    search = GridSearchCV(SVC(), {"gamma": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2],
                                  "C": [0.1, 1, 10, 100, 1000]}, cv=split(folds), n_jobs=-1)
    start = time.perf_counter()
    search.fit(values[:, :-1], values[:, -1].astype(int))
    print("seconds", f"{time.perf_counter() - start:.3f}")
    width = {gamma: (2 * gamma) ** -0.5 for gamma in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)}
    print("winner", f"{width[search.best_params_['gamma']]:.9e} {search.best_params_['C']:.9e}")
    results = search.cv_results_
    for params, mean in zip(results["params"], results["mean_test_score"]):
        print(f"{width[params['gamma']]:.9e} {params['C']:.9e} {mean:.12g}")


def auto(file, held):
    """Prints "seconds|winner, number of candidates, inner log loss, outer log loss"."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import PolynomialFeatures
    from sklearn.svm import SVC

    x, y = encoded(file)
    test = np.zeros(len(y), bool)
    test[np.loadtxt(held, dtype=int)] = True
    plain, penalties = [None], np.logspace(-2, 4, 13)
    spaces = [
        {"map": plain, "fit": [LogisticRegression(max_iter=2000)], "fit__C": penalties},
        {"map": plain, "fit": [GaussianNB()], "fit__var_smoothing": np.logspace(-9, 0, 7)},
        {"map": plain, "fit": [LinearDiscriminantAnalysis(solver="lsqr")],
         "fit__shrinkage": [None, "auto", 0.1, 0.3, 0.9]},
        {"map": plain, "fit": [KNeighborsClassifier()],
         "fit__n_neighbors": [1, 3, 5, 7, 9, 11, 15, 21, 31, 45, 61]},
        {"map": plain, "fit": [SVC(probability=True)], "fit__C": [0.1, 1, 10, 100],
         "fit__gamma": ["scale", 0.01, 0.1]},
        {"map": plain, "fit": [MLPClassifier(max_iter=1000)], "fit__alpha": [1e-4, 1e-2],
         "fit__hidden_layer_sizes": [(32,), (128,)]}]
    if x.shape[1] <= 20:
        spaces.append({"map": [PolynomialFeatures(2, interaction_only=True, include_bias=False)],
                       "fit": [LogisticRegression(max_iter=2000)], "fit__C": penalties})
    search = GridSearchCV(Pipeline([("map", None), ("fit", None)]), spaces,
                          cv=StratifiedKFold(5, shuffle=True, random_state=1),
                          scoring="neg_log_loss", n_jobs=-1)
    start = time.perf_counter()
    search.fit(x[~test], y[~test])
    took = time.perf_counter() - start
    outer = log_loss(y[test], search.predict_proba(x[test]), labels=search.classes_)
    print(f"{took:.3f}|{type(search.best_params_['fit']).__name__}, "
          f"{len(search.cv_results_['params'])} candidates, inner {-search.best_score_:.4f}, "
          f"outer {outer:.4f}")


if __name__ == "__main__":
    {"table": table, "densities": densities, "softmax": softmax, "path": path,
     "grid": grid, "auto": auto}[sys.argv[1]](*sys.argv[2:])
