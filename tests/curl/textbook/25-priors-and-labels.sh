#!/bin/bash
# 25. Priors from elsewhere, and flipped labels
# Bishop, Pattern Recognition and Machine Learning, chapter 1 (Introduction), section 1.5.4, and chapter 4, section 4.2; Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 4, section 4.4.5
. "$(dirname "$0")/lesson.sh"
cloud() { echo x1,x2,class; clouds "$@"; }
say "What does a generative model, p(x | k) P(k), allow that a discriminative one, P(k | x), does not? First:
the priors P(k) can come from elsewhere. A disease (class 1) is rare, 2 % of all people have it. Learned
from are 200 people with and 200 without it, because so few of a random sample would be ill. With the
priors of the 400 rows, 1/2, the model takes too many people for ill. The priors of everyone:"
everyone=$(cloud 82 0 0 0 1 9800 1 2 1 1 200)
cloud 81 0 0 0 1 200 1 2 1 1 200 | upload priors
train priors-half priors gaussian
train priors priors gaussian '{"priors":[0.98,0.02]}'
shift=$(jq -n '0.02 / 0.98 | log')
near "w: the same with both priors" "$(weights priors '.w[0]')" "$(weights priors-half '.w[0]')" 1e-12
near "w0: moved by ln(0.02/0.98)" "$(weights priors '.w0[0]')" "$(jq -n "$(weights priors-half '.w0[0]') + $shift")" 1e-12
people='[[0,0],[2,1],[3,2],[1,4]]'
half=$(ask priors-half "$people" '[.predictions[].probabilities[1]]')
say "Bishop's correction: divide each posterior by its prior in the rows, 1/2, multiply it by the prior of
everyone, and divide by the sum:"
near "P(ill | x) of four people" "$(ask priors "$people" '[.predictions[].probabilities[1]]')" \
    "$(jq -c 'map((. * 0.02 / 0.5) as $ill | ((1 - .) * 0.98 / 0.5) as $well | $ill / ($ill + $well))' <<<"$half")" 1e-12
wrong_half=$(judge priors-half .metrics.error <<<"$everyone")
wrong=$(judge priors .metrics.error <<<"$everyone")
holds "share of everyone that is classified wrong" "$wrong" '<' 0.02
holds "  with the priors of the rows" "$wrong_half" '>' 0.1

say "Logistic regression contains the priors of its rows. They can be exchanged by the same shift of w0, or
approximately by weights of the classes, 0.98 and 0.02:"
train priors-lr priors logistic '{"penalty":"none"}'
by_hand=$(awk -F, -v weights="$(weights priors-lr '[.w[0][], .w0[0]]' | tr -d '[]')" -v shift="$shift" 'BEGIN { split(weights, w, ",") }
    NR > 1 { wrong += (w[1] * $1 + w[2] * $2 + w[3] + shift > 0) != $3 } END { print wrong / (NR - 1) }' <<<"$everyone")
holds "share wrong, w0 moved by hand" "$by_hand" '<' 0.02
train priors-weighted priors logistic '{"penalty":"none"}' '{"class_weight":{"0":0.98,"1":0.02}}'
near "share wrong with class weights" "$(judge priors-weighted .metrics.error <<<"$everyone")" "$by_hand" 0.005

say "Second: wrong labels. Two clouds of 10 points, class 0 around (0,0) and class 1 around (4,3). In each
class one label of ten is flipped. Shares wrong among 4,000 new points with right labels, means of 10 draws:"
test=$(cloud 84 0 0 0 1 2000 1 4 3 1 2000)
declare -A error
for flips in 0 1; do
    for method in gaussian logistic; do error[$method$flips]=0; done
    for draw in 1 2 3 4 5 6 7 8 9 10; do
        # rows 2 and 12 of the table are the first of each class
        cloud $((draw * 100 + 7)) 0 0 0 1 10 1 4 3 1 10 | awk -F, -v flips=$flips 'NR == 2 || NR == 12 { if (flips) $3 = 1 - $3 } { print $1 "," $2 "," $3 }' | upload flipped
        for method in gaussian logistic; do
            train flipped flipped $method "$([ $method = gaussian ] && echo '{}' || echo '{"penalty":"none"}')"
            error[$method$flips]=$(jq -n "${error[$method$flips]} + $(judge flipped .metrics.error <<<"$test") / 10")
        done
    done
done
printf '  %-22s  %10s  %14s\n' '' generative discriminative
printf '  %-22s  %10.4f  %14.4f\n' 'right labels' "${error[gaussian0]}" "${error[logistic0]}" 'a tenth flipped' "${error[gaussian1]}" "${error[logistic1]}"
say "Where its assumption holds, the generative model needs fewer rows and suffers less from wrong labels: a
flipped row changes a mean of ten by a tenth of its distance. To the discriminative model a flipped row far
from the boundary is a large error, which shrinks and turns w."
holds "right labels: generative, below the other" "${error[gaussian0]}" '<' "${error[logistic0]}"
holds "flipped labels: generative, below the other" "${error[gaussian1]}" '<' "${error[logistic1]}"
holds "what the flips add: generative, below the other" "$(jq -n "${error[gaussian1]} - ${error[gaussian0]}")" '<' "$(jq -n "${error[logistic1]} - ${error[logistic0]}")"
say "It is the reverse where the assumption fails: script 9 has far points with right labels, which turn the
generative model's boundary and leave the other's."

say "With many rows, flips at random do little harm to either: they leave the boundary where it is and make the
probabilities less extreme. 20,000 rows, every fifth label flipped; the angle of w in degrees, true 36.9:"
cloud 85 0 0 0 1 10000 1 4 3 1 10000 | awk -F, 'NR > 1 && NR % 5 == 2 { $3 = 1 - $3 } { print $1 "," $2 "," $3 }' | upload flipped
for method in gaussian logistic; do
    train flipped flipped $method
    near "$method: angle of w" "$(weights flipped '.w[0] | atan2(.[1]; .[0]) * 57.29577951308232')" 36.87 5
    near "$method: share of 4,000 new points wrong" "$(judge flipped .metrics.error <<<"$test")" 0.006 0.005
done
