#!/bin/bash
# 13. Fisher's discriminant
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), sections 4.1.4 and 4.1.5; Alpaydın, Introduction to Machine Learning (third edition), chapter 6 (Dimensionality Reduction), section 6.8
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
echo x1,x2,class >"$table"
clouds 31 0 0 0 1 60 1 0 0 1 60 | awk -F, '{ printf "%.6f,%.6f,%s\n", 2 * $1 + 0.9 * $2 + 2 * $3, 0.9 * $1 + 0.6 * $2 + 2 * $3, $3 }' >>"$table"
upload fisher <"$table"
say "Two long, narrow clouds of 60 points side by side, class 0 around (0,0) and class 1 around
(2,2). Projected on the line that joins their means they overlap; on Fisher's direction w they are
nearly separate. w maximises J(w) = w'S_B w / w'S_W w, the scatter between the classes over the
scatter within, and is proportional to S_W^-1 (m1 - m0), m0 and m1 the means."
train fisher fisher fisher '{"threshold":"midpoint"}'
w=$(weights fisher '.w[0]')
J=$(result .details.J)

# J of 18,000 angles and of the line that joins the means, S_W^-1 (m1 - m0), and the middle of the means
read -r best at line direction middle <<<"$(awk -F, 'NR > 1 { k = $3; n[k]++; a[k] += $1; b[k] += $2; x[NR] = $1; y[NR] = $2; c[NR] = k }
    function J(u, v) { return (u * d1 + v * d2) ^ 2 * n[0] * n[1] / (n[0] + n[1]) / (u * u * xx + 2 * u * v * xy + v * v * yy) }
    END {
        for (k = 0; k < 2; k++) { a[k] /= n[k]; b[k] /= n[k] }
        for (t = 2; t <= NR; t++) { p = x[t] - a[c[t]]; q = y[t] - b[c[t]]; xx += p * p; xy += p * q; yy += q * q }
        d1 = a[1] - a[0]; d2 = b[1] - b[0]
        for (step = 0; step < 18000; step++) {
            angle = step * 3.14159265358979 / 18000
            if (J(cos(angle), sin(angle)) > best) { best = J(cos(angle), sin(angle)); at = step / 100 }
        }
        u = yy * d1 - xy * d2; v = xx * d2 - xy * d1; size = sqrt(u * u + v * v)
        printf "%.9g %g %.9g [%.12g,%.12g] [%.12g,%.12g]\n", best, at, J(d1, d2), u / size, v / size, (a[0] + a[1]) / 2, (b[0] + b[1]) / 2
    }' "$table")"
say "The service, beside J by hand for 18,000 angles from 0 to 180 degrees:"
near "J" "$J" "$best" 1e-5
holds "J is below that of no angle" "$J" '>=' "$best"
near "its angle, beside the best of them" "$(jq 'atan2(.[1]; .[0]) * 57.29577951308232' <<<"$w")" "$at" 0.01
near "w, beside S_W^-1 (m1 - m0) scaled to length 1" "$w" "$direction" 1e-9
holds "J of the line that joins the means" "$line" '<' "$best"

say "J over the angle (projection_curve), at 0, 30, … 180 degrees, beside J by hand:"
curve=$(curl -sSf "$URL/v1/models/fisher/projection_curve" -d '{"dataset":"fisher","columns":["x1","x2"],"steps":7}')
by_hand=$(awk -F, 'NR > 1 { k = $3; n[k]++; a[k] += $1; b[k] += $2; x[NR] = $1; y[NR] = $2; c[NR] = k }
    END {
        for (step = 0; step <= 6; step++) {
            u = cos(step * 3.141592653589793 / 6); v = sin(step * 3.141592653589793 / 6)
            m0 = (u * a[0] + v * b[0]) / n[0]; m1 = (u * a[1] + v * b[1]) / n[1]; within = 0
            for (t = 2; t <= NR; t++) within += (u * x[t] + v * y[t] - (c[t] ? m1 : m0)) ^ 2
            printf "%s%.12g", step ? "," : "[", (m1 - m0) ^ 2 * n[0] * n[1] / (n[0] + n[1]) / within
        }
        print "]"
    }' "$table")
near "J at the seven angles" "$(jq -c .criterion <<<"$curve")" "$by_hand" 1e-8
near "J at its maximum" "$(jq .maximum.criterion <<<"$curve")" "$J" 1e-8

say "The class changes at w'x + b = 0 with b = -w'(m0 + m1) / 2, halfway between the projected
means. For Gaussian classes of one covariance and equal priors that is the best threshold: Bayes'
rule has the same boundary (both scaled to length 1)."
near "b, by hand" "$(weights fisher '.w0[0]')" "$(jq -n "$w as [\$u, \$v] | $middle as [\$p, \$q] | -\$u * \$p - \$v * \$q")" 1e-9
# shellcheck disable=SC2016  # $length is jq's
boundary='[.w[0][], .w0[0]] | (.[0] * .[0] + .[1] * .[1] | sqrt) as $length | map(. / $length)'
train fisher-bayes fisher gaussian '{"priors":"equal"}'
near "(w, b), beside the Gaussian classes'" "$(weights fisher "$boundary")" "$(weights fisher-bayes "$boundary")" 1e-9

say "Least squares on targets -1 and +1 finds the same direction:"
train fisher-squares fisher least_squares '{"lambda":0}'
near "w, beside that of least squares scaled to length 1" "$w" "$(weights fisher-squares "$boundary" | jq -c '.[:2]')" 1e-9
