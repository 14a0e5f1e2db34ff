/* The feature encoder: from the columns of a table to the numbers x that learners see. Fitted on the training rows only, stored with the model.
 *
 * Three steps. A *raw row* is one double for each input column: the number itself (booleans 0, 1), the index of the category in the input's level list,
 * DN_UNSEEN for a category that training never saw, NaN for missing; and the entries of its text and sparse columns (dn_raw_rows). The encoder turns raw rows into x ∈ R^d, input after input:
 *   numeric, boolean: one feature; missing → the training rows' weighted mean, or their most frequent value. With `missing_indicator` one more, "age=(missing)",
 *     1 where the number is missing, for an input that training rows miss.
 *   categorical, K levels: K features of which one is 1 (1-of-K), or K − 1 without the first, which is then all zeros. Missing is a level of its own
 *     ("(missing)", the last) when training rows had it, all zeros when they had not; or it is the most frequent level.
 *   text: the words of the training rows, or buckets of hashed words (dn_text_spec). A missing text has none.
 *   sparse: a feature for each place (dn_places: or for some of them), 0 where a row has no entry. A table in which the column is narrower or begins at another place is read by the places' names: what training
 *     did not have counts nothing.
 * Behind the inputs' features come those of the bases, functions of several number columns: see dn_basis_spec.
 * `standardize` (x − m)/s with m, s of the training rows (divisor Σv; s = 1 for a constant column) is part of the encoder's description; whether x is
 * delivered standardised or raw is said by `dn_encoder_standardizes`. It applies to numeric columns and to the bases' features only (ALGORITHMS.md, Conventions), and to sparse columns
 * when that is asked for by itself; never to text. */
#ifndef DISCERN_ENCODER_H
#define DISCERN_ENCODER_H

#include <discern/api.h>
#include <discern/rows.h>
#include <discern/run.h>
#include <discern/table.h>

DN_BEGIN_DECLS

#define DN_UNSEEN (-1.0)

/* Levels are part of a model and of every process that serves it: how many a categorical input may have, and how much text. */
#define DN_MAX_LEVELS 10000
#define DN_MAX_LEVEL_BYTES ((size_t)1 << 20)   /* of one input; of the classes of a target too */
#define DN_MAX_LEVELS_BYTES ((size_t)16 << 20) /* of all inputs */

/* Places of a sparse column that can be standardised; and features of text and sparse columns beyond which rows are never dense. */
#define DN_MAX_DENSE_PLACES 16384

/* Which rows of a source take part: role[row] for every row. NULL where a whole source is meant. */
enum dn_row_role { DN_ROW_SKIP = 0, DN_ROW_TRAIN = 1, DN_ROW_VALIDATE = 2 };

/* What stands for a missing number (boolean). DN_MISSING_NONE: nothing does. The rows that the encoder is fitted to must have none (DN_ERR_DATA, field: the column), nor those that it encodes
 * (dn_rows_from_source: DN_ERR_DATA, field, row) or that dn_model_predict answers. */
typedef enum dn_missing_number {
    DN_MISSING_MEAN,
    DN_MISSING_FREQUENT_NUMBER,
    DN_MISSING_NONE
} dn_missing_number;
/* What a missing category becomes: a level of its own when training rows have it ("(missing)"), or the most frequent level (the first among equals). */
typedef enum dn_missing_category {
    DN_MISSING_OWN_LEVEL,
    DN_MISSING_FREQUENT_LEVEL
} dn_missing_category;
/* How K levels become features: K of which one is 1, or K − 1 without the first level, which is then all zeros. */
typedef enum dn_categorical { DN_ONE_HOT, DN_DROP_FIRST } dn_categorical;
/* A category that training never saw: all zeros, the most frequent level, or refused (whoever reads raw rows asks dn_encoder_refuses_unseen). */
typedef enum dn_unseen_rule {
    DN_UNSEEN_ZEROS,
    DN_UNSEEN_FREQUENT,
    DN_UNSEEN_REFUSE
} dn_unseen_rule;

