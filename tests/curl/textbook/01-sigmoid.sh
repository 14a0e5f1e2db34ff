#!/bin/bash
# 1. The sigmoid in one dimension
# Alpaydın, Introduction to Machine Learning, chapter 10 (Linear Discrimination), section 10.7, figures 10.6 and 10.7
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{
    echo x,class
    paste -d , <(printf '%s\n' 0.5 1 1.5 2 2.5 3 3.5 4) <(printf '%s\n' 0 0 0 1 0 1 1 1)
} >"$table"
upload sigmoid <"$table"
say "Eight points x = 0.5, 1, 1.5, … 4 on a line have the classes r = 0, 0, 0, 1, 0, 1, 1, 1. Logistic
regression fits y = P(1 | x) = 1 / (1 + e^-(w x + w0)) to them, a curve of the shape of an S."
say "Figure 10.7 of the book shows the curve after 10, 100 and 1,000 passes. The book prints no numbers
with the figure and does not list its points. The eight points are chosen here, so the numbers below
are not the book's: they come from the algorithm of figure 10.6, written out in awk and started at
w = w0 = 0. Each pass adds 0.1 sum (r - y) x to w and 0.1 sum (r - y) to w0."
by_hand() { # PASSES: [w, w0]
    awk -F, -v passes="$1" 'NR > 1 { x[++n] = $1; r[n] = $2 }
        END {
            for (p = 0; p < passes; p++) {
                dw = dw0 = 0
                for (t = 1; t <= n; t++) {
                    y = 1 / (1 + exp(-(w * x[t] + w0)))
                    dw += (r[t] - y) * x[t]; dw0 += r[t] - y
                }
                w += 0.1 * dw; w0 += 0.1 * dw0
            }
            printf "[%.15g,%.15g]\n", w, w0
        }' "$table"
}
near "algorithm 10.6 in awk, 10 passes" "$(by_hand 10)" "[0.5929,-0.8857]" 5e-5
near "algorithm 10.6 in awk, 100 passes" "$(by_hand 100)" "[1.7955,-3.8996]" 5e-5
near "algorithm 10.6 in awk, 1,000 passes" "$(by_hand 1000)" "[2.5598,-5.7588]" 5e-5

say "The service, beside these numbers. As in the figure, w grows: quickly at first, then slowly."
loop='{"solver":"gradient_descent","learning_rate":0.1,"penalty":"none","tolerance":0,"max_iterations":1000'
asked='{"features":{"standardize":false},"snapshots":[10,100,1000]'
train sigmoid sigmoid logistic "$loop,\"init\":\"zero\"}" "$asked}"
for passes in 10 100 1000; do
    near "(w, w0) after $passes passes" "$(snapshot $passes)" "$(by_hand $passes)" 1e-11
done

say "The three curves of figure 10.7: y at x = 0, 1, 2, 3, 4 after these passes (evaluate_grid with a snapshot),
beside 1 / (1 + e^-(w x + w0)):"
for passes in 10 100 1000; do
    near "y after $passes passes" \
        "$(curl -sSf "$URL/v1/models/sigmoid/evaluate_grid" -d "{\"x\":{\"column\":\"x\",\"from\":0,\"to\":4,\"steps\":5},\"output\":\"probabilities\",\"snapshot\":$passes}" | jq -c '.probabilities[1]')" \
        "$(by_hand $passes | jq -c '. as [$w, $w0] | [range(5) | 1 / (1 + (-($w * . + $w0) | exp))]')" 1e-11
done

say "The predicted class changes where y = 1/2, at x = -w0/w:"
boundary=$(weights sigmoid '-.w0[0] / .w[0][0]')
near "P(1 | x = $(short "$boundary"))" "$(ask sigmoid "[[$boundary]]" '.predictions[0].probabilities[1]')" 0.5 1e-9

say "Algorithm 10.6 starts from random weights between -0.01 and 0.01. The start has little effect on
the weights after 10 passes:"
for seed in 1 2 3; do
    train sigmoid sigmoid logistic "$loop}" "$asked,\"seed\":$seed}"
    near "(w, w0) after 10 passes from random start $seed" "$(snapshot 10)" "[0.5929,-0.8857]" 0.02
done

say "The online version makes a step after each row, in the order of the file:
w <- w - 0.1 (y - r) x. In the service: batches of one row, order given, a constant rate."
online() { # PASSES: [w, w0]
    awk -F, -v passes="$1" 'NR > 1 { x[++n] = $1; r[n] = $2 }
        END {
            for (p = 0; p < passes; p++) {
                for (t = 1; t <= n; t++) {
                    y = 1 / (1 + exp(-(w * x[t] + w0)))
                    w -= 0.1 * (y - r[t]) * x[t]; w0 -= 0.1 * (y - r[t])
                }
            }
            printf "[%.15g,%.15g]\n", w, w0
        }' "$table"
}
train online sigmoid logistic '{"solver":"sgd","batch_size":1,"order":"given","schedule":"constant","learning_rate":0.1,"penalty":"none","tolerance":0,"max_iterations":100,"init":"zero"}' '{"features":{"standardize":false},"snapshots":[1,10,100]}'
for passes in 1 10 100; do
    near "(w, w0) after $passes online passes" "$(snapshot $passes)" "$(online $passes)" 1e-13
done

say "Without iterations the model has given weights. At w = 2, w0 = -5 the log likelihood is
sum r ln y + (1 - r) ln(1 - y), and the mean gradient sum (y - r) [x, 1] / 8:"
train given sigmoid logistic '{"init":[2,-5],"max_iterations":0,"penalty":"none"}' '{"features":{"standardize":false}}'
by_formula() {
    awk -F, 'NR > 1 {
            y = 1 / (1 + exp(-(2 * $1 - 5)))
            l += $2 ? log(y) : log(1 - y); g += (y - $2) * $1 / 8; g0 += (y - $2) / 8
        }
        END { printf "[%.15g,%.15g]\n", l, sqrt(g * g + g0 * g0) }' "$table"
}
near "log likelihood and length of the gradient" \
    "$(result '[.details.log_likelihood, .gradient_norm]')" "$(by_formula)" 1e-12
near "(w, w0) of the model" "$(weights given '[.w[0][0], .w0[0]]')" "[2,-5]" 1e-12
