#!/bin/bash
# 6. Relaxation with a margin. Duda, Hart and Stork, Pattern Classification, section 5.6.
. "$(dirname "$0")/lesson.sh"
title "Single-sample relaxation moves w towards the hyperplane w'y = b by the share eta of the distance: under-relaxed below 1, over-relaxed above."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
cat >"$table" <<'CSV'
x1,x2,class
2,2,1
1,3,1
3,1,1
-1,-1,0
0,-2,0
-2,0,0
CSV
upload relaxation <"$table"
least() { # the least w'y
    awk -F, -v w="$(weights "$1" '[.w[0][], .w0[0]]' | tr -d '[]')" 'BEGIN { split(w, v, ",") }
        NR > 1 { m = ($3 == 1 ? 1 : -1) * (v[1] * $1 + v[2] * $2 + v[3]); if (least == "" || m < least) least = m }
        END { printf "%.15g\n", least }' "$table"
}
rule='"criterion":"relaxation","margin":1,"max_iterations":100000'
train relaxation relaxation perceptron "{$rule,\"mode\":\"sequential\",\"learning_rate\":1.9}"
same "eta = 1.9, sample by sample: converged" "$(result .converged)" true
holds "least w'y" "$(least relaxation)" '>' 1

train relaxation relaxation perceptron "{$rule,\"mode\":\"sequential\",\"learning_rate\":1}"
holds "eta = 1: least w'y from below" "$(least relaxation)" '<=' 1.000000001
holds "but near to it" "$(least relaxation)" '>' 0.99

train relaxation relaxation perceptron "{$rule,\"mode\":\"batch\",\"learning_rate\":1.9}"
same "by means of all rows: converged" "$(result .converged)" true
holds "least w'y" "$(least relaxation)" '>' 0.99
