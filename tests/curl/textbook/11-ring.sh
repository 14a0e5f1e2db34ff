#!/bin/bash
# 11. Two Gaussian basis functions make a ring linearly separable
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.3.1, figure 4.12
. "$(dirname "$0")/lesson.sh"
say "60 points (inside) in a cloud around (0,0), 60 (outside) on a circle of radius 2 around it. No
line in the plane of x1 and x2 separates them; logistic regression does little better than
guessing:"
{
    echo x1,x2,class
    clouds 5 inside 0 0 0.3 60
    awk 'BEGIN { for (t = 0; t < 60; t++) printf "%.6f,%.6f,outside\n", 2 * cos(t * 0.10471975), 2 * sin(t * 0.10471975) }'
} | upload ring
train ring-line ring logistic
holds "share of points right, with x1 and x2" "$(result .metrics.train.accuracy)" '<' 0.8

say "Replace x1 and x2 by two Gaussian functions of the point, exp(-d²/2) with d its distance to
(0,0), and the same for (1,1). The first is near 1 inside and below 0.14 on the ring. The same
method, linear in these two, classifies all points correctly; in the plane its boundary is a closed
curve."
train ring-basis ring logistic '{"lambda":1e-4}' '{"features":{"basis":[{"type":"gaussian","centres":[[0,0],[1,1]],"width":1}]}}'
same "features it was trained on" "$(weights ring-basis .features)" '["gaussian(1)","gaussian(2)"]'
holds "share of points right, with the two functions" "$(result .metrics.train.accuracy)" == 1
say "Figure 4.12 shows the points in the plane of the two functions (transform?of=basis). Three points, beside
exp(-d²/2):"
near "(0,0), (1,1), (0,-2)" "$(curl -sSf "$URL/v1/models/ring-basis/transform?of=basis" -d '{"instances":[[0,0],[1,1],[0,-2]]}' | jq -c .rows)" \
    "$(jq -nc '[[0,2],[2,0],[4,10]] | map(map(-. / 2 | exp))')" 1e-12
