#!/bin/bash
# 19. Rayleigh and Ritz: several directions
# Duda, Hart and Stork, Pattern Classification, chapter 3 (Maximum-Likelihood and Bayesian Parameter Estimation), section 3.8.3; Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.1.6
. "$(dirname "$0")/lesson.sh"
say "Fisher's irises: 150 flowers of K = 3 species, four lengths of each. Which directions w in
these four dimensions separate the species best? Those with a large J(w) = w'S_B w / w'S_W w, the
scatter between the classes over the scatter within. They solve S_B w = rho S_W w, and their J is
the eigenvalue rho."
iris=$(dirname "$0")/../../data/iris.csv
upload directions <"$iris"
train directions directions fisher
rho=$(result .details.eigenvalues)
near "the K - 1 = 2 eigenvalues that the service finds" "$rho" '[32.1919,0.2854]' 5e-5
directions=$(weights directions .directions)
near "lengths of their directions" "$(jq -c 'map(map(. * .) | add | sqrt)' <<<"$directions")" '[1,1]' 1e-9

# S_W and S_B by hand; J of the two directions, w1' S_W w2, and the best J among seeded vectors made S_W-orthogonal to the first
hand=$(awk -F, -v w="$(jq -r 'flatten | @csv' <<<"$directions")" '
    NR > 1 { k = $5; n[k]++; rows++; c[rows] = k; for (j = 1; j <= 4; j++) { x[rows, j] = $j; m[k, j] += $j; all[j] += $j } }
    function form(s, u, v,  i, j, t) { for (i = 1; i <= 4; i++) for (j = 1; j <= 4; j++) t += S[s, i, j] * V[u, i] * V[v, j]; return t }
    function J(v) { return form("B", v, v) / form("W", v, v) }
    END {
        for (k in n) for (j = 1; j <= 4; j++) m[k, j] /= n[k]
        for (j = 1; j <= 4; j++) all[j] /= rows
        for (t = 1; t <= rows; t++) for (i = 1; i <= 4; i++) for (j = 1; j <= 4; j++) S["W", i, j] += (x[t, i] - m[c[t], i]) * (x[t, j] - m[c[t], j])
        for (k in n) for (i = 1; i <= 4; i++) for (j = 1; j <= 4; j++) S["B", i, j] += n[k] * (m[k, i] - all[i]) * (m[k, j] - all[j])
        split(w, a, ",")
        for (j = 1; j <= 4; j++) { V[1, j] = a[j]; V[2, j] = a[4 + j] }
        seed = 17
        for (t = 0; t < 2000; t++) {
            for (j = 1; j <= 4; j++) { seed = (seed * 16807) % 2147483647; V[3, j] = seed / 2147483647 - 0.5 }
            if (J(3) > first) first = J(3)
            p = form("W", 1, 3) / form("W", 1, 1)
            for (j = 1; j <= 4; j++) V[3, j] -= p * V[1, j]
            if (J(3) > second) second = J(3)
        }
        # a vector S_W-orthogonal to both has no between-class scatter: the third eigenvalue
        for (u = 1; u <= 2; u++) { p = form("W", u, 3) / form("W", u, u); for (j = 1; j <= 4; j++) V[3, j] -= p * V[u, j] }
        printf "[%.9g,%.9g,%.3g,%.9g,%.9g,%.3g]\n", J(1), J(2), form("W", 1, 2) / sqrt(form("W", 1, 1) * form("W", 2, 2)), first, second, J(3)
    }' "$iris")
say "The first has the greatest J of all directions, the second the greatest of those that are
S_W-orthogonal to the first (w1'S_W w2 = 0). S_W and S_B by hand, and 2,000 random directions, as
they are and made S_W-orthogonal to the first:"
near "J of the two directions" "$(jq -c '.[:2]' <<<"$hand")" "$rho" 1e-6
near "cosine of their angle, as S_W measures it" "$(jq '.[2]' <<<"$hand")" 0 1e-9
holds "greatest J of random directions" "$(jq '.[3]' <<<"$hand")" '<=' "$(jq '.[0]' <<<"$rho")"
holds "greatest J of those S_W-orthogonal to the first" "$(jq '.[4]' <<<"$hand")" '<=' "$(jq '.[1]' <<<"$rho")"

say "There is no third direction: three means lie in a plane, so a direction that is S_W-orthogonal
to both has no scatter between the classes. The K-th eigenvalue is 0."
near "J of such a direction" "$(jq '.[5]' <<<"$hand")" 0 1e-9
