#!/bin/bash
# 15. Separable classes without a penalty
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.3.2
. "$(dirname "$0")/lesson.sh"
say "Three points of class a near (0,0), three of class b near (3,3): a line separates them.
Logistic regression then has no minimum: with the same line and twice the weights, every probability
is nearer to 0 or 1."
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
say "Without a penalty the length of w grows with every pass of gradient descent, by about as much
for each ten times the passes (like their logarithm), without bound:"
for passes in 100 1000 10000; do
    train separable separable logistic '{"solver":"gradient_descent","penalty":"none","init":"zero","tolerance":0,"max_iterations":'$passes',"learning_rate":0.1}' '{"features":{"standardize":false}}'
    now=$(length)
    holds "length of w after $passes passes" "$now" '>' "$(jq -n "${before:--1} + 1")"
    before=$now
done
train separable separable logistic '{"lambda":0}'
same "Newton's method at lambda = 0 warns: separable" "$(warned separable)" true

say "A penalty, lambda times the squared length of w, increases with the weights. Then there is one
minimum, and each solver finds it:"
train separable separable logistic '{"lambda":0.01,"solver":"newton"}'
same "Newton's method converged" "$(result .converged)" true
once=$(length)
holds "its length of w" "$once" '<' 2
train separable separable logistic '{"lambda":0.01,"solver":"lbfgs"}'
same "L-BFGS converged" "$(result .converged)" true
near "its length of w" "$(length)" "$once"
