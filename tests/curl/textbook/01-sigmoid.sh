#!/bin/bash
# 1. The sigmoid in one dimension
# Alpaydın, Introduction to Machine Learning, chapter 10 (Linear Discrimination), section 10.7, figure 10.7
. "$(dirname "$0")/lesson.sh"
{
    echo x,class
    paste -d , <(printf '%s\n' 0.5 1 1.5 2 2.5 3 3.5 4) <(printf '%s\n' 0 0 0 1 0 1 1 1)
} | upload sigmoid
say "Eight points x = 0.5, 1, 1.5, … 4 on a line have the classes r = 0, 0, 0, 1, 0, 1, 1, 1. Logistic regression puts y = P(1 | x) = 1 / (1 + e^-(w x + w0)), an S-shaped step, through them."
say "Gradient descent from w = w0 = 0: every pass over the points adds 0.1 sum (r - y) x to w and 0.1 sum (r - y) to w0. The step becomes steeper (w grows), fast at first and then slowly. (w, w0) beside the values of the figure's run:"
loop='{"solver":"gradient_descent","learning_rate":0.1,"penalty":"none","tolerance":0,"max_iterations":1000'
asked='{"features":{"standardize":false},"snapshots":[10,100,1000]'
train sigmoid sigmoid logistic "$loop,\"init\":\"zero\"}" "$asked}"
near "after 10 passes" "$(snapshot 10)" "[0.5929,-0.8857]" 5e-5
near "after 100 passes" "$(snapshot 100)" "[1.7955,-3.8996]" 5e-5
near "after 1,000 passes" "$(snapshot 1000)" "[2.5598,-5.7588]" 5e-5

say "The class changes where the step crosses one half, at x = -w0/w:"
boundary=$(weights sigmoid '-.w0[0] / .w[0][0]')
near "P(1 | x = $(short "$boundary"))" "$(ask sigmoid "[[$boundary]]" '.predictions[0].probabilities[1]')" 0.5 1e-9

say "The book starts from small random weights, within 0.01 of zero. Where one starts matters little: all starts go to the same step."
for seed in 1 2 3; do
    train sigmoid sigmoid logistic "$loop}" "$asked,\"seed\":$seed}"
    near "after 10 passes from random start $seed" "$(snapshot 10)" "[0.5929,-0.8857]" 0.02
done
