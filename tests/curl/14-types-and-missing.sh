#!/bin/bash
# Mixed columns, missing values, types said by hand; what a model does with a value it has never seen.
#   DISCERN_URL=http://localhost:8080 tests/curl/14-types-and-missing.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# Types are found over the whole table; what was written survives (007 stays 007). A question mark is a missing value, and here n/a too.
curl -sSf -T - "$URL/v1/datasets/types-people?missing=n/a&types=zip:categorical" >"$answer" <<'CSV'
zip;age;city;member;buys
007;31;Oslo;true;yes
123;?;"Bergen; north";false;no
007;52;Oslo;true;yes
456;28;n/a;false;no
123;44;"Bergen; north";true;yes
456;39;Oslo;false;no
CSV
expect "$(jq -r '[.columns[] | .name + ":" + .type] | join(" ")' "$answer")" \
    "zip:categorical age:numeric city:categorical member:boolean buys:categorical"
expect "$(jq -c '[.columns[].missing]' "$answer")" '[0,1,1,0,0]'
expect "$(curl -sSf "$URL/v1/datasets/types-people/rows?limit=1" | jq -c '.items[0]')" \
    '{"zip":"007","age":31,"city":"Oslo","member":true,"buys":"yes"}'

# Train without the zip code.
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"types-people","dataset":"types-people","target":"buys","algorithm":"logistic",
    "features":{"exclude":["zip"]},"params":{"lambda":0.01}}' | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded

# A missing value and a city that was not in the table are no mistake; a misspelt column is.
PREDICT=$URL/v1/models/types-people/predict
expect "$(curl -sSf "$PREDICT" -d '{"instances": [{"age": null, "city": "Tromsø", "member": true}, {"city": "Oslo", "member": false}]}' |
    jq -c '[.predictions[].label]')" '["yes","no"]'
expect "$(curl -sS "$PREDICT" -o /dev/null -w '%{http_code}' -d '{"instances": [{"agee": 31, "city": "Oslo", "member": true}]}')" 422
