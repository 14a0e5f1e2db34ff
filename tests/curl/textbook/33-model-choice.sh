#!/bin/bash
# 33. Bias and variance, cross-validation and one standard error
# Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 7 (Model Assessment and Selection), sections 7.2, 7.3 and 7.10; chapter 2, figure 2.4
. "$(dirname "$0")/lesson.sh"
rows() { # SEED N: two classes of three clouds each
    echo x1,x2,class
    clouds "$1" a 0 0 0.8 "$2" a 2.2 1.2 0.8 "$2" a -0.4 2.6 0.8 "$2" b 1.2 0 0.8 "$2" b 0.6 1.5 0.8 "$2" b 2.8 2.6 0.8 "$2"
}
test=$(mktemp)
trap 'rm -f "$test"' EXIT
rows 71 1000 >"$test"
rows 72 50 | upload choice

ks=(1 5 15 31 61 121 241)
say "k nearest neighbours, 300 rows of two classes. With a small k the model follows every row (small bias, large
variance); with a large k it hardly changes with the rows (large bias, small variance). The error on the training
rows and on 6,000 others, as in figure 2.4:"
printf '  %6s  %11s  %10s\n' k 'train error' 'test error'
for k in "${ks[@]}"; do
    train choice choice knn "{\"k\":$k}"
    fitted+=("$(result .metrics.train.error)")
    unseen+=("$(judge choice .metrics.error <"$test")")
    printf '  %6s  %11.4f  %10.4f\n' "$k" "${fitted[-1]}" "${unseen[-1]}"
done
errors=$(printf '%s\n' "${unseen[@]}" | jq -cs .)
least=$(jq -n "$errors | min")
near "train error of k = 1" "${fitted[0]}" 0 0
holds "test error of k = 1 less the least" "$(jq -n "${errors}[0] - $least")" '>' 0.03
holds "test error of k = 241 less the least" "$(jq -n "${errors}[-1] - $least")" '>' 0.03

# search RULE: the search of k by 10 folds; $job is the job, $board its leaderboard
search() {
    local asked id
    asked=$(jq -cn --arg rule "$1" --argjson k "$(printf '%s\n' "${ks[@]}" | jq -cs .)" '{model: "choice", dataset: "choice", target: "class", seed: 7,
        search: {candidates: [{algorithm: "knn", params: {k: $k}}], strategy: "grid", metric: "error", folds: 10, rule: $rule}}')
    id=$(curl -sSf "$URL/v1/jobs" -d "$asked" | jq .id)
    job=$(curl -sSf "$URL/v1/jobs/$id?wait=50")
    board=$(curl -sSf "$URL/v1/jobs/$id/leaderboard" | jq -c '.items | sort_by(.params.k)')
}
say "Nobody has 6,000 other rows. A search compares the k by a cross-validation with 10 folds. The leaderboard has the
error on each fold, CV(k), which is their mean, and its standard error (the deviation over the folds divided by the
square root of 10), as in figure 7.9:"
search one_standard_error
jq -r --argjson test "$errors" '[., $test] | transpose[] | [(.[0] | .params.k, .mean, .standard_error), .[1]] | @tsv' <<<"$board" |
    awk 'BEGIN { printf "  %6s  %8s  %14s  %10s\n", "k", "CV(k)", "standard error", "test error" } { printf "  %6d  %8.4f  %14.4f  %10.4f\n", $1, $2, $3, $4 }'
by_hand=$(jq -c 'map(.values | length as $n | (add / $n) as $m | {m: $m, s: (map(. - $m | . * .) | add / ($n - 1) / $n | sqrt)})' <<<"$board")
near "the means, by hand from the folds" "$(jq -c 'map(.mean)' <<<"$board")" "$(jq -c 'map(.m)' <<<"$by_hand")" 1e-12
near "the standard errors, by hand" "$(jq -c 'map(.standard_error)' <<<"$board")" "$(jq -c 'map(.s)' <<<"$by_hand")" 1e-12
near "greatest difference of CV(k) and test error" \
    "$(jq -n --argjson b "$board" --argjson t "$errors" '[$b | map(.mean), $t] | transpose | map(.[0] - .[1] | fabs) | max')" 0 0.06

say "The least CV(k) is partly luck. The rule of one standard error takes the simplest model, the largest k, whose
CV(k) is at most the least one and its standard error:"
simplest=$(jq -n --argjson b "$board" --argjson h "$by_hand" '[$b | map(.params.k), $h] | transpose | map({k: .[0]} + .[1])
    | min_by(.m) as $best | map(select(.m <= $best.m + $best.s)) | max_by(.k).k')
same "k by one standard error, by hand from the leaderboard" "$(result .search.winner.params.k)" "$simplest"
near "its figure in the result" "$(result .search.inner.mean)" "$(jq --argjson k "$simplest" '.[] | select(.params.k == $k).mean' <<<"$board")" 0
chosen=$(judge choice .metrics.error <"$test")
holds "its test error less the least of all k" "$(jq -n "$chosen - $least")" '<' 0.03
search best
best=$(jq 'min_by(.mean).params.k' <<<"$board")
same "k with the rule best: the least CV(k)" "$(result .search.winner.params.k)" "$best"
holds "one standard error takes a simpler model" "$simplest" '>' "$best"

say "With more rows the variance falls. The learning curve of logistic regression with all products of the two columns
up to degree 4: the errors on the training rows and on the held-out rows, over 5 folds, approach each other as the
number of training rows grows (section 7.2; figure 7.8 has such a curve):"
train choice choice logistic '{"lambda":1e-4}' \
    '{"learning_curve":[0.1,0.3,1],"validation":{"folds":5},"features":{"basis":[{"type":"polynomial","degree":4}]},"seed":3}'
curve=$(result '.learning_curve | map({rows, train: .train.log_loss, held: .validation.log_loss})')
jq -r '.[] | map(.) | @tsv' <<<"$curve" |
    awk 'BEGIN { printf "  %6s  %14s  %17s\n", "rows", "train log loss", "held-out log loss" } { printf "  %6d  %14.4f  %17.4f\n", $1, $2, $3 }'
near "rows of the last point: four fifths of 300" "$(jq '.[-1].rows' <<<"$curve")" 240 0
holds "train log loss rises: the last less the first" "$(jq '.[-1].train - .[0].train' <<<"$curve")" '>' 0.05
holds "held-out log loss falls: the first less the last" "$(jq '.[0].held - .[-1].held' <<<"$curve")" '>' 0.05
holds "their difference, 10 % of the rows" "$(jq '.[0].held - .[0].train' <<<"$curve")" '>' 0.3
holds "their difference, all rows" "$(jq '.[-1].held - .[-1].train' <<<"$curve")" '<' 0.1
