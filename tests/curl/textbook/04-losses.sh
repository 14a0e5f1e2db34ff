#!/bin/bash
# 4. Cross-entropy against squared error from a far start
# Alpaydın, Introduction to Machine Learning, chapter 10 (Linear Discrimination), sections 10.7 and 10.8; Bishop, Pattern Recognition and Machine Learning, chapter 5 (Neural Networks), section 5.2
. "$(dirname "$0")/lesson.sh"
say "Four points of a line: -2 and -1 are class 0, 1 and 2 class 1. Gradient descent starts from w = -10, w0 = 0, where y = P(1 | x) = 1 / (1 + e^-(w x + w0)) takes every point for the wrong class, and is sure of it. Two ways to measure the error at this start:"
upload losses <<'CSV'
x1,class
-2,0
-1,0
1,1
2,1
CSV
start='"solver":"gradient_descent","init":[-10,0],"penalty":"none","tolerance":0,"learning_rate":0.1,"max_iterations":20'
train losses-cross losses logistic "{$start,\"loss\":\"cross_entropy\"}" '{"features":{"standardize":false}}'
cross=$(result .details.gradient_norm_start)
say "Cross-entropy, -ln P(true class): its gradient, mean (y - r) x, is (2 + 1 + 1 + 2) / 4. The more wrong, the harder it pulls."
near "length of its gradient" "$cross" 1.5 1e-4
holds "share of points wrong after 20 passes" "$(result .metrics.train.error)" == 0

train losses-squared losses logistic "{$start,\"loss\":\"squared_error\"}" '{"features":{"standardize":false}}'
squared=$(result .details.gradient_norm_start)
say "Squared error, (y - r)² / 2: its gradient has the further factor y (1 - y), the slope of the sigmoid, which is 0.000045 at x = -1 and 1 and smaller at -2 and 2. It vanishes where the model is most wrong, and nothing is learned."
near "length of its gradient" "$squared" 2.27e-5 5e-8
holds "share of points wrong after 20 passes" "$(result .metrics.train.error)" == 1
holds "how many times weaker it pulls" "$(jq -n "$cross / $squared")" '>' 10000
