#!/bin/bash
# 16. The perceptron as logistic regression with a step
# Alpaydın, Introduction to Machine Learning, chapter 11 (Multilayer Perceptrons), sections 11.2 and 11.3; Duda, Hart and Stork, Pattern Classification, section 5.5; Bishop, Pattern Recognition and Machine Learning, section 4.1.7
. "$(dirname "$0")/lesson.sh"
say "Logistic regression, row by row, is w <- w - eta (y - r) x with y = sigmoid(w'x + w0) and r the class,
0 or 1. With a step function h in place of the sigmoid, a row whose class is predicted changes nothing,
and any other adds eta x to w or subtracts it. That is the perceptron. The texts
differ in what they take at g = w'x + w0 = 0:"
say "Duda, Hart and Stork: a row with g = 0 is wrong, whatever its class. As a step function that is
h(0) = 1 - r, which always errs at g = 0 (\"at_zero\": \"wrong\", the default)."
say "Bishop: f(0) = +1, so h(0) = 1, which errs at g = 0 only for r = 0 (\"at_zero\": \"second\")."
say "The rows are 60 points of two clouds that touch, the classes in turn, and eta = 0.5. The first row has
class 1: from w = 0, where g = 0, the first rule changes w and the second does not."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{
    echo x1,x2,class
    paste -d '\n' <(clouds 52 1 0.8 0.5 0.6 30) <(clouds 51 0 -0.6 0 0.6 30)
} >"$table"
hand() { # AT_ZERO ROWS PASSES: (w1, w2, w0) by the formula, from 0
    head -n $(($2 + 1)) "$table" | awk -F, -v rule="$1" -v passes="$3" 'NR > 1 { n++; a[n] = $1; b[n] = $2; r[n] = $3 }
        END {
            for (p = 0; p < passes; p++) for (i = 1; i <= n; i++) {
                g = w1 * a[i] + w2 * b[i] + w0
                h = g > 0 ? 1 : g < 0 ? 0 : rule == "second" ? 1 : 1 - r[i]
                w1 -= 0.5 * (h - r[i]) * a[i]; w2 -= 0.5 * (h - r[i]) * b[i]; w0 -= 0.5 * (h - r[i])
            }
            printf "[%.12g,%.12g,%.12g]\n", w1, w2, w0
        }'
}
raw='"features":{"standardize":false}'
for rule in wrong second; do
    perceptron="\"at_zero\":\"$rule\",\"criterion\":\"perceptron\",\"mode\":\"sequential\",\"order\":\"given\",\"learning_rate\":0.5"
    say "at_zero $rule: (w1, w2, w0) of the service's perceptron after the first rows of the first pass (it is
trained on so many rows), beside the formula:"
    for rows in 2 3 4 5 6 60; do
        head -n $((rows + 1)) "$table" | upload step
        train step step perceptron "{$perceptron,\"max_iterations\":1}" "{$raw,\"snapshots\":[1]}"
        near "after $rows rows" "$(snapshot 1)" "$(hand $rule $rows 1)" 1e-9
    done
    say "And after passes over all 60:"
    train step step perceptron "{$perceptron,\"max_iterations\":10}" "{$raw,\"snapshots\":[2,5,10]}"
    for pass in 2 5 10; do
        near "after $pass passes" "$(snapshot $pass)" "$(hand $rule 60 $pass)" 1e-9
    done
done
say "The row at which w first changes:"
first_change() { # AT_ZERO
    train step step perceptron "{\"at_zero\":\"$1\",\"order\":\"given\",\"learning_rate\":0.5,\"max_iterations\":1}" "{$raw,\"snapshots_of\":\"updates\"}"
    history '[.items[] | select(.row != null)][0].row + 1'
}
same "at_zero wrong: row 1, of class 1" "$(first_change wrong)" 1
same "at_zero second: row 2, of class 0" "$(first_change second)" 2
