#!/bin/bash
# Classes that no line separates: exclusive or, and two spirals, by support vector machines with kernels.
#   DISCERN_URL=http://localhost:8080 tests/curl/19-margin-kernels.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
# train NAME DATASET PARAMS: the job once it has ended
train() {
    local id
    id=$(curl -sSf "$URL/v1/jobs" -d '{"model":"'"$1"'","dataset":"'"$2"'","target":"class","algorithm":"svm","params":'"$3"'}' | jq .id)
    curl -sSf "$URL/v1/jobs/$id?wait=50"
}

# Exclusive or: a line gets at most 3 of the 4 points right; the quadratic kernel and the Gaussian one get all of them.
printf 'x1,x2,class\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n' | curl -sSf -T - "$URL/v1/datasets/margin-xor" -o /dev/null
expect "$(train margin-xor margin-xor '{}' | jq '.result.metrics.train.accuracy <= 0.75')" true
for kernel in '{"type":"polynomial","degree":2}' '"rbf"'; do
    expect "$(train margin-xor margin-xor '{"kernel":'"$kernel"',"C":10}' | jq .result.metrics.train.accuracy)" 1
    expect "$(curl -sSf "$URL/v1/models/margin-xor/predict" -d '{"instances": [[0,0],[0,1],[1,0],[1,1]]}' | jq -c '[.predictions[].label]')" '[0,1,1,0]'
done

# Two spirals, one in the other: `spirals FIRST` makes every second point of two and a half turns.
spirals() {
    awk -v first="$1" 'BEGIN {
        print "x1,x2,class"
        for (i = first; i < 400; i += 2) {
            turn = 1 + i / 400 * 2.5 * 6.283185307179586
            for (side = -1; side <= 1; side += 2)
                printf "%.6f,%.6f,%s\n", side * turn * cos(turn), side * turn * sin(turn), side < 0 ? "one" : "other"
        }
    }'
}
spirals 0 | curl -sSf -T - "$URL/v1/datasets/margin-spirals" -o /dev/null
spirals 1 | curl -sSf -T - "$URL/v1/datasets/margin-spirals-between" -o /dev/null
expect "$(train margin-line margin-spirals '{}' | jq '.result.metrics.train.accuracy < 0.7')" true
job=$(train margin-spirals margin-spirals '{"kernel":{"type":"rbf","width":0.2},"C":100}')
expect "$(jq -c '[.result.converged, .result.metrics.train.accuracy]' <<<"$job")" '[true,1]'
# The points between those it has learned from:
expect "$(curl -sSf "$URL/v1/models/margin-spirals/evaluate" -d '{"dataset": "margin-spirals-between"}' | jq '.metrics.accuracy >= 0.99')" true
# Far from all support vectors the kernel is 0, and the score is the intercept.
expect "$(curl -sSf "$URL/v1/models/margin-spirals/predict?output=scores" -d '{"instances": [[1000, 1000]]}' | jq -c '.predictions[0].scores')" \
    "$(curl -sSf "$URL/v1/models/margin-spirals/weights" | jq -c .w0)"
