#!/usr/bin/python3
"""Fits of scikit-learn for tests/bench/fits and tests/bench/search.

  peer.py table FILE          writes the table of P10 as CSV: 200,000 rows, 100 columns, 5 classes
  peer.py densities FILE      reads the CSV and fits the four methods of P10
  peer.py softmax TRAIN TEST  fits a softmax to MNIST / 255 (P5)
  peer.py encode FILE         writes the features of `path` as CSV
  peer.py path FILE FOLDS     LogisticRegressionCV with 50 values of lambda (P14)
  peer.py grid FILE FOLDS     GridSearchCV of an SVC with 5 × 5 values of gamma and C (P14)
  peer.py auto FILE TARGET HELD SECONDS
                              a grid over the families of "auto"; HELD has the rows of the test. After
                              SECONDS no candidate of the grid begins

Fits print "name seconds value" for each method; value: accuracy, of the training rows (P10) or of
the test rows (P5). Only the calls of fit() are timed, each the best of two (P10) or one (P5, P14).
A search prints "seconds S", "winner PARAMETERS" and a line "PARAMETERS mean" for each candidate, with
the parameters of Discern; path also "exact PARAMETERS mean" for some, of fits to a tolerance of 1e-10.
FOLDS has a line "row fold" for each row.
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


def encode(file):
    x, y = encoded(file)
    print(",".join([f"x{j}" for j in range(x.shape[1])] + ["class"]))
    for row, label in zip(x, y):
        print(",".join([f"{value:.17g}" for value in row] + [label]))


def path(file, folds):
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.metrics import log_loss

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
    for value in lambdas[::7]:
        exact = LogisticRegression(C=1 / (2 * value * 0.8 * len(y)), tol=1e-10,
                                   solver="newton-cholesky", max_iter=1000)
        losses = []
        for train, held in split(folds).split():
            exact.set_params(C=1 / (2 * value * len(train)))
            losses.append(log_loss(y[held], exact.fit(x[train], y[train]).predict_proba(x[held])))
        print(f"exact {value:.9e} {np.mean(losses):.12g}")


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


def read(file, target):
    """The columns and the target of a table (CSV, TSV or svmlight)."""
    with open(file, newline="", encoding="utf-8") as lines:
        first = lines.readline()
        if "," not in first and "\t" not in first:
            from sklearn.datasets import load_svmlight_file
            x, y = load_svmlight_file(file)
            return x.toarray(), y
        lines.seek(0)
        rows = list(csv.reader(lines, delimiter="\t" if "\t" in first else ","))
    at = rows[0].index(target)
    columns = list(zip(*rows[1:]))
    return columns[:at] + columns[at + 1:], np.array(columns[at])


def features(columns, train):
    """Numbers standardised, the mean for missing ones; an indicator for each of at most 100 levels;
    TF-IDF of texts. Other columns are left out. Everything is fitted to the training rows."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    if isinstance(columns, np.ndarray):
        return columns, False
    parts, texts = [], []
    for column in columns:
        values = np.array(column)
        try:
            x = np.array([float(v) if v else np.nan for v in values])
            mean, deviation = np.nanmean(x[train]), np.nanstd(x[train])
            parts.append(((np.where(np.isnan(x), mean, x) - mean) / (deviation or 1))[:, None])
            continue
        except ValueError:
            levels = np.unique(values[train])
        if len(levels) <= 100:
            parts.append((values[:, None] == levels).astype(float))
        elif np.mean([len(v.split()) for v in values]) >= 8:
            texts.append(TfidfVectorizer(sublinear_tf=True).fit(values[train]).transform(values))
    if texts:
        return hstack([csr_matrix(part) for part in parts] + texts).tocsr(), True
    return np.hstack(parts), False


def families(rows, d, sparse):
    """Lists of estimators, a list for each family."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures
    from sklearn.svm import SVC, LinearSVC

    penalties = np.logspace(4, -2, 13)
    lists = [[LogisticRegression(max_iter=2000, C=c) for c in penalties]]
    if sparse:
        lists += [[MultinomialNB(alpha=a) for a in (0.01, 0.1, 1, 10)],
                  [CalibratedClassifierCV(LinearSVC(C=c)) for c in (0.1, 1, 10)]]
        return lists
    lists.append([GaussianNB(var_smoothing=v) for v in np.logspace(-9, 0, 7)])
    lists.append([LinearDiscriminantAnalysis(solver="lsqr", shrinkage=v)
                  for v in (None, "auto", 0.1, 0.3, 0.9)])
    if rows <= 20000 and d <= 100:
        lists.append([KNeighborsClassifier(k) for k in (1, 3, 5, 7, 9, 11, 15, 21, 31, 45, 61)])
    if rows <= 10000:
        lists.append([SVC(probability=True, C=c, gamma=g) for g in ("scale", 0.01, 0.1)
                      for c in (0.1, 1, 10, 100)])
    lists.append([MLPClassifier(size, alpha=a, max_iter=1000)
                  for size in ((32,), (128,)) for a in (1e-4, 1e-2)])
    if d <= 20:
        lists.append([make_pipeline(PolynomialFeatures(2, interaction_only=True,
                                                       include_bias=False),
                                    LogisticRegression(max_iter=2000, C=c)) for c in penalties])
    return lists


def auto(file, target, held, seconds):
    """Prints "seconds|winner, number of candidates, inner log loss, outer log loss"."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    columns, y = read(file, target)
    test = np.zeros(len(y), bool)
    test[np.loadtxt(held, dtype=int)] = True
    x, sparse = features(columns, ~test)
    lists = families(sum(~test), x.shape[1], sparse)
    start = time.perf_counter()
    best, tried = None, 0
    for turn in range(max(len(of) for of in lists)):
        for estimator in (of[turn] for of in lists if turn < len(of)):
            if time.perf_counter() - start > float(seconds):
                break
            loss = -cross_val_score(estimator, x[~test], y[~test], scoring="neg_log_loss", n_jobs=-1,
                                    cv=StratifiedKFold(5, shuffle=True, random_state=1)).mean()
            tried += 1
            if best is None or loss < best[0]:
                best = loss, estimator
    model = best[1].fit(x[~test], y[~test])
    took = time.perf_counter() - start
    outer = log_loss(y[test], model.predict_proba(x[test]), labels=model.classes_)
    name = type(model[-1] if hasattr(model, "steps") else model).__name__
    print(f"{took:.3f}|{name}, {tried} of {sum(map(len, lists))} candidates, inner {best[0]:.4f}, "
          f"outer {outer:.4f}")


if __name__ == "__main__":
    {"table": table, "densities": densities, "softmax": softmax, "encode": encode, "path": path,
     "grid": grid, "auto": auto}[sys.argv[1]](*sys.argv[2:])
