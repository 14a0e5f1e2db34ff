#!/bin/bash
# 18. As many features as rows. Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 4.3.1 (regularised discriminant analysis); Ledoit and Wolf, 2004.
. "$(dirname "$0")/lesson.sh"
title "With n rows of the order of d features the covariance fits the rows, not the classes; shrinkage repairs it."
d=40
rows() { # SEED N: standard normal features, the first three shifted by 0.8 for class 1
    awk -v seed="$1" -v n="$2" -v d=$d '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
        BEGIN {
            for (j = 1; j <= d; j++) printf "x%d,", j
            print "class"
            for (i = 1; i <= 20; i++) uniform()
            for (t = 0; t < n; t++) {
                for (j = 1; j <= d; j++) printf "%.5f,", normal() + (j <= 3 ? 0.8 * (t % 2) : 0)
                print t % 2
            }
        }'
}
test=$(mktemp)
rows 1234 2000 >"$test"
trap 'rm -f "$test"' EXIT
error() { curl -sSf "$URL/v1/models/$1/evaluate" -H 'Content-Type: text/csv' --data-binary @"$test" | jq .metrics.error; }
printf '  %5s  %12s  %11s  %11s\n' rows 'train error' 'test error' 'with shrinkage'
for n in $((d + 5)) $((2 * d)) $((20 * d)); do
    rows $((7 * n)) "$n" | upload few
    train few few gaussian
    fitted=$(result .metrics.train.error) unseen=$(error few)
    train few-shrunk few gaussian '{"shrinkage":"auto"}'
    shrunk=$(error few-shrunk)
    printf '  %5d  %12.3f  %11.3f  %11.3f\n' "$n" "$fitted" "$unseen" "$shrunk"
    case $n in
    $((d + 5)))
        holds "$n rows: test error less train error" "$(jq -n "$unseen - $fitted")" '>' 0.2
        holds "$n rows: what shrinkage takes off the test error" "$(jq -n "$unseen - $shrunk")" '>' 0.05
        ;;
    $((20 * d)))
        holds "$n rows: test error less train error" "$(jq -n "$unseen - $fitted")" '<' 0.06
        near "$n rows: with and without shrinkage alike" "$shrunk" "$unseen" 0.02
        ;;
    esac
done
