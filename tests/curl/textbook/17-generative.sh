#!/bin/bash
# 17. Generative against discriminative
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), sections 4.2 and 4.3; Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 4, section 4.4.5
. "$(dirname "$0")/lesson.sh"
say "Two round clouds of deviation 1, class 0 around (0, 0), class 1 around (1.5, 1). Linear discriminant analysis (generative) models the clouds as Gaussians, which they are; logistic regression (discriminative) only where they part. In the long run nothing errs less than the classifier that knows the clouds (0.184). Errors on 4,000 other points, means of 10 draws of the rows learned from:"
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
printf '  the classifier that knows the clouds errs %.4f on these points\n' "$best"
say "Where the classes really are Gaussian, the generative model makes more of few rows; with many both err alike:"
holds "error with 20 rows, the generative model's" "$few_lda" '<' "$few_logistic"
near "error with 2,000 rows, beside the other's" "$lda" "$logistic" 0.005
near "error with 2,000 rows, beside the best" "$lda" "$best" 0.005

pokemon=${POKEMON:-$(dirname "$0")/../../../../shared/data/pokemon.csv}
[ -f "$pokemon" ] || {
    say "(The second half needs the table of Pokemon, which is not here: POKEMON=FILE names it.)"
    exit 0
}
say "Real data are not Gaussian. Is a Pokemon of type Water or Normal? Six numbers tell: hit points, attack, defence, special attack and defence, speed. Those numbered below 400 are learned from, the other 70 asked for:"
rows() { # of Pokemon whose number is in the range: six statistics and the type
    awk -F, -v first="$1" -v last="$2" 'NR == 1 { print "hp,attack,defense,sp_atk,sp_def,speed,class" }
        NR > 1 && $1 >= first && $1 <= last && ($3 == "Water" || $3 == "Normal") { print $5 "," $6 "," $7 "," $8 "," $9 "," $10 "," $3 }' "$pokemon"
}
rows 1 399 | upload pokemon
right() { rows 400 99999 | judge "$1" '"\(.metrics.accuracy * .rows | round)/\(.rows) = \(.metrics.accuracy * 100 | round) %"' | tr -d '"'; }
train pokemon pokemon gaussian '{"priors":"equal"}'
same "generative, both types as likely beforehand: right" "$(right pokemon)" '51/70 = 73 %'
train pokemon pokemon gaussian
same "generative, as likely as among those learned from" "$(right pokemon)" '54/70 = 77 %'
train pokemon pokemon logistic
same "logistic regression" "$(right pokemon)" '55/70 = 79 %'
