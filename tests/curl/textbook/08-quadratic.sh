#!/bin/bash
# 8. The quadratic kernel is a map
# Bishop, Pattern Recognition and Machine Learning, chapter 6 (Kernel Methods), section 6.2; Alpaydın, Introduction to Machine Learning, chapter 13 (Kernel Machines), section 13.5
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
clouds 17 in 0 0 0.5 30 out 2 0 0.5 10 out -2 0 0.5 10 out 0 2 0.5 10 out 0 -2 0.5 10 >"$table"
# mapped: each row's x1,x2 as (1, √2 x1, √2 x2, √2 x1 x2, x1², x2²).
mapped() { awk -F, '{ r = sqrt(2); printf "1,%.17g,%.17g,%.17g,%.17g,%.17g,%s\n", r * $1, r * $2, r * $1 * $2, $1 * $1, $2 * $2, $3 }'; }
# rows: the points of a table as a JSON list.
rows() { jq -Rcn '[inputs | split(",")[:-1] | map(tonumber)]'; }
# apart: how much the scores that the two models give the points of a table differ at most.
apart() {
    local points
    points=$(cat)
    jq -n --argjson a "$(ask quadratic "$(rows <<<"$points")" '[.predictions[].scores[0]]' scores)" \
        --argjson b "$(ask quadratic-map "$(mapped <<<"$points" | rows)" '[.predictions[].scores[0]]' scores)" \
        '[$a, $b] | transpose | map(.[0] - .[1] | fabs) | max'
}

say "For two points x and y of the plane (x'y + 1)² is 1 + 2 x1 y1 + 2 x2 y2 + 2 x1 x2 y1 y2 + x1²
y1² + x2² y2²: an inner product of two points with six coordinates each, (1, √2 x1, √2 x2, √2 x1 x2,
x1², x2²). By hand, for (1,2) and (3,-1):"
near "(x'y + 1) squared" "$(jq -n '1 * 3 - 2 * 1 + 1 | . * .')" "$(printf '1,2,x\n3,-1,x\n' | mapped | rows | jq 'transpose | map(.[0] * .[1]) | add')" 1e-12

say "So a support vector machine with this kernel has a linear boundary in a space of six
coordinates, which it never computes. Class \"in\" is a cloud around (0,0), class \"out\" surrounds
it in four clouds. Two models: this kernel on the two columns, and the linear kernel on the six
columns:"
{ echo x1,x2,class && cat "$table"; } | upload quadratic
{ echo one,r1,r2,r12,s1,s2,class && mapped <"$table"; } | upload quadratic-map
plain='{"features":{"standardize":false}}'
train line quadratic svm '{}' "$plain"
holds "accuracy of a line in the plane" "$(result .metrics.train.accuracy)" '<' 0.75
train quadratic quadratic svm '{"kernel":{"type":"polynomial","degree":2,"gamma":1,"coef0":1},"tolerance":1e-8}' "$plain"
kernel=$(jq -c .result <<<"$job")
train quadratic-map quadratic-map svm '{"tolerance":1e-10}' "$plain"
holds "accuracy with the kernel" "$(jq .metrics.train.accuracy <<<"$kernel")" '>=' 0.95
near "least value of the objective" "$(jq .objective <<<"$kernel")" "$(result .objective)" 1e-6
near "length of w, in the space of six coordinates" "$(jq .details.norm <<<"$kernel")" "$(result .details.norm)" 1e-5
near "w0" "$(weights quadratic '.w0[0]')" "$(weights quadratic-map '.w0[0]')" 1e-5
near "greatest difference of the scores of all 70 points" "$(apart <"$table")" 0 1e-5
near "  and of three others" "$(apart <<<$'0.5,1.5,?\n-3,0.25,?\n10,-10,?')" 0 1e-4

say "The w of the six coordinates is the sum of the support vectors' coordinates, each times its
coefficient. (The weight of the coordinate 1 is 0, because w0 has no price and does the same.)"
w=$(weights quadratic '.support_vectors[] + ["?"] | join(",")' | jq -r . | mapped | rows |
    jq -c --argjson c "$(weights quadratic .coefficients)" '[., $c] | transpose | map(.[1] as $c | .[0] | map(. * $c)) | transpose | map(add)')
near "w, summed by hand" "$w" "$(weights quadratic-map '.w[0]')" 1e-4
say "The service sums them too (?expand=true), for x1, x2, x1², x1 x2 and x2² in this order:"
near "w, from the service" "$(curl -sSf "$URL/v1/models/quadratic/weights?expand=true" | jq -c '.expansion.machines[0].weights | [.[0], .[1], .[3], .[2], .[4]]')" "$(jq -c '.[1:]' <<<"$w")" 1e-9
