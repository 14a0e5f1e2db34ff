#!/bin/bash
# 22. The losses as upper bounds of the 0/1 loss
# Bishop, Pattern Recognition and Machine Learning, chapter 7 (Sparse Kernel Machines), section 7.1.2, figure 7.5; Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 10, section 10.6, figure 10.4
. "$(dirname "$0")/lesson.sh"
say "A row has the margin m = t g(x), t = 1 for the second class and -1 for the first. It is classified wrong
if m < 0: the 0/1 loss is a step, which no gradient can minimise. The methods minimise functions of m that
lie above the step: hinge, max(0, 1 - m); squared, (1 - m)²; logistic, ln(1 + e^-m) / ln 2."
say "A perceptron with the given weights w = 1, w0 = 0 (init, no passes) has g(x) = x. Evaluated on one row of
class 1 with x = m, the service reports the losses at m:"
printf '%s\n' x,class -1,0 1,1 | upload bounds
train bounds bounds perceptron '{"init":[1,0],"max_iterations":0}' '{"features":{"standardize":false}}'
at() { printf 'x,class\n%s,1\n' "$1" | judge bounds '[.metrics | .error, .hinge, .squared_loss, .logistic_loss]'; }
bounded=true
for m in -3 -2 -1 -0.5 -0.01 0.01 0.5 1 2 3; do
    got=$(at $m)
    near "m = $m: 0/1, hinge, squared, logistic" "$got" \
        "$(jq -nc "$m | [(if . < 0 then 1 else 0 end), ([0, 1 - .] | max), (1 - .) * (1 - .), ((1 + (-. | exp)) | log) / (2 | log)]")" 1e-12
    jq -e '.[0] as $step | .[1:] | all(. >= $step)' <<<"$got" >/dev/null || bounded=false
done
same "each is at least the 0/1 loss" $bounded true

say "Bishop divides ln(1 + e^-m) by ln 2 so that it passes through 1 at m = 0. Without the division it is no
bound of the 0/1 loss: at m = -0.01 a row is wrong, and"
holds "ln(1 + e^0.01)" "$(jq -n '(1 + (0.01 | exp)) | log')" '<' 1

say "So the mean of each loss bounds the share of wrong rows. Two clouds of 100 points that overlap, three
methods:"
{ echo x1,x2,class; clouds 62 0 0 0 1 100 1 1.3 0.8 1 100; } | upload bounds
for algorithm in svm least_squares logistic; do
    train bounds bounds $algorithm
    m=.metrics.train
    for loss in hinge squared_loss logistic_loss; do
        holds "$algorithm: mean $loss and share of wrong rows" "$(result $m.$loss)" '>=' "$(result $m.error)"
    done
done
say "Of logistic regression, the logistic loss is the cross-entropy in bits: its mean -ln P(true class),
divided by ln 2."
near "logistic loss" "$(result .metrics.train.logistic_loss)" "$(result '.metrics.train.log_loss / (2 | log)')" 1e-12
