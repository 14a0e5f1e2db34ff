#!/bin/bash
# 17. Generative against discriminative
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), sections 4.2 and 4.3; Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 4, section 4.4.5
. "$(dirname "$0")/lesson.sh"
say "Two round clouds of deviation 1, class 0 around (0, 0), class 1 around (1.5, 1). Linear
discriminant analysis (generative) models the clouds as Gaussians, which they are. Logistic
regression (discriminative) models P(class | x) directly. No classifier has a smaller expected error
than the one with the true means, 0.184. Errors on 4,000 other points, means of 10 draws of the
training rows:"
test=$(echo x1,x2,class; clouds 99 0 0 0 1 2000 1 1.5 1 1 2000)
printf '  %6s  %10s  %13s\n' rows generative discriminative
for n in 20 60 200 2000; do
    lda=0 logistic=0
    for draw in 1 2 3 4 5 6 7 8 9 10; do
        { echo x1,x2,class; clouds $((draw * 1000 + n)) 0 0 0 1 $((n / 2)) 1 1.5 1 1 $((n / 2)); } | upload generative
        train generative-lda generative gaussian
        lda=$(jq -n "$lda + $(judge generative-lda .metrics.error <<<"$test") / 10")
        train generative-lr generative logistic '{"lambda":1e-6}'
        logistic=$(jq -n "$logistic + $(judge generative-lr .metrics.error <<<"$test") / 10")
    done
    printf '  %6d  %10.4f  %13.4f\n' "$n" "$lda" "$logistic"
    [ "$n" -gt 20 ] || { few_lda=$lda few_logistic=$logistic; }
done
best=$(awk -F, 'NR > 1 { wrong += ($3 == 1) != (1.5 * $1 + $2 > 1.625) } END { print wrong / (NR - 1) }' <<<"$test")
printf '  the classifier with the true means: %.4f on these points\n' "$best"
say "Where the classes are Gaussian, the generative model has the smaller error with few rows. With
many rows both errors are nearly equal:"
holds "error with 20 rows, the generative model's" "$few_lda" '<' "$few_logistic"
near "error with 2,000 rows, beside the other's" "$lda" "$logistic" 0.005
near "error with 2,000 rows, beside the best" "$lda" "$best" 0.005

say "Real data are not Gaussian. A lecture (Lee, Machine Learning) asks whether a Pokemon is of type Water or
Normal, from six numbers: hit points, attack, defence, special attack, special defence, speed. 79 + 61
of them are learned from, and the other 70 are asked for. The lecture reports 73 % right for two
Gaussians with one covariance. That is the number of equal priors. The formula that the lecture prints,
w0 = -m1'S^-1 m1 / 2 + m2'S^-1 m2 / 2 + ln(N1/N2), contains the priors N1/N and N2/N and gives 77 %."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
header=hp,attack,defense,sp_atk,sp_def,speed,class
# creatures SEED WATER NORMAL: rows of six correlated, skewed whole numbers, with means near those of the two types
creatures() {
    echo $header
    awk -v seed="$1" -v n="$2 $3" '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
        BEGIN {
            split("69 70 69 70 66 63 76 72 58 54 62 70", typical, " "); split(n, rows, " ")
            for (i = 1; i <= 20; i++) uniform()
            for (k = 0; k < 2; k++) for (t = 0; t < rows[k + 1]; t++) {
                strength = normal()
                for (j = 1; j <= 6; j++) printf "%d,", typical[6 * k + j] * exp(0.25 * strength + 0.3 * normal())
                print k ? "Normal" : "Water"
            }
        }'
}
# shared PRIORS FILE: by hand from FILE, [w, w0] of the log odds of Water, w = S^-1 (m1 - m2), with the covariance
# S = (N1 S1 + N2 S2) / N and priors "equal" or "estimated"
shared() {
    awk -F, -v priors="$1" 'NR > 1 { k = $7 == "Water"; n[k]++; c[NR] = k; for (j = 1; j <= 6; j++) { x[NR, j] = $j; m[k, j] += $j } }
        END {
            for (k = 0; k < 2; k++) for (j = 1; j <= 6; j++) m[k, j] /= n[k]
            for (t = 2; t <= NR; t++) for (i = 1; i <= 6; i++) for (j = 1; j <= 6; j++) S[i, j] += (x[t, i] - m[c[t], i]) * (x[t, j] - m[c[t], j]) / (NR - 1)
            for (i = 1; i <= 6; i++) S[i, 7] = m[1, i] - m[0, i]
            # Gauss-Jordan elimination; S is positive definite
            for (p = 1; p <= 6; p++) for (i = 1; i <= 6; i++) if (i != p) {
                f = S[i, p] / S[p, p]
                for (j = p; j <= 7; j++) S[i, j] -= f * S[p, j]
            }
            for (j = 1; j <= 6; j++) { w = S[j, 7] / S[j, j]; printf "%s%.15g", j == 1 ? "[" : ",", w; w0 -= w * (m[0, j] + m[1, j]) / 2 }
            printf ",%.15g]\n", w0 + (priors == "equal" ? 0 : log(n[1] / n[0]))
        }' "$2"
}
# right_by_hand WEIGHTS: how many rows of the table on standard input have their class by the sign of w'x + w0
right_by_hand() {
    awk -F, -v weights="$(tr -d '[]' <<<"$1")" 'BEGIN { split(weights, w, ",") }
        NR > 1 { g = w[7]; for (j = 1; j <= 6; j++) g += w[j] * $j; right += (g > 0) == ($7 == "Water") }
        END { print right + 0 }'
}
found() { weights "$1" '[.w[0][], .w0[0]]'; }
right() { judge "$1" '.metrics.accuracy * .rows | round'; }

