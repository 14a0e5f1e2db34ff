#!/bin/bash
# 16. The perceptron as logistic regression with a step
# Alpaydın, Introduction to Machine Learning, chapter 11 (Multilayer Perceptrons), section 11.3; Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.7
. "$(dirname "$0")/lesson.sh"
say "Logistic regression, row by row, is w <- w - eta (sigmoid(g) - r) x with g = w'x + w0 and r the class, 0 or 1. Replace the sigmoid by a step, h(g) = 1 for g > 0 and 0 for g < 0 (at g = 0 it errs): a row that is right changes nothing, a wrong one adds or takes away eta x. That is the perceptron. 60 points of two clouds that touch, rows of both classes in turn, eta = 0.5:"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{
    echo x1,x2,class
    paste -d '\n' <(clouds 51 0 -0.6 0 0.6 30) <(clouds 52 1 0.8 0.5 0.6 30)
} >"$table"
hand() { # ROWS PASSES: (w1, w2, w0) by the formula, from 0
    head -n $(($1 + 1)) "$table" | awk -F, -v passes="$2" 'NR > 1 { n++; a[n] = $1; b[n] = $2; r[n] = $3 }
        END {
            for (p = 0; p < passes; p++) for (i = 1; i <= n; i++) {
                g = w1 * a[i] + w2 * b[i] + w0
                h = g > 0 ? 1 : g < 0 ? 0 : 1 - r[i]
                w1 -= 0.5 * (h - r[i]) * a[i]; w2 -= 0.5 * (h - r[i]) * b[i]; w0 -= 0.5 * (h - r[i])
            }
            printf "[%.12g,%.12g,%.12g]\n", w1, w2, w0
        }'
}
perceptron='"criterion":"perceptron","mode":"sequential","order":"given","learning_rate":0.5'
raw='"features":{"standardize":false}'
say "(w1, w2, w0) of the service's perceptron, row by row in the first pass (trained on so many rows), beside the formula:"
for rows in 2 3 4 5 6 7 8 60; do
    head -n $((rows + 1)) "$table" | upload step
    train step step perceptron "{$perceptron,\"max_iterations\":1}" "{$raw,\"snapshots\":[1]}"
    near "after $rows rows" "$(snapshot 1)" "$(hand $rows 1)" 1e-9
done
say "And pass by pass over all 60:"
train step step perceptron "{$perceptron,\"max_iterations\":10}" "{$raw,\"snapshots\":[2,5,10]}"
for pass in 2 5 10; do
    near "after $pass passes" "$(snapshot $pass)" "$(hand 60 $pass)" 1e-9
done
