#!/usr/bin/env python3
"""Computes what POST /v1/compare answers from the predictions of the models, with other random numbers
and other code: metrics, bootstrap intervals, McNemar's test, disagreements.

Uses the standard library; with scipy, the test is also compared with scipy's."""
import json
import math
import random
import sys
import urllib.request

URL, TABLE = sys.argv[1:]
SAMPLES = 1000
MODELS = {"compared-a": {"algorithm": "logistic"},
          "compared-b": {"algorithm": "naive_bayes"}}


def call(method, path, body=None, kind="application/json"):
    request = urllib.request.Request(URL + path, method=method, data=body,
                                     headers={"Content-Type": kind, "Accept": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def post(path, body):
    return call("POST", path, json.dumps(body).encode())


def measure(truth, chance, losses, groups, weight):
    """Metrics of weighted rows: truth 0 or 1, the chance of 1, groups of ties by falling score."""
    total = sum(weight)
    cell = [[0, 0], [0, 0]]
    log_loss = brier = 0
    for t, p, loss, w in zip(truth, chance, losses, weight):
        cell[t][p > 0.5] += w
        log_loss += w * loss
        brier += w * (p - t) ** 2
    true = false = area = 0
    for group in groups:
        step = [0, 0]
        for i in group:
            step[truth[i]] += weight[i]
        area += step[0] * (true + step[1] / 2)
        true, false = true + step[1], false + step[0]
    (a, b), (c, d) = cell
    root = math.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    return {"accuracy": (a + d) / total,
            "balanced_accuracy": (a / (a + b) + d / (c + d)) / 2,
            "log_loss": log_loss / total,
            "brier": brier / total,
            "mcc": (a * d - b * c) / root,
            "roc_auc": area / true / false,
            "macro_f1": (2 * a / (2 * a + b + c) + 2 * d / (2 * d + b + c)) / 2}


def ties(scores):
    """Groups of rows by falling score; scores tie within 1e-9 of their range (metrics.h)."""
    tie = 1e-9 * (max(scores) - min(scores))
    groups = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if groups and scores[groups[-1][0]] - scores[i] <= tie:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def mcnemar(b, c):
    n = b + c
    if n < 25:
        return min(1, 2 * sum(math.comb(n, i) for i in range(min(b, c) + 1)) / 2 ** n)
    return math.erfc(math.sqrt(max(abs(b - c) - 1, 0) ** 2 / n / 2))


def near(name, value, expected, tolerance):
    if not abs(value - expected) <= tolerance:
        sys.exit(f"{name}: {value}, expected {expected} within {tolerance}")


def interval_check(name, interval, values, n):
    """The ends differ by the error of the percentiles: some 0.04 of the width with 1,000 samples."""
    ends = [quantile(values, 0.025), quantile(values, 0.975)]
    for end, expected in zip(interval, ends):
        near(name, end, expected, 0.12 * (ends[1] - ends[0]) + 1 / n)


with open(TABLE, encoding="utf-8") as file:
    head, *lines = file.read().splitlines()
for dataset, rows in (("compared-train", lines[::3]), ("compared-test", lines[1::3] + lines[2::3])):
    call("PUT", f"/v1/datasets/{dataset}", "\n".join([head, *rows, ""]).encode(), "text/csv")
for model, spec in MODELS.items():
    job = post("/v1/jobs", {"model": model, "dataset": "compared-train", "target": "class", **spec})
    job = call("GET", f"/v1/jobs/{job['id']}?wait=50")
    assert job["state"] == "succeeded", job
answer = post("/v1/compare", {"models": list(MODELS), "dataset": "compared-test", "bootstrap": 10000})
rows = call("GET", "/v1/datasets/compared-test/rows?limit=1000")["items"]
negative, positive = answer["classes"]
truth = [int(row["class"] == positive) for row in rows]
n = len(truth)
given = [post(f"/v1/models/{m}/predict?output=probabilities,scores",
              {"dataset": "compared-test"})["predictions"] for m in MODELS]
chances = [[p["probabilities"][1] for p in of] for of in given]
losses = [[-math.log(min(max(p["probabilities"][t], 1e-15), 1 - 1e-15)) for t, p in zip(truth, of)]
          for of in given]
groups = [ties([p["scores"][-1] - (p["scores"][0] if len(p["scores"]) == 2 else 0) for p in of])
          for of in given]
assert answer["rows"] == n

# the metrics of all rows
ones = [1] * n
values = [measure(truth, *of, ones) for of in zip(chances, losses, groups)]
for of, own in zip(answer["models"], values):
    for name, value in own.items():
        shown = of["metrics"]["macro"]["f1"] if name == "macro_f1" else of["metrics"][name]
        near(name, shown, value, 1e-9)

# the intervals
draw = random.Random(20)
samples = []
for _ in range(SAMPLES):
    count = [0] * n
    for i in draw.choices(range(n), k=n):
        count[i] += 1
    samples.append([measure(truth, *of, count) for of in zip(chances, losses, groups)])
pair = answer["pairs"][0]
for name in values[0]:
    for m, of in enumerate(answer["models"]):
        interval_check(name, of["intervals"][name], [s[m][name] for s in samples], n)
    near(name, pair["differences"][name]["value"], values[0][name] - values[1][name], 1e-9)
    interval_check(f"difference of {name}", pair["differences"][name]["interval"],
                   [s[0][name] - s[1][name] for s in samples], n)

# the test and the rows that differ
labels = [[int(p > 0.5) for p in of] for of in chances]
right = [[x == t for x, t in zip(of, truth)] for of in labels]
b = sum(x and not y for x, y in zip(*right))
c = sum(y and not x for x, y in zip(*right))
assert (pair["first_right"], pair["second_right"]) == (b, c), pair
near("p-value", pair["mcnemar"]["p_value"], mcnemar(b, c), 1e-12)
try:
    from scipy.stats import binomtest, chi2
    by_scipy = (binomtest(b, b + c).pvalue if b + c < 25
                else chi2.sf(max(abs(b - c) - 1, 0) ** 2 / (b + c), 1))
    near("p-value of scipy", pair["mcnemar"]["p_value"], by_scipy, 1e-12)
except ImportError:
    pass
differ = [i for i, (x, y) in enumerate(zip(*labels)) if x != y]
assert answer["disagreements"]["rows"] == pair["disagreements"] == len(differ)
assert [row["row"] for row in answer["disagreements"]["listed"]] == differ[:100]