/* How the words of a text column count. tf is how often a word occurs in a text, n the training rows' Σv, df the Σv of those whose text has the word. */
typedef enum dn_text_weighting {
    DN_TEXT_COUNTS, /* tf */
    DN_TEXT_BINARY, /* 1 when it occurs */
    DN_TEXT_TFIDF, /* tf·(1 + ln((1 + n)/(1 + df))), the text's features scaled to Euclidean length 1: Manning, Raghavan, Schütze, Introduction to Information Retrieval, section 6.2 */
    /* What kernels of texts see (kernel.h). Nothing of a text gets lost, and `vocabulary`, `min_rows`, `buckets` are not looked at: */
    DN_TEXT_SET,       /* 1 for each different word */
    DN_TEXT_PATHS,     /* a text is a graph: how many of its paths have a label sequence */
    DN_TEXT_CHARACTERS /* a text is a sequence: feature j is the code point of character j (> 0; U+FFFD for a byte that is no UTF-8 and for U+0000), 0 behind its end */
} dn_text_weighting;

/* DN_TEXT_SET and DN_TEXT_PATHS have a feature for every word or label sequence of the training rows, and one more, the last, "column:(unseen)", which is 0 in all of them: of another text it is
 * √Σ n² over the words or sequences that training rows have not, each n times, so that the sum of the squares of a text's features is all of K(z, z).
 *
 * A graph is a text of edges, "a-b b-c", in any order and direction, separated by white space of ASCII; "a-b b-a" is one edge; an empty or missing text is the graph without nodes. A label is any UTF-8 without
 * white space and "-", as it is written (case matters), and names a node: equal labels of a text are the same node. A path is a sequence of 1 … `length` different nodes, each joined with the next. It has
 * a label sequence in each direction, and both count: "a-b b-c" has with length 2 the sequences a, b, c, a-b, b-a, b-c, c-b, with length 3 a-b-c and c-b-a too. Since labels name nodes every n is 1,
 * and Σ n_A n_B of two graphs is how many sequences they have in common: of "a-b b-c" and "b-a a-d" 4 with length 2 (a, b, a-b, b-a).
 * Refused (DN_ERR_DATA, with row and column): an edge that is not two labels with one "-" between, or joins a node with itself; a label of more than 256/length − 1 bytes; more than DN_MAX_PATHS edges
 * or paths; of characters more than DN_MAX_CHARACTERS. And more than DN_MAX_WORDS different words or sequences. */
#define DN_MAX_PATH_LABELS 8
#define DN_MAX_PATHS 100000     /* of one graph */
#define DN_MAX_CHARACTERS 10000 /* of one text: that many features */

/* Text to features, the same for all text columns of an encoder. Words are maximal runs of letters, marks, digits and "_" of Unicode (text.h). Two ways: a vocabulary, the words of the
 * training rows, each a feature named "column:word"; or hashing, `buckets` features named "column:#17" into which words fall by their hash, nothing learned of them but df. */
typedef struct dn_text_spec {
    dn_text_weighting weighting;
    size_t
        vocabulary; /* most words of a column: those that most training rows have, among equals the first by bytes; 0: DN_DEFAULT_VOCABULARY */
    size_t
        min_rows; /* words that fewer training rows have are left out, whatever the rows weigh; 0: 1 */
    size_t buckets;  /* 0: a vocabulary; otherwise hashed, at most DN_MAX_WORDS */
    bool keep_case;  /* otherwise words are lower-cased */
    unsigned length; /* DN_TEXT_PATHS: most labels of a path, 1 … DN_MAX_PATH_LABELS */
} dn_text_spec;
#define DN_DEFAULT_VOCABULARY 100000
#define DN_MAX_WORDS ((size_t)1 << 22) /* features of one text column */

typedef enum dn_basis_kind {
    DN_BASIS_POLYNOMIAL,     /* all monomials of the columns of degree 1 … degree */
    DN_BASIS_GAUSSIAN,       /* exp(−‖x − c‖²/(2·width²)) for each centre c */
    DN_BASIS_DISTANCE,       /* ‖x − p‖ for each point p */
    DN_BASIS_RANDOM_FOURIER, /* √(2/D) cos(ωᵀx + b), ω ~ N(0, I/width²), b uniform in [0, 2π): Rahimi and Recht, NIPS 2007 */
    DN_BASIS_FISHER /* projection on the directions of Fisher's discriminant of the training rows */
} dn_basis_kind;
#define DN_MAX_DEGREE 5
#define DN_MAX_BASIS_FEATURES 20000 /* that all bases of an encoder make together */