say "The same with generated rows of the same kind, skewed and correlated, 79 + 61 of them to learn from and
4,000 others to be asked for. The service beside the formula by hand:"
creatures 7 79 61 >"$table"
upload creatures <"$table"
others=$(creatures 8 2257 1743)
for priors in equal estimated; do
    train creatures creatures gaussian "{\"priors\":\"$priors\"}"
    near "priors $priors: w and w0" "$(found creatures)" "$(shared $priors "$table")" 1e-10
    answers+=("$(right creatures <<<"$others")")
    same "  right of 4,000" "${answers[-1]}" "$(right_by_hand "$(shared $priors "$table")" <<<"$others")"
done
near "w0 by estimated priors, less w0 by equal ones: ln(N1/N2)" \
    "$(jq -n "$(shared estimated "$table")[6] - $(shared equal "$table")[6]")" "$(jq -n '79 / 61 | log')" 1e-12
say "Logistic regression has no formula. Its weights are those for which sum (y - r) x = 0 over the rows
learned from and sum (y - r) = 0, in units of each column's mean:"
train creatures creatures logistic '{"penalty":"none"}'
gradient=$(awk -F, -v weights="$(found creatures | tr -d '[]')" 'BEGIN { split(weights, w, ",") }
    NR > 1 {
        g = w[7]; for (j = 1; j <= 6; j++) g += w[j] * $j
        e = 1 / (1 + exp(-g)) - ($7 == "Water"); s[7] += e; m[7]++
        for (j = 1; j <= 6; j++) { s[j] += e * $j; m[j] += $j }
    }
    END { for (j = 1; j <= 7; j++) printf "%s%.3g", j == 1 ? "[" : ",", s[j] / (m[j] / (NR - 1)); print "]" }' "$table")
near "the seven sums" "$gradient" "[0,0,0,0,0,0,0]" 1e-6
answers+=("$(right creatures <<<"$others")")
same "  right of 4,000" "${answers[-1]}" "$(right_by_hand "$(found creatures)" <<<"$others")"
printf '  right of 4,000: %s with equal priors, %s with estimated ones, %s by logistic regression\n' "${answers[@]}"

pokemon=${POKEMON:-$(dirname "$0")/../../../../shared/data/pokemon.csv}
[ -f "$pokemon" ] || {
    say "(The lecture's own table is not here. POKEMON=FILE names it.)"
    exit 0
}
say "The lecture's table. The Pokemon numbered below 400 are learned from:"
rows() { # FIRST LAST: the rows of the Pokemon with these numbers
    awk -F, -v first="$1" -v last="$2" -v header=$header 'NR == 1 { print header }
        NR > 1 && $1 >= first && $1 <= last && ($3 == "Water" || $3 == "Normal") { print $5 "," $6 "," $7 "," $8 "," $9 "," $10 "," $3 }' "$pokemon"
}
rows 1 399 >"$table"
upload pokemon <"$table"
percent() { rows 400 99999 | judge "$1" '"\(.metrics.accuracy * .rows | round)/\(.rows) = \(.metrics.accuracy * 100 | round) %"' | tr -d '"'; }
train pokemon pokemon gaussian '{"priors":"equal"}'
near "w and w0, equal priors" "$(found pokemon)" "$(shared equal "$table")" 1e-10
same "right with equal priors, the lecture's 73 %" "$(percent pokemon)" '51/70 = 73 %'
train pokemon pokemon gaussian
near "w and w0, priors N1/N and N2/N" "$(found pokemon)" "$(shared estimated "$table")" 1e-10
same "right by the printed formula, with ln(N1/N2)" "$(percent pokemon)" '54/70 = 77 %'
train pokemon pokemon logistic
same "right by logistic regression, the lecture's 79 %" "$(percent pokemon)" '55/70 = 79 %'
