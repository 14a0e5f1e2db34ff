#!/bin/bash
# 1. The sigmoid in one dimension. Alpaydın, Introduction to Machine Learning, section 10.7 (figure 10.7: how w and w0 evolve with the passes).
. "$(dirname "$0")/lesson.sh"
title "Logistic regression on eight points of a line, by the textbook's loop from weights 0."
{
    echo x,class
    paste -d , <(printf '%s\n' 0.5 1 1.5 2 2.5 3 3.5 4) <(printf '%s\n' 0 0 0 1 0 1 1 1)
} | upload sigmoid

loop='{"solver":"gradient_descent","learning_rate":0.1,"penalty":"none","tolerance":0,"max_iterations":1000'
asked='{"features":{"standardize":false},"snapshots":[10,100,1000]}'
train sigmoid sigmoid logistic "$loop,\"init\":\"zero\"}" "$asked"
history=$(curl -sSf "$URL/v1/jobs/$(jq .id <<<"$job")/history")
at() { jq -c ".snapshots[] | select(.iteration == $1) | [.w[0] // .w, .w0] | flatten" <<<"$history"; }
say "The line turns into a step that is steeper after every pass (w, w0):"
near "after 10 passes" "$(at 10)" "[0.5929,-0.8857]"
near "after 100 passes" "$(at 100)" "[1.7955,-3.8996]"
near "after 1,000 passes" "$(at 1000)" "[2.5598,-5.7588]"

say "A start within 0.01 of zero changes little:"
first=$(at 10)
train sigmoid sigmoid logistic "$loop}" "$asked"
history=$(curl -sSf "$URL/v1/jobs/$(jq .id <<<"$job")/history")
near "after 10 passes from a random start" "$(at 10)" "$first" 0.02

say "The boundary is where the sigmoid crosses one half, x = -w0/w:"
near "P(1) there" "$(ask sigmoid "[[$(weights sigmoid '(-.w0[0] / .w[0][0])')]]" '.predictions[0].probabilities[1]')" 0.5
