#!/bin/bash
# What an operator asks: alive, ready, numbers, version, the contract.
#   DISCERN_URL=http://localhost:8080 tests/curl/15-operations.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$URL/healthz")" 200
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$URL/readyz")" 200
expect "$(curl -sSf "$URL/version" | jq 'has("version")')" true
expect "$(curl -sSf "$URL/openapi.json" | jq -r .openapi | cut -c 1-3)" 3.1
expect "$(curl -sSf "$URL/metrics" | grep -c '^# TYPE discern_http_requests_total counter')" 1

# A request carries its own id to the answer and the log.
expect "$(curl -sS -o /dev/null -w '%header{x-request-id}' -H 'X-Request-Id: order-66' "$URL/healthz")" order-66

# A page of another origin may not write (browsers only send Origin).
expect "$(curl -sS -o /dev/null -w '%{http_code}' -X DELETE -H 'Origin: https://elsewhere.example' "$URL/v1/models/any")" 403
