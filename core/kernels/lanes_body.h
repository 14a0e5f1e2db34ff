/* One version of the innermost loops. lanes.c includes this file for each version, with these
 * macros:
 *
 *   LANES_NAME(f)       the version's name of function f
 *   LANES_FOR           the compiler attribute of the processor
 *   LANES_SUM(s, x, y)  s + x·y, rounded as in the version's vector loops. A compiler may round
 *                       scalar loops differently
 *   LANES_SUM_SINGLE    LANES_SUM in float
 *   LANES_COUNT(x)      the number of 1 bits of x
 *   LANES_BYTES         size of a vector in bytes. Not defined: plain loops
 *   LANES_QUERIES       number of queries that are processed together, so that their sums fit into
 *                       the registers. Defined together with LANES_BYTES
 *   LANES_TALLY         defined if the version has `tally`, `look_up` and `look_up_single`
 *
 * There is no include guard, because the file is included more than once. */

#ifdef LANES_BYTES
typedef DNI_VECTOR(double, LANES_BYTES) LANES_NAME(doubles);
typedef DNI_VECTOR(float, LANES_BYTES) LANES_NAME(floats);
#define VECTORS 2 /* vectors of points that are processed together */

/* Computes the products of `queries` queries and VECTORS vectors of points. more: adds the products
 * to `out`. All parameters except d and `more` are compile-time constants after inlining. */
#define PRODUCTS_BLOCK(name, type, vector)                                                         \
    LANES_FOR DNI_ALWAYS_INLINE void LANES_NAME(name)(const type *panel, const type *group,        \
                                                      size_t d, size_t queries, bool more,         \
                                                      type *out) {                                 \
        enum { LANES = LANES_BYTES / sizeof(type) };                                               \
        vector sum[LANES_QUERIES][VECTORS];                                                        \
        for (size_t q = 0; q < queries; q++)                                                       \
            for (size_t v = 0; v < VECTORS; v++)                                                   \
                sum[q][v] =                                                                        \
                    more ? *(const vector *)(out + q * DNI_PANEL + v * LANES) : (vector){0};       \
        for (size_t k = 0; k < d; k++) {                                                           \
            const vector *points = (const vector *)(panel + k * DNI_PANEL);                        \
            const type *query = group + k * DNI_GROUP;                                             \
            for (size_t q = 0; q < queries; q++)                                                   \
                for (size_t v = 0; v < VECTORS; v++)                                               \
                    sum[q][v] += points[v] * query[q];                                             \
        }                                                                                          \
        for (size_t q = 0; q < queries; q++)                                                       \
            for (size_t v = 0; v < VECTORS; v++)                                                   \
                *(vector *)(out + q * DNI_PANEL + v * LANES) = sum[q][v];                          \
    }                                                                                              \
    LANES_FOR static void LANES_NAME(name##_all)(const type *panel, const type *group, size_t d,   \
                                                 size_t n, bool more, type *out) {                 \
        enum { STEP = VECTORS * LANES_BYTES / sizeof(type) };                                      \
        for (size_t first = 0; first < DNI_PANEL; first += STEP)                                   \
            for (size_t q = 0; q < n;) {                                                           \
                const size_t at = q;                                                               \
                if (n - q >= LANES_QUERIES) {                                                      \
                    LANES_NAME(name)                                                               \
                    (panel + first, group + at, d, LANES_QUERIES, more,                            \
                     out + at * DNI_PANEL + first);                                                \
                    q += LANES_QUERIES;                                                            \
                } else if (n - q >= LANES_QUERIES / 2) {                                           \
                    LANES_NAME(name)                                                               \
                    (panel + first, group + at, d, LANES_QUERIES / 2, more,                        \
                     out + at * DNI_PANEL + first);                                                \
                    q += LANES_QUERIES / 2;                                                        \
                } else {                                                                           \
                    LANES_NAME(name)                                                               \
                    (panel + first, group + at, d, 1, more, out + at * DNI_PANEL + first);         \
                    q++;                                                                           \
                }                                                                                  \
            }                                                                                      \
    }
PRODUCTS_BLOCK(block, double, LANES_NAME(doubles))
PRODUCTS_BLOCK(block_single, float, LANES_NAME(floats))
#undef PRODUCTS_BLOCK
#undef VECTORS
#else
#define PRODUCTS_BLOCK(name, type)                                                                 \
    static void LANES_NAME(name##_all)(const type *panel, const type *group, size_t d, size_t n,   \
                                       bool more, type *out) {                                     \
        memset(out, 0, more ? 0 : n *DNI_PANEL * sizeof *out);                                     \
        for (size_t k = 0; k < d; k++)                                                             \
            for (size_t q = 0; q < n; q++)                                                         \
                for (size_t l = 0; l < DNI_PANEL; l++)                                             \
                    out[q * DNI_PANEL + l] += panel[k * DNI_PANEL + l] * group[k * DNI_GROUP + q]; \
    }
PRODUCTS_BLOCK(block, double)
PRODUCTS_BLOCK(block_single, float)
#undef PRODUCTS_BLOCK
#endif

