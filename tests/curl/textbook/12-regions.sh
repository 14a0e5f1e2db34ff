#!/bin/bash
# 12. Ambiguous regions. Bishop, Pattern Recognition and Machine Learning, section 4.1.2, figures 4.2 and 4.3.
. "$(dirname "$0")/lesson.sh"
title "Three classes told apart two at a time leave points that belong to none or to several; K discriminants never do."
{
    echo x1,x2,class
    clouds 21 a 0 1.5 0.2 40 b -1.5 -1 0.9 40 c 1.5 -1 0.5 40
} | upload regions
grid=$(jq -cn '[range(-20; 21) as $i | range(-20; 21) as $j | [$i / 10, $j / 10] ]')
ambiguous() { ask "$1" "$grid" '[.predictions[] | select(.label == null)] | length' label,ambiguous; }
for way in one_vs_rest_strict one_vs_one_strict; do
    train regions-$way regions logistic "{\"multiclass\":\"$way\"}"
    holds "$way: ambiguous points of 1681" "$(ambiguous regions-$way)" '>' 0
done
same "one of them, claimed by several or none" "$(ask regions-one_vs_rest_strict "$grid" '[.predictions[] | select(.label == null)][0] | [.label, .ambiguous, (.candidates | length) != 1]' label,ambiguous)" '[null,true,true]'
train regions-K1 regions logistic '{"multiclass":"one_vs_rest_strict","discriminants":"K-1"}'
holds "K-1 discriminants: ambiguous points" "$(ambiguous regions-K1)" '>' 0
for way in softmax one_vs_rest; do
    train regions-$way regions logistic "{\"multiclass\":\"$way\"}"
    same "$way, the greatest of K: ambiguous points" "$(ambiguous regions-$way)" 0
    say "  Its regions are convex: the midpoint of two points of a region is in it."
    labels=$(ask regions-$way "$grid" '[.predictions[].label]')
    pairs=$(jq -cn --argjson g "$grid" --argjson l "$labels" '[range(0; 1681; 37) as $i | range(0; 1681; 41) as $j | select($l[$i] == $l[$j]) | {want: $l[$i], at: [($g[$i][0] + $g[$j][0]) / 2, ($g[$i][1] + $g[$j][1]) / 2]}]')
    same "midpoints of $(jq length <<<"$pairs") pairs that keep their region" "$(jq -c '[.[].want]' <<<"$pairs" | md5sum)" "$(ask regions-$way "$(jq -c '[.[].at]' <<<"$pairs")" '[.predictions[].label]' | md5sum)"
done
