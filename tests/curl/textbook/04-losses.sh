#!/bin/bash
# 4. Cross-entropy against squared error from a far start. Bishop, Pattern Recognition and Machine Learning, section 5.2; Alpaydın, section 10.7.
. "$(dirname "$0")/lesson.sh"
title "From weights that are very wrong: cross-entropy pulls back with full force, the squared error hardly at all."
upload losses <<'CSV'
x1,class
-2,0
-1,0
1,1
2,1
CSV
start='"solver":"gradient_descent","init":[-10,0],"penalty":"none","tolerance":0,"learning_rate":0.1,"max_iterations":20'
for loss in cross_entropy squared_error; do
    train losses-$loss losses logistic "{$start,\"loss\":\"$loss\"}" '{"features":{"standardize":false}}'
    gradient=$(result .details.gradient_norm_start)
    wrong=$(result .metrics.train.error)
    case $loss in
    cross_entropy)
        holds "gradient of the cross-entropy at w = -10" "$gradient" '>' 1
        holds "share of errors after 20 passes" "$wrong" == 0
        ;;
    squared_error)
        holds "gradient of the squared error there" "$gradient" '<' 1e-3
        holds "share of errors after 20 passes" "$wrong" == 1
        ;;
    esac
done
