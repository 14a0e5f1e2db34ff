#!/bin/bash
# k nearest neighbours: train, predict, and compare the probabilities with the votes of the stored rows.
#   DISCERN_URL=http://localhost:8080 tests/curl/25-neighbours.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/neighbours" -o /dev/null

# The catalogue has the method with its parameters.
expect "$(curl -sSf "$URL/v1/algorithms" | jq -c '[.items[] | select(.id == "knn") | .parameters[].name]')" \
    '["k","metric","votes"]'

id=$(curl -sSf "$URL/v1/jobs" -d '{"model":"neighbours","dataset":"neighbours","target":"class","algorithm":"knn",
    "params":{"k":7},"features":{"standardize":false},"validation":{"folds":5}}' | jq .id)
job=$(curl -sSf "$URL/v1/jobs/$id?wait=50")
expect "$(jq '.result.metrics.validation.accuracy > 0.94' <<<"$job")" true

# Among the neighbours of a setosa are only others of its kind.
row='{"instances":[[5.1,3.5,1.4,0.2],[6.0,2.9,4.9,1.7]]}'
answer=$(curl -sSf "$URL/v1/models/neighbours/predict" -d "$row")
expect "$(jq -r '.predictions[0].label' <<<"$answer")" setosa
expect "$(jq '.predictions | map(.probabilities | add - 1 | fabs < 1e-9) | all' <<<"$answer")" true

# The stored rows are with the weights. By hand: distances, the seven least, their classes.
weights=$(curl -sSf "$URL/v1/models/neighbours/weights")
expect "$(jq -c '[.kind, .k, .metric, .votes, .n_rows, (.rows | length), (.class_indexes | length)]' <<<"$weights")" \
    '["neighbours",7,"euclidean","uniform",150,150,150]'
expect "$(jq --argjson q '[6.0,2.9,4.9,1.7]' --argjson p "$(jq -c '.predictions[1].probabilities' <<<"$answer")" '
    [.rows, .class_indexes] | transpose
    | map([([.[0], $q] | transpose | map((.[0] - .[1]) * (.[0] - .[1])) | add), .[1]]) | sort_by(.[0])[:7] | map(.[1])
    | . as $near | [range(3) | . as $c | ([$near[] | select(. == $c)] | length) / 7 - $p[$c] | fabs < 1e-9] | all' <<<"$weights")" true
expect "$(curl -sSf "$URL/v1/models/neighbours/weights?matrices=false" | jq 'has("rows")')" false
