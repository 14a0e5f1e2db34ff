#!/bin/bash
# 4. Cross-entropy against squared error, far from the target and close to it
# Alpaydın, Introduction to Machine Learning, chapter 10 (Linear Discrimination), sections 10.7 and 10.8; Bishop, Pattern Recognition and Machine Learning, chapter 5 (Neural Networks), section 5.2
. "$(dirname "$0")/lesson.sh"
say "Four points of a line: -2 and -1 are class 0, 1 and 2 class 1. y = P(1 | x) = 1 / (1 + e^-(w x + w0)),
r is the class. Which error function tells gradient descent how far it is from the target? Two are
compared, from starts w = -10 to w = 10 with w0 = 0. With w = -10 every point gets the wrong class
with near certainty, with w = 10 the right one."
upload losses <<'CSV'
x1,class
-2,0
-1,0
1,1
2,1
CSV
say "The gradients, by the formulas: of cross-entropy, -ln P(true class), mean (y - r) x; of the squared
error, (y - r)² / 2, mean (y - r) y (1 - y) x, with the slope y (1 - y) of the sigmoid as a further
factor. (The points are symmetric, so that the gradient with respect to w0 is 0.)"
by_hand() { # LOSS w
    awk -v loss="$1" -v w="$2" 'BEGIN {
        for (x = -2; x <= 2; x++) if (x != 0) {
            r = x > 0
            wrong = 1 / (1 + exp(r ? w * x : -w * x)) # |y - r|
            length_of_x = r ? x : -x
            sum += wrong * (loss == "squared_error" ? wrong * (1 - wrong) : 1) * length_of_x
        }
        printf "%.12g\n", sum / 4
    }'
}
declare -A gradient wrong
for w in -10 -2 0 2 10; do
    for loss in cross_entropy squared_error; do
        train losses losses logistic "{\"loss\":\"$loss\",\"init\":[$w,0],\"solver\":\"gradient_descent\",\"learning_rate\":0.1,
            \"penalty\":\"none\",\"tolerance\":0,\"max_iterations\":20}" '{"features":{"standardize":false}}'
        gradient[$loss$w]=$(result .details.gradient_norm_start)
        wrong[$loss$w]=$(result .metrics.train.error)
        near "w = $w: length of the gradient, $loss" "${gradient[$loss$w]}" "$(by_hand $loss $w)" 1e-9
    done
done

say "Far from the target, w = -10: the gradient of cross-entropy is (2 + 1 + 1 + 2) / 4. That of the
squared error is 66,000 times smaller, because y (1 - y) is 0.000045 at x = -1 and 1. Twenty passes of
gradient descent with learning rate 0.1 from there:"
near "gradient of cross-entropy" "${gradient[cross_entropy-10]}" 1.5 1e-4
near "gradient of squared error" "${gradient[squared_error-10]}" 2.27e-5 5e-8
holds "cross-entropy: share of points wrong after 20 passes" "${wrong[cross_entropy-10]}" == 0
holds "squared error: share of points wrong after 20 passes" "${wrong[squared_error-10]}" == 1

say "Close to the target, w = 10: both gradients are small, as they should be at a minimum. That of
cross-entropy goes to 0 like the error y - r, that of the squared error like its square."
near "gradient of cross-entropy" "${gradient[cross_entropy10]}" 2.27e-5 5e-8
near "gradient of squared error" "${gradient[squared_error10]}" 1.03e-9 5e-12
say "So a small gradient of cross-entropy means that the target is close. A small gradient of the squared
error means either: at w = -10 it is as small as that of cross-entropy at w = 10."
near "squared error at -10, beside cross-entropy at 10" "${gradient[squared_error-10]}" "${gradient[cross_entropy10]}" 1e-8
