#!/bin/bash
# Probabilities of a method that has scores only: calibrated on rows that the machine has not seen.
#   DISCERN_URL=http://localhost:8080 tests/curl/24-calibrated.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/breast_cancer.csv" "$URL/v1/datasets/calibrated" -o /dev/null
# train METHOD: the job once it has ended
train() {
    local id
    id=$(curl -sSf "$URL/v1/jobs" -d '{"model":"calibrated-'"$1"'","dataset":"calibrated","target":"class","algorithm":"svm",
        "params":{"kernel":"rbf","calibrate":"'"$1"'"},"validation":{"folds":5}}' | jq .id)
    curl -sSf "$URL/v1/jobs/$id?wait=50"
}
row=$(curl -sSf "$URL/v1/datasets/calibrated/rows?limit=1" | jq -c '{instances: [.items[0] | del(.class)]}')
ask() { curl -sSf "$URL/v1/models/calibrated-$1/predict${2:+?output=$2}" -d "$row" | jq -c '.predictions[0]'; }

# A support vector machine says how far a row is from its surface, not how likely a class is: it has no probabilities and no log loss.
job=$(train none)
expect "$(jq -c '[.result.metrics.validation.accuracy >= 0.96, .result.metrics.validation.log_loss]' <<<"$job")" '[true,null]'
expect "$(ask none | jq -c keys)" '["label","scores"]'

# Platt: a sigmoid of the score. Its two numbers are with the weights, and give the probability by hand.
job=$(train platt)
expect "$(jq '.result.metrics.validation | .accuracy >= 0.96 and .log_loss < 0.15 and .ece < 0.05' <<<"$job")" true
expect "$(ask platt | jq '.probabilities | length == 2 and (add - 1 | fabs < 1e-12)')" true
score=$(ask platt scores | jq '.scores[0]')
expect "$(curl -sSf "$URL/v1/models/calibrated-platt/weights?matrices=false" | jq --argjson g "$score" --argjson p "$(ask platt | jq '.probabilities[1]')" \
    '.calibration.scores[0] | 1 / (1 + (-(.slope * $g + .intercept) | exp)) - $p | fabs < 1e-12')" true

# Isotonic: a function of the score that only rises, as its rows would have it. The machine itself, and so the label, is the same with all of them.
job=$(train isotonic)
expect "$(jq '.result.metrics.validation | .accuracy >= 0.96 and .ece < 0.05' <<<"$job")" true
expect "$(ask isotonic scores)" "$(ask none scores)"
expect "$(ask isotonic label)" "$(ask none label)"
