#!/bin/bash
# 2. Generative and discriminative models need not agree. Bishop, Pattern Recognition and Machine Learning, section 4.2.3 (discrete features) against section 4.3.2.
. "$(dirname "$0")/lesson.sh"
title "Thirteen samples of two binary features: (1,1) once in C1; (1,0), (0,1) and (0,0) four times each in C2."
{
    echo x1,x2,class
    echo 1,1,C1
    for _ in 1 2 3 4; do printf '%s\n' 1,0,C2 0,1,C2 0,0,C2; done
} | upload discrete types=x1:boolean,x2:boolean

say "Naive Bayes takes the features for independent within a class, so C2 explains (1,1) better than the only class where it was ever seen:"
train discrete-nb discrete naive_bayes '{"smoothing":0}'
near "P(C1 | (1,1)), 3/7" "$(ask discrete-nb '[[true,true]]' '.predictions[0].probabilities[0]')" 0.428571428571
same "its answer" "$(ask discrete-nb '[[true,true]]' '.predictions[0].label')" '"C2"'

say "Logistic regression asks only where the classes part:"
train discrete-lr discrete logistic '{"lambda":1e-4}' '{"features":{"standardize":false}}'
same "its answer" "$(ask discrete-lr '[[true,true]]' '.predictions[0].label')" '"C1"'
near "P(C1 | (1,1))" "$(ask discrete-lr '[[true,true]]' '.predictions[0].probabilities[0]')" 0.957 1e-3

say "A line separates the samples, so without a penalty there is no best one:"
train discrete-free discrete logistic '{"lambda":0}' '{"features":{"standardize":false}}'
same "warned of separability" "$(jq '[.warnings[] | select(test("separable"))] | length > 0' <<<"$job")" true
