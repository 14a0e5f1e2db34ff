#!/bin/bash
# 19. Rayleigh and Ritz: several directions. Duda, Hart and Stork, Pattern Classification, section 3.8.3; Bishop, section 4.1.6.
. "$(dirname "$0")/lesson.sh"
title "S_B w = rho S_W w: each direction has the greatest J among those S_W-orthogonal to the ones before; of K classes the K-th has J = 0."
iris=$(dirname "$0")/../../data/iris.csv
upload directions <"$iris"
train directions directions fisher
rho=$(result .details.eigenvalues)
near "eigenvalues" "$rho" '[32.1919,0.2854]' 1e-3
directions=$(weights directions .directions)
near "lengths of the directions" "$(jq 'map(map(. * .) | add | sqrt)' <<<"$directions")" '[1,1]' 1e-9

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
near "J of the two directions, by hand" "$(jq '.[:2]' <<<"$hand")" "$rho" 1e-6
near "their S_W-orthogonality" "$(jq '.[2]' <<<"$hand")" 0 1e-9
holds "greatest J of 2,000 vectors" "$(jq '.[3]' <<<"$hand")" '<=' "$(jq '.[0]' <<<"$rho")"
holds "greatest J of 2,000 vectors S_W-orthogonal to the first" "$(jq '.[4]' <<<"$hand")" '<=' "$(jq '.[1] + 1e-9' <<<"$rho")"
near "J of what is S_W-orthogonal to both: the third eigenvalue" "$(jq '.[5]' <<<"$hand")" 0 1e-9
