#!/bin/bash
# 14. Gaussian classes with one covariance
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.2.1, equations 4.65 to 4.67
. "$(dirname "$0")/lesson.sh"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
draw() { echo x1,x2,class; clouds "$1" 0 0 0 1 "$2" 1 1.2 0.9 1 "$2"; } # SEED N
draw 41 2000 >"$table"
upload gaussians <"$table"
say "Two round clouds of 2,000 points of deviation 1 that overlap: class 0 around (0, 0), class 1
around (1.2, 0.9). Linear discriminant analysis models each class as a Gaussian with its own mean
and a covariance that both share. Bayes' theorem, P(1 | x) = P(1) p(x | 1) / (P(0) p(x | 0) + P(1)
p(x | 1)), is then exactly the sigmoid 1 / (1 + e^-(w'x + w0)) of a linear function, because the
quadratic parts cancel. At four points:"
train gaussians gaussians gaussian
rows='[[0,0],[1.2,0.9],[0.3,2],[-3,1]]'
answered=$(ask gaussians "$rows" '[.predictions[].probabilities[1]]')
# Bayes' theorem from the means and the covariance of the table; the priors are equal
bayes=$(awk -F, -v rows="$(tr -d '[]' <<<"$rows")" 'NR > 1 { k = $3; n[k]++; a[k] += $1; b[k] += $2; x[NR] = $1; y[NR] = $2; c[NR] = k }
    function density(k, u, v) { # but for a factor that both classes have
        u -= a[k]; v -= b[k]
        return exp(-(yy * u * u - 2 * xy * u * v + xx * v * v) / (xx * yy - xy * xy) / 2)
    }
    END {
        for (k = 0; k < 2; k++) { a[k] /= n[k]; b[k] /= n[k] }
        for (t = 2; t <= NR; t++) { p = x[t] - a[c[t]]; q = y[t] - b[c[t]]; xx += p * p / (NR - 1); xy += p * q / (NR - 1); yy += q * q / (NR - 1) }
        m = split(rows, r, ",")
        for (i = 1; i < m; i += 2) printf "%s%.15g", i == 1 ? "[" : ",", density(1, r[i], r[i + 1]) / (density(0, r[i], r[i + 1]) + density(1, r[i], r[i + 1]))
        print "]"
    }' "$table")
near "P(1 | x), beside Bayes' theorem by hand" "$answered" "$bayes" 1e-10
near "P(1 | x), beside the sigmoid of the weights" "$answered" \
    "$(weights gaussians "[.w[0][], .w0[0]] as [\$a, \$b, \$c] | $rows | map(1 / (1 + (-(.[0] * \$a + .[1] * \$b + \$c) | exp)))")" 1e-12

say "The means are Delta = 1.5 deviations apart. No classifier has a smaller error on such clouds
than the one with the true means and covariance, Phi(-Delta/2) = 0.2266 (Phi is the distribution
function of the normal distribution). The error of the model approaches it as the number of rows
grows. Errors on 20,000 new points, whose standard deviation is 0.0030:"
for n in 5 50 2000; do
    draw $((n + 3)) $n | upload gaussians-few
    train gaussians-few gaussians-few gaussian
    error=$(draw 42 10000 | judge gaussians-few .metrics.error)
    case $n in
    5) holds "trained on 10 rows" "$error" '>' 0.2266 ;;
    50) near "trained on 100 rows" "$error" 0.2266 0.015 ;;
    2000) near "trained on 4,000 rows" "$error" 0.2266 0.005 ;;
    esac
done
