#!/bin/bash
# 5. The perceptron, update by update
# Duda, Hart and Stork, Pattern Classification, chapter 5 (Linear Discriminant Functions), section 5.5; Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.7
. "$(dirname "$0")/lesson.sh"
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
# The textbook visits the samples in the order of the table, with the features as they are.
raw='"features":{"standardize":false}'
say "Four samples: (-3,0) and (-2,-1) are class 1, (3,3) and (-1,-1) class 0. With y = (x1, x2, 1)
for class 1 and y = -(x1, x2, 1) for class 0, which vector w has w'y > 0 for all? The perceptron
visits the samples in turn; if w'y <= 0, the sample is wrong and its y is added to w. Its error is
-w'y. By hand, from w = 0:"
hand=$(awk -F, 'NR > 1 { n++; t = $3 == 1 ? 1 : -1; a[n] = t * $1; b[n] = t * $2; c[n] = t }
    function score(i) { return w1 * a[i] + w2 * b[i] + w0 * c[i] }
    function total(  i, e) { for (i = 1; i <= n; i++) if (score(i) <= 0) e -= score(i); return e + 0 }
    END {
        do {
            updated = 0
            for (i = 1; i <= n; i++) if (score(i) <= 0) {
                before = score(i); sum = total()
                w1 += a[i]; w2 += b[i]; w0 += c[i]; updates++; updated = 1
                if (score(i) > before) own++
                if (total() > sum) worse++
                printf "    %d. sample %d is wrong: w = (%g, %g, %g); its own w\047y goes from %g to %g, the error of all from %g to %g\n", updates, i, w1, w2, w0, before, score(i), sum, total()
            }
            passes = passes sprintf("[%g,%g,%g]", w1, w2, w0)
        } while (updated)
        printf "%s %d %d %d\n", passes, updates, own, worse
    }' "$table")
grep wrong <<<"$hand"
read -r passes updates own worse <<<"$(tail -n 1 <<<"$hand")"
holds "updates that better their own sample: all" "$own" == "$updates"
holds "updates that make the error of all greater nevertheless" "$worse" '>' 0

say "The service does the same:"
train perceptron perceptron perceptron '{"order":"given","learning_rate":1}' "{$raw,\"snapshots\":[1,2,3,4]}"
same "w after each pass, beside the above" "$(for pass in 1 2 3 4; do snapshot $pass; done | tr -d '\n')" "$passes"
same "updates" "$(result .details.updates)" "$updates"
same "converged: a pass without an update" "$(result .converged)" true

say "Bishop's rule: f(0) = +1, and w changes exactly at the samples whose predicted class differs
(\"at_zero\": \"second\"; Duda, Hart and Stork's is \"wrong\"). From w = 0 all samples are predicted
as class 1, so the first change is at sample 3:"
bishop=$(awk -F, 'NR > 1 { n++; t[n] = $3 == 1 ? 1 : -1; a[n] = $1; b[n] = $2 }
    END {
        do {
            updated = 0
            for (i = 1; i <= n; i++) if ((w1 * a[i] + w2 * b[i] + w0 >= 0 ? 1 : -1) != t[i]) {
                w1 += t[i] * a[i]; w2 += t[i] * b[i]; w0 += t[i]; updated = 1
                if (!first) first = i
                updates++
            }
        } while (updated)
        printf "[%g,%g,%g] %d %d\n", w1, w2, w0, updates, first
    }' "$table")
read -r last updates2 first <<<"$bishop"
train perceptron-bishop perceptron perceptron '{"order":"given","learning_rate":1,"at_zero":"second"}' "{$raw,\"snapshots\":[1,2,3],\"snapshots_of\":\"updates\"}"
same "sample of the first update" "$(history '.items[0].row + 1')" "$first"
same "updates" "$(result .details.updates)" "$updates2"
same "w after each update" "$(for update in 1 2 3; do snapshot $update; done | tr -d '\n')" "[-3,-3,-1][-2,-2,-2]$last"
same "w at the end" "$(weights perceptron-bishop '[.w[0][], .w0[0]]')" "$last"
same "every sample is predicted right, those with g = 0 too" "$(result .metrics.train.error)" 0

say "The convergence theorem: there are at most (R |w*| / min w*'y)² updates, with R the length of
the longest y and w* any vector that separates (here the one found)."
bound=$(awk -F, -v w="$(weights perceptron '[.w[0][], .w0[0]]' | tr -d '[]')" 'BEGIN { split(w, v, ",") }
    NR > 1 { t = $3 == 1 ? 1 : -1; r = $1 * $1 + $2 * $2 + 1; if (r > R) R = r
             m = t * (v[1] * $1 + v[2] * $2 + v[3]); if (least == "" || m < least) least = m }
    END { print R * (v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2) / least ^ 2 }' "$table")
holds "updates" "$updates" '<=' "$bound"

say "The result depends on the order of the samples and on the start; each line that separates is a
solution. The direction of w in degrees:"
direction() { weights "$1" '.w[0] | atan2(.[1]; .[0]) * 57.29577951308232'; }
here=$(direction perceptron)
near "from 0, in the order above" "$here" 135
{ head -n 1 "$table"; tail -n +2 "$table" | tac; } | upload perceptron-reversed
train perceptron-reversed perceptron-reversed perceptron '{"order":"given","learning_rate":1}' "{$raw}"
holds "the samples in reverse order" "$(direction perceptron-reversed)" != "$here"
train perceptron-start perceptron perceptron '{"order":"given","learning_rate":0.01,"init":"random"}' "{$raw,\"seed\":1}"
holds "from small random weights" "$(direction perceptron-start)" '>' "$(jq -n "$here + 1")"

say "When no line separates the classes, as here (0,0) and (1,1) from (0,1) and (1,0), the updates
never end. After any number of passes the service reports that it has not converged:"
upload perceptron-xor <<'CSV'
x1,x2,class
0,0,0
1,1,0
0,1,1
1,0,1
CSV
for mode in sequential batch; do
    for most in 1 10 1000; do
        train perceptron-xor perceptron-xor perceptron "{\"order\":\"given\",\"mode\":\"$mode\",\"max_iterations\":$most}" "{$raw}"
        same "$mode, passes at most $most: converged" "$(result .converged)" false
    done
    same "$mode: warned that they may not be separable" "$(warned separable)" true
done
