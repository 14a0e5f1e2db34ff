#!/bin/bash
# 20. Newton-Raphson as iteratively reweighted least squares. Bishop, Pattern Recognition and Machine Learning, section 4.3.3, equations 4.99 and 4.100.
. "$(dirname "$0")/lesson.sh"
title "Each Newton step is a weighted least-squares fit: (Phi' R Phi) w_new = Phi' R z with z = Phi w_old - R^-1 (y - t)."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{
    echo x1,x2,class
    clouds 3 0 -0.5 0 1 40 1 0.7 0.6 1 40
} >"$table"
upload newton <"$table"
# Raw columns and no penalty, so that the equations are those of the book.
train newton newton logistic '{"solver":"newton","penalty":"none"}' '{"features":{"standardize":false},"snapshots":[1,2,3,4,5]}'
same "converged" "$(result .converged)" true
steps=$(curl -sSf "$URL/v1/jobs/$(jq .id <<<"$job")/history" | jq -c '[[0,0,0], (.snapshots[] | [.w, .w0] | flatten)]')
for step in $(seq "$(($(jq length <<<"$steps") - 1))"); do
    # the gap of the normal equations of the fit, relative to the right side
    gap=$(awk -F, -v old="$(jq -r ".[$((step - 1))] | @csv" <<<"$steps")" -v new="$(jq -r ".[$step] | @csv" <<<"$steps")" '
        BEGIN { split(old, a, ","); split(new, b, ",") }
        NR > 1 {
            phi[1] = $1; phi[2] = $2; phi[3] = 1
            g = a[1] * $1 + a[2] * $2 + a[3]
            y = 1 / (1 + exp(-g)); r = y * (1 - y)
            z = g - (y - $3) / r
            fit = b[1] * $1 + b[2] * $2 + b[3]
            for (j = 1; j <= 3; j++) { off[j] += phi[j] * r * (fit - z); size[j] += (phi[j] * r * z) ^ 2 }
        }
        END { for (j = 1; j <= 3; j++) { q = off[j] / sqrt(size[j]); if (q < 0) q = -q; if (q > worst) worst = q }; print worst + 0 }' "$table")
    holds "step $step: gap of the weighted normal equations" "$gap" '<' 1e-9
done
