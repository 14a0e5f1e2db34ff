#!/bin/bash
# Train twice, go back to the first version, and forward again.
#   DISCERN_URL=http://localhost:8080 tests/curl/08-versions.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/versions-iris" >/dev/null
for lambda in 0.001 10; do
    job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"versions-iris","dataset":"versions-iris","target":"class","algorithm":"logistic",
        "params":{"lambda":'$lambda'}}' | jq .id)
    expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded
done
MODEL=$URL/v1/models/versions-iris
row='{"instances": [[5.1, 3.5, 1.4, 0.2]]}'

# The newest version is live.
expect "$(curl -sSf "$MODEL/versions" | jq -c '[.items[].version] | sort')" '[1,2]'
expect "$(curl -sSf "$MODEL/predict" -d "$row" | jq .version)" 2

# Back to the first. Any version can be asked by its number, live or not.
curl -sSf -X PUT "$MODEL/live" -d '{"version": 1}' >/dev/null
expect "$(curl -sSf "$MODEL/predict" -d "$row" | jq .version)" 1
expect "$(curl -sSf "$MODEL/versions/2/predict" -d "$row" | jq .version)" 2
expect "$(curl -sSf "$MODEL/predict" -d "$row" | jq '.predictions[0].probabilities[0] > 0.9')" true

# Forward again; there is no third.
curl -sSf -X PUT "$MODEL/live" -d '{"version": 2}' >/dev/null
expect "$(curl -sSf "$MODEL/predict" -d "$row" | jq .version)" 2
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$MODEL/versions/3")" 404
