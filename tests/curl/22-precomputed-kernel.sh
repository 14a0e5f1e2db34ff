#!/bin/bash
# A kernel that is computed elsewhere: the dataset is its Gram matrix, row i holds K(x_i, x_j) in column j.
#   DISCERN_URL=http://localhost:8080 tests/curl/22-precomputed-kernel.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
points=$(mktemp) table=$(mktemp)
trap 'rm -f "$points" "$table"' EXIT
# train DATASET PARAMS: the job once it has ended
train() {
    local id
    id=$(curl -sSf "$URL/v1/jobs" -d '{"model":"'"$1"'","dataset":"'"$1"'","target":"class","algorithm":"svm","params":'"$2"',
        "features":{"standardize":false}}' | jq .id)
    curl -sSf "$URL/v1/jobs/$id?wait=50"
}

# Irises of two kinds. The first 80 in a mixed order are trained with, the other 20 come later.
grep -E 'versicolor|virginica' "$DATA/iris.csv" | awk -F, '{ print (NR * 37) % 101 "," $0 }' | sort -t, -k1,1n | cut -d, -f2- >"$points"
# gram FIRST LAST: for each of these points its kernel exp(-|x - z|²/8), the Gaussian one of width 2, with each of the first 80
gram() {
    awk -F, -v first="$1" -v last="$2" '{ for (j = 1; j <= 4; j++) x[NR, j] = $j; class[NR] = $5 }
        END {
            for (i = first; i <= last; i++) {
                for (k = 1; k <= 80; k++) {
                    d = 0
                    for (j = 1; j <= 4; j++) d += (x[i, j] - x[k, j]) ^ 2
                    printf "%.17g,", exp(-d / 8)
                }
                print class[i]
            }
        }' "$points"
}
header=$(seq -f 'k%g,' 80 | tr -d '\n')class
{ echo "$header" && gram 1 80; } | curl -sSf -T - "$URL/v1/datasets/gram" -o /dev/null
{ echo "$header" && gram 81 100; } | curl -sSf -T - "$URL/v1/datasets/gram-new" -o /dev/null
{ head -n 1 "$DATA/iris.csv" && head -n 80 "$points"; } | curl -sSf -T - "$URL/v1/datasets/gram-points" -o /dev/null
{ head -n 1 "$DATA/iris.csv" && tail -n 20 "$points"; } | curl -sSf -T - "$URL/v1/datasets/gram-points-new" -o /dev/null

# The same machine as the one that has computed the kernel itself.
ours=$(train gram '{"kernel":"precomputed"}')
expect "$(jq -r .state <<<"$ours")" succeeded
theirs=$(train gram-points '{"kernel":{"type":"rbf","width":2}}')
numbers='.result | [.objective, .details.w0, .details.support_vectors, .details.norm] | map(. * 1e6 | round)'
expect "$(jq -c "$numbers" <<<"$ours")" "$(jq -c "$numbers" <<<"$theirs")"

# To predict, a row says the kernel of the new point with each row of the training table, in their order.
evaluate() { curl -sSf "$URL/v1/models/$1/evaluate" -d '{"dataset": "'"$1"'-new"}' | jq -c '.metrics | [.accuracy, .confusion.matrix]'; }
expect "$(evaluate gram)" "$(evaluate gram-points)"
expect "$(evaluate gram | jq '.[0] >= 0.9')" true
row=$(gram 81 81 | jq -Rc 'split(",")[:-1] | map(tonumber)')
score=$(curl -sSf "$URL/v1/models/gram/predict?output=scores" -d '{"instances": ['"$row"']}' | jq '.predictions[0].scores[0]')
expect "$(curl -sSf "$URL/v1/models/gram-points/predict?output=scores" -d '{"instances": ['"$(sed -n '81s/,[a-z].*//p' "$points" | sed 's/.*/[&]/')"']}' |
    jq --argjson score "$score" '.predictions[0].scores[0] - $score | fabs < 1e-6')" true

# By hand: a support vector is named by its row of the training table, counted from 0, with a 1.
expect "$(curl -sSf "$URL/v1/models/gram/weights" | jq --argjson row "$row" --argjson score "$score" '
    ([.support_vectors, .coefficients] | transpose | map(.[0][0][0] as $place | .[1] * $row[$place]) | add) + .w0[0] - $score | fabs < 1e-9')" true

# A row of another length is refused, and so are a table that is not square and one that is not symmetric.
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$URL/v1/models/gram/predict" -d '{"instances": ['"$(jq -c '.[1:]' <<<"$row")"']}')" 422
job='{"model":"gram-bad","dataset":"gram-bad","target":"class","algorithm":"svm","params":{"kernel":"precomputed"}}'
printf 'a,b,class\n1,0.5,x\n0.5,1,y\n0,0,x\n' | curl -sSf -T - "$URL/v1/datasets/gram-bad" -o /dev/null
expect "$(curl -sS "$URL/v1/jobs" -d "$job" | jq -c '[.status, .errors[0].pointer]')" '[422,"/params/kernel"]'
printf 'a,b,class\n1,0.5,x\n0.25,1,y\n' | curl -sSf -T - "$URL/v1/datasets/gram-bad" -o /dev/null
id=$(curl -sSf "$URL/v1/jobs" -d "$job" | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$id?wait=50" | jq -c '[.state, (.error.detail | test("symmetric"))]')" '["failed",true]'
