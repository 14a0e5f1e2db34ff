#!/bin/bash
# 9. Points that are far off, but on the right side
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.3, figure 4.4
. "$(dirname "$0")/lesson.sh"
say "Two clouds of 60 points, class a around (-1, 1) and class b around (1, -1). Then 20 points of class b are added around (8, -14), far away and well on b's side: they should not matter. Three methods learn without and with them, and are asked for the 120 near points."
near_classes=$(clouds 11 a -1 1 0.6 60 b 1 -1 0.6 60)
{ echo x1,x2,class; echo "$near_classes"; } | upload far-without
{ echo x1,x2,class; echo "$near_classes"; clouds 12 b 8 -14 0.5 20; } | upload far-with
right() { # METHOD DATA [PARAMS]: how many of the near points it gets right after training
    train far far-"$2" "$1" "${3:-{\}}"
    right=$({ echo x1,x2,class; echo "$near_classes"; } | judge far '.metrics.accuracy * 120 | round')
}
say "Least squares wants every score to be 1 or -1 and takes a score of 10 for as bad an error as one of -8. It turns its line to please the far points:"
right least_squares without '{"lambda":0}'
holds "right of 120, without the far points" "$right" '>=' 118
right least_squares with '{"lambda":0}'
holds "right of 120, with them" "$right" '<' 110

say "Linear discriminant analysis (Gaussian classes of one covariance) takes the far cloud into b's mean and into the covariance:"
right gaussian without
holds "right of 120, without the far points" "$right" '>=' 118
right gaussian with
holds "right of 120, with them" "$right" '<' 110

say "Logistic regression: a point that is surely right has next to no gradient."
right logistic without
holds "right of 120, without the far points" "$right" '>=' 118
right logistic with
holds "right of 120, with them" "$right" '>=' 118
