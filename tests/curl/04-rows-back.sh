#!/bin/bash
# Get the rows of a dataset back, as JSON or as CSV, all of them or some.
#   DISCERN_URL=http://localhost:8080 tests/curl/04-rows-back.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/rows-iris" >/dev/null
ROWS=$URL/v1/datasets/rows-iris/rows

# As CSV: what was written is what comes back.
curl -sSf -H 'Accept: text/csv' "$ROWS?limit=1000" | tr -d '\r' >"$answer"
expect "$(tr -d '\r' <"$DATA/iris.csv" | cmp - "$answer" && echo same)" same

# As JSON, a page of it, some columns. "next" is the offset of the next page, null at the end.
page=$(curl -sSf "$ROWS?offset=50&limit=2&columns=petal_length,class")
expect "$(echo "$page" | jq -c .items)" '[{"petal_length":4.7,"class":"versicolor"},{"petal_length":4.5,"class":"versicolor"}]'
expect "$(echo "$page" | jq .next)" 52
