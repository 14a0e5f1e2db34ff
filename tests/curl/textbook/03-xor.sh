#!/bin/bash
# 3. Exclusive or: no line separates it, but a line in other features does. Bishop, Pattern Recognition and Machine Learning, section 4.3.1 (fixed basis functions); Alpaydın, section 11.3.2.
. "$(dirname "$0")/lesson.sh"
title "XOR: (0,1) and (1,0) against (0,0) and (1,1)."
upload xor <<'CSV'
x1,x2,class
0,0,0
0,1,1
1,0,1
1,1,0
CSV
points='[[0,0],[0,1],[1,0],[1,1]]'
train xor-plain xor logistic
holds "of 4 points a line gets right" "$(result '.metrics.train.accuracy * 4')" '<=' 3

say "The distances to (0,0) and (1,1) as features:"
train xor-basis xor logistic '{"lambda":1e-4}' '{"features":{"basis":[{"type":"distance","points":[[0,0],[1,1]]}]}}'
holds "right now" "$(result '.metrics.train.accuracy * 4')" == 4
same "labels" "$(ask xor-basis "$points" '[.predictions[].label]')" '[0,1,1,0]'
same "the features" "$(weights xor-basis .features)" '["distance(1)","distance(2)"]'
