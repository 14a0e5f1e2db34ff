#!/bin/bash
# 13. Fisher's discriminant. Bishop, Pattern Recognition and Machine Learning, sections 4.1.4 and 4.1.5; Alpaydın, section 6.8.
. "$(dirname "$0")/lesson.sh"
title "The best line to project on is not the one that joins the means."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
cat >"$table" <<<"x1,x2,class"
# two long clouds, side by side
clouds 31 0 0 0 1 60 1 0 0 1 60 | awk -F, '{ printf "%.6f,%.6f,%s\n", 2 * $1 + 0.9 * $2 + 2 * $3, 0.9 * $1 + 0.6 * $2 + 2 * $3, $3 }' >>"$table"
upload fisher <"$table"
train fisher fisher fisher
w=$(weights fisher '.w[0]')
J=$(result .details.J)

# J(angle) = (w' (m+ - m-))^2 n+ n- / n / (w' S_W w), by hand
angles=$(awk -F, 'NR > 1 { k = $3; n[k]++; a[k] += $1; b[k] += $2; x[NR] = $1; y[NR] = $2; c[NR] = k }
    END {
        for (k = 0; k < 2; k++) { a[k] /= n[k]; b[k] /= n[k] }
        for (t = 2; t <= NR; t++) { p = x[t] - a[c[t]]; q = y[t] - b[c[t]]; xx += p * p; xy += p * q; yy += q * q }
        for (deg = 0; deg < 180; deg += 0.01) {
            u = cos(deg * 3.14159265358979 / 180); v = sin(deg * 3.14159265358979 / 180)
            between = (u * (a[1] - a[0]) + v * (b[1] - b[0])) ^ 2 * n[0] * n[1] / (n[0] + n[1])
            j = between / (u * u * xx + 2 * u * v * xy + v * v * yy)
            if (j > best) { best = j; at = deg }
        }
        d1 = a[1] - a[0]; d2 = b[1] - b[0]
        line = (d1 * d1 + d2 * d2) ^ 2 * n[0] * n[1] / (n[0] + n[1]) / (d1 * d1 * xx + 2 * d1 * d2 * xy + d2 * d2 * yy)
        printf "%.9g %g %.9g %.9g %.9g\n", best, at, line, (a[0] + a[1]) / 2, (b[0] + b[1]) / 2
    }' "$table")
read -r best at line mean1 mean2 <<<"$angles"
say "J over the angle, by hand, against the service's direction S_W^-1 (m+ - m-):"
near "its J" "$J" "$best" "$(awk -v b="$best" 'BEGIN { print b * 1e-4 }')"
holds "and never below any angle's" "$J" '>=' "$best"
near "its angle in degrees" "$(jq 'atan2(.[1]; .[0]) * 57.29577951308232 | if . < 0 then . + 180 else . end' <<<"$w")" "$at" 0.02
holds "J of the line that joins the means" "$line" '<' "$best"
near "b* = -<w, m+ + m->/2" "$(weights fisher '.w0[0]')" "$(jq --argjson m "[$mean1,$mean2]" '-(.[0] * $m[0] + .[1] * $m[1])' <<<"$w")" 1e-6

say "Least squares on targets -1 and +1 finds the same direction:"
train fisher-ls fisher least_squares '{"lambda":0}'
near "unit direction" "$(weights fisher-ls '.w[0] | (map(. * .) | add | sqrt) as $n | map(. / $n)')" "$w" 1e-6
