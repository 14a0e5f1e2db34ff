#!/bin/bash
# 28. The error surface: cross-entropy and squared error over the weights
# Glorot and Bengio, AISTATS 2010, figure 5; Bishop, Pattern Recognition and Machine Learning, chapter 4, section 4.3.3, and chapter 5, section 5.2
. "$(dirname "$0")/lesson.sh"
say "A logistic unit y = 1 / (1 + e^-(w x + w0)) on the four points of script 4: -2 and -1 are class 0, 1 and 2
class 1. The figure draws two errors as surfaces over the weights: cross-entropy, mean -ln P(true class),
and squared error, mean (y - r)² / 2. A descent with a learning rate of 1e-300 keeps the weights of init, and
the result has both errors at them: log_loss, and half of brier."
printf '%s\n' x1,class -2,0 -1,0 1,1 2,1 | upload surface
at() { # w w0: both errors at these weights
    train surface surface logistic "{\"solver\":\"gradient_descent\",\"learning_rate\":1e-300,\"max_iterations\":1,\"penalty\":\"none\",\"init\":[$1,$2]}" \
        '{"features":{"standardize":false}}'
    result '.metrics.train | [.log_loss, .brier / 2]'
}
by_hand() { # w w0
    awk -v w="$1" -v w0="$2" 'BEGIN {
        for (x = -2; x <= 2; x++) if (x != 0) {
            g = (x > 0 ? 1 : -1) * (w * x + w0)
            cross += log(1 + exp(-g)) / 4
            squared += 1 / (1 + exp(g)) ^ 2 / 8
        }
        printf "[%.15g,%.15g]\n", cross, squared
    }'
}
say "Over w, with w0 = 0 (cross-entropy, squared error):"
for w in -10 -8 -6 -4 -2 0 2 4 6 8 10; do
    got=$(at $w 0)
    near "w = $w" "$got" "$(by_hand $w 0)" 1e-12
    line+=("$got")
done
say "Cross-entropy is convex: its slope rises with w, from -1.5 far to the left to 0. Squared error is not: it is
nearly flat at its maximum 1/2 on the left, where all four points are wrong, falls near w = 0, and is flat
again. Differences from w to w + 2, of both errors:"
differences=$(printf '%s\n' "${line[@]}" | jq -cs '[., .[1:]] | transpose | .[:-1] | map([.[1][0] - .[0][0], .[1][1] - .[0][1]])')
rises() { jq "[map(.[$1]) as \$d | range(\$d | length - 1) | \$d[. + 1] > \$d[.]] | all" <<<"$differences"; }
same "cross-entropy: each difference above the one before" "$(rises 0)" true
same "squared error: each difference above the one before" "$(rises 1)" false
near "cross-entropy: difference from -10 to -8" "$(jq '.[0][0]' <<<"$differences")" -3 1e-3
near "squared error: difference from -10 to -8" "$(jq '.[0][1]' <<<"$differences")" 0 1e-3

say "Over w and w0 (squared error beside cross-entropy, w downwards, w0 from -4 to 4):"
for w in -4 -2 0 2 4; do
    row=
    for w0 in -4 -2 0 2 4; do
        got=$(at $w $w0)
        worst=$(jq -n --argjson a "$got" --argjson b "$(by_hand $w $w0)" "[${worst:-0}, ([\$a, \$b] | transpose[] | .[0] - .[1] | fabs)] | max")
        row+=$(jq -r '"\(.[1] * 1000 | round / 1000)/\(.[0] * 100 | round / 100)"' <<<"$got" | awk '{ printf "%14s", $0 }')
    done
    printf '  %4s%s\n' "$w" "$row"
done
near "greatest difference of 50 errors and the formulas" "$worst" 0 1e-12
