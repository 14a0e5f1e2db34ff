#!/bin/bash
# The discriminant functions themselves: g_k(x) = w_k · x + w0_k on the raw features.
#   DISCERN_URL=http://localhost:8080 tests/curl/10-weights.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/weights-iris" >/dev/null
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"weights-iris","dataset":"weights-iris","target":"class","algorithm":"logistic"}' | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded

weights=$(curl -sSf "$URL/v1/models/weights-iris/weights")
expect "$(echo "$weights" | jq -c '[(.w | length), (.w[0] | length), (.w0 | length)]')" '[3,4,3]'

# Worked out by hand they are the scores that the service answers.
x='[5.1, 3.5, 1.4, 0.2]'
scores=$(curl -sSf "$URL/v1/models/weights-iris/predict?output=scores" -d '{"instances": ['"$x"']}' | jq -c '.predictions[0].scores')
expect "$(echo "$weights" | jq --argjson x "$x" --argjson s "$scores" '
    [range(0; 3) as $k | ([.w[$k], $x] | transpose | map(.[0] * .[1]) | add) + .w0[$k] - $s[$k] | fabs < 1e-9] | all')" true

# An l1 penalty makes weights exactly 0: which features are left, of which class.
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"weights-few","dataset":"weights-iris","target":"class","algorithm":"logistic",
    "params":{"penalty":"l1","lambda":0.1}}' | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded
expect "$(curl -sSf "$URL/v1/models/weights-few/weights" | jq -c '[.features as $f | .w[] | [$f, .] | transpose | map(select(.[1] != 0)[0])]')" \
    '[["petal_length"],["sepal_width"],["petal_width"]]'
