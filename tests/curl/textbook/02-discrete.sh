#!/bin/bash
# 2. A generative and a discriminative model that disagree
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), sections 4.2.3 and 4.3.2
. "$(dirname "$0")/lesson.sh"
say "Thirteen samples of two features that are 0 or 1: (1,1) once, in class C1; (1,0), (0,1) and
(0,0) four times each, all in C2. Which class does each model predict for (1,1)?"
{
    echo x1,x2,class
    echo 1,1,C1
    for _ in 1 2 3 4; do printf '%s\n' 1,0,C2 0,1,C2 0,0,C2; done
} | upload discrete types=x1:boolean,x2:boolean

say "Naive Bayes is generative: it models p(x | class), and it assumes that the features are
independent within a class. In C2 each is 1 in 4 of 12 samples, so P(C1 | (1,1)) = (1/13 · 1 · 1) /
(1/13 · 1 · 1 + 12/13 · 1/3 · 1/3) = 3/7. It predicts C2, although the only (1,1) among the samples
is in C1: in C2 the features are not independent."
train discrete-nb discrete naive_bayes '{"smoothing":0}'
near "P(C1 | (1,1))" "$(ask discrete-nb '[[true,true]]' '.predictions[0].probabilities[0]')" "$(jq -n '3 / 7')" 1e-12
same "its answer" "$(ask discrete-nb '[[true,true]]' '.predictions[0].label')" '"C2"'

say "Logistic regression is discriminative: it models P(class | x) directly (here with a small
penalty, lambda = 0.0001, on the weights)."
train discrete-lr discrete logistic '{"lambda":1e-4}' '{"features":{"standardize":false}}'
near "P(C1 | (1,1))" "$(ask discrete-lr '[[true,true]]' '.predictions[0].probabilities[0]')" 0.957 5e-4
same "its answer" "$(ask discrete-lr '[[true,true]]' '.predictions[0].label')" '"C1"'

say "Without the penalty there is no minimum: a line separates the samples, and larger weights
always fit them better. The service warns of that."
train discrete-free discrete logistic '{"lambda":0}' '{"features":{"standardize":false}}'
same "warned that the classes are separable" "$(warned separable)" true
