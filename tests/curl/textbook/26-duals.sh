#!/bin/bash
# 26. Dual variables, and w0 as a mean
# Bishop, Pattern Recognition and Machine Learning, chapter 7 (Sparse Kernel Machines), section 7.1 and equations 7.8, 7.9, 7.29 to 7.37; Alpaydın, Introduction to Machine Learning, chapter 13 (Kernel Machines), sections 13.2 and 13.3
. "$(dirname "$0")/lesson.sh"
say "The dual of the support vector machine has a variable a_t for each row: maximise sum a_t - 1/2 |sum a_t r_t
x_t|² with 0 <= a_t <= C and sum a_t r_t = 0, r_t = 1 or -1 the class. Then w = sum a_t r_t x_t. The service
lists the rows with a_t > 0, the support vectors, for linear machines too (support_vectors=true)."
duals() { curl -sSf "$URL/v1/models/duals/weights?support_vectors=true" | jq -c ".support.machines[0] | $1"; }
raw='{"features":{"standardize":false}}'

say "By hand, three points without slack: (1,1) with r = -1, (3,3) and (4,3) with r = 1. Suppose that a = 0 for
(4,3). Then the other two have the same a, w = a ((3,3) - (1,1)) = (2a, 2a), and 2a - 4a² is greatest at
a = 1/4. So w = (1/2, 1/2), w0 = 1 - w'(3,3) = -2, and (4,3) has r (w'x + w0) = 1.5 >= 1, as it must with
a = 0."
printf '%s\n' x1,x2,class 1,1,0 3,3,1 4,3,1 | upload duals
train duals duals svm '{"C":null}' "$raw"
near "w and w0" "$(weights duals '[.w[0][], .w0[0]]')" '[0.5,0.5,-2]' 1e-9
near "rows with a > 0, counted from 0" "$(duals .rows)" '[0,1]' 0
near "their a r" "$(duals .coefficients)" '[-0.25,0.25]' 1e-9

say "Two clouds of 40 points that overlap, C = 1. With the rows of the table and the a_t of the service, by hand:"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{ echo x1,x2,class; clouds 8 0 0 0 1 40 1 1.8 1 1 40; } >"$table"
upload duals <"$table"
train duals duals svm '{"C":1,"tolerance":1e-10}' "$raw"
line=$(weights duals '[.w[0][], .w0[0]]')
# by hand, from rows, a_t r_t and slack: w, the mean of r - w'x over 0 < a < C, and the sums and extremes of the conditions
read -r w mean free sum dual primal slack <<<"$(duals '[.rows, .coefficients] | transpose[] | @csv' | jq -r . | awk -F, -v line="$(tr -d '[]' <<<"$line")" '
    NR == FNR { c[$1 + 2] = $2; next } # row 0 is the second line of the table
    FNR > 1 { x[FNR] = $1; y[FNR] = $2; r[FNR] = $3 == 1 ? 1 : -1; n = FNR }
    END {
        for (t in c) { w1 += c[t] * x[t]; w2 += c[t] * y[t]; sum += c[t]; alpha += c[t] * r[t] }
        for (t in c) { a = c[t] * r[t]; if (a > 1e-6 && a < 1 - 1e-6) { free++; mean += r[t] - w1 * x[t] - w2 * y[t] } }
        mean /= free
        split(line, v, ",")
        for (t = 2; t <= n; t++) {
            s = 1 - r[t] * (v[1] * x[t] + v[2] * y[t] + v[3]); if (s < 0) s = 0
            slack += s
            # a = 0 outside the margin, a = C with slack
            a = (t in c) ? c[t] * r[t] : 0
            if (s > 1e-6 && a < 1 - 1e-6) bad = 1
        }
        printf "[%.15g,%.15g] %.15g %d %.15g %.15g %.15g %s\n", w1, w2, mean, free, sum, alpha - (w1 * w1 + w2 * w2) / 2, (w1 * w1 + w2 * w2) / 2 + slack, bad ? "wrong" : "full"
    }' - "$table")"
near "w, beside sum a_t r_t x_t (7.29)" "$(jq -c '.[:2]' <<<"$line")" "$w" 1e-9
near "sum a_t r_t = 0 (7.30)" "$sum" 0 1e-9
holds "greatest a_t: at most C, as C - a_t = mu_t >= 0 (7.31)" "$(duals '.alpha | max')" '<=' 1.000000001
same "rows with slack have a_t = C" "$slack" full
holds "rows with 0 < a_t < C, which lie on the margin" "$free" '>=' 1
near "w0, beside the mean of r_t - w'x_t over these rows (7.37)" "$(jq '.[2]' <<<"$line")" "$mean" 1e-9
near "the dual objective, beside 1/2 |w|² + C sum of slack" "$dual" "$primal" 1e-8
near "  and the service's" "$dual" "$(result .details.dual_objective)" 1e-8
say "With a penalised w0, which costs w0²/2, there is no condition sum a_t r_t = 0, and w0 = sum a_t r_t:"
train duals duals svm '{"C":1,"tolerance":1e-10,"solver":"dual_coordinate_descent","intercept":"penalised"}' "$raw"
near "w0, beside sum a_t r_t" "$(weights duals '.w0[0]')" "$(duals '.coefficients | add')" 1e-6
