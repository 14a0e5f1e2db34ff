#!/bin/bash
# The member "notes" of an answer says how the table of this request was read.
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

# A warning says that the first row may be the header: numbers that count from 0 or 1, or a word
# that no row below has.
may_be_header() {
    put "$1" "$2"
    expect "$(jq -r '.notes.warnings[0] // "none" | test("header=true")' "$answer")" true
}
may_be_header otherwise-index ',0,1,2\n0,-0.454,1.327,0\n1,0.3,2.1,1\n2,-1.1,0.2,2\n'
may_be_header otherwise-counted '0,1,2\n-0.454,1.327,0\n0.3,2.1,1\n-1.1,0.2,2\n'
may_be_header otherwise-word '0,1,2,species\n5.1,1,0,a\n4.9,3,2,b\n4.7,1,2,a\n4.6,3,1,b\n'
put otherwise-rows '5.1,3.5,a\n4.9,3,b\n4.7,3.2,a\n'
expect "$(jq -c '.notes.warnings' "$answer")" "[]"

# A row of words for missing values is a row of a table without faults, also for on_error=repair.
rows=$(for k in {1..100}; do printf '%s,%s.5,%s\\n' "$k" "$((k % 7))" "$((k % 11))"; done)
put otherwise-words?on_error=repair "a,b,c\n${rows}n/a,none,missing\n$rows"
expect "$(jq -c '[.rows, .notes.repairs]' "$answer")" "[201,null]"
