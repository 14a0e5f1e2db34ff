#!/bin/bash
# 3. Exclusive or: no line separates it, but a line in other features does
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.3.1; Alpaydın, Introduction to Machine Learning, chapter 11 (Multilayer Perceptrons), section 11.4
. "$(dirname "$0")/lesson.sh"
say "Four points: (0,1) and (1,0) are class 1, (0,0) and (1,1) class 0. Every line has at least one
of them on the wrong side, and the boundary of logistic regression is a line."
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

say "Now the same method gets two other features: a point's distances to (0,0) and to (1,1). They
are (0, 1.41) and (1.41, 0) for class 0, and (1, 1) for both points of class 1. In this plane a line
separates the classes."
train xor-basis xor logistic '{"lambda":1e-4}' '{"features":{"basis":[{"type":"distance","points":[[0,0],[1,1]]}]}}'
same "features it was trained on" "$(weights xor-basis .features)" '["distance(1)","distance(2)"]'
same "classes of (0,0), (0,1), (1,0), (1,1)" "$(ask xor-basis "$points" '[.predictions[].label]')" '[0,1,1,0]'
holds "points of 4 that it gets right" "$(result '.metrics.train.accuracy * 4')" == 4

say "A network learns such features: two logistic units between the inputs and the output. Each unit
has a line as its boundary, and the output has a line in the plane of the outputs of the two units.
The minimum that training finds depends on the start; ten starts are made, and the best result is
kept."
train xor-cascade xor mlp '{"layers":[2],"activation":"sigmoid"}'
same "units of its two layers" "$(weights xor-cascade '[.layers[].units]')" '[2,1]'
holds "random starts" "$(result .details.starts)" == 10
same "classes of (0,0), (0,1), (1,0), (1,1)" "$(ask xor-cascade "$points" '[.predictions[].label]')" '[0,1,1,0]'
holds "points of 4 that it gets right" "$(result '.metrics.train.accuracy * 4')" == 4
say "The plane of the two units: their outputs at the four points (transform?of=hidden), beside the sigmoids of
their weights. The line of the output separates the classes there:"
points_hidden=$(curl -sSf "$URL/v1/models/xor-cascade/transform?of=hidden" -d "{\"instances\":$points}" | jq -c .rows)
near "outputs of the units" "$points_hidden" "$(weights xor-cascade ".layers[0] as \$layer | $points
    | map(. as \$x | [range(2) as \$u | 1 / (1 + (-(\$layer.w[\$u][0] * \$x[0] + \$layer.w[\$u][1] * \$x[1] + \$layer.w0[\$u]) | exp))])")" 1e-12
near "sides of the output's line" "$(weights xor-cascade ".layers[1] as \$layer | $points_hidden
    | map(if \$layer.w[0][0] * .[0] + \$layer.w[0][1] * .[1] + \$layer.w0[0] > 0 then 1 else 0 end)")" '[0,1,1,0]' 0
