#!/bin/bash
# 27. Kernel values from coefficients
# Duda, Hart and Stork, Pattern Classification, chapter 5 (Linear Discriminant Functions), section 5.11, example 2; Bishop, Pattern Recognition and Machine Learning, chapter 7 (Sparse Kernel Machines), section 7.1, equations 7.13 and 7.37
. "$(dirname "$0")/lesson.sh"
say "A kernel machine's discriminant is f(x) = sum a_t r_t K(x_t, x) + w0 over its support vectors x_t, with
r_t = 1 or -1 and a_t > 0. The service gives the x_t (support_vectors), the a_t r_t (coefficients) and w0:
enough to compute f by hand."
# f MODEL POINTS K: the discriminant at a JSON list of points, K the kernel of $s and $x as a jq expression
f() {
    weights "$1" "def dot(a; b): [a, b] | transpose | map(.[0] * .[1]) | add;
        def distance2(a; b): [a, b] | transpose | map((.[0] - .[1]) * (.[0] - .[1])) | add;
        . as \$model | $2 | map(. as \$x | [[\$model.support_vectors, \$model.coefficients] | transpose[] | .[0] as \$s | .[1] * ($3)] | add + \$model.w0[0])"
}
scores() { ask "$1" "$2" '[.predictions[].scores[0]]' scores; }
raw='{"features":{"standardize":false}}'

say "Example 2 of Duda, Hart and Stork: exclusive or, (1,1) and (-1,-1) in one class, (1,-1) and (-1,1) in the
other, with the kernel (x'y + 1)² of the map (1, √2 x1, √2 x2, √2 x1 x2, x1², x2²). By hand K is 9 for a
point and itself and 1 for any two of them. The book finds a_t = 1/8 for all four, the discriminant
g(x) = x1 x2, and the margin √2."
printf '%s\n' x1,x2,class 1,1,b -1,-1,b 1,-1,a -1,1,a | upload kernel-xor
train kernel-xor kernel-xor svm '{"C":null,"kernel":{"type":"polynomial","degree":2,"gamma":1,"coef0":1},"tolerance":1e-12}' "$raw"
points='[[1,1],[-1,-1],[1,-1],[-1,1]]'
square='(dot($s; $x) + 1) | . * .'
near "K of the four points" "$(jq -c "def dot(a; b): [a, b] | transpose | map(.[0] * .[1]) | add; . as \$p | [\$p[] as \$s | \$p[] as \$x | $square]" <<<"$points")" \
    '[9,1,1,1,1,9,1,1,1,1,9,1,1,1,1,9]' 1e-12
same "support vectors" "$(result .details.support_vectors)" 4
near "a_t r_t of each, r_t = x1 x2" "$(weights kernel-xor '.coefficients')" "$(weights kernel-xor '.support_vectors | map(.[0] * .[1] / 8)')" 1e-9
near "w0" "$(weights kernel-xor '.w0[0]')" 0 1e-9
others='[[2,3],[0.5,-4],[-1,-0.25],[0,7]]'
near "f at four other points, beside x1 x2" "$(scores kernel-xor "$others")" '[6,-2,0.25,0]' 1e-9
near "f at these, from the coefficients" "$(f kernel-xor "$others" "$square")" '[6,-2,0.25,0]' 1e-9
near "margin, 1 / |w|" "$(result .details.margin)" "$(jq -n '2 | sqrt')" 1e-9
near "|w|² = sum a_s r_s a_t r_t K(x_s, x_t) = sum a_t" "$(weights kernel-xor '.norm | . * .')" 0.5 1e-9

say "The weights of the map (?expand=true): of the five coordinates besides the constant only √2 x1 x2 has
one, 1/√2, so that f is the polynomial x1 x2:"
expansion=$(curl -sSf "$URL/v1/models/kernel-xor/weights?expand=true" | jq -c .expansion)
same "the terms" "$(jq -c .terms <<<"$expansion")" '["x1","x2","x1^2","x1*x2","x2^2"]'
near "their weights in w" "$(jq -c '.machines[0].weights' <<<"$expansion")" "$(jq -nc '[0, 0, 0, 1 / (2 | sqrt), 0]')" 1e-9
near "their coefficients in f" "$(jq -c '.machines[0].coefficients' <<<"$expansion")" '[0,0,0,1,0]' 1e-9

say "Two clouds of 30 points that overlap, and the kernel exp(-|s - x|² / (2 width²)) with width 1:"
{ echo x1,x2,class; clouds 91 a 0 0 1 30 b 1.5 1 1 30; } | upload kernel-rbf
train kernel-rbf kernel-rbf svm '{"C":1,"kernel":{"type":"rbf","width":1},"tolerance":1e-10}' "$raw"
gaussian='distance2($s; $x) / -2 | exp'
others='[[0,0],[1.5,1],[0.7,0.6],[-2,3]]'
near "f at four points, from the coefficients" "$(scores kernel-rbf "$others")" "$(f kernel-rbf "$others" "$gaussian")" 1e-10
near "sum of the a_t r_t" "$(weights kernel-rbf '.coefficients | add')" 0 1e-9
holds "greatest a_t, at most C" "$(weights kernel-rbf '.coefficients | map(fabs) | max')" '<=' 1.0000001
say "Equation 7.37: w0 is the mean of r_t - sum a_s r_s K(x_s, x_t) over the support vectors with 0 < a_t < C.
They lie on the margin, r_t f(x_t) = 1:"
free=$(weights kernel-rbf '[[.support_vectors, .coefficients] | transpose[] | select((.[1] | fabs) > 1e-6 and (.[1] | fabs) < 1 - 1e-6)]')
holds "support vectors with 0 < a_t < C" "$(jq length <<<"$free")" '>=' 2
sums=$(f kernel-rbf "$(jq -c 'map(.[0])' <<<"$free")" "$gaussian" | jq -c "map(. - $(weights kernel-rbf '.w0[0]'))")
near "w0, beside the mean" "$(weights kernel-rbf '.w0[0]')" \
    "$(jq -n --argjson free "$free" --argjson sums "$sums" '[$free, $sums] | transpose | map((if .[0][1] > 0 then 1 else -1 end) - .[1]) | add / length')" 1e-8
