#!/bin/bash
# 28. The error surface: cross-entropy and squared error over the weights
# Glorot and Bengio, AISTATS 2010, figure 5; Bishop, Pattern Recognition and Machine Learning, chapter 4, section 4.3.3, and chapter 5, section 5.2
. "$(dirname "$0")/lesson.sh"
say "A logistic unit y = 1 / (1 + e^-(w x + w0)) on the four points of script 4: -2 and -1 are class 0, 1 and 2
class 1. The figure draws two errors as surfaces over the weights: cross-entropy, mean -ln P(true class),
and squared error, mean (y - r)² / 2. loss_grid gives both for a grid of weights; the weights of the trained
model play no role where both vary."
printf '%s\n' x1,class -2,0 -1,0 1,1 2,1 | upload surface
train surface surface logistic '{}' '{"features":{"standardize":false}}'
surface() { # loss: the errors over w and w0, a row for each w0
    curl -sSf "$URL/v1/models/surface/loss_grid" -d '{"dataset": "surface", "loss": "'"$1"'", "weights":
        [{"name": "x1", "from": -10, "to": 10, "steps": 11}, {"name": "intercept", "from": -4, "to": 4, "steps": 5}]}'
}
by_hand() { # column: the same errors by the formulas; 1: cross-entropy, 2: squared error
    awk -v column="$1" 'BEGIN {
        for (w0 = -4; w0 <= 4; w0 += 2) {
            line = ""
            for (w = -10; w <= 10; w += 2) {
                error[1] = error[2] = 0
                for (x = -2; x <= 2; x++) if (x != 0) {
                    g = (x > 0 ? 1 : -1) * (w * x + w0)
                    error[1] += log(1 + exp(-g)) / 4
                    error[2] += 1 / (1 + exp(g)) ^ 2 / 8
                }
                line = line (line == "" ? "[" : ",") sprintf("%.15g", error[column])
            }
            rows = rows (rows == "" ? "[" : ",") line "]"
        }
        print rows "]"
    }'
}
cross=$(surface cross_entropy)
squared=$(surface squared_error)
worst=$(jq -n --argjson c "$cross" --argjson s "$squared" --argjson p "$(by_hand 1)" --argjson q "$(by_hand 2)" \
    '[[$c.values, $s.values], [$p, $q]] | map(flatten) | transpose | map(.[0] - .[1] | fabs) | max')
near "greatest difference of 110 errors and the formulas" "$worst" 0 1e-12
say "Over w, with w0 = 0 (cross-entropy, squared error):"
jq -nr --argjson c "$cross" --argjson s "$squared" '[$c.weights[0].values, $c.values[2], $s.values[2]] | transpose[]
    | @tsv' | awk '{ printf "  w = %3d %10.7f %10.7f\n", $1, $2, $3 }'
say "Cross-entropy is convex: its slope rises with w, from -1.5 far to the left to 0. Squared error is not: it is
nearly flat at its maximum 1/2 on the left, where all four points are wrong, falls near w = 0, and is flat
again. Differences from w to w + 2:"
differences() { jq -c '.values[2] | [., .[1:]] | transpose | .[:-1] | map(.[1] - .[0])' <<<"$1"; }
rises() { jq '. as $d | [range($d | length - 1) | $d[. + 1] > $d[.]] | all' <<<"$(differences "$1")"; }
same "cross-entropy: each difference above the one before" "$(rises "$cross")" true
same "squared error: each difference above the one before" "$(rises "$squared")" false
near "cross-entropy: difference from -10 to -8" "$(differences "$cross" | jq '.[0]')" -3 1e-3
near "squared error: difference from -10 to -8" "$(differences "$squared" | jq '.[0]')" 0 1e-3
same "cross-entropy: the least value is at (w, w0)" "$(jq -c .minimum.weights <<<"$cross")" '[10,0]'

say "Over w and w0 (squared error/cross-entropy, w downwards, w0 from -4 to 4):"
jq -nr --argjson c "$cross" --argjson s "$squared" 'def short($n): . * $n | round / $n | tostring;
    [$c.weights[0].values, ($c.values | transpose), ($s.values | transpose)] | transpose[]
    | "\(.[0])", ([.[1], .[2]] | transpose[] | "\(.[1] | short(1000))/\(.[0] | short(100))")' |
    awk 'NR % 6 == 1 { printf "  %4s", $0; next } { printf "%14s%s", $0, NR % 6 ? "" : "\n" }'
