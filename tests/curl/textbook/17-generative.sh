#!/bin/bash
# 17. Generative against discriminative. Bishop, Pattern Recognition and Machine Learning, sections 4.2 and 4.3; Ng and Jordan, NIPS 2001.
. "$(dirname "$0")/lesson.sh"
title "Where the classes really are Gaussian, few rows are enough for the generative model; with enough rows the discriminative one is as good."
test=$(echo x1,x2,class; clouds 99 0 0 0 1 2000 1 1.5 1 1 2000)
error() { curl -sSf "$URL/v1/models/$1/evaluate" -H 'Content-Type: text/csv' --data-binary @- <<<"$test" | jq .metrics.error; }
printf '  %6s  %8s  %8s   (mean test error of %d draws)\n' rows gaussian logistic 10
for n in 20 60 200 2000; do
    lda=0 logistic=0
    for draw in 1 2 3 4 5 6 7 8 9 10; do
        { echo x1,x2,class; clouds $((draw * 1000 + n)) 0 0 0 1 $((n / 2)) 1 1.5 1 1 $((n / 2)); } | upload generative
        train generative-lda generative gaussian
        train generative-lr generative logistic '{"lambda":1e-6}'
        lda=$(jq -n "$lda + $(error generative-lda) / 10")
        logistic=$(jq -n "$logistic + $(error generative-lr) / 10")
    done
    printf '  %6d  %8.4f  %8.4f\n' "$n" "$lda" "$logistic"
    [ "$n" -gt 20 ] || holds "with 20 rows the generative model errs" "$lda" '<=' "$logistic"
    [ "$n" -lt 2000 ] || near "with 2,000 rows both err alike" "$lda" "$logistic" 0.005
done

# The lectures' own data, where it is at hand: POKEMON names the file.
pokemon=${POKEMON:-$(dirname "$0")/../../../../shared/data/pokemon.csv}
[ -f "$pokemon" ] || {
    say "(the table of Pokemon is not here: POKEMON=FILE for the second half)"
    exit 0
}
title "Water or Normal, by six numbers; those with # below 400 are learned from."
rows() { # of Pokemon whose number is in the range: six statistics and the type
    awk -F, -v first="$1" -v last="$2" 'NR == 1 { print "hp,attack,defense,sp_atk,sp_def,speed,class" }
        NR > 1 && $1 >= first && $1 <= last && ($3 == "Water" || $3 == "Normal") { print $5 "," $6 "," $7 "," $8 "," $9 "," $10 "," $3 }' "$pokemon"
}
rows 1 399 | upload pokemon
right() { rows 400 99999 | curl -sSf "$URL/v1/models/$1/evaluate" -H 'Content-Type: text/csv' --data-binary @- | jq -r '"\(.metrics.accuracy * .rows | round)/\(.rows)"'; }
train pokemon pokemon gaussian '{"priors":"equal"}'
same "one covariance, equal priors: right of the others" "$(right pokemon)" 51/70
train pokemon pokemon gaussian
same "one covariance, priors estimated" "$(right pokemon)" 54/70
train pokemon pokemon logistic
same "logistic regression" "$(right pokemon)" 55/70
