#!/bin/bash
# 31. Misprints
# Duda, Hart and Stork, Pattern Classification, sections 2.6 and 5.11; Bishop, Pattern Recognition and Machine Learning, sections 4.1.4 and 4.2.1
. "$(dirname "$0")/lesson.sh"
say "Four formulas are often copied with a mistake. Each is computed twice, as it should be and as misprinted,
and compared with the service."
# other WHAT MISPRINTED RIGHT: the misprint has to be far from the right value
other() { holds "$1, off by" "$(jq -n "$2 - $3 | fabs")" '>' 0.1; }
raw='{"features":{"standardize":false}}'

say "1. Two discriminants g_2 and g_1 give g = g_2 - g_1, with w0 = w_20 - w_10. Misprints: w_10 - w_20 beside
w_2 - w_1, or a plus. The rows are those of example 1 of section 2.6.3 of Duda, Hart and Stork; at x = 0,
g = w0:"
printf '%s\n' x1,x2,class 2,6,1 3,4,1 3,8,1 4,6,1 1,-2,2 3,0,2 3,-4,2 5,-2,2 | upload misprints
train misprints misprints gaussian '{"covariance":"full"}'
g=$(ask misprints '[[0,0]]' '.predictions[0].scores[0]' scores)
near "g(0), beside w_20 - w_10" "$g" "$(weights misprints '.w0[1] - .w0[0]')" 1e-12
near "  by hand: 14.75 - ln 2" "$g" "$(jq -n '14.75 - (2 | log)')" 1e-12
other "w_10 - w_20" "$(weights misprints '.w0[0] - .w0[1]')" "$g"
other "w_10 + w_20" "$(weights misprints '.w0[0] + .w0[1]')" "$g"

say "2. Gaussians with one covariance S: w0 = -1/2 (m1 + m2)'S^-1 (m1 - m2) + ln(P1/P2). Misprint: (m1 - m2)
in both places. The same rows have m1 = (3,6), m2 = (3,-2) and S = diag(1.25, 2), the mean of S_1 and S_2.
So (m1 + m2)'S^-1 (m1 - m2) = 6 · 0/1.25 + 4 · 8/2 = 16 and w0 = -8. The misprint gives -1/2 · 8 · 8/2 = -16.
(The service's positive class is the second, and its signs are the opposite.)"
train misprints misprints gaussian
near "w" "$(weights misprints '.w[0]')" '[0,-4]' 1e-12
near "w0" "$(weights misprints '.w0[0]')" 8 1e-12
near "P(2 | (3, 2)), halfway between the means" "$(ask misprints '[[3,2]]' '.predictions[0].probabilities[1]')" 0.5 1e-12
other "w0 misprinted" 16 "$(weights misprints '.w0[0]')"
say "By the misprint the boundary -4 x2 + 16 = 0 would be x2 = 4, nearer to class 1 than to class 2:"
holds "mean of class 1 less the boundary" "$(jq -n '6 - 4')" '<' "$(jq -n '4 - -2')"

say "3. (x'y + 1)² = phi(x)'phi(y) with phi(x) = (1, √2 x1, √2 x2, √2 x1 x2, x1², x2²). Misprints: no fourth
coordinate, or x1 x2 without √2. For (1,2) and (3,-1), by hand 4 = 1 + 6 - 4 - 12 + 9 + 4:"
phi='def phi($r): . as [$a, $b] | [1, $a * (2 | sqrt), $b * (2 | sqrt), $a * $b * $r, $a * $a, $b * $b]; def dot($a; $b): [$a, $b] | transpose | map(.[0] * .[1]) | add;'
product() { jq -n "$phi ($1) as \$r | dot([1, 2] | phi(\$r); [3, -1] | phi(\$r))"; }
near "with √2 x1 x2" "$(product '2 | sqrt')" 4 1e-12
near "without the coordinate" "$(product 0)" 16 1e-12
near "with x1 x2" "$(product 1)" 10 1e-12
say "Exclusive or (example 2 of section 5.11) has w = sum a_t r_t phi(x_t) with the fourth coordinate alone, and
f(x) = x1 x2. Without the coordinate f is 0 everywhere, without its √2 half of what it is:"
printf '%s\n' x1,x2,class 1,1,b -1,-1,b 1,-1,a -1,1,a | upload misprints-xor
train misprints-xor misprints-xor svm '{"C":null,"kernel":{"type":"polynomial","degree":2,"gamma":1,"coef0":1},"tolerance":1e-12}' "$raw"
f() { weights misprints-xor "$phi ($1) as \$r | [[.support_vectors, .coefficients] | transpose[] | .[1] * dot(.[0] | phi(\$r); [2, 3] | phi(\$r))] | add + 0"; }
near "f at (2,3)" "$(ask misprints-xor '[[2,3]]' '.predictions[0].scores[0]' scores)" 6 1e-9
near "  from phi with √2 x1 x2" "$(f '2 | sqrt')" 6 1e-9
near "  without the coordinate" "$(f 0)" 0 1e-9
near "  with x1 x2" "$(f 1)" 3 1e-9

say "4. Fisher's threshold halfway between the projected means is b* = -1/2 w*'(m1 + m2), with class 2 where
w*'x + b* > 0. Misprint: no minus. In the rows above w* = (0, -1) and m1 + m2 = (6, 4):"
train misprints misprints fisher '{"threshold":"midpoint"}' "$raw"
near "w*" "$(weights misprints '.w[0]')" '[0,-1]' 1e-12
near "b*" "$(weights misprints '.w0[0]')" 2 1e-12
same "share of rows wrong" "$(result .metrics.train.error)" 0
say "With b = -2 the class would change at x2 = -2, the mean of class 2:"
train misprints misprints perceptron '{"init":[0,-1,-2],"max_iterations":0}' "$raw"
holds "share of rows wrong" "$(result .metrics.train.error)" '>=' 0.25
