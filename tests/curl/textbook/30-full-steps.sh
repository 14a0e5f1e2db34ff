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
iterate() { # w w0 STEPS: [w, w0, error, condition] of the start and after each full step, until H is singular; condition: of the next step's H
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
                det = a * c - b * b; singular = det <= 1e-14 * a * c
                printf "[%.12g,%.12g,%.12g,%.12g]\n", w, w0, error, singular ? 0 : (a + c + sqrt((a - c) ^ 2 + 4 * b * b)) ^ 2 / (4 * det)
                if (singular) exit
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

say "The service takes full steps with \"step\": \"full\". Its snapshots are the weights above, its history has the error
of each iteration (the mean over the eight rows) and the condition number of H, the quotient of its eigenvalues:"
raw='"features":{"standardize":false}'
for start in 0,0 8,-12; do
    byhand=$([ $start = 0,0 ] && echo "$near_start" || echo "$far_start")
    train full-steps full-steps logistic "{\"solver\":\"newton\",\"step\":\"full\",\"penalty\":\"none\",\"tolerance\":0,\"max_iterations\":7,\"irls\":true,\"init\":[$start]}" "{$raw,\"snapshots\":[1,2,3,4,5,6,7]}"
    taken=$(result .iterations)
    same "from ($start): full steps" "$taken" "$(jq 'length - 1' <<<"$byhand")"
    near "  (w, w0) after each" "$(history "[.snapshots[] | .w[0], .w0]")" "$(jq -c '[.[1:][] | .[:2][]]' <<<"$byhand")" 1e-5
    near "  the error after each" "$(history '[.items[] | select(.iteration > 0).loss]')" "$(jq -c 'map(.[2] / 8)[1:]' <<<"$byhand")" 1e-6
    near "  the logarithm of the condition of each H" "$(history '[.items[] | select(.iteration > 0).condition | log]')" "$(jq -c "map(.[3])[:$taken] | map(log)" <<<"$byhand")" 1e-6
done
same "from (8, -12): converged" "$(result .converged)" false
same "  stop reason" "$(result .stop_reason)" '"no_progress"'
same "  a warning says that there is no full step" "$(warned "there is no full step")" true
near "  the model has the last weights" "$(weights full-steps '[.w[0][0], .w0[0]]')" "$(jq -c '.[-1][:2]' <<<"$far_start")" 1e-5

say "A full step is a weighted least squares problem (IRLS): the new weights fit the response z = w x + w0 - (y - r)/R
with the weights R = y (1 - y) of the old ones. The details of the job have R and z of each step; by hand from those
of the first step from (0, 0), where R = 1/4 and z = 2 or -2:"
train full-steps full-steps logistic '{"solver":"newton","step":"full","penalty":"none","irls":true,"init":[0,0]}' "{$raw,\"snapshots\":[1]}"
near "R" "$(result '.details.irls_weights[:8]')" '[0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25]' 1e-15
near "z" "$(result '.details.irls_response[:8]')" '[-2,-2,-2,2,-2,2,2,2]' 1e-15
fitted=$(paste -d , <(tail -n +2 "$table") <(result '.details.irls_weights[:8][]') <(result '.details.irls_response[:8][]') | awk -F, '
    { n += $3; x += $3 * $1; xx += $3 * $1 * $1; z += $3 * $4; xz += $3 * $1 * $4 }
    END { w = (n * xz - x * z) / (n * xx - x * x); printf "[%.12g,%.12g]", w, (z - w * x) / n }')
near "their least squares line, and the weights after one step" "$fitted" "$(snapshot 1)" 1e-10
near "  by hand (4/3, -3)" "$fitted" "$(jq -nc '[4 / 3, -3]')" 1e-10

say "Without \"step\" the service shortens a step that does not lower the error enough (line search). From (8, -12) it
converges to the same weights as from (0, 0), and the error falls in each iteration:"
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