/* Functions of number columns (numeric and boolean inputs, missing ones filled, in their own units) as further features. The columns that some basis takes are no features
 * themselves any more, unless one of these bases has `keep`; the others stay as they are, before the bases' features. */
typedef struct dn_basis_spec {
    dn_basis_kind kind;
    const size_t *
        columns; /* [n_columns] different places in the spec's columns, numeric or boolean; NULL: all such, in their order */
    size_t n_columns;
    bool keep; /* the columns stay features too (a polynomial holds them anyway) */
    bool
        standardize; /* all but polynomials: of the columns with mean 0 and deviation 1 of the training rows (booleans too); given points are converted */
    unsigned degree; /* polynomial: 1 … DN_MAX_DEGREE */
    bool interactions; /* polynomial: products of different columns too, not only powers */
    const double *
        points; /* gaussian, distance: [n_points × n_columns]; NULL: gaussian finds n_points centres by k-means with the run's seed */
    size_t n_points;
    size_t
        n_features; /* random Fourier: D; fisher: directions, 0: all, min(classes − 1, columns) */
    double
        width; /* gaussian, random Fourier: > 0; 0: the median distance over the pairs of at most 1,000 seeded training rows (1 if 0) */
} dn_basis_spec;

/* Features that a basis of so many columns makes: known before anything is read. n_classes matters for fisher alone (0: not known, then one direction is counted). SIZE_MAX: too many to count. */
size_t dn_basis_n_features(const dn_basis_spec *spec, size_t n_columns, size_t n_classes);

/* Which places of a sparse column are features; what the others hold is not looked at. */
typedef enum dn_places_kind { DN_PLACES_ALL, DN_PLACES_KEPT, DN_PLACES_DROPPED } dn_places_kind;
typedef struct dn_places {
    dn_places_kind kind;   /* all of them; those listed; or those not listed */
    const uint32_t *place; /* [n] ascending, below the column's width */
    size_t n;
} dn_places;
/* How many of a column's places that are. */
static inline size_t dn_places_count(const dn_places *places, size_t width) {
    return places->kind == DN_PLACES_ALL    ? width
           : places->kind == DN_PLACES_KEPT ? places->n
                                            : width - places->n;
}
/* Whether they keep to the rules for a column of this width, and at least one is left. */
bool dn_places_are_well(const dn_places *places, size_t width);

typedef struct dn_encoder_spec {
    const size_t *columns; /* the source's columns that are inputs, in feature order */
    size_t n_columns;
    const dn_places *
        places; /* [n_columns] of sparse columns, of others not looked at; NULL: all places of all */
    bool standardize;
    bool
        standardize_sparse; /* with standardize: the features of sparse columns too, whose rows are dense then; at most DN_MAX_DENSE_PLACES of them a column */
    size_t max_levels;      /* DN_ERR_DATA when a categorical column has more; 0: DN_MAX_LEVELS */
    dn_missing_number missing_number;
    dn_missing_category missing_category;
    bool
        missing_indicator; /* each numeric or boolean input that training rows miss gets one feature more: 1 where missing ("age=(missing)") */
    dn_categorical categorical;
    dn_unseen_rule unseen;
    dn_text_spec text;
    const dn_basis_spec *bases; /* [n_bases] */
    size_t n_bases;
    const double *
        target; /* [source->n_rows] class indexes of the training rows, for a fisher basis; NULL otherwise */
    size_t n_classes;
} dn_encoder_spec;

/* What can be said of a spec for a table with these columns before it is read: that every column is one, that text and sparse columns keep to their limits, and the rules of the bases: numbers
 * only, no column twice in a basis or in two polynomials, degree, points finite, width >= 0, at most DN_MAX_BASIS_FEATURES features, a target for fisher (n_classes >= 2; 0: not known yet).
 * DN_ERR_ARGUMENT or DN_ERR_DATA; field is a column's name, "text" or "basis". dn_encoder_fit begins with it. */
DN_MUST_USE dn_status dn_encoder_check(const dn_table_column *columns, size_t n_cols,
                                       const dn_encoder_spec *spec, dn_error *err);
