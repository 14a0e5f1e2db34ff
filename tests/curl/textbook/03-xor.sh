#!/bin/bash
# 3. Exclusive or: no line separates it, but a line in other features does
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.3.1; Alpaydın, Introduction to Machine Learning, chapter 11 (Multilayer Perceptrons), section 11.4
. "$(dirname "$0")/lesson.sh"
say "Four points: (0,1) and (1,0) are class 1, (0,0) and (1,1) class 0. However a line is drawn, at least one of them is on the wrong side; logistic regression can draw nothing else."
upload xor <<'CSV'
x1,x2,class
0,0,0
0,1,1
1,0,1
1,1,0
CSV
points='[[0,0],[0,1],[1,0],[1,1]]'
train xor-line xor logistic
holds "points of 4 that its line gets right" "$(result '.metrics.train.accuracy * 4')" '<=' 3

say "Now the same method gets two other features: a point's distances to (0,0) and to (1,1). They are (0, 1.41) and (1.41, 0) for class 0, and (1, 1) for both points of class 1. In this plane a line separates the classes."
train xor-basis xor logistic '{"lambda":1e-4}' '{"features":{"basis":[{"type":"distance","points":[[0,0],[1,1]]}]}}'
same "features it was trained on" "$(weights xor-basis .features)" '["distance(1)","distance(2)"]'
same "classes of (0,0), (0,1), (1,0), (1,1)" "$(ask xor-basis "$points" '[.predictions[].label]')" '[0,1,1,0]'
holds "points of 4 that it gets right" "$(result '.metrics.train.accuracy * 4')" == 4

say "Or the method finds such features by itself: two logistic units between the points and the decision, learned together with it. Each draws a line, and a third line is drawn in the plane of what the two say. Where learning ends depends on its start; ten are made, and the best is kept."
train xor-cascade xor mlp '{"layers":[2],"activation":"sigmoid"}'
same "units of its two layers" "$(weights xor-cascade '[.layers[].units]')" '[2,1]'
holds "random starts" "$(result .details.starts)" == 10
same "classes of (0,0), (0,1), (1,0), (1,1)" "$(ask xor-cascade "$points" '[.predictions[].label]')" '[0,1,1,0]'
holds "points of 4 that it gets right" "$(result '.metrics.train.accuracy * 4')" == 4
