#!/bin/bash
# Ask what a job would do, without starting it; look the algorithm's parameters up.
#   DISCERN_URL=http://localhost:8080 tests/curl/11-dry-run.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/wine.csv" "$URL/v1/datasets/dry-wine" >/dev/null
target=$(curl -sSf "$URL/v1/datasets/dry-wine" | jq -r '.columns[-1].name')

# The catalogue: every algorithm with its parameters, their defaults, ranges and meanings.
expect "$(curl -sSf "$URL/v1/algorithms" | jq '[.items[].id] | index("logistic") != null')" true
expect "$(curl -sSf "$URL/v1/algorithms/logistic" | jq '[.parameters[] | select(.name == "lambda") | .default] == ["auto"]')" true

# Every parameter as it would be used, the columns, the memory: 200, and no job.
plan=$(curl -sSf "$URL/v1/jobs?dry_run=true" -d '{"model":"dry-wine","dataset":"dry-wine","target":"'"$target"'","algorithm":"logistic"}')
expect "$(echo "$plan" | jq -r .params.lambda)" auto
expect "$(curl -sSf "$URL/v1/jobs?model=dry-wine" | jq '.items | length')" 0
