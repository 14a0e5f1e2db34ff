#!/bin/bash
# 18. Hardly more rows than features
# Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 4 (Linear Methods for Classification), section 4.3.1; Ledoit and Wolf, Journal of Multivariate Analysis 88, 2004
. "$(dirname "$0")/lesson.sh"
say "d = 40 features, normal numbers of deviation 1; in class 1 the first three are larger by 0.8 on
average, the other 37 are noise. Linear discriminant analysis estimates a covariance of 40 × 40
entries from n rows. When n is hardly more than d, the error on these rows (train error) is much
smaller than that on 2,000 other rows (test error). Shrinkage moves the covariance towards a
diagonal matrix, by the share that Ledoit and Wolf's formula gives (here 1, because the
features are independent):"
d=40
rows() { # SEED N
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
trap 'rm -f "$test"' EXIT
rows 1234 2000 >"$test"
printf '  %12s  %11s  %10s  %26s\n' rows 'train error' 'test error' 'test error with shrinkage'
for n in $((d + 5)) $((2 * d)) $((20 * d)); do
    rows $((7 * n)) "$n" | upload few
    train few few gaussian
    fitted+=("$(result .metrics.train.error)")
    unseen+=("$(judge few .metrics.error <"$test")")
    train few few gaussian '{"shrinkage":"auto"}'
    shrunk+=("$(judge few .metrics.error <"$test")")
    printf '  %12s  %11.3f  %10.3f  %26.3f\n' "$n" "${fitted[-1]}" "${unseen[-1]}" "${shrunk[-1]}"
done
less() { jq -n "$1 - $2"; }
say "Test error less train error:"
holds "test less train error, n = d + 5" "$(less "${unseen[0]}" "${fitted[0]}")" '>' 0.3
holds "test less train error, n = 2 d" "$(less "${unseen[1]}" "${fitted[1]}")" '>' 0.15
holds "test less train error, n = 20 d" "$(less "${unseen[2]}" "${fitted[2]}")" '<' 0.06
say "Shrinkage lowers the test error when rows are few, and hardly changes it when they are many:"
holds "what it takes off the test error, n = d + 5" "$(less "${unseen[0]}" "${shrunk[0]}")" '>' 0.05
holds "what it takes off the test error, n = 2 d" "$(less "${unseen[1]}" "${shrunk[1]}")" '>' 0
near "what it takes off the test error, n = 20 d" "$(less "${unseen[2]}" "${shrunk[2]}")" 0 0.01
