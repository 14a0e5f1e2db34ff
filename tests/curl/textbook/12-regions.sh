#!/bin/bash
# 12. Ambiguous regions
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.2, figures 4.2 and 4.3
. "$(dirname "$0")/lesson.sh"
say "Three clouds of 40 points: a around (0, 1.5), b around (-1.5, -1), c around (1.5, -1). Several
methods combine lines for two classes into a decision among three. Each predicts the 1,681 points of
a grid over the plane. A point is ambiguous if the lines contradict each other."
{
    echo x1,x2,class
    clouds 21 a 0 1.5 0.2 40 b -1.5 -1 0.9 40 c 1.5 -1 0.5 40
} | upload regions
grid=$(jq -cn '[range(-20; 21) as $i | range(-20; 21) as $j | [$i / 10, $j / 10] ]')
ambiguous() { ask regions "$grid" "[.predictions[] | select(.ambiguous and .label == null)] | ${1:-length}" label,ambiguous,scores; }
claimed() { ambiguous "map(select([.scores[] | select(. > 0)] | length == $1)) | length"; } # by so many classes

say "One versus rest: a line for each class, \"in it or not\". A point may be claimed by no class,
or by two:"
train regions regions logistic '{"multiclass":"one_vs_rest_strict"}'
holds "ambiguous points" "$(ambiguous)" '>' 0
holds "  of them claimed by none" "$(claimed 0)" '>' 0
holds "  of them claimed by two" "$(claimed 2)" '>' 0

say "K - 1 = 2 lines, for a and for b; a point that neither claims is c. Both may claim a point:"
train regions regions logistic '{"multiclass":"one_vs_rest_strict","discriminants":"K-1"}'
holds "ambiguous points" "$(ambiguous)" '>' 0

say "One versus one: a line for each pair of classes. In the middle a may win against b, b against
c, and c against a:"
train regions regions logistic '{"multiclass":"one_vs_one_strict"}'
holds "ambiguous points" "$(ambiguous)" '>' 0

say "With K discriminants, of which the greatest determines the class, no point is ambiguous, and
their regions are convex: the point halfway between two points of a region belongs to it."
for way in softmax one_vs_rest; do
    train regions regions logistic "{\"multiclass\":\"$way\"}"
    same "$way: ambiguous points" "$(ambiguous)" 0
    labels=$(ask regions "$grid" '[.predictions[].label]')
    pairs=$(jq -cn --argjson g "$grid" --argjson l "$labels" '[range(0; 1681; 37) as $i | range(0; 1681; 41) as $j | select($i != $j and $l[$i] == $l[$j])
        | {label: $l[$i], middle: [($g[$i][0] + $g[$j][0]) / 2, ($g[$i][1] + $g[$j][1]) / 2]}]')
    kept=$(ask regions "$(jq -c 'map(.middle)' <<<"$pairs")" '[.predictions[].label]' | jq --argjson pairs "$pairs" '[., ($pairs | map(.label))] | transpose | map(select(.[0] == .[1])) | length')
    holds "$way: pairs of points of one region tried" "$(jq length <<<"$pairs")" '>' 500
    holds "  pairs whose middle is in it" "$kept" == "$(jq length <<<"$pairs")"
done
