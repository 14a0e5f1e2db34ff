#!/bin/bash
# 29. The perceptron, drawn update by update
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.7, equations 4.52 to 4.56 and figure 4.7; Alpaydın, Introduction to Machine Learning, chapter 11 (Multilayer Perceptrons), section 11.4 (the function AND)
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
printf '%s\n' x1,x2,class 0,0,0 0,1,0 1,0,0 1,1,1 >"$table"
upload updates <"$table"
say "The function AND: (1,1) is class 1 (t = 1), (0,0), (0,1) and (1,0) are class 0 (t = -1). Bishop's perceptron
predicts class 1 if w'phi >= 0, phi = (x1, x2, 1), and adds t phi to w exactly at a row that it predicts
wrong (\"at_zero\": \"second\", \"order\": \"given\"). \"snapshots_of\": \"updates\" records each change of w. By
hand, from w = 0:"
# the run in awk: update, pass, row, w, and the error -sum t w'phi of the rows that are wrong before and after
hand=$(awk -F, 'NR > 1 { n++; t[n] = $3 == 1 ? 1 : -1; a[n] = $1; b[n] = $2 }
    function wrong(i) { return (g(i) >= 0 ? 1 : -1) != t[i] }
    function g(i) { return w1 * a[i] + w2 * b[i] + w0 }
    function error(  i, e) { for (i = 1; i <= n; i++) if (wrong(i)) e -= t[i] * g(i); return e + 0 }
    END {
        do {
            changed = 0; pass++
            for (i = 1; i <= n; i++) if (wrong(i)) {
                own = -t[i] * g(i); before = error()
                w1 += t[i] * a[i]; w2 += t[i] * b[i]; w0 += t[i]; changed = 1
                printf "[%d,%d,%d,%d,%d,%d,%d,%d,%d,%d]\n", ++updates, pass, i, w1, w2, w0, own, -t[i] * g(i), before, error()
            }
        } while (changed)
    }' "$table" | jq -cs .)
jq -r '.[] | "    \(.[0]). pass \(.[1]), row \(.[2]): w = (\(.[3]), \(.[4]), \(.[5])); -t w\u0027phi of the row from \(.[6]) to \(.[7]), the error from \(.[8]) to \(.[9])"' <<<"$hand"
run='"order":"given","learning_rate":1,"at_zero":"second"'
raw='"features":{"standardize":false}'
n=$(jq length <<<"$hand")
train updates updates perceptron "{$run}" "{$raw,\"snapshots\":[$(seq -s, "$n")],\"snapshots_of\":\"updates\"}"
say "The service:"
same "number of updates" "$(result .details.updates)" "$n"
items='[.items[] | select(.row != null)]'
near "pass of each update" "$(history "$items | map(.iteration)")" "$(jq -c 'map(.[1])' <<<"$hand")" 0
near "row of each update" "$(history "$items | map(.row + 1)")" "$(jq -c 'map(.[2])' <<<"$hand")" 0
near "w after each update" "$(history '[.snapshots[] | .w, .w0] | flatten')" "$(jq -c 'map(.[3:6]) | flatten' <<<"$hand")" 0
same "converged" "$(result .converged)" true

say "Equation 4.56: an update lowers the row's own -t w'phi by |phi|² > 0. The error of all rows can rise all
the same:"
near "change of the row's own" "$(jq -c 'map(.[7] - .[6])' <<<"$hand")" \
    "$(jq -c --argjson x '[[0,0],[0,1],[1,0],[1,1]]' 'map($x[.[2] - 1] | -(.[0] * .[0] + .[1] * .[1] + 1))' <<<"$hand")" 0
holds "updates that make the error greater" "$(jq 'map(select(.[9] > .[8])) | length' <<<"$hand")" '>' 0

say "Figure 4.7 draws the boundary after each update. evaluate_grid with the number of an update as snapshot
gives the classes of a grid at that moment, here x1 and x2 from -0.5 to 1.5 (x2 upwards, the rows of the
table at the positions 2 and 4 of both axes), beside the sign of w'phi:"
grid='{"x":{"column":"x1","from":-0.5,"to":1.5,"steps":5},"y":{"column":"x2","from":-0.5,"to":1.5,"steps":5},"output":"label"}'
for update in $(seq $((n - 2)) "$n"); do
    w=$(jq -c ".[$update - 1][3:6]" <<<"$hand")
    labels=$(curl -sSf "$URL/v1/models/updates/evaluate_grid" -d "$(jq -c ".snapshot = $update" <<<"$grid")" | jq -c .labels)
    jq -r 'reverse[] | "        " + (map(tostring) | join(" "))' <<<"$labels"
    near "update $update, w = $w: the 25 classes" "$labels" "$(jq -nc "$w as \$w | [range(5) as \$y | range(5) as \$x
        | if (\$x / 2 - 0.5) * \$w[0] + (\$y / 2 - 0.5) * \$w[1] + \$w[2] >= 0 then 1 else 0 end]")" 0
done
say "Alpaydın solves AND by the line x1 + x2 = 1.5. The perceptron ends at another; every line that
separates the rows is a solution:"
same "classes by (1, 1, -1.5)" "$(train updates-at updates perceptron '{"init":[1,1,-1.5],"max_iterations":0}' "{$raw}" && result .metrics.train.error)" 0
same "classes by the weights at the end" "$(judge updates .metrics.error <"$table")" 0
