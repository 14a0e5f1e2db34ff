#!/bin/bash
# Follow a job's events (Server-Sent Events) until it is done.
#   DISCERN_URL=http://localhost:8080 tests/curl/06-events.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
curl -sSf -T "$DATA/digits.csv" "$URL/v1/datasets/events-digits" >/dev/null
target=$(curl -sSf "$URL/v1/datasets/events-digits" | jq -r '.columns[-1].name')
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"events-digits","dataset":"events-digits","target":"'"$target"'","algorithm":"logistic",
    "params":{"solver":"gradient_descent","max_iterations":300,"tolerance":0}}' | jq .id)

# -N: show each event as it comes. The stream ends after "done".
curl -sSfN --max-time 60 "$URL/v1/jobs/$job/events" >"$answer"
expect "$(grep -c '^event: done' "$answer")" 1
expect "$(grep '^data: ' "$answer" | tail -n 1 | cut -c 7- | jq -r .state)" succeeded

# Who has seen it all is told so when it asks to go on: 204.
last=$(grep '^id: ' "$answer" | tail -n 1 | cut -c 5-)
expect "$(curl -sS -o /dev/null -w '%{http_code}' -H "Last-Event-ID: $last" "$URL/v1/jobs/$job/events")" 204

# How the objective went down, iteration by iteration.
expect "$(curl -sSf "$URL/v1/jobs/$job/history" | jq '.items | (length > 10) and (first.loss > last.loss)')" true