/* Processes COLUMNS columns at a time, which stay in the first-level cache for all groups. */
LANES_FOR static void LANES_NAME(products)(const double *panel, const double *groups, size_t stride,
                                           size_t d, size_t n, double *out) {
    for (size_t i = 0; d == 0 && i < n * DNI_PANEL; i++) {
        out[i] = 0;
    }
    for (size_t k = 0; k < d; k += COLUMNS) {
        const size_t count = d - k < COLUMNS ? d - k : COLUMNS;
        for (size_t q = 0; q < n; q += DNI_GROUP) {
            const size_t some = n - q < DNI_GROUP ? n - q : DNI_GROUP;
            LANES_NAME(block_all)
            (panel + k * DNI_PANEL, groups + q / DNI_GROUP * stride + k * DNI_GROUP, count, some,
             k > 0, out + q * DNI_PANEL);
        }
    }
}

LANES_FOR static void LANES_NAME(products_single)(const float *panel, const float *groups,
                                                  size_t stride, size_t d, size_t n, double *out) {
    float part[DNI_GROUP * DNI_PANEL];
    for (size_t i = 0; i < n * DNI_PANEL; i++) {
        out[i] = 0;
    }
    for (size_t k = 0; k < d; k += SINGLE_COLUMNS) {
        const size_t count = d - k < SINGLE_COLUMNS ? d - k : SINGLE_COLUMNS;
        for (size_t q = 0; q < n; q += DNI_GROUP) {
            const size_t some = n - q < DNI_GROUP ? n - q : DNI_GROUP;
            LANES_NAME(block_single_all)
            (panel + k * DNI_PANEL, groups + q / DNI_GROUP * stride + k * DNI_GROUP, count, some,
             false, part);
            for (size_t i = 0; i < some * DNI_PANEL; i++) {
                out[q * DNI_PANEL + i] += (double)part[i];
            }
        }
    }
}

LANES_FOR static void LANES_NAME(distances)(dni_form form, const double *panel,
                                            const double *groups, size_t stride, size_t d, size_t n,
                                            double *out) {
    for (size_t q = 0; q < n; q++, out += DNI_PANEL) {
        const double *query = groups + q / DNI_GROUP * stride + q % DNI_GROUP;
        for (size_t l = 0; l < DNI_PANEL; l++) {
            out[l] = 0;
        }
        for (size_t k = 0; k < d; k++) {
            const double *x = panel + k * DNI_PANEL, z = query[k * DNI_GROUP];
            if (form == DNI_FORM_SQUARE) {
                for (size_t l = 0; l < DNI_PANEL; l++) {
                    out[l] += (x[l] - z) * (x[l] - z);
                }
            } else if (form == DNI_FORM_MANHATTAN) {
                for (size_t l = 0; l < DNI_PANEL; l++) {
                    out[l] += fabs(x[l] - z);
                }
            } else {
                for (size_t l = 0; l < DNI_PANEL; l++) {
                    out[l] = fabs(x[l] - z) > out[l] ? fabs(x[l] - z) : out[l];
                }
            }
        }
    }
}

LANES_FOR static double LANES_NAME(dot)(const double *x, const double *y, size_t n) {
    double sum[DNI_PANEL] = {0}, total = 0;
    size_t i = 0;
    for (; i + DNI_PANEL <= n; i += DNI_PANEL) {
        for (size_t l = 0; l < DNI_PANEL; l++) {
            sum[l] += x[i + l] * y[i + l];
        }
    }
    for (; i < n; i++) {
        total = LANES_SUM(total, x[i], y[i]);
    }
    for (size_t half = DNI_PANEL / 2; half > 0; half /= 2) {
        for (size_t l = 0; l < half; l++) {
            sum[l] += sum[l + half];
        }
    }
    return sum[0] + total;
}

LANES_FOR static double LANES_NAME(square)(const double *x, size_t d, size_t stride) {
    double sum = 0;
    for (size_t k = 0; k < d * stride; k += stride) {
        sum = LANES_SUM(sum, x[k], x[k]);
    }
    return sum;
}

LANES_FOR static double LANES_NAME(square_single)(const float *x, size_t d, size_t stride) {
    double sum = 0;
    for (size_t first = 0; first < d; first += SINGLE_COLUMNS) {
        float part = 0;
        for (size_t k = first; k < d && k < first + SINGLE_COLUMNS; k++) {
            part = LANES_SUM_SINGLE(part, x[k * stride], x[k * stride]);
        }
        sum += (double)part;
    }
    return sum;
}

/* Returns exp(−t) = 2^n exp(r) with r = −t − n ln 2 in [−½ ln 2, ½ ln 2]. ln 2 is the sum high +
 * low. After the addition of `magic` the lowest bits of the sum are n. exp(r) is Taylor's
 * polynomial of degree 13, with an error of 4·10⁻¹⁸. */
