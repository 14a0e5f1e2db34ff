#!/bin/bash
# 6. Relaxation with a margin
# Duda, Hart and Stork, Pattern Classification, chapter 5 (Linear Discriminant Functions), section 5.6
. "$(dirname "$0")/lesson.sh"
say "(2,1) and (1,2) are class 1, (0,0) and (1,0) class 0. With y = (x1, x2, 1) for class 1 and y = -(x1, x2, 1) for class 0 a vector w is wanted with w'y > b = 1 for all four: every point on its side, with a margin."
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
rule='"criterion":"relaxation","margin":1,"order":"given","max_iterations":100000'
raw='"features":{"standardize":false}'

say "The rule: whenever a sample has w'y <= b, w moves the share eta of its way to the plane w'y = b. With eta = 1.9 it goes beyond the plane, and soon no sample asks for more:"
train relaxation relaxation perceptron "{$rule,\"mode\":\"sequential\",\"learning_rate\":1.9}" "{$raw}"
same "converged" "$(result .converged)" true
holds "least w'y at the end" "$(final)" '>' 1

say "With eta = 1 it goes just as far as the plane; each step spoils another sample a little, and the least w'y comes nearer and nearer to b, from below:"
train relaxation relaxation perceptron "{$rule,\"mode\":\"sequential\",\"learning_rate\":1}" "{$raw,\"snapshots\":[1,2,5,10,20]}"
before=-1
for pass in 1 2 5 10 20; do
    now=$(least "$(snapshot $pass)")
    holds "least w'y after $pass passes" "$now" '>' "$before"
    holds "  and still below b" "$now" '<' 1
    before=$now
done
near "least w'y at the end" "$(final)" 1 1e-4

say "In batches: w moves once a pass, by the mean of what the samples ask for. Slower, but it gets there too."
train relaxation relaxation perceptron "{$rule,\"mode\":\"batch\",\"learning_rate\":1.9}" "{$raw}"
same "converged" "$(result .converged)" true
near "least w'y at the end" "$(final)" 1 1e-3
