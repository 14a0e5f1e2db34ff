#!/bin/bash
# What is unlike the rest: a one-class support vector machine, learned from rows without labels.
#   DISCERN_URL=http://localhost:8080 tests/curl/23-outliers.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data

# The irises' measurements alone, and one row that some slip of the keyboard has made: a petal of 55 for 5.5.
{ cut -d, -f1-4 "$DATA/iris.csv" && echo 6.4,3.1,55,1.8; } | curl -sSf -T - "$URL/v1/datasets/outliers" -o /dev/null

# There is no target. nu: at most this share of the rows become outliers, at least this share support vectors.
id=$(curl -sSf "$URL/v1/jobs" -d '{"model":"outliers","dataset":"outliers","algorithm":"one_class_svm","params":{"nu":0.05,"kernel":"rbf"}}' | jq .id)
job=$(curl -sSf "$URL/v1/jobs/$id?wait=50")
expect "$(jq -c '[.state, .result.converged]' <<<"$job")" '["succeeded",true]'
expect "$(jq '.result.details | .outliers <= 0.05 * 151 and .support_vectors >= 0.05 * 151' <<<"$job")" true

# The slip is one; an ordinary flower is none; a flower as large as a tree is one too.
answer=$(curl -sSf "$URL/v1/models/outliers/predict?output=label,scores" -d '{"instances": [[6.4, 3.1, 55, 1.8], [6.4, 3.1, 5.5, 1.8], [600, 300, 550, 180]]}')
expect "$(jq -c '[.predictions[].label]' <<<"$answer")" '["outlier","inlier","outlier"]'
# One score, positive among the rows of the training: the farther out, the lower. Far from everything the kernel is 0 and -rho is left.
expect "$(jq -c '[.predictions[].scores | length] | unique' <<<"$answer")" '[1]'
expect "$(jq '[.predictions[].scores[0]] | .[1] > .[0] and .[0] > .[2]' <<<"$answer")" true
expect "$(jq --argjson rho "$(jq .result.details.rho <<<"$job")" '.predictions[2].scores[0] + $rho | fabs < 1e-12' <<<"$answer")" true

# Where the truth is known, a column of inlier and outlier, the model can be judged by it.
answer=$({ sed '1s/class/truth/; 2,$s/,[a-z]*$/,inlier/' "$DATA/iris.csv" && echo 6.4,3.1,55,1.8,outlier; } |
    curl -sSf "$URL/v1/models/outliers/evaluate?target=truth" -H 'Content-Type: text/csv' --data-binary @-)
# Rows are the truth: the slip was found, and as many others as the job has counted were called outliers too.
expect "$(jq -c '.metrics.confusion | [.classes, .matrix[1]]' <<<"$answer")" '[["inlier","outlier"],[0,1]]'
expect "$(jq '.metrics.confusion.matrix[0][1] + 1' <<<"$answer")" "$(jq .result.details.outliers <<<"$job")"
