#!/bin/bash
# What a mistake gets: a problem document (RFC 9457) that names the thing, its value and the rule, and all of the faults at once.
#   DISCERN_URL=http://localhost:8080 tests/curl/12-errors.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/errors-iris" >/dev/null

# A name that is not there.
answer=$(curl -sS -w '\n%{http_code} %{content_type}' "$URL/v1/models/nobody")
expect "$(echo "$answer" | tail -n 1)" "404 application/problem+json"
expect "$(echo "$answer" | head -n 1 | jq -r .type)" /problems/unknown-model

# Several faults in one job: every one is listed, with a pointer to its place.
answer=$(curl -sS "$URL/v1/jobs" -d '{"model":"errors-iris","dataset":"errors-iris","target":"colour","algorithm":"logistic",
    "params":{"lambda":-1,"momentum":0.9}}')
expect "$(echo "$answer" | jq -r '[.errors[].pointer] | sort | join(" ")')" "/params/lambda /params/momentum /target"

# A table that breaks off: the line is named.
answer=$(printf 'a,b\n1,2\n3\n' | curl -sS -w '\n%{http_code}' -T - "$URL/v1/datasets/errors-ragged")
expect "$(echo "$answer" | tail -n 1)" 422
expect "$(echo "$answer" | head -n 1 | jq '.errors[0].line')" 3

# A row that does not fit the model.
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"errors-iris","dataset":"errors-iris","target":"class","algorithm":"logistic"}' | jq .id)
curl -sSf "$URL/v1/jobs/$job?wait=50" >/dev/null
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$URL/v1/models/errors-iris/predict" -d '{"instances": [[1, 2, 3]]}')" 422
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$URL/v1/models/errors-iris/predict" -d '{"instances": [[1, 2, 3')" 400

# A method that a route has not: Allow says which it has. And what a type means, at its own address.
expect "$(curl -sS -o /dev/null -w '%{http_code}' -X DELETE "$URL/v1/algorithms")" 405
expect "$(curl -sSf "$URL/problems/unknown-model" -o /dev/null -w '%{http_code}')" 200

# A body that is refused before it is sent: curl asks first (Expect: 100-continue) when a body is large.
expect "$(head -c 3000000 /dev/zero | curl -sS -o /dev/null -w '%{http_code}' -H 'Expect: 100-continue' -T - "$URL/v1/nowhere")" 404
