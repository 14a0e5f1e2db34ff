# Reference figures of the statistics of weights: two classes and least squares by glm and lm of R
# 4.2.2. Run in this folder:
#   { Rscript statistics.R; python3 statistics.py; } > statistics.txt
# A line of the output: case, JSON pointer within "statistics", value.
d <- read.csv("statistics.csv", stringsAsFactors = TRUE)
put <- function(case, path, value) {
    cat(sprintf("%s %s %.17g\n", case, path, value), sep = "")
}
# The intercept is first in R and last here.
put_weights <- function(case, k, coefficients, low, high, odds) {
    n <- nrow(coefficients)
    for (i in 1:n) {
        to <- sprintf("/scores/%d/weights/%d", k, if (i == 1) n - 1 else i - 2)
        names <- c("weight", "standard_error", "statistic", "p")
        for (j in 1:4) put(case, sprintf("%s/%s", to, names[j]), coefficients[i, j])
        put(case, sprintf("%s/low", to), low[i])
        put(case, sprintf("%s/high", to), high[i])
        if (odds) {
            put(case, sprintf("%s/odds_ratio", to), exp(coefficients[i, 1]))
            put(case, sprintf("%s/odds_low", to), exp(low[i]))
            put(case, sprintf("%s/odds_high", to), exp(high[i]))
        }
    }
}
put_covariance <- function(case, path, v) {
    n <- nrow(v)
    order <- c(2:n, 1)
    v <- v[order, order]
    for (i in 1:n) for (j in 1:n) put(case, sprintf("/%s/%d/%d", path, i - 1, j - 1), v[i, j])
}
# Fox and Monette: det R11 det R22 / det R. term: the columns of each term.
put_inflation <- function(case, x, w, terms) {
    r <- cov.wt(x, w)$cov
    r <- cov2cor(r)
    for (t in seq_along(terms)) {
        at <- terms[[t]]
        v <- det(r[at, at, drop = FALSE]) * det(r[-at, -at, drop = FALSE]) / det(r)
        put(case, sprintf("/inflation/%d/factor", t - 1), v)
        put(case, sprintf("/inflation/%d/scaled", t - 1), v^(1 / (2 * length(at))))
        put(case, sprintf("/inflation/%d/df", t - 1), length(at))
    }
}
put_glm <- function(case, weights, level, exact_aic) {
    d$w <- weights
    g <- suppressWarnings(glm(y ~ x1 + x2 + x3 + color, binomial, d, weights = w,
                              control = list(epsilon = 1e-15, maxit = 200)))
    s <- summary(g)$coefficients
    q <- qnorm((1 + level) / 2)
    put_weights(case, 0, s, s[, 1] - q * s[, 2], s[, 1] + q * s[, 2], TRUE)
    put_covariance(case, "covariance", vcov(g))
    r <- "/responses/0"
    put(case, paste0(r, "/null_deviance"), g$null.deviance)
    put(case, paste0(r, "/deviance"), g$deviance)
    put(case, paste0(r, "/df_null"), g$df.null)
    put(case, paste0(r, "/df_residual"), g$df.residual)
    if (exact_aic) { # with fractional weights R rounds the counts
        put(case, paste0(r, "/aic"), AIC(g))
        put(case, paste0(r, "/bic"), BIC(g))
    }
    put(case, paste0(r, "/mcfadden_r_squared"), 1 - g$deviance / g$null.deviance)
    chi <- g$null.deviance - g$deviance
    put(case, paste0(r, "/chi_squared"), chi)
    put(case, paste0(r, "/df"), g$df.null - g$df.residual)
    put(case, paste0(r, "/p"), pchisq(chi, g$df.null - g$df.residual, lower.tail = FALSE))
    put_inflation(case, model.matrix(g)[, -1], d$w, list(1, 2, 3, 4:6))
}
put_lm <- function(case, target, classes, weights, level) {
    d$w <- weights
    for (k in seq_along(classes)) {
        d$t <- if (length(classes) == 1) ifelse(d[[target]] == classes, 1, -1)
               else as.numeric(d[[target]] == classes[k])
        m <- lm(t ~ x1 + x2 + x3 + color, d, weights = w)
        s <- summary(m)
        ci <- confint(m, level = level)
        put_weights(case, k - 1, s$coefficients, ci[, 1], ci[, 2], FALSE)
        if (k == 1) put_covariance(case, "unscaled_covariance", s$cov.unscaled)
        r <- sprintf("/responses/%d", k - 1)
        put(case, paste0(r, "/deviance"), deviance(m))
        put(case, paste0(r, "/residual_variance"), s$sigma^2)
        put(case, paste0(r, "/r_squared"), s$r.squared)
        put(case, paste0(r, "/adjusted_r_squared"), s$adj.r.squared)
        put(case, paste0(r, "/f"), s$fstatistic[1])
        put(case, paste0(r, "/df"), s$fstatistic[2])
        put(case, paste0(r, "/df_residual"), s$fstatistic[3])
        put(case, paste0(r, "/p"), pf(s$fstatistic[1], s$fstatistic[2], s$fstatistic[3],
                                      lower.tail = FALSE))
        put(case, paste0(r, "/log_likelihood"), as.numeric(logLik(m)))
        put(case, paste0(r, "/aic"), AIC(m))
        put(case, paste0(r, "/bic"), BIC(m))
    }
    put_inflation(case, model.matrix(m)[, -1], d$w, list(1, 2, 3, 4:6))
}
put_glm("glm", rep(1, nrow(d)), 0.95, TRUE)
put_glm("glm-counts", d$v, 0.9, TRUE)
put_glm("glm-fractions", d$u, 0.95, FALSE)
put_lm("lm", "y", "yes", rep(1, nrow(d)), 0.95)
put_lm("lm-weights", "y", "yes", d$u, 0.99)
put_lm("lm-classes", "k", c("a", "b", "c"), d$v, 0.95)
