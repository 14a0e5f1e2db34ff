#!/bin/bash
# Cancel a job that runs.
#   DISCERN_URL=http://localhost:8080 tests/curl/07-cancel.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/digits.csv" "$URL/v1/datasets/cancel-digits" >/dev/null
target=$(curl -sSf "$URL/v1/datasets/cancel-digits" | jq -r '.columns[-1].name')

# A job of a million passes.
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"cancel-digits","dataset":"cancel-digits","target":"'"$target"'","algorithm":"logistic",
    "params":{"solver":"gradient_descent","max_iterations":1000000,"tolerance":0}}' | jq .id)
while [ "$(curl -sSf "$URL/v1/jobs/$job" | jq -r .state)" = queued ]; do sleep 0.1; done
expect "$(curl -sSf "$URL/v1/jobs/$job" | jq -r .state)" running

# A running job cannot be deleted (409), but cancelled (202): it stops within a second and leaves no model.
expect "$(curl -sS -o /dev/null -w '%{http_code}' -X DELETE "$URL/v1/jobs/$job")" 409
expect "$(curl -sS -o /dev/null -w '%{http_code}' -X POST "$URL/v1/jobs/$job/cancel")" 202
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=20" | jq -r .state)" cancelled
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$URL/v1/models/cancel-digits")" 404
expect "$(curl -sS -o /dev/null -w '%{http_code}' -X DELETE "$URL/v1/jobs/$job")" 204
