#!/bin/bash
# 5. The perceptron, update by update. Duda, Hart and Stork, Pattern Classification, section 5.5; Bishop, section 4.1.7 (the convergence theorem).
. "$(dirname "$0")/lesson.sh"
title "A wrong sample y turns w by its own vector; nothing is proved of the others on the way, and the end depends on order and start."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
cat >"$table" <<'CSV'
x1,x2,class
-3,0,1
-2,-1,1
3,3,0
-1,-1,0
CSV
upload perceptron <"$table"

say "By hand, t = +1 for class 1 and -1 for class 0, y = t (x1, x2, 1), w from 0:"
hand=$(awk -F, 'NR > 1 { n++; t = $3 == 1 ? 1 : -1; a[n] = t * $1; b[n] = t * $2; c[n] = t }
    function score(i) { return w1 * a[i] + w2 * b[i] + w0 * c[i] }
    function total(  i, e) { for (i = 1; i <= n; i++) if (score(i) <= 0) e -= score(i); return e + 0 }
    END {
        do {
            updated = 0
            for (i = 1; i <= n; i++) if (score(i) <= 0) {
                before = score(i)
                w1 += a[i]; w2 += b[i]; w0 += c[i]; updates++; updated = 1
                printf "    update %d by sample %d: w = (%g, %g), w0 = %g; its own score rises from %g to %g, the total error is %g\n", updates, i, w1, w2, w0, before, score(i), total()
            }
        } while (updated)
        printf "[%g,%g,%g,%d]\n", w1, w2, w0, updates
    }' "$table")
grep update <<<"$hand"
rule='"criterion":"perceptron","mode":"sequential","learning_rate":1,"order":"cyclic"'
train perceptron perceptron perceptron "{$rule}"
same "the service: w1, w2, w0, updates" "$(jq -c . <<<"[$(weights perceptron '.w[0][0]'),$(weights perceptron '.w[0][1]'),$(weights perceptron '.w0[0]'),$(result .details.updates)]")" "$(tail -n 1 <<<"$hand")"
same "converged" "$(result .converged)" true
rises=$(grep -o 'total error is .*' <<<"$hand" | awk '{ if (NR > 1 && $4 > before) n++; before = $4 } END { print n + 0 }')
holds "updates that raised the total error, though not their own sample's" "$rises" '>' 0

say "The number of updates is bounded by (R |w*| / min t w*'x)^2, for any separating w*:"
bound=$(awk -F, -v w="$(weights perceptron '[.w[0][], .w0[0]]' | tr -d '[]')" 'BEGIN { split(w, v, ",") }
    NR > 1 { t = $3 == 1 ? 1 : -1; r = $1 * $1 + $2 * $2 + 1; if (r > R) R = r
             m = t * (v[1] * $1 + v[2] * $2 + v[3]); if (least == "" || m < least) least = m }
    END { print R * (v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2) / least ^ 2 }' "$table")
holds "updates" "$(result .details.updates)" '<=' "$bound"

say "Another order of the samples, another line:"
{ head -n 1 "$table"; tail -n +2 "$table" | tac; } | upload perceptron-reversed
here=$(weights perceptron '[.w[0][], .w0[0]]')
train perceptron-reversed perceptron-reversed perceptron "{$rule}"
there=$(weights perceptron-reversed '[.w[0][], .w0[0]]')
same "the two ends differ ($here, $there)" "$([ "$here" != "$there" ] && echo yes)" yes

say "Classes that no line separates:"
upload perceptron-xor <<'CSV'
x1,x2,class
0,0,0
1,1,0
0,1,1
1,0,1
CSV
train perceptron-xor perceptron-xor perceptron '{"max_iterations":1000}'
same "converged" "$(result .converged)" false
same "warned" "$(jq '[.warnings[] | select(test("separable"))] | length > 0' <<<"$job")" true
