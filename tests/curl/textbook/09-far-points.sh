#!/bin/bash
# 9. Points that are far off but on the right side. Bishop, Pattern Recognition and Machine Learning, section 4.1.3, figure 4.4.
. "$(dirname "$0")/lesson.sh"
title "Least squares punishes what is too right: far but correct points pull its boundary; logistic regression stays."
near_classes=$(clouds 11 a -1 1 0.6 60 b 1 -1 0.6 60)
far_points=$(clouds 12 b 8 -14 0.5 20)
{ echo x1,x2,class; echo "$near_classes"; } | upload far-without
{ echo x1,x2,class; echo "$near_classes"; echo "$far_points"; } | upload far-with
right() { # MODEL: how many of the near points get their label
    { echo x1,x2,class; echo "$near_classes"; } | curl -sSf "$URL/v1/models/$1/evaluate" -H 'Content-Type: text/csv' --data-binary @- | jq '.metrics.accuracy * 120 | round'
}
for method in least_squares logistic gaussian; do
    params='{}'
    [ $method != least_squares ] || params='{"lambda":0}'
    for data in without with; do
        train far-$method-$data far-$data $method "$params"
        eval "${method}_$data=$(right far-$method-$data)"
    done
done
say "Right among the 120 near points, without and with the far ones:"
holds "least squares, without" "${least_squares_without:?}" '>=' 118
holds "least squares, with: pulled off" "${least_squares_with:?}" '<' "$((least_squares_without - 3))"
holds "one covariance for all (LDA), with: pulled off too" "${gaussian_with:?}" '<' "${gaussian_without:?}"
holds "logistic regression, without" "${logistic_without:?}" '>=' 118
holds "logistic regression, with: stays" "${logistic_with:?}" '>=' "$((logistic_without - 1))"