/* Bytes of working memory that fitting the bases takes at most (rows of their columns are kept in memory beside it only when they fit). 0 without bases. */
double dn_encoder_bases_memory(const dn_encoder_spec *spec, size_t n_rows, size_t n_classes,
                               size_t n_slots);

typedef struct dn_encoder dn_encoder; /* immutable once fitted, shared freely */

#define DN_NO_LEVEL SIZE_MAX

/* What the training rows have shown of an input. */
typedef enum dn_input_remark {
    DN_INPUT_VARIES,
    DN_INPUT_CONSTANT, /* a number or boolean of one value, no indicator beside it: its feature tells nothing */
    DN_INPUT_EMPTY,    /* no row has a value or an entry */
    DN_INPUT_WORDLESS, /* a text that some rows have, but no word is in it */
    DN_INPUT_RARE      /* a text, but no word is in min_rows rows */
} dn_input_remark;

/* One input column of a fitted encoder. Its features in their order: the number itself, then its indicator; or the levels, without the first when that is dropped; or the words, ascending by
 * bytes, or label sequences, and behind them those never seen; or the buckets; or the characters; or the places. */
typedef struct dn_input {
    const char *name;
    dn_column_type type;
    dn_strings levels;  /* categorical: ascending by bytes; empty otherwise */
    bool missing_level; /* categorical: missing is a level of its own, index levels.n */
    bool indicator;     /* numeric, boolean: the last feature is 1 where the number is missing */
    bool taken;         /* numeric, boolean: bases have it, it is no feature itself */
    double fill;        /* numeric, boolean: what stands for missing */
    size_t
        missing_as; /* categorical: the level that stands for missing (levels.n: its own), DN_NO_LEVEL: all zeros */
    size_t
        unseen_as; /* categorical: the level that stands for a category never seen, DN_NO_LEVEL: all zeros */
    size_t first_feature, n_features;
    size_t
        width; /* sparse: places of the training table's column, those below it; 0 otherwise. Features may be fewer: dn_encoder_place */
    uint32_t first_place;   /* sparse: what place 0 is called, as in dn_table_column */
    dn_input_remark remark; /* of the fit; an encoder read from bytes says DN_INPUT_VARIES */
} dn_input;

/* One pass (two when standardising) over the rows with role[row] == DN_ROW_TRAIN (NULL: all), by run's sum. weight: NULL or [source->n_rows]; a row of weight 0 counts as
 * none, also for the levels. A column is constant when its extremes are equal or its deviation is <= 1e-14 of their magnitude. A number that no training row has is filled with 0.
 * The most frequent value or level is the one with the greatest Σv, the least (first) among equals: a pass for each numeric column, one more for all levels.
 * A text column takes a pass of its own (data/vocabulary.h), a sparse one too, and one more to be standardised.
 * Bases add passes over their columns: two when standardising, some 100 for k-means (Lloyd's iterations from a k-means++ start), two for fisher, one for a width.
 * DN_ERR_DATA: no training row, no column, too many levels or too much text in them, fewer different rows than centres; DN_ERR_NUMERIC: a mean, a deviation or a
 * feature of a basis that is not finite, columns of a fisher basis that are collinear within the classes (named); DN_ERR_ARGUMENT: a weight < 0 or not finite, and what dn_encoder_check refuses. */
DN_MUST_USE dn_status dn_encoder_fit(const dn_table_source *source, const dn_encoder_spec *spec,
                                     const uint8_t *role, const double *weight, const dn_run *run,
                                     dn_encoder **out, dn_error *err);
dn_encoder *dn_encoder_ref(dn_encoder *encoder); /* shared by counting: thread safe */
void dn_encoder_unref(dn_encoder *encoder);      /* NULL is allowed */

