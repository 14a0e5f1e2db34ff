#!/bin/bash
# 23. Quadratic discriminants
# Duda, Hart and Stork, Pattern Classification, chapter 2 (Bayesian Decision Theory), section 2.6.3 and its example 1; Alpaydın, Introduction to Machine Learning, chapter 5 (Multivariate Methods), section 5.5
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
say "A Gaussian with a mean m_k and a covariance S_k for each class gives the discriminants
g_k(x) = x'W_k x + w_k'x + w_k0 with W_k = -1/2 S_k^-1, w_k = S_k^-1 m_k and
w_k0 = -1/2 m_k'S_k^-1 m_k - 1/2 ln|S_k| + ln P_k."
say "Example 1 of Duda, Hart and Stork has equal priors and four points of each class, which its figure
shows. Class 1: (2,6), (3,4), (3,8), (4,6), so m_1 = (3,6) and S_1 = diag(1/2, 2). Class 2: (1,-2), (3,0),
(3,-4), (5,-2), so m_2 = (3,-2) and S_2 = diag(2, 2). What the book prints, beside the service:"
printf '%s\n' x1,x2,class 2,6,1 3,4,1 3,8,1 4,6,1 1,-2,2 3,0,2 3,-4,2 5,-2,2 >"$table"
upload quadratics <"$table"
train quadratics quadratics gaussian '{"covariance":"full"}'
found() { weights quadratics "$1"; }
near "m_1 and m_2" "$(found '.means | flatten')" '[3,6,3,-2]' 1e-12
near "S_1" "$(found '.covariances[0] | flatten')" '[0.5,0,0,2]' 1e-12
near "S_2" "$(found '.covariances[1] | flatten')" '[2,0,0,2]' 1e-12
near "S_1^-1 = -2 W_1" "$(found '.W[0] | flatten | map(-2 * .)')" '[2,0,0,0.5]' 1e-12
near "S_2^-1 = -2 W_2" "$(found '.W[1] | flatten | map(-2 * .)')" '[0.5,0,0,0.5]' 1e-12
say "By hand w_1 = (6, 3), w_2 = (1.5, -1), w_10 = -1/2 (18 + 18) - 0 + ln 1/2 and
w_20 = -1/2 (4.5 + 2) - 1/2 ln 4 + ln 1/2. The service keeps the term -(d/2) ln 2 pi of the density, here
-ln 2 pi, which the book drops because all classes have it:"
near "w_1" "$(found '.w[0]')" '[6,3]' 1e-12
near "w_2" "$(found '.w[1]')" '[1.5,-1]' 1e-12
pi=3.141592653589793
near "w_10 + ln 2 pi" "$(found ".w0[0] + (2 * $pi | log)")" "$(jq -n '-18 + (0.5 | log)')" 1e-12
near "w_20 + ln 2 pi" "$(found ".w0[1] + (2 * $pi | log)")" "$(jq -n '-3.25 - (4 | log) / 2 + (0.5 | log)')" 1e-12

say "The boundary g_1 = g_2 is the parabola x2 = 3.514 - 1.125 x1 + 0.1875 x1² with its vertex at (3, 1.83).
It does not pass through (3, 2), halfway between the means, although the priors are equal. From W, w and w0
(x2² drops out, because both S_k have the same entry there):"
parabola=$(found '[.W[0], .W[1]] as [$A, $B] | (.w[1][1] - .w[0][1]) as $d
    | [(.w0[0] - .w0[1]) / $d, (.w[0][0] - .w[1][0]) / $d, ($A[0][0] - $B[0][0]) / $d]')
near "the coefficients of 1, x1 and x1²" "$parabola" '[3.514,-1.125,0.1875]' 5e-4
near "x2 at x1 = 3" "$(jq '.[0] + 3 * .[1] + 9 * .[2]' <<<"$parabola")" 1.83 5e-3
points=$(jq -c '. as [$a, $b, $c] | [0, 1.5, 3, 5 | [., $a + $b * . + $c * . * .]]' <<<"$parabola")
near "P(1 | x) at four points of the parabola" "$(ask quadratics "$points" '[.predictions[].probabilities[0]]')" '[0.5,0.5,0.5,0.5]' 1e-12
same "the class of (3, 2), halfway between the means" "$(ask quadratics '[[3,2]]' '.predictions[0].label')" 1

say "Three clouds of different shapes and numbers of points, beside the formulas in awk (W_k as W11, W12, W22;
w_k; w_k0 + ln 2 pi):"
{
    echo x1,x2,class
    clouds 71 a 0 0 1 40 b 3 1 0.5 20 c 0 3 0.8 60 | awk -F, '{ print $1 + ($3 == "a" ? 0.6 * $2 : 0) "," $2 "," $3 }'
} >"$table"
upload quadratics <"$table"
train quadratics quadratics gaussian '{"covariance":"full"}'
formulas() { # CLASS
    awk -F, -v class="$1" 'NR > 1 { N++ }
        NR > 1 && $3 == class { n++; x[n] = $1; y[n] = $2; a += $1; b += $2 }
        END {
            a /= n; b /= n
            for (t = 1; t <= n; t++) { xx += (x[t] - a) ^ 2 / n; xy += (x[t] - a) * (y[t] - b) / n; yy += (y[t] - b) ^ 2 / n }
            det = xx * yy - xy * xy
            p = yy / det; q = -xy / det; r = xx / det # S^-1 = [p q; q r]
            printf "[%.15g,%.15g,%.15g,%.15g,%.15g,%.15g]\n", -p / 2, -q / 2, -r / 2, p * a + q * b, q * a + r * b,
                -(p * a * a + 2 * q * a * b + r * b * b) / 2 - log(det) / 2 + log(n / N)
        }' "$table"
}
for k in 0 1 2; do
    class=$(jq -rn "[\"a\", \"b\", \"c\"][$k]")
    near "class $class" "$(found "[.W[$k][0][0], .W[$k][0][1], .W[$k][1][1], .w[$k][], .w0[$k] + (2 * $pi | log)]")" "$(formulas "$class")" 1e-9
done
