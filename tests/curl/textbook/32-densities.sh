#!/bin/bash
# 32. Densities, posteriors and log odds of two Gaussians
# Bishop, Pattern Recognition and Machine Learning, chapter 4 (Linear Models for Classification), section 4.2, equations 4.57 to 4.59 and 4.65 to 4.67; Alpaydın, Introduction to Machine Learning, chapter 4 (Parametric Methods), section 4.5 and its figures 4.2 and 4.3
. "$(dirname "$0")/lesson.sh"
outputs=log_density,prior,posterior
# row X FILTER: of the prediction for x = X by model densities
row() { ask densities "[[$1]]" ".predictions[0] | $2" $outputs; }
# figure: the two densities, the posterior of class 1 and the log odds over x, as in the figures of the book
figure() {
    printf '  %6s  %9s  %9s  %9s  %9s\n' x 'p(x|0)' 'p(x|1)' 'P(1|x)' 'log odds'
    curl -sSf "$URL/v1/models/densities/evaluate_grid" \
        -d "{\"x\":{\"column\":\"x\",\"from\":-4,\"to\":4,\"steps\":9},\"output\":\"$outputs\"}" |
        jq -r '. as $g | range(9) | . as $i
            | [$g.x.values[$i], ($g.class_log_density[0, 1][$i] | exp), $g.posterior[1][$i],
               $g.class_log_density[1][$i] - $g.class_log_density[0][$i] + ($g.prior[1] / $g.prior[0] | log)] | @tsv' |
        awk '{ printf "  %6.1f  %9.5f  %9.5f  %9.5f  %9.4f  ", $1, $2, $3, $4, $5; for (i = 0; i < int(30 * $4 + 0.5); i++) printf "#"; print "" }'
}
# ln p(x | k) as the books print it: -1/2 ln 2 pi - ln s - (x - m)²/(2 s²)
pi=3.141592653589793
gauss() { jq -n "-((2 * $pi | log) / 2) - ($3 | log) - ($1 - $2) * ($1 - $2) / (2 * $3 * $3)"; } # X MEAN DEVIATION

say "Two Gaussians in one dimension. Class 0 has the points -2 and 0, class 1 the points 0 and 2: the means are -1
and 1, and the common variance is 1. The books print ln p(x | k) = -1/2 ln 2 pi - ln s - (x - m_k)²/(2 s²),
P(1 | x) = 1/(1 + e^-a) with the log odds a = ln p(x | 1) P(1) / (p(x | 0) P(0)), and for one variance
a = w x + w0 with w = (m_1 - m_0)/s² = 2 and w0 = -(m_1² - m_0²)/(2 s²) + ln P(1)/P(0) = 0."
printf '%s\n' x,class -2,0 0,0 0,1 2,1 | upload densities
train densities densities gaussian
figure
say "At x = 0.5, beside the formulas:"
near "ln p(x | 0) and ln p(x | 1)" "$(row 0.5 .class_log_density)" "[$(gauss 0.5 -1 1),$(gauss 0.5 1 1)]" 1e-12
near "P(0) and P(1)" "$(row 0.5 .prior)" '[0.5,0.5]' 1e-12
near "P(1 | x) = 1/(1 + e^-1)" "$(row 0.5 '.posterior[1]')" "$(jq -n '1 / (1 + (-1 | exp))')" 1e-12
near "log odds from the posterior: w x + w0 = 1" "$(row 0.5 '.posterior[1] / .posterior[0] | log')" 1 1e-12
near "w and w0" "$(weights densities '[.w[0][0], .w0[0]]')" '[2,0]' 1e-12
near "ln p(x), the sum over the classes" "$(row 0.5 .log_density)" \
    "$(jq -n "(($(gauss 0.5 -1 1) | exp) + ($(gauss 0.5 1 1) | exp)) / 2 | log")" 1e-12
near "the posteriors intersect once, between the means, at x = 0" "$(row 0 .posterior)" '[0.5,0.5]' 1e-12

say "Other priors move the log odds by a constant and leave the densities as they are. With P(1) = 0.2 the
threshold is x = -w0/w = ln(4)/2 = 0.693:"
train densities densities gaussian '{"priors":[0.8,0.2]}'
near "ln p(x | 0) and ln p(x | 1) at 0.5" "$(row 0.5 .class_log_density)" "[$(gauss 0.5 -1 1),$(gauss 0.5 1 1)]" 1e-12
near "P(0) and P(1)" "$(row 0.5 .prior)" '[0.8,0.2]' 1e-12
near "log odds at 0.5: 1 - ln 4" "$(row 0.5 '.posterior[1] / .posterior[0] | log')" "$(jq -n '1 - (4 | log)')" 1e-12
near "the posteriors at ln(4)/2" "$(row "$(jq -n '(4 | log) / 2')" .posterior)" '[0.5,0.5]' 1e-12

say "With two variances the log odds are quadratic and the posteriors intersect twice. Class 0 has the points -1
and 1, class 1 the points -2 and 2: the means are 0, the variances 1 and 4. By hand
a = -ln 2 + x²/2 - x²/8 = 3/8 x² - ln 2, which is 0 at x = ±1.3596:"
printf '%s\n' x,class -1,0 1,0 -2,1 2,1 | upload densities
train densities densities gaussian '{"covariance":"full"}'
figure
for x in -3 0 1.5; do
    near "ln p(x | 0) and ln p(x | 1) at $x" "$(row $x .class_log_density)" "[$(gauss $x 0 1),$(gauss $x 0 2)]" 1e-12
    near "  log odds" "$(row $x '.posterior[1] / .posterior[0] | log')" "$(jq -n "3 / 8 * $x * $x - (2 | log)")" 1e-12
done
edge=$(jq -n '8 / 3 * (2 | log) | sqrt')
near "the posteriors at ±1.3596" "$(ask densities "[[$edge],[-$edge]]" '[.predictions[].posterior[]]' posterior)" '[0.5,0.5,0.5,0.5]' 1e-12
