#!/bin/bash
# 16. The perceptron as logistic regression with a step. Alpaydın, Introduction to Machine Learning, section 11.3; Bishop, section 4.1.7.
. "$(dirname "$0")/lesson.sh"
title "Replace the sigmoid by a step, h(g) = 1 for g > 0 (at g = 0 the step errs), and w <- w - eta (h(g) - r) x is the perceptron, row by row."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
cat >"$table" <<<"x1,x2,class"
clouds 51 0 -1.2 0 0.5 30 1 1.2 0.5 0.5 30 | sort -t, -k2 >>"$table"
upload step <"$table"
train step step perceptron '{"criterion":"perceptron","mode":"sequential","order":"cyclic","learning_rate":0.5}' '{"snapshots":[1,2,3]}'
history=$(curl -sSf "$URL/v1/jobs/$(jq .id <<<"$job")/history")
for pass in $(jq '.snapshots[].iteration' <<<"$history"); do
    hand=$(awk -F, -v passes="$pass" 'NR > 1 { n++; a[n] = $1; b[n] = $2; r[n] = $3 }
        END {
            for (p = 0; p < passes; p++) for (i = 1; i <= n; i++) {
                g = w1 * a[i] + w2 * b[i] + w0
                h = g > 0 ? 1 : g < 0 ? 0 : 1 - r[i]
                w1 -= 0.5 * (h - r[i]) * a[i]; w2 -= 0.5 * (h - r[i]) * b[i]; w0 -= 0.5 * (h - r[i])
            }
            printf "[%.12g,%.12g,%.12g]\n", w1, w2, w0
        }' "$table")
    near "(w1, w2, w0) after pass $pass" "$(jq -c ".snapshots[] | select(.iteration == $pass) | [.w, .w0] | flatten" <<<"$history")" "$hand" 1e-9
done
