#!/bin/bash
# Train a model and wait for it.
#   DISCERN_URL=http://localhost:8080 tests/curl/02-train.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/train-iris" >/dev/null

# A job: which model to make, from which dataset, for which column, how. The answer comes at once (202) with the job's address.
job=$(curl -sSf "$URL/v1/jobs" -d '{
    "model": "train-iris", "dataset": "train-iris", "target": "class",
    "algorithm": "logistic", "params": {"solver": "newton", "lambda": 0.001},
    "validation": {"holdout": 0.25}, "seed": 1
}' | jq .id)

# Wait for its end, at most 50 s in one call.
curl -sSf "$URL/v1/jobs/$job?wait=50" >"$answer"
expect "$(jq -r .state "$answer")" succeeded
expect "$(jq -c '[.result.model, .result.version, .result.converged]' "$answer")" '["train-iris",1,true]'

# How good it is, on the rows it learned from and on those it has not seen.
expect "$(jq '.result.metrics.train.accuracy > 0.9 and .result.metrics.validation.accuracy > 0.85' "$answer")" true
expect "$(jq '[.result.metrics[].confusion.matrix[][]] | add' "$answer")" 150

# The model knows what it was made of.
expect "$(curl -sSf "$URL/v1/models/train-iris" | jq -c '[.algorithm, .classes, .dataset.name, .dataset.version]')" \
    '["logistic",["setosa","versicolor","virginica"],"train-iris",1]'
