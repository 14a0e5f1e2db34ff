#!/bin/bash
# 30. Newton's method from a far start: full steps and line search
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.3.3; Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 4, section 4.4.1
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{
    echo x,class
    paste -d , <(printf '%s\n' 0.5 1 1.5 2 2.5 3 3.5 4) <(printf '%s\n' 0 0 0 1 0 1 1 1)
} >"$table"
upload full-steps <"$table"
say "The books print Newton's iteration for logistic regression with full steps, w <- w - H^-1 g, g the gradient of
the error and H its second derivatives. The error is convex; does the iteration find its minimum from
every start? By hand, on the eight points of script 1: (w, w0) and the error, sum -ln P(true class):"
iterate() { # w w0 STEPS: [w, w0, error] of the start and after each full step, until H is singular
    awk -F, -v w="$1" -v w0="$2" -v steps="$3" 'NR > 1 { x[++n] = $1; r[n] = $2 }
        # ln(1 + e^g) without overflow
        function softplus(g) { return g > 0 ? g + log(1 + exp(-g)) : log(1 + exp(g)) }
        function sigmoid(g) { return g > 0 ? 1 / (1 + exp(-g)) : exp(g) / (1 + exp(g)) }
        END {
            for (k = 0; k <= steps; k++) {
                error = a = b = c = p = q = 0
                for (t = 1; t <= n; t++) {
                    g = w * x[t] + w0; y = sigmoid(g); R = y * (1 - y)
                    error += softplus(g) - r[t] * g
                    p += (y - r[t]) * x[t]; q += y - r[t]
                    a += R * x[t] * x[t]; b += R * x[t]; c += R
                }
                printf "[%.12g,%.12g,%.12g]\n", w, w0, error
                det = a * c - b * b
                if (det <= 1e-14 * a * c) exit
                w -= (c * p - b * q) / det; w0 -= (a * q - b * p) / det
            }
        }' "$table" | jq -cs .
}
near_start=$(iterate 0 0 7)
far_start=$(iterate 8 -12 7)
echo "  from (0, 0)"
jq -r '.[] | "    (\(.[0]), \(.[1])): error \(.[2])"' <<<"$near_start"
echo "  from (8, -12)"
jq -r '.[] | "    (\(.[0]), \(.[1])): error \(.[2])"' <<<"$far_start"
say "From (0, 0) it converges. From (8, -12) the first full step goes far beyond the minimum, because H is small
where all y are near 0 or 1. There H is singular to machine precision, and the iteration ends."
holds "from (8, -12): error after one step" "$(jq '.[1][2]' <<<"$far_start")" '>' "$(jq '50 * .[0][2]' <<<"$far_start")"
holds "  length of (w, w0) after one step" "$(jq '.[1] | .[0] * .[0] + .[1] * .[1] | sqrt' <<<"$far_start")" '>' 100

say "The service shortens a step that does not lower the error enough (line search). From (8, -12) it converges
to the same weights as from (0, 0), and the error falls in each iteration:"
raw='"features":{"standardize":false}'
for start in 0,0 8,-12; do
    train full-steps full-steps logistic "{\"solver\":\"newton\",\"penalty\":\"none\",\"init\":[$start]}" "{$raw,\"snapshots\":[1]}"
    same "from ($start): converged" "$(result .converged)" true
    [ $start != 0,0 ] || near "  first step, by hand the full step (4/3, -3)" "$(snapshot 1)" "$(jq -nc '[4 / 3, -3]')" 1e-12
    near "  (w, w0), beside the full steps from (0, 0)" "$(weights full-steps '[.w[0][0], .w0[0]]')" "$(jq -c '.[-1][:2]' <<<"$near_start")" 1e-8
    same "  the error falls in each iteration" "$(history '[.items[].loss] | [., .[1:]] | transpose | .[:-1] | all(.[1] <= .[0])')" true
done
say "Its first step from (8, -12) has the direction of the full step and a part of its length:"
part=$(jq -n --argjson far "$far_start" --argjson to "$(snapshot 1)" '[0, 1] | map(($to[.] - $far[0][.]) / ($far[1][.] - $far[0][.]))')
near "the part, from w and from w0" "$(jq '.[0]' <<<"$part")" "$(jq '.[1]' <<<"$part")" 1e-9
holds "  it is positive" "$(jq '.[0]' <<<"$part")" '>' 0
holds "  and below 1" "$(jq '.[0]' <<<"$part")" '<' 1
