#!/bin/bash
# Predict: arrays, objects, CSV, the query string.
#   DISCERN_URL=http://localhost:8080 tests/curl/03-predict.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/predict-iris" >/dev/null
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"predict-iris","dataset":"predict-iris","target":"class","algorithm":"logistic"}' | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded
PREDICT=$URL/v1/models/predict-iris/predict

# Rows as arrays, in the order of the features.
answer=$(curl -sSf "$PREDICT" -d '{"instances": [[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]]}')
expect "$(echo "$answer" | jq -r '[.predictions[].label] | join(" ")')" "setosa virginica"
expect "$(echo "$answer" | jq '[.predictions[].probabilities | add | . > 0.999999 and . < 1.000001] | all')" true

# Rows as objects, by name, in any order.
answer=$(curl -sSf "$PREDICT" -d '{"instances": [{"petal_width": 2.5, "petal_length": 6.0, "sepal_width": 3.3, "sepal_length": 6.3}]}')
expect "$(echo "$answer" | jq -r '.predictions[0].label')" virginica

# A CSV file, with or without a header.
answer=$(printf '5.1,3.5,1.4,0.2\n6.3,3.3,6.0,2.5\n' | curl -sSf "$PREDICT" -H 'Content-Type: text/csv' --data-binary @-)
expect "$(echo "$answer" | jq -r '[.predictions[].label] | join(" ")')" "setosa virginica"

# One row, from the address alone: something for a browser or a spreadsheet.
answer=$(curl -sSf "$PREDICT?sepal_length=5.1&sepal_width=3.5&petal_length=1.4&petal_width=0.2")
expect "$(echo "$answer" | jq -r '.predictions[0].label')" setosa

# What else is to be answered: the discriminants g_k(x), whose largest decides.
answer=$(curl -sSf "$PREDICT?output=label,scores" -d '{"instances": [[5.1, 3.5, 1.4, 0.2]]}')
expect "$(echo "$answer" | jq -c '.predictions[0] | [.label, (.scores | length), (.scores | index(max))]')" '["setosa",3,0]'
