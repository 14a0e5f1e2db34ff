#!/bin/bash
# 7. The maximal margin
# Bishop, Pattern Recognition and Machine Learning, chapter 7 (Sparse Kernel Machines), sections 7.1 and 7.1.1; Alpaydın, Introduction to Machine Learning, chapter 13 (Kernel Machines), sections 13.2 and 13.3
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
clouds 7 a 0 0 0.6 8 b 3 2 0.6 8 >"$table"
# learn TABLE C: a support vector machine as model `margin`. Nothing is standardised, so that distances are those of the plane.
learn() {
    { echo x1,x2,class && cat; } | upload "$1"
    train margin "$1" svm "{\"C\":$2}" '{"features":{"standardize":false}}'
}
line() { weights margin '.w[0] + .w0'; }
# scores: t g(x) of every row of the table, t = 1 for class b and -1 for class a.
scores() { awk -F, -v line="$(line)" 'BEGIN { split(substr(line, 2), w, ",") } { printf "%.12f\n", ($3 == "b" ? 1 : -1) * (w[1] * $1 + w[2] * $2 + w[3] + 0) }' "$table"; }
# count CONDITION on s, the score of a row
count() { scores | awk '{ s = $1 } '"$1"' { n++ } END { print n + 0 }'; }

say "Two clouds of 8 points, which many lines separate. A support vector machine without slack (C:
null, the hard margin) chooses the line with the greatest distance to the nearest points of both
classes. That is the shortest w with t (w'x + w0) >= 1 for every point x, t = -1 for class a and 1
for class b."
learn margin null <"$table"
w=$(line)
norm=$(result .details.norm)
near "least t (w'x + w0) of the points" "$(scores | awk 'NR == 1 || $1 < least { least = $1 } END { print least }')" 1 1e-9
near "length of w" "$(jq '.[0] * .[0] + .[1] * .[1] | sqrt' <<<"$w")" "$norm" 1e-12
near "the street between the classes is 2 / |w| wide" "$(result '.details.margin * 2')" "$(jq -n "2 / $norm")" 1e-12

widest=$(awk -F, '{ x[NR] = $1; y[NR] = $2; t[NR] = $3 }
    END {
        for (step = 0; step < 18000; step++) {
            u = cos(step * 3.14159265358979 / 9000); v = sin(step * 3.14159265358979 / 9000)
            high = -1e9; low = 1e9
            for (i = 1; i <= NR; i++) {
                s = u * x[i] + v * y[i]
                if (t[i] == "a" && s > high) high = s
                if (t[i] == "b" && s < low) low = s
            }
            if (low - high > best) best = low - high
        }
        printf "%.9g\n", best
    }' "$table")
say "No line has a wider street between the classes. Between the projections of the two classes on
18,000 directions the widest gap is:"
near "the street, beside that gap" "$(jq -n "2 / $norm")" "$widest" 1e-5
holds "the street is below that of no direction" "$(jq -n "2 / $norm + 1e-9")" '>=' "$widest"

supports=$(result .details.support_vectors)
say "The points at its edges, t (w'x + w0) = 1, are the support vectors. The line depends on them
alone: without any one of the other points it is the same."
same "points at the edges" "$(count 's < 1 + 1e-6')" "$supports"
holds "  of 16" "$supports" '<=' 4
mapfile -t others < <(scores | awk '$1 >= 1 + 1e-6 { print NR }')
stayed=0
for row in "${others[@]}"; do
    learn margin-less null < <(sed "${row}d" "$table")
    jq -en --argjson a "$(line)" --argjson b "$w" '[$a, $b] | transpose | all(.[0] - .[1] | fabs < 1e-8)' >/dev/null && stayed=$((stayed + 1))
done
same "lines that stayed, for ${#others[@]} points taken away" "$stayed" "${#others[@]}"

say "Without one of the support vectors the street is wider:"
learn margin null <"$table"
row=$(scores | awk '$1 < 1 + 1e-6 { row = NR } END { print row }')
learn margin-less null < <(sed "${row}d" "$table")
holds "2 / |w|" "$(result '2 / .details.norm')" '>' "$(jq -n "2 / $norm + 1e-3")"

say "Where the classes overlap, no line separates them. Slack s = max(0, 1 - t (w'x + w0)) is how
far a point is beyond the edge of its own side, and the sum of it costs C beside half the squared
length of w. Points with s > 0 are inside the street or beyond it, those with s > 1 are on the wrong
side:"
clouds 8 a 0 0 1 60 b 2 1 1 60 >"$table"
learn margin-overlap 1 <"$table"
same "points with slack, counted by hand" "$(count 's < 1 - 1e-5')" "$(result .details.slack_positive)"
same "points with slack over 1" "$(count 's < 0')" "$(result .details.slack_over_one)"
near "share of points it gets wrong" "$(result '.metrics.train.error')" "$(jq -n "$(count 's < 0') / 120")" 1e-12
near "sum of slack" "$(scores | awk '$1 < 1 { sum += 1 - $1 } END { printf "%.12g\n", sum }')" "$(result .details.slack_sum)" 1e-4
near "half the squared length of w plus C times the slack" "$(result '.details | .norm * .norm / 2 + .slack_sum')" "$(result .objective)" 1e-4
near "duality gap: what a better line could save of it, at most" "$(result .details.gap)" 0 1e-6
train margin-hard margin-overlap svm '{"C":1e-2}' '{"features":{"standardize":false}}'
say "A lower C makes slack cheaper and the street wider:"
holds "its width at C = 0.01" "$(result '2 / .details.norm')" '>' "$(weights margin '2 / .discriminants[0].norm')"
