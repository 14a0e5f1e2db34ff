#!/bin/bash
# Evaluate a model on labelled rows: rows in the body, or a dataset that is there.
#   DISCERN_URL=http://localhost:8080 tests/curl/09-evaluate.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/evaluate-iris" >/dev/null
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"evaluate-iris","dataset":"evaluate-iris","target":"class","algorithm":"logistic"}' | jq .id)
trained=$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq .result.metrics.train.accuracy)

# A stored dataset: here the one it learned from, so the accuracy is that of training.
answer=$(curl -sSf "$URL/v1/models/evaluate-iris/evaluate" -d '{"dataset": "evaluate-iris"}')
expect "$(echo "$answer" | jq .rows)" 150
expect "$(echo "$answer" | jq .metrics.accuracy)" "$trained"

# Labelled rows as CSV, with their header.
answer=$(head -n 51 "$DATA/iris.csv" | curl -sSf "$URL/v1/models/evaluate-iris/evaluate" -H 'Content-Type: text/csv' --data-binary @-)
expect "$(echo "$answer" | jq -c '[.rows, .metrics.confusion.matrix[0]]')" '[50,[50,0,0]]'
