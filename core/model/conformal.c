/* Sets of labels: their thresholds, and the sets.
 *
 * The scores of the true labels are sorted by class and score, or by score alone; the threshold is
 * the score of a rank. Source: see discern/decision.h. */
#include "model/conformal.h"
#include "base/argument.h"
#include "machine/machine_kind.h"
#include "number/number_text.h"

#include <math.h>
#include <stdlib.h>

/* A product counts as an integer if it differs from it by at most this share of itself: the decimal
 * coverage and the product are rounded to doubles. */
#define ROUNDING 1e-15
/* Above this number doubles do not represent all integers. */
#define MAX_ROWS ((size_t)1 << 53)

size_t dn_conformal_rank(size_t n, double coverage) {
    const double product = ((double)n + 1) * coverage, whole = floor(product + 0.5);
    return (size_t)(fabs(product - whole) <= ROUNDING * product ? whole : ceil(product));
}

size_t dn_conformal_least_rows(double coverage) {
    size_t low = 0, high = MAX_ROWS; /* the number is in low + 1 … high */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (dn_conformal_rank(middle, coverage) <= middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

size_t dn_conformal_set(const dn_conformal *conformal, const double *p, bool *set) {
    size_t n = 0;
    for (size_t k = 0; k < conformal->n_classes; k++) {
        set[k] = 1 - p[k] <= conformal->threshold[k];
        n += set[k];
    }
    return n;
}

/* ---- the object ---- */
/* The arrays follow the struct in one allocation. */
static size_t object_bytes(size_t n_classes) {
    return sizeof(dn_conformal) + n_classes * (sizeof(double) + sizeof(size_t));
}

/* Returns thresholds 0 of 0 rows; NULL: no memory. *threshold, *rows: the arrays. */
static dn_conformal *object_new(size_t n_classes, double **threshold, size_t **rows) {
    dn_conformal *c = calloc(1, object_bytes(n_classes));
    if (c != NULL) {
        *threshold = (double *)(void *)(c + 1);
        *rows = (size_t *)(void *)(*threshold + n_classes);
        c->n_classes = n_classes;
        c->threshold = *threshold;
        c->rows = *rows;
    }
    return c;
}

size_t dni_conformal_bytes(const dn_conformal *conformal) {
    return conformal == NULL ? 0 : object_bytes(conformal->n_classes);
}

/* ---- calibration ---- */
dn_status dni_conformal_check(const dni_conformal_spec *spec, const size_t *count, dn_error *err) {
    const size_t least = dn_conformal_least_rows(spec->coverage);
    char coverage[DN_NUMBER_SIZE];
    size_t all = 0, few = 0, first = 0;
    for (size_t k = 0; k < spec->n_classes; k++) {
        all += count[k];
        if (count[k] < least) {
            first = few++ == 0 ? k : first;
        }
    }
    (void)dni_number_text(spec->coverage, coverage);
    if (!spec->by_class && all < least) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                         "there are %zu held-out rows, but sets of labels with "
                                         "coverage %s need at least %zu",
                                         all, coverage, least),
                            "coverage", -1, err);
    }
    if (spec->by_class && few > 0) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_DATA,
                         "class \"%.64s\" has %zu held-out rows, but sets of labels with coverage "
                         "%s by class need at least %zu of each class (%zu of %zu classes have "
                         "fewer)",
                         spec->class_name[first], count[first], coverage, least, few,
                         spec->n_classes),
            "coverage", -1, err);
    }
    return DN_OK;
}

/* The score of the true label of a calibration row. group: its class; 0 without by_class. */
struct score {
    double value;
    uint32_t group;
};

static int compare_scores(const void *a, const void *b) {
    const struct score *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                : (x->value > y->value) - (x->value < y->value);
}

dn_status dni_conformal_fit(const dni_conformal_spec *spec, size_t n, const double *p,
                            const uint32_t *truth, const dn_run *run, dn_conformal **out,
                            dn_error *err) {
    const size_t K = spec->n_classes;
    void *memory = NULL;
    double *threshold;
    size_t *rows;
    dn_status status = dn_run_alloc(run, n, sizeof(struct score),
                                    "the calibration of sets of labels", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    struct score *scores = memory;
    dn_conformal *c = object_new(K, &threshold, &rows);
    if (c == NULL) {
        status = dn_error_set(err, DN_ERR_MEMORY, "no memory for sets of labels");
        goto cleanup;
    }
    for (size_t i = 0; i < n; i++) {
        const double s = 1 - p[i * K + truth[i]];
        scores[i] = (struct score){s <= 1 ? s : 1, spec->by_class ? truth[i] : 0};
        rows[truth[i]]++;
    }
    status = dni_conformal_check(spec, rows, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    qsort(scores, n, sizeof *scores, compare_scores);
    for (size_t k = 0, first = 0; k < K; k++) {
        rows[k] = spec->by_class ? rows[k] : n;
        threshold[k] = scores[first + dn_conformal_rank(rows[k], spec->coverage) - 1].value;
        first += spec->by_class ? rows[k] : 0;
    }
    c->coverage = spec->coverage;
    c->by_class = spec->by_class;
    c->folds = spec->folds;
    *out = c;
    c = NULL;
cleanup:
    free(c);
    dn_run_free(run, memory);
    return status;
}

/* ---- bytes ---- */
void dni_conformal_write(const dn_conformal *c, dni_writer *w) {
    dni_write_f64(w, c->coverage);
    dni_write_u8(w, (uint8_t)((c->by_class ? 1 : 0) + (c->folds ? 2 : 0)));
    for (size_t k = 0; k < (c->by_class ? c->n_classes : 1); k++) {
        dni_write_u64(w, c->rows[k]);
        dni_write_f64(w, c->threshold[k]);
    }
}

dn_status dni_conformal_read(dni_reader *r, size_t n_classes, dn_conformal **out, dn_error *err) {
    double *threshold;
    size_t *rows;
    dn_conformal *c = object_new(n_classes, &threshold, &rows);
    if (c == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for sets of labels");
    }
    c->coverage = dni_read_f64(r);
    const uint8_t flags = dni_read_u8(r);
    c->by_class = (flags & 1) != 0;
    c->folds = (flags & 2) != 0;
    bool good = flags <= 3 && c->coverage > 0 && c->coverage < 1;
    for (size_t k = 0; k < n_classes; k++) {
        if (k > 0 && !c->by_class) {
            rows[k] = rows[0];
            threshold[k] = threshold[0];
            continue;
        }
        const uint64_t n = dni_read_u64(r);
        threshold[k] = dni_read_f64(r);
        rows[k] = (size_t)n;
        good = good && n > 0 && n <= MAX_ROWS && threshold[k] >= 0 && threshold[k] <= 1;
    }
    if (!good || r->failed) {
        free(c);
        return dni_machine_corrupt("the thresholds of sets of labels are truncated or out of range",
                                   err);
    }
    *out = c;
    return DN_OK;
}
