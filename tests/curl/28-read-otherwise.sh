#!/bin/bash
# How a table was read is told in each answer, in "notes".
#   DISCERN_URL=http://localhost:8080 tests/curl/28-read-otherwise.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# put NAME TABLE: uploads the table; the answer is in $answer.
put() {
    printf '%b' "$2" | curl -sSf -T - "$URL/v1/datasets/$1" >"$answer"
}

# The same content makes no new version: the answer tells how this body was read, and the stored
# version stays as it is.
put otherwise-zeros 'z,y\n1234,a\n98765,b\n'
put otherwise-zeros 'z,y\n01234,a\n98765,b\n'
expect "$(jq -r '.version' "$answer")" 1
expect "$(jq -r '.notes.warnings[0] | test("leading zeros")' "$answer")" true
expect "$(curl -sSf "$URL/v1/datasets/otherwise-zeros" | jq -c '.notes.warnings')" "[]"
put otherwise-marks 'x;y\n1,5;a\n2,5;b\n'
put otherwise-marks 'x,y\n1.5,a\n2.5,b\n'
expect "$(jq -r '.version' "$answer")" 1
expect "$(jq -r '.notes.delimiter' "$answer")" ","
expect "$(curl -sSf "$URL/v1/datasets/otherwise-marks" | jq -r '.notes.delimiter')" ";"
