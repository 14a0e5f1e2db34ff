#!/bin/bash
# A table as JSON: an array of objects, or columns and rows.
#   DISCERN_URL=http://localhost:8080 tests/curl/05-json-upload.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}

# An array of objects. A missing key or null is a missing value.
answer=$(curl -sSf -X PUT "$URL/v1/datasets/json-objects" -H 'Content-Type: application/json' -d '[
    {"height": 1.82, "smoker": false, "city": "Oslo"},
    {"height": 1.64, "smoker": true,  "city": "Bergen"},
    {"height": null, "smoker": true}
]')
expect "$(echo "$answer" | jq -c '[.rows, (.columns[] | [.name, .type, .missing])]')" \
    '[3,["height","numeric",1],["smoker","boolean",0],["city","categorical",1]]'

# Columns and rows. It is the same table, so it has the same content hash.
again=$(curl -sSf -X PUT "$URL/v1/datasets/json-rows" -H 'Content-Type: application/json' -d '{
    "columns": ["height", "smoker", "city"],
    "rows": [[1.82, false, "Oslo"], [1.64, true, "Bergen"], [null, true, null]]
}')
expect "$(echo "$again" | jq -r .content)" "$(echo "$answer" | jq -r .content)"
