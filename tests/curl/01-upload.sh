#!/bin/bash
# Upload a table, look at what was understood of it, replace it.
#   DISCERN_URL=http://localhost:8080 tests/curl/01-upload.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# A file is a dataset: no content type is needed, header, delimiter and column types are found out.
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/upload-iris" >/dev/null

# What it holds: rows, columns, types, summaries.
curl -sSf "$URL/v1/datasets/upload-iris" >"$answer"
expect "$(jq -r '.rows' "$answer")" 150
expect "$(jq -r '[.columns[].type] | join(" ")' "$answer")" "numeric numeric numeric numeric categorical"
expect "$(jq -r '.columns[4].distinct' "$answer")" 3
expect "$(jq -r '.sha256' "$answer")" "$(sha256sum "$DATA/iris.csv" | cut -d ' ' -f 1)"

# The same file again makes no new version.
expect "$(curl -sS -o /dev/null -w '%{http_code} %header{discern-unchanged}' -T "$DATA/iris.csv" "$URL/v1/datasets/upload-iris")" "200 true"

# Another file under the same name does; the old version stays.
expect "$(curl -sS -o /dev/null -w '%{http_code}' -T "$DATA/wine.csv" "$URL/v1/datasets/upload-iris")" 200
expect "$(curl -sSf "$URL/v1/datasets/upload-iris" | jq '[.version, .rows]' -c)" "[2,178]"
expect "$(curl -sSf "$URL/v1/datasets/upload-iris?version=1" | jq '[.version, .rows]' -c)" "[1,150]"

# A new name answers 201 and says where it is; a pipe (chunked, of unknown length) does as well as a file.
expect "$(curl -sS -o /dev/null -w '%{http_code} %header{location}' -T - "$URL/v1/datasets/upload-piped" <"$DATA/iris.csv")" \
    "201 /v1/datasets/upload-piped?version=1"

# All datasets, by name: "next" of a page asks for the one behind it, null is the end.
page=$(curl -sSf "$URL/v1/datasets")
echo "$page" | jq -r '.items[].name' >"$answer"
while next=$(echo "$page" | jq -r '.next // empty') && [ -n "$next" ]; do
    page=$(curl -sSf "$URL/v1/datasets?after=$next")
    echo "$page" | jq -r '.items[].name' >>"$answer"
done
expect "$(grep -cxE 'upload-iris|upload-piped' "$answer")" 2