size_t dn_encoder_n_inputs(const dn_encoder *encoder);
const dn_input *dn_encoder_input(const dn_encoder *encoder, size_t i);
/* How many features of the bases were the same in all training rows, as standardising found, and the first of them; 0 in an encoder read from bytes. */
size_t dn_encoder_n_constant(const dn_encoder *encoder, size_t *out_first);
size_t dn_encoder_n_features(const dn_encoder *encoder);
bool dn_encoder_standardizes(const dn_encoder *encoder);
/* Mean and deviation by which feature j is standardised (0 and 1 for one that is not). [n_features], the encoder's; NULL: none is. */
const double *dn_encoder_mean(const dn_encoder *encoder);
const double *dn_encoder_scale(const dn_encoder *encoder);
/* A fitted basis: what makes its features of a raw row. Its functions see z = (x − mean)/scale of its columns x, missing ones filled, or x itself. Arrays are the encoder's. */
typedef struct dn_basis {
    dn_basis_kind kind;
    bool keep, interactions; /* as in dn_basis_spec */
    unsigned degree;         /* polynomial */
    double width;            /* gaussian, random Fourier: as used, given or found */
    size_t n_columns, n_features, first_feature;
    const size_t *columns;      /* [n_columns] inputs, in the order of the functions' arguments */
    const double *mean, *scale; /* [n_columns]; NULL: not standardised, z = x */
    const double *
        points; /* [n_features × n_columns] centres, points, frequencies or directions, in terms of z; NULL: polynomial */
    const double *phase; /* [n_features] random Fourier; NULL otherwise */
} dn_basis;
/* In the order of the spec. Features of a polynomial are ordered by degree, then by their factors: a, b, a a, a b, b b. */
size_t dn_encoder_n_bases(const dn_encoder *encoder);
dn_basis dn_encoder_basis(const dn_encoder *encoder, size_t b);
bool dn_encoder_refuses_unseen(
    const dn_encoder *
        encoder); /* whoever makes raw rows must refuse a category of which dn_encoder_level says DN_UNSEEN */
/* The words of a text input, ascending by bytes (none when they are hashed, or characters), or its label sequences, and their idf or NULL: [n] of the words, or of the buckets. The encoder's. */
dn_strings dn_encoder_words(const dn_encoder *encoder, size_t input, const double **out_idf);
/* Whether a short row may take far more than it seems to: graphs, whose paths are many more than their letters, and strings, each compared with all others. O(text and sparse inputs). */
bool dn_encoder_texts_are_costly(const dn_encoder *encoder);
/* Name of feature j: "petal_length", "sex=female", "cabin=(missing)", "age=(missing)", "message:free", "message:#17", "message:(unseen)", "message:[3]" (its third character), "f17"; of bases "a^2", "a*b", "gaussian(1)", "distance(1)", "random_fourier(1)", "fisher(1)", numbered from 1
 * through all bases of a kind. No two features have the same: a column's name that contains '=' (with bases '^', '*' or '(' too, with text or sparse columns ':') or begins with '"', or could be a place of a sparse
 * column, a sparse column's that ends in a digit, a level that begins with '"' or reads "(missing)", a word or label sequence that begins with '"' or reads "(unseen)", is put in double quotes, those within it doubled. Writes at most size bytes with NUL, returns the length it would need. */
size_t dn_encoder_feature_name(const dn_encoder *encoder, size_t j, char *out, size_t size);
/* The feature of an input's first level that is left out ("sex=female"), written in the same way; 0: none is. */
size_t dn_encoder_dropped_level(const dn_encoder *encoder, size_t input, char *out, size_t size);

/* The level's index as a raw value, DN_UNSEEN if training never saw it. O(length) by hashing; thread safe. */
double dn_encoder_level(const dn_encoder *encoder, size_t input, const char *text, size_t length);

/* Rows as they come, before the encoder: see above. A view; what an input of text or sparse type has in `value` is not looked at, its features are among the entries. */
typedef struct dn_raw_rows {
    size_t n;
    const double *value; /* [n × n_inputs] */
    const size_t *
        row_start; /* [n + 1] of entries; NULL: the encoder has no text and no sparse input, or no row has an entry */
    const uint32_t *
        feature; /* strictly ascending within a row: the encoder's features of text and sparse inputs */
    const double *entry; /* the feature's raw value (not standardised) */
} dn_raw_rows;
/* A view of n rows without entries. */
static inline dn_raw_rows dn_raw_numbers(const double *value, size_t n) {
    dn_raw_rows rows = {n, value, NULL, NULL, NULL};
    return rows;
}
/* Rows first … first + n - 1 of rows, whose encoder has n_inputs inputs. */
static inline dn_raw_rows dn_raw_part(dn_raw_rows rows, size_t n_inputs, size_t first, size_t n) {
    rows.n = n;
    rows.value += first * n_inputs;
    rows.row_start =
        rows.row_start == NULL
            ? NULL
            : rows.row_start + first; /* counts from row_start[0] on need not begin with 0 */
    return rows;
}

