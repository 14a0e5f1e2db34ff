#!/bin/bash
# 6. Relaxation with a margin
# Duda, Hart and Stork, Pattern Classification, chapter 5 (Linear Discriminant Functions), section 5.6
. "$(dirname "$0")/lesson.sh"
say "(2,1) and (1,2) are class 1, (0,0) and (1,0) class 0. With y = (x1, x2, 1) for class 1 and
y = -(x1, x2, 1) for class 0, which w has w'y > b = 1 for all four samples?"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
cat >"$table" <<'CSV'
x1,x2,class
2,1,1
1,2,1
0,0,0
1,0,0
CSV
upload relaxation <"$table"
least() { # WEIGHTS: the least w'y
    awk -F, -v w="$(tr -d '[]' <<<"$1")" 'BEGIN { split(w, v, ",") }
        NR > 1 { m = ($3 == 1 ? 1 : -1) * (v[1] * $1 + v[2] * $2 + v[3]); if (least == "" || m < least) least = m }
        END { printf "%.15g\n", least }' "$table"
}
final() { least "$(weights relaxation '[.w[0][], .w0[0]]')"; }
rule='"criterion":"relaxation","margin":1,"max_iterations":100000'
given='"mode":"sequential","order":"given"'
raw='"features":{"standardize":false}'

say "The rule, sample by sample: if w'y <= b, w moves by eta (b - w'y)/|y|² y. With eta = 1 the sample then
has w'y = b. With eta = 1.9 it lies beyond that plane, and after some passes no sample has w'y <= b:"
train relaxation relaxation perceptron "{$rule,$given,\"learning_rate\":1.9}" "{$raw}"
same "converged: every w'y > b" "$(result .converged)" true
holds "least w'y at the end" "$(final)" '>' 1

say "With eta = 1 a corrected sample lies on the plane, and each correction lowers w'y of other samples a
little. The least w'y rises towards b and stays below it:"
train relaxation relaxation perceptron "{$rule,$given,\"learning_rate\":1}" "{$raw,\"snapshots\":[1,2,5,10,20]}"
before=-1
for pass in 1 2 5 10 20; do
    now=$(least "$(snapshot $pass)")
    holds "least w'y after $pass passes" "$now" '>' "$before"
    holds "  and still below b" "$now" '<' 1
    before=$now
done
near "least w'y at the end" "$(final)" 1 1e-4
same "converged: w'y > b was asked for and is not reached" "$(result .converged)" false

say "Batch relaxation (algorithm 8): w moves once in a pass, by eta times the sum of (b - w'y)/|y|² y over
the samples with w'y <= b. From w = 0 all four have w'y <= b, and with eta = 1 the step is
(2,1,1)/6 + (1,2,1)/6 + (0,0,-1) + (-1,0,-1)/2 = (0, 1/2, -7/6):"
train relaxation relaxation perceptron "{$rule,\"mode\":\"batch\",\"learning_rate\":1}" "{$raw,\"snapshots\":[1]}"
near "w after the first pass" "$(snapshot 1)" "[0,0.5,-1.1666666666666667]" 1e-12

say "With eta = 1.5 every sample has w'y > b after four passes. Each pass beside algorithm 8 in awk:"
batch() { # PASSES: w by algorithm 8 with eta = 1.5
    awk -F, -v passes="$1" 'NR > 1 { n++; t = $3 == 1 ? 1 : -1; a[n] = t * $1; b[n] = t * $2; c[n] = t }
        END {
            for (p = 0; p < passes; p++) {
                d1 = d2 = d0 = 0
                for (i = 1; i <= n; i++) {
                    s = w1 * a[i] + w2 * b[i] + w0 * c[i]
                    if (s > 1) continue
                    k = (1 - s) / (a[i] ^ 2 + b[i] ^ 2 + 1)
                    d1 += k * a[i]; d2 += k * b[i]; d0 += k * c[i]
                }
                w1 += 1.5 * d1; w2 += 1.5 * d2; w0 += 1.5 * d0
            }
            printf "[%.15g,%.15g,%.15g]\n", w1, w2, w0
        }' "$table"
}
train relaxation relaxation perceptron "{$rule,\"mode\":\"batch\",\"learning_rate\":1.5}" "{$raw,\"snapshots\":[1,2,3,4]}"
for pass in 1 2 3 4; do
    near "w after pass $pass" "$(snapshot $pass)" "$(batch $pass)" 1e-12
done
same "converged" "$(result .converged)" true
same "passes" "$(result .iterations)" 4
near "least w'y at the end" "$(final)" 1.3125 1e-12

say "The service also offers the mean in place of the sum (step mean), which no book prints: the sum divided
by the number of all samples. Then each pass makes the criterion smaller for 0 < eta < 2, and the least
w'y approaches b from below:"
train relaxation relaxation perceptron "{$rule,\"mode\":\"batch\",\"step\":\"mean\",\"learning_rate\":1.9}" "{$raw}"
same "converged" "$(result .converged)" false
near "least w'y at the end" "$(final)" 1 1e-3
