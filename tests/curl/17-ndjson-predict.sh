#!/bin/bash
# A file of any length: one line in, one line out. And the same rows in and out as CSV.
#   DISCERN_URL=http://localhost:8080 tests/curl/17-ndjson-predict.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/lines-iris" >/dev/null
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"lines-iris","dataset":"lines-iris","target":"class","algorithm":"logistic"}' | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded
PREDICT=$URL/v1/models/lines-iris/predict

# The rows of a stored table as NDJSON, 200 times over, and predictions for them: neither end holds the whole.
ROWS="$URL/v1/datasets/lines-iris/rows?limit=150&columns=sepal_length,sepal_width,petal_length,petal_width"
curl -sSf -H 'Accept: application/x-ndjson' "$ROWS" >"$DIR/table.ndjson"
for _ in $(seq 200); do cat "$DIR/table.ndjson"; done >"$DIR/rows.ndjson"
curl -sSf -X POST -H 'Content-Type: application/x-ndjson' -T "$DIR/rows.ndjson" "$PREDICT" >"$DIR/answers.ndjson"
expect "$(wc -l <"$DIR/answers.ndjson")" 30000
expect "$(tail -n 150 "$DIR/answers.ndjson" | sha256sum)" "$(head -n 150 "$DIR/answers.ndjson" | sha256sum)"

# Straight from another program, of a length that nobody knows yet.
answers=$(tac "$DIR/rows.ndjson" | curl -sSf -X POST -H 'Content-Type: application/x-ndjson' -T - "$PREDICT?output=label" | sort -u | wc -l)
expect "$answers" 3

# A line that is wrong is answered with what is wrong, and the rest goes on. The headers say how many there were.
printf '[5.1,3.5,1.4,0.2]\n[5.1,"tall",1.4,0.2]\n[6.3,3.3,6.0,2.5]\n' >"$DIR/some.ndjson"
curl -sSf -D "$DIR/head" -H 'Content-Type: application/x-ndjson' --data-binary "@$DIR/some.ndjson" "$PREDICT" >"$DIR/answers.ndjson"
expect "$(jq -r '.label // "line \(.error.line), column \(.error.column)"' "$DIR/answers.ndjson" | paste -sd' ')" "setosa line 2, column 6 virginica"
expect "$(tr -d '\r' <"$DIR/head" | sed -n 's/^Discern-R[a-z]*: //p' | paste -sd' ')" "3 1"

# A CSV file of rows becomes a CSV file of predictions, for a spreadsheet.
printf 'sepal_length,sepal_width,petal_length,petal_width\n5.1,3.5,1.4,0.2\n6.3,3.3,6.0,2.5\n' |
    curl -sSf -H 'Content-Type: text/csv' -H 'Accept: text/csv' --data-binary @- "$PREDICT" >"$DIR/answers.csv"
expect "$(head -n 1 "$DIR/answers.csv")" "label,p(setosa),p(versicolor),p(virginica)"
expect "$(tail -n +2 "$DIR/answers.csv" | cut -d, -f1 | paste -sd' ')" "setosa virginica"