/* Makes the entries of texts: one thread's memory for the words of a text. Heap object. */
typedef struct dn_text_work dn_text_work;
DN_MUST_USE dn_status dn_text_work_new(dn_text_work **out, dn_error *err);
void dn_text_work_free(dn_text_work *work); /* NULL is allowed */
/* The entries that a text input (DN_TEXT) has for this text: *feature and *entry [*n], ascending, the work's until the next call. O(length), and sorting them. DN_ERR_MEMORY; DN_ERR_DATA
 * (field: the input; its name is not in the message) for a text that is no graph, or too long to be characters. */
DN_MUST_USE dn_status dn_encoder_text(const dn_encoder *encoder, size_t input, const char *text,
                                      size_t length, dn_text_work *work, const uint32_t **feature,
                                      const double **entry, size_t *n, dn_error *err);
/* The feature of place `place` of a sparse input; SIZE_MAX: training had no such place, or it is no feature: it counts nothing. */
size_t dn_encoder_place(const dn_encoder *encoder, size_t input, uint32_t place);
/* The place that feature k (< n_features) of a sparse input is. */
uint32_t dn_encoder_nth_place(const dn_encoder *encoder, size_t input, size_t k);

/* x of raw rows → out [rows.n × n_features] dense, standardised when the encoder standardises. No allocation, cannot fail: a feature of a basis
 * may be infinite or NaN for numbers far beyond those of the training rows (1e300 squared). */
void dn_encoder_apply(const dn_encoder *encoder, dn_raw_rows rows, double *out);

/* Rows of a source, encoded: those with role[row] == wanted, renumbered from 0 in order; target [source->n_rows] holds the class index of every source row
 * (copied for the selected rows only as blocks are asked for), weight likewise or NULL. Dense or CSR is the encoder's choice (dn_encoder_is_sparse).
 * With in_memory the encoded matrix is built once through run's allocator (DN_ERR_BUDGET when it does not fit: its message says the bytes needed; of CSR rows exactly their entries), otherwise each block is
 * decoded and encoded anew at every call: memory for a block, the same blocks bit for bit; source->n_slots must then be at least run->n_slots. Inputs are found in the source by name and
 * must have their type, but that a categorical column is read as text (DN_ERR_DATA, field). CSR rows hold no zeros. While blocks are encoded: DN_ERR_DATA (field, row) for a category never seen, or for a missing number, if the encoder refuses them and the row weighs anything;
 * DN_ERR_NUMERIC (field, row) when a feature of a basis leaves the finite numbers. Polls run's stop while it encodes, blocks too. source, encoder, role, target and weight must outlive
 * it, and what run's allocator and stop refer to. */
DN_MUST_USE dn_status dn_rows_from_source(const dn_table_source *source, const dn_encoder *encoder,
                                          const uint8_t *role, enum dn_row_role wanted,
                                          const double *target, const double *weight,
                                          bool in_memory, const dn_run *run, dn_rows **out,
                                          dn_error *err);
/* Whether encoded rows are CSR: when fewer than a quarter of the features are expected to be other than 0 (each number, one of a category's, of text and sparse columns as many as the
 * training rows had in the mean, of standardised ones all), and with more than DN_MAX_DENSE_PLACES features of text and sparse columns that are not standardised; characters
 * always. Stored with the encoder. */
bool dn_encoder_is_sparse(const dn_encoder *encoder);
/* Mean number of entries of its text and sparse inputs that a training row has, those of standardised ones apart. */
double dn_encoder_entries(const dn_encoder *encoder);
/* Bytes that in_memory takes for n_rows rows, target and weight included; of text and sparse columns with as many entries a row as the training rows had in the mean. SIZE_MAX: more than can
 * be addressed. */
size_t dn_encoder_rows_bytes(const dn_encoder *encoder, size_t n_rows);

DN_END_DECLS

#endif
