#!/bin/bash
# 11. Gaussian basis functions. Bishop, Pattern Recognition and Machine Learning, section 4.3.1, figure 4.12.
. "$(dirname "$0")/lesson.sh"
title "A ring around a cloud: no line in (x1, x2), but one in two Gaussian functions of it."
{
    echo x1,x2,class
    clouds 5 inside 0 0 0.3 60
    awk 'BEGIN { for (t = 0; t < 60; t++) printf "%.6f,%.6f,outside\n", 2 * cos(t * 0.10471975), 2 * sin(t * 0.10471975) }'
} | upload ring
train ring-line ring logistic
holds "a line: accuracy" "$(result .metrics.train.accuracy)" '<' 0.8
train ring-basis ring logistic '{"lambda":1e-4}' '{"features":{"basis":[{"type":"gaussian","centres":[[0,0],[1,1]],"width":1}]}}'
holds "two Gaussian functions: accuracy" "$(result .metrics.train.accuracy)" == 1
same "the features" "$(weights ring-basis .features)" '["gaussian(1)","gaussian(2)"]'
