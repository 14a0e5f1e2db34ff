#!/bin/bash
# 24. Fisher's threshold by training error, and the projected histograms
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.4 and figure 4.6; Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 4, section 4.3
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
say "Fisher's discriminant gives a direction w*. Which threshold b separates the projections best, with class 1
where w*'x + b > 0? Class 0 has 160 points with a small spread, class 1 has 40 with a large one."
{
    echo x1,x2,class
    clouds 36 0 0 0 0.6 160 1 0 0 1.4 40 | awk -F, '{ printf "%.6f,%.6f,%s\n", 1.6 * $1 + 0.4 * $2 + 2.2 * $3, 1.2 * $1 - 0.5 * $2 - 0.4 * $3, $3 }'
} >"$table"
upload threshold <"$table"

say "As in figure 4.6, the rows are projected on the line that joins the means and on w*, in 12 intervals of equal
length (transform with histogram; a # for two rows, class 0 left, class 1 right):"
train threshold threshold fisher '{"threshold":"midpoint"}'
w=$(weights threshold '.w[0]')
join=$(awk -F, 'NR > 1 { n[$3]++; a[$3] += $1; b[$3] += $2 }
    END { u = a[1] / n[1] - a[0] / n[0]; v = b[1] / n[1] - b[0] / n[0]; l = sqrt(u * u + v * v); printf "[%.15g,%.15g]\n", u / l, v / l }' "$table")
# project DIRECTION: projection and class of each row, by hand
project() { awk -F, -v w="$(tr -d '[]' <<<"$1")" 'BEGIN { split(w, v, ",") } NR > 1 { printf "%.15g %s\n", v[1] * $1 + v[2] * $2, $3 }' "$table"; }
# bins: the rows of each class in 12 equal intervals from the least to the greatest projection on standard input, by hand
bins() {
    awk '{ z[NR] = $1; c[NR] = $2; if (NR == 1 || $1 < low) low = $1; if (NR == 1 || $1 > high) high = $1 }
        END {
            # 1e-9: a projection at an edge is in the bin above the edge
            for (t = 1; t <= NR; t++) { k = int((z[t] - low) / (high - low) * 12 + 1e-9); n[c[t], k > 11 ? 11 : k]++ }
            for (k = 0; k < 24; k++) printf "%s%d", k ? "," : "[", n[k < 12 ? 0 : 1, k % 12]
            print "]"
        }'
}
# histogram MODEL [QUERY]: that of the service as bars
histogram() {
    counts=$(curl -sSf "$URL/v1/models/$1/transform${2:+?$2}" -d '{"dataset":"threshold","histogram":12}' | jq -c '.histograms[0]')
    jq -r '. as {$edges, counts: [$a, $b]} | range(12) | "\($edges[.]) \($a[.]) \($b[.])"' <<<"$counts" |
        awk 'function bar(n,  s) { while (n-- > 0) s = s "#"; return s } { printf "  from %5.2f %38s | %s\n", $1, bar($2 / 2), bar($3 / 2) }'
    counts=$(jq -c '.counts | flatten' <<<"$counts")
}
# a linear model whose score is the projection on the line of the means
train threshold-join threshold perceptron "{\"init\":$(jq -c '. + [0]' <<<"$join"),\"max_iterations\":0}" '{"features":{"standardize":false}}'
echo "  on the line of the means"
histogram threshold-join of=scores
near "the 24 numbers, by hand" "$counts" "$(project "$join" | bins)" 0
echo "  on w*"
histogram threshold
near "the 24 numbers, by hand" "$counts" "$(project "$w" | bins)" 0
train threshold threshold fisher '{"threshold":"midpoint"}'
projected=$(curl -sSf "$URL/v1/models/threshold/transform" -H 'Content-Type: text/csv' --data-binary @"$table" | jq -c '.rows | map(.[0])')
near "greatest difference of 200 projections (transform) and w*'x" \
    "$(project "$w" | jq -Rn --argjson projected "$projected" '[[inputs | split(" ")[0] | tonumber], $projected] | transpose | map(.[0] - .[1] | fabs) | max')" 0 1e-9
# J DIRECTION: the squared distance of the projected means over the scatter within the classes
J() {
    project "$1" | awk '{ n[$2]++; m[$2] += $1; x[NR] = $1; c[NR] = $2 }
        END { m[0] /= n[0]; m[1] /= n[1]; for (t = 1; t <= NR; t++) s += (x[t] - m[c[t]]) ^ 2; printf "%.9g\n", (m[1] - m[0]) ^ 2 / s }'
}
near "J(w*), beside the service's" "$(J "$w")" "$(result '.details.J_two_class')" 1e-8
holds "J of the line of the means" "$(J "$join")" '<' "$(J "$w")"

say "b* = -1/2 w*'(m0 + m1) is halfway between the projected means:"
read -r midpoint errors <<<"$(project "$w" | awk '{ n[$2]++; m[$2] += $1; x[NR] = $1; c[NR] = $2 }
    END { b = -(m[0] / n[0] + m[1] / n[1]) / 2; for (t = 1; t <= NR; t++) e += (x[t] + b > 0) != c[t]; printf "%.12g %d\n", b, e }')"
near "b*" "$(weights threshold '.w0[0]')" "$midpoint" 1e-9
same "rows wrong of 200" "$(result '.metrics.train.error * 200 | round')" "$errors"

say "b* is the best threshold for Gaussian classes of one covariance and equal priors. For other classes Hastie,
Tibshirani and Friedman choose the cut with the fewest training errors. All 199 cuts between adjacent
projections, by hand, and the service's (threshold min_error, the default):"
fewest=$(project "$w" | sort -g | awk '{ c[NR] = $2; ones += $2 }
    END { for (t = 1; t <= NR; t++) { below += c[t]; wrong = below + (NR - t) - (ones - below); if (best == "" || wrong < best) best = wrong } print best }')
train threshold threshold fisher
near "w*, the same" "$(weights threshold '.w[0]')" "$w" 1e-12
same "rows wrong of 200, the fewest by hand" "$(result '.metrics.train.error * 200 | round')" "$fewest"
holds "  fewer than with b*" "$fewest" '<' "$errors"
b=$(weights threshold '.w0[0]')
near "rows wrong with this b, by hand" "$(project "$w" | awk -v b="$b" '{ e += ($1 + b > 0) != $2 } END { print e }')" "$fewest" 0
holds "the cut moves towards the wide class, away from b*: -b" "$(jq -n "-($b)")" '>' "$(jq -n "-($midpoint)")"
