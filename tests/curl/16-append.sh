#!/bin/bash
# Append rows to a dataset, look at its versions, delete one.
#   DISCERN_URL=http://localhost:8080 tests/curl/16-append.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATASET=$URL/v1/datasets/append-flowers

curl -sSf -T - "$DATASET" >/dev/null <<'END'
petal_length,petal_width,class
1.4,0.2,setosa
4.7,1.4,versicolor
END

# Rows with a header: columns in any order. The answer is the new version, the whole table.
expect "$(curl -sSf "$DATASET/rows" --data-binary @- <<'END' | jq -c '[.version, .rows, .sha256]'
class,petal_width,petal_length
virginica,2.5,6.0
END
)" '[2,3,null]'

# One row as JSON. A column that is not there has a missing cell; one that the dataset does not have is a fault.
expect "$(curl -sSf "$DATASET/rows" -d '[{"petal_length": 1.3, "class": "setosa"}]' | jq -c '[.version, .notes.append.warnings]')" \
    '[3,["the rows have no column \"petal_width\": its cells are missing"]]'
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$DATASET/rows" -d '[{"petal_lenght": 1.3}]')" 422

# The same table, however it came: the same content.
content=$(curl -sSf "$DATASET" | jq -r .content)
expect "$(curl -sSf -H 'Accept: text/csv' "$DATASET/rows" | curl -sSf -T - "$DATASET-again" | jq -r .content)" "$content"

# Only if nobody was faster.
etag=$(curl -sSf -o /dev/null -D - "$DATASET" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
expect "$(curl -sS -o /dev/null -w '%{http_code}' -H "If-Match: $etag" "$DATASET/rows" -d '4.5,1.5,versicolor')" 201
expect "$(curl -sS -o /dev/null -w '%{http_code}' -H "If-Match: $etag" "$DATASET/rows" -d '4.5,1.5,versicolor')" 412

# Every version is there until it is deleted; the others keep the rows that they share with it.
expect "$(curl -sSf "$DATASET/versions" | jq -c '[.items[] | [.version, .rows]]')" '[[1,2],[2,3],[3,4],[4,5]]'
curl -sSf -X DELETE "$DATASET/versions/1"
curl -sSf -X DELETE "$DATASET/versions/4"
expect "$(curl -sSf "$DATASET" | jq -c '[.version, .rows]')" '[3,4]'
expect "$(curl -sSf -H 'Accept: text/csv' "$DATASET/rows?limit=1" | tail -n 1)" '1.4,0.2,setosa'

# A cell that does not fit the type of its column refuses the row, unless the type may change.
expect "$(curl -sS "$DATASET/rows" -d '[{"petal_length": "n.a.", "class": "setosa"}]' | jq -c '[.status, .errors[0].line, .errors[0].column]')" '[422,1,19]'
expect "$(curl -sSf "$DATASET/rows?missing=n.a." -d '[{"petal_length": "n.a.", "class": "setosa"}]' | jq -r '.columns[0].type')" numeric
expect "$(curl -sSf "$DATASET/rows?allow_type_change=true" -d '[{"petal_length": "long", "class": "setosa"}]' | jq -r '.columns[0].type')" categorical
