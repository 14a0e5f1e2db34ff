#!/bin/bash
# 15. Separable classes without a penalty. Bishop, Pattern Recognition and Machine Learning, section 4.3.2 (the end: over-fitting of separable data).
. "$(dirname "$0")/lesson.sh"
title "Where a line separates the classes, steeper is always better: only a penalty keeps the weights finite."
upload separable <<'CSV'
x1,x2,class
0,0,a
1,0,a
0,1,a
3,3,b
4,3,b
3,4,b
CSV
length() { weights separable '.w[0] | map(. * .) | add | sqrt'; }
before=0
say "Without a penalty the length of w grows with the logarithm of the passes:"
for passes in 100 1000 10000; do
    train separable separable logistic '{"solver":"gradient_descent","penalty":"none","init":"zero","tolerance":0,"max_iterations":'$passes',"learning_rate":0.1}' '{"features":{"standardize":false}}'
    now=$(length)
    holds "length of w after $passes passes" "$now" '>' "$before"
    before=$now
done
train separable separable logistic '{"lambda":0}'
same "Newton at lambda = 0 says so" "$(jq '[.warnings[] | select(test("separable"))] | length > 0' <<<"$job")" true
say "With lambda = 0.01 there is one minimum, wherever one starts:"
train separable separable logistic '{"lambda":0.01,"solver":"newton"}'
once=$(length)
same "converged" "$(result .converged)" true
train separable separable logistic '{"lambda":0.01,"solver":"lbfgs"}'
near "the same length by another solver" "$(length)" "$once"
