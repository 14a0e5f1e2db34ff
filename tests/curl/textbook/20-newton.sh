#!/bin/bash
# 20. Newton-Raphson as iteratively reweighted least squares
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.3.3, equations 4.99 and 4.100
. "$(dirname "$0")/lesson.sh"
say "Two clouds of 40 points that overlap, class 0 around (-0.5, 0) and class 1 around (0.7, 0.6).
Logistic regression has no closed form, but each of Newton's steps has: w_new is the weighted
least-squares fit to z = Phi w_old - R^-1 (y - t), that is (Phi'R Phi) w_new = Phi'R z. Phi holds
the rows (x1, x2, 1), t the classes, y the probabilities by w_old, and R the weights y (1 - y)."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{
    echo x1,x2,class
    clouds 3 0 -0.5 0 1 40 1 0.7 0.6 1 40
} >"$table"
upload newton <"$table"
# Raw columns and no penalty, so that the equations are those of the book.
train newton newton logistic '{"solver":"newton","penalty":"none"}' '{"features":{"standardize":false},"snapshots":[1,2,3,4]}'
say "The service's steps from w = 0, beside that fit by hand from the step before (w1, w2, w0):"
old='[0,0,0]'
for step in 1 2 3 4; do
    new=$(snapshot $step)
    # the weighted sums of the normal equations, which Cramer's rule solves
    fit=$(awk -F, -v old="$(tr -d '[]' <<<"$old")" '
        BEGIN { split(old, w, ",") }
        NR > 1 {
            phi[1] = $1; phi[2] = $2; phi[3] = 1
            g = w[1] * $1 + w[2] * $2 + w[3]
            y = 1 / (1 + exp(-g)); r = y * (1 - y); z = g - (y - $3) / r
            for (i = 1; i <= 3; i++) { for (j = 1; j <= 3; j++) M[i, j] += phi[i] * r * phi[j]; M[i, 4] += phi[i] * r * z }
        }
        function det(a, b, c) {
            return M[1, a] * (M[2, b] * M[3, c] - M[3, b] * M[2, c]) - M[1, b] * (M[2, a] * M[3, c] - M[3, a] * M[2, c]) + M[1, c] * (M[2, a] * M[3, b] - M[3, a] * M[2, b])
        }
        END { printf "[%.15g,%.15g,%.15g]\n", det(4, 2, 3) / det(1, 2, 3), det(1, 4, 3) / det(1, 2, 3), det(1, 2, 4) / det(1, 2, 3) }' "$table")
    near "step $step" "$new" "$fit" 1e-9
    old=$new
done
say "The number of correct digits about doubles with each step, so a few steps are enough:"
same "converged" "$(result .converged)" true
near "w at the end, beside the fourth step" "$(weights newton '[.w[0][], .w0[0]]')" "$old" 1e-4