LANES_FOR DNI_ALWAYS_INLINE double LANES_NAME(exponential)(double t) {
    const double magic = 0x1.8p52, high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
    double shifted = t * -0x1.71547652b82fep0 + magic, n = shifted - magic,
           r = (-t - n * high) - n * low, p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    uint64_t bits, power;
    memcpy(&power, &shifted, sizeof power);
    memcpy(&bits, &p, sizeof bits);
    bits = (bits + (power << 52)) &
           (0 - (uint64_t)(t <= 708)); /* no branch: the compiler vectorises the calling loops */
    memcpy(&p, &bits, sizeof p);
    return p;
}

LANES_FOR DNI_ALWAYS_INLINE float LANES_NAME(exponential_single)(float t) {
    const float magic = 0x1.8p23F, high = 0x1.62ep-1F, low = 0x1.0bfbe8p-15F;
    float shifted = t * -0x1.715476p0F + magic, n = shifted - magic, r = (-t - n * high) - n * low,
          p = 1.0F / 5040;
    p = p * r + 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1;
    p = p * r + 1;
    uint32_t bits, power;
    memcpy(&power, &shifted, sizeof power);
    memcpy(&bits, &p, sizeof bits);
    bits = (bits + (power << 23)) & (0 - (uint32_t)(t <= 87));
    memcpy(&p, &bits, sizeof p);
    return p;
}

LANES_FOR static void LANES_NAME(expand)(double *t, const double *square, double square_x,
                                         size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double distance = square_x + square[i] - 2 * t[i];
        t[i] = distance < 0 ? 0 : distance;
    }
}

/* The inner loop has a constant number of steps, which makes the function about 10 % faster. */
LANES_FOR static void LANES_NAME(exponentials)(double *t, size_t n) {
    size_t i = 0;
    for (; i + DNI_PANEL <= n; i += DNI_PANEL) {
        for (size_t l = 0; l < DNI_PANEL; l++) {
            t[i + l] = LANES_NAME(exponential)(t[i + l]);
        }
    }
    for (; i < n; i++) {
        t[i] = LANES_NAME(exponential)(t[i]);
    }
}

LANES_FOR static void LANES_NAME(exponentials_single)(const double *t, size_t n, float *out) {
    size_t i = 0;
    for (; i + DNI_PANEL <= n; i += DNI_PANEL) {
        for (size_t l = 0; l < DNI_PANEL; l++) {
            out[i + l] = LANES_NAME(exponential_single)((float)t[i + l]);
        }
    }
    for (; i < n; i++) {
        out[i] = LANES_NAME(exponential_single)((float)t[i]);
    }
}

/* The number of words is a compile-time constant for one word and for two words. */
#define COUNTS(name, type)                                                                         \
    LANES_FOR DNI_ALWAYS_INLINE void LANES_NAME(                                                   \
        name##_of)(bool differences, const uint64_t *x, const uint64_t *points, size_t words,      \
                   size_t n, const type *table, type *out) {                                       \
        for (size_t j = 0; j < n; j++, points += words) {                                          \
            unsigned count = 0;                                                                    \
            for (size_t w = 0; w < words; w++)                                                     \
                count += LANES_COUNT(differences ? x[w] ^ points[w] : x[w] & points[w]);           \
            out[j] = table[count];                                                                 \
        }                                                                                          \
    }                                                                                              \
    LANES_FOR static void LANES_NAME(name)(bool differences, const uint64_t *x,                    \
                                           const uint64_t *points, size_t words, size_t n,         \
                                           const type *table, type *out) {                         \
        if (differences && words == 1)                                                             \
            LANES_NAME(name##_of)(true, x, points, 1, n, table, out);                              \
        else if (differences && words == 2)                                                        \
            LANES_NAME(name##_of)(true, x, points, 2, n, table, out);                              \
        else if (words == 1)                                                                       \
            LANES_NAME(name##_of)(false, x, points, 1, n, table, out);                             \
        else if (words == 2)                                                                       \
            LANES_NAME(name##_of)(false, x, points, 2, n, table, out);                             \
        else if (differences)                                                                      \
            LANES_NAME(name##_of)(true, x, points, words, n, table, out);                          \
        else                                                                                       \
            LANES_NAME(name##_of)(false, x, points, words, n, table, out);                         \
    }
COUNTS(counts, double)
COUNTS(counts_single, float)
#undef COUNTS

static const dni_lanes LANES_NAME(lanes) = {
    .products = LANES_NAME(products),
    .products_single = LANES_NAME(products_single),
    .distances = LANES_NAME(distances),
    .dot = LANES_NAME(dot),
    .square = LANES_NAME(square),
    .square_single = LANES_NAME(square_single),
    .expand = LANES_NAME(expand),
    .exponentials = LANES_NAME(exponentials),
    .exponentials_single = LANES_NAME(exponentials_single),
    .counts = LANES_NAME(counts),
    .counts_single = LANES_NAME(counts_single),
#ifdef LANES_TALLY
    .tally = LANES_NAME(tally),
    .look_up = LANES_NAME(look_up),
    .look_up_single = LANES_NAME(look_up_single),
#endif
};
