#!/bin/bash
# 21. Softmax by gradient descent, three classes
# Alpaydın, Introduction to Machine Learning, chapter 10 (Linear Discrimination), section 10.7.2, figures 10.8 to 10.10; Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.3.4
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
say "K = 3 discriminants g_k = w_k'x + w_k0 become probabilities by the softmax, y_k = e^g_k / (e^g_1 + e^g_2
+ e^g_3). Gradient descent on the cross-entropy adds eta sum (r_k - y_k) x to w_k in each pass and
eta sum (r_k - y_k) to w_k0, with r_k = 1 for rows of class k and 0 for others. That is algorithm 10.8."
# by_hand ETA PASSES: algorithm 10.8 from weights 0, [w_k1, w_k2, w_k0] of each class in turn
by_hand() {
    awk -F, -v eta="$1" -v passes="$2" 'NR > 1 { n++; x[n, 1] = $1; x[n, 2] = $2; x[n, 3] = 1; class[n] = $3 }
        END {
            split("a b c", name, " ")
            for (p = 0; p < passes; p++) {
                for (k = 1; k <= 3; k++) for (j = 1; j <= 3; j++) step[k, j] = 0
                for (t = 1; t <= n; t++) {
                    sum = 0
                    for (k = 1; k <= 3; k++) {
                        g = 0; for (j = 1; j <= 3; j++) g += w[k, j] * x[t, j]
                        y[k] = exp(g); sum += y[k]
                    }
                    for (k = 1; k <= 3; k++) for (j = 1; j <= 3; j++) step[k, j] += ((class[t] == name[k]) - y[k] / sum) * x[t, j]
                }
                for (k = 1; k <= 3; k++) for (j = 1; j <= 3; j++) w[k, j] += eta * step[k, j]
            }
            for (k = 1; k <= 3; k++) for (j = 1; j <= 3; j++) printf "%s%.15g", k + j == 2 ? "[" : ",", w[k, j]
            print "]"
        }' "$table"
}
# after PASS: the same numbers of the service
after() { history ".snapshots[] | select(.iteration == $1) | [.w, (.w0 | map([.]))] | transpose | flatten"; }
descent='"solver":"gradient_descent","init":"zero","penalty":"none","tolerance":0'
raw='"features":{"standardize":false}'

say "Three points, one of each class: (1,0) is a, (0,1) b, (-1,-1) c. From weights 0 every y_k is 1/3. The
step of w_a is (1 - 1/3) (1,0) - 1/3 (0,1) - 1/3 (-1,-1) = (1,0), and so on: with eta = 1 each w_k becomes
the point of its class, and w_k0 stays 0. Then e.g. (1,0) has the scores 1, 0 and -1, and
y_a = e / (e + 1 + 1/e) = 0.6652."
printf '%s\n' x1,x2,class 1,0,a 0,1,b -1,-1,c >"$table"
upload softmax <"$table"
train softmax softmax logistic "{$descent,\"learning_rate\":1,\"max_iterations\":1}" "{$raw,\"snapshots\":[1]}"
near "w_a, w_a0, w_b, w_b0, w_c, w_c0 after one pass" "$(after 1)" "[1,0,0,0,1,0,-1,-1,0]" 1e-12
near "y of (1,0)" "$(ask softmax '[[1,0]]' '.predictions[0].probabilities')" \
    "$(jq -nc '[1, 0, -1] | map(exp) | add as $sum | map(. / $sum)')" 1e-12
train softmax softmax logistic "{$descent,\"learning_rate\":1,\"max_iterations\":2}" "{$raw,\"snapshots\":[2]}"
near "after two, beside the algorithm in awk" "$(after 2)" "$(by_hand 1 2)" 1e-12

say "Three clouds of 30 points, eta = 0.01, beside the algorithm in awk (w_a, w_a0, w_b, w_b0, w_c, w_c0):"
{ echo x1,x2,class; clouds 61 a 0 0 0.8 30 b 2.2 0.4 0.8 30 c 0.6 2.2 0.8 30; } >"$table"
upload softmax <"$table"
train softmax softmax logistic "{$descent,\"learning_rate\":0.01,\"max_iterations\":1000}" "{$raw,\"snapshots\":[1,10,100,1000]}"
for passes in 1 10 100 1000; do
    near "after $passes" "$(after $passes)" "$(by_hand 0.01 $passes)" 1e-9
done

say "The steps of the three classes sum to 0, because the r_k and the y_k of a row both sum to 1. So do the
weights, if they start from 0. A vector added to all w_k changes no probability:"
near "w_a + w_b + w_c" "$(weights softmax '.w | transpose | map(add)')" '[0,0]' 1e-12
near "w_a0 + w_b0 + w_c0" "$(weights softmax '.w0 | add')" 0 1e-12

say "Figure 10.10 plots the discriminants and their softmax: of several scores, the softmax emphasises the
largest and gives probabilities that sum to 1. At (1,1), from the scores:"
scores=$(ask softmax '[[1,1]]' '.predictions[0].scores' scores)
near "P(a), P(b), P(c)" "$(ask softmax '[[1,1]]' '.predictions[0].probabilities')" "$(jq -c 'map(exp) | add as $sum | map(. / $sum)' <<<"$scores")" 1e-12
near "their sum" "$(ask softmax '[[1,1]]' '.predictions[0].probabilities | add')" 1 1e-12

say "The error function is convex: with enough passes the descent comes to the same weights as Newton's
method, which needs few iterations."
train softmax softmax logistic "{\"solver\":\"gradient_descent\",\"penalty\":\"none\",\"tolerance\":1e-8,\"max_iterations\":1000000}" "{$raw}"
same "gradient descent converged" "$(result .converged)" true
slow=$(weights softmax '[.w, (.w0 | map([.]))] | transpose | flatten')
passes=$(result .iterations)
train softmax softmax logistic '{"solver":"newton","penalty":"none"}' "{$raw}"
near "w_a, w_a0, w_b, w_b0, w_c, w_c0, beside Newton's" "$slow" "$(weights softmax '[.w, (.w0 | map([.]))] | transpose | flatten')" 1e-4
holds "iterations of Newton's method, of $passes passes" "$(result .iterations)" '<' "$passes"
