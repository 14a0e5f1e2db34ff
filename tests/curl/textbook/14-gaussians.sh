#!/bin/bash
# 14. Gaussians with one covariance. Bishop, Pattern Recognition and Machine Learning, section 4.2.1, equations 4.65 to 4.67.
. "$(dirname "$0")/lesson.sh"
title "With one covariance for both classes the posterior is exactly a sigmoid of a linear function."
{ echo x1,x2,class; clouds 41 0 0 0 1 2000 1 1.2 0.9 1 2000; } | upload gaussians
train gaussians gaussians gaussian
rows='[[0,0],[1.2,0.9],[0.3,2],[-3,1]]'
scores=$(ask gaussians "$rows" '[.predictions[].scores[0]]' scores)
near "sigmoid(w'x + w0) of four points is P(C1 | x)" "$(ask gaussians "$rows" '[.predictions[].probabilities[1]]')" "$(jq 'map(1 / (1 + (-. | exp)))' <<<"$scores")" 1e-12
near "w'x + w0 by the weights" "$(weights gaussians "(.w[0]) as \$w | (.w0[0]) as \$b | $rows | map(.[0] * \$w[0] + .[1] * \$w[1] + \$b)")" "$scores" 1e-9

say "No classifier errs less than Phi(-Delta/2) on these clouds, Delta = 1.5 the distance of the means; with many rows the trained one nearly reaches it:"
error=$({ echo x1,x2,class; clouds 42 0 0 0 1 10000 1 1.2 0.9 1 10000; } | curl -sSf "$URL/v1/models/gaussians/evaluate" -H 'Content-Type: text/csv' --data-binary @- | jq .metrics.error)
near "test error, Phi(-0.75)" "$error" 0.22663 0.01
