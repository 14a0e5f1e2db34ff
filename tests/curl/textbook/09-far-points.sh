#!/bin/bash
# 9. Points that are far off, but on the right side
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.3, figure 4.4
. "$(dirname "$0")/lesson.sh"
say "Two clouds of 60 points, class a around (-1, 1) and class b around (1, -1). Then 20 points of
class b are added around (8, -14), far away on the correct side of the boundary. Three methods are
trained without and with them and classify the 120 near points."
near_classes=$(clouds 11 a -1 1 0.6 60 b 1 -1 0.6 60)
{ echo x1,x2,class; echo "$near_classes"; } | upload far-without
{ echo x1,x2,class; echo "$near_classes"; clouds 12 b 8 -14 0.5 20; } | upload far-with
right() { # METHOD DATA [PARAMS]: how many of the near points it gets right after training
    train far far-"$2" "$1" "${3:-{\}}"
    right=$({ echo x1,x2,class; echo "$near_classes"; } | judge far '.metrics.accuracy * 120 | round')
}
say "Least squares wants every score to be 1 or -1 so a score of 10 for a row of target 1 is as
large an error as a score of -8. The line turns to bring the scores of the far points nearer to 1:"
right least_squares without '{"lambda":0}'
holds "right of 120, without the far points" "$right" '>=' 118
right least_squares with '{"lambda":0}'
holds "right of 120, with them" "$right" '<' 110

say "Linear discriminant analysis (Gaussian classes of one covariance) includes the far cloud in the
mean of b and in the covariance:"
right gaussian without
holds "right of 120, without the far points" "$right" '>=' 118
right gaussian with
holds "right of 120, with them" "$right" '<' 110

say "Logistic regression: a point with a probability near 1 has a gradient near 0."
right logistic without
holds "right of 120, without the far points" "$right" '>=' 118
right logistic with
holds "right of 120, with them" "$right" '>=' 118
