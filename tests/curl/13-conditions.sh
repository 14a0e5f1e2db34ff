#!/bin/bash
# Do something only if nobody else did meanwhile: ETag, If-None-Match, If-Match.
#   DISCERN_URL=http://localhost:8080 tests/curl/13-conditions.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
IRIS=$URL/v1/datasets/conditions-iris
status() { curl -sS -o /dev/null -w '%{http_code}' "$@"; }

# Create, but never replace.
expect "$(status -T "$DATA/iris.csv" -H 'If-None-Match: *' "$IRIS")" 201
expect "$(status -T "$DATA/wine.csv" -H 'If-None-Match: *' "$IRIS")" 412

# Not sent again when it has not changed.
etag=$(curl -sS -o /dev/null -w '%header{etag}' "$IRIS")
expect "$(status -H "If-None-Match: $etag" "$IRIS")" 304

# Replace what was seen, nothing else.
expect "$(status -T "$DATA/wine.csv" -H "If-Match: $etag" "$IRIS")" 200
expect "$(status -T "$DATA/digits.csv" -H "If-Match: $etag" "$IRIS")" 412
expect "$(status -X DELETE -H "If-Match: $etag" "$IRIS")" 412

# A description and tags, for people.
expect "$(curl -sSf -X PATCH "$IRIS" -d '{"description": "three cultivars", "tags": ["wine", "teaching"]}' -o /dev/null -w '%{http_code}')" 200
expect "$(curl -sSf "$IRIS" | jq -c '[.description, .tags]')" '["three cultivars",["wine","teaching"]]'

expect "$(status -X DELETE "$IRIS")" 204
expect "$(status "$IRIS")" 404
