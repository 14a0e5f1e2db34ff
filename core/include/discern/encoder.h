/* The encoder: columns of a table to the feature vectors x that learners use.
 *
 * An encoder is fitted to the training rows, stored with the model, and applied to every row that
 * the model scores. A fitted encoder is immutable and may be used by any number of threads.
 *
 * Terms
 *   input         a column that the encoder reads
 *   feature       one number of x; feature indices begin with 0
 *   scalar input  numeric, boolean, datetime or categorical: one number per row
 *   vector input  text or sparse: a sparse vector per row
 *   entry         one number of a sparse vector: a feature index and its value
 *   raw row       a row before encoding (dn_raw_rows): one number per scalar input, which is NaN if
 *                 missing, and the entries of the vector inputs. A boolean is 0 or 1; a category is
 *                 the index of its level or DN_UNSEEN
 *   level         one of the different values of a categorical input
 *   basis         a group of functions of several numeric inputs (dn_basis_spec)
 *   v             the weight of a row; 1 without weights
 *
 * The features are those of the inputs in their order, then those of the bases:
 *   numeric, boolean  one feature: the number. A missing number is replaced by the weighted mean of
 *                     the training rows or by their most frequent value. With `missing_indicator`,
 *                     an input that is missing in some training row has one more feature,
 *                     "age=(missing)": 1 where the number is missing
 *   datetime          as numeric: its seconds since 1970, or since midnight (datetime.h). A part
 *                     of it is a categorical input (dn_table_column.part)
 *   categorical       K levels: K features, one of which is 1, or K - 1 features without the first
 *                     level, which is then all zeros. If the value is missing in some training row,
 *                     "(missing)" is the last level, or the most frequent level replaces it. If the
 *                     value is missing in no training row, a value that is missing later is all
 *                     zeros
 *   text              one feature per word of the training rows, or per hash bucket (dn_text_spec).
 *                     A missing text has no words
 *   sparse            one feature per index of the column, or per index that dn_index_filter keeps;
 *                     0 where a row has no entry. Another table's column may be narrower or begin
 *                     with another index: indices are matched by name, and those that the training
 *                     table does not have are ignored
 *
 * Standardisation replaces x by (x - m)/s, where m and s are the weighted mean and standard
 * deviation of the training rows (divisor: sum of v); s = 1 for a constant column. It applies to
 * numeric and datetime inputs and to the features of bases, to sparse inputs only with
 * `standardize_sparse`, and never to booleans, categories and text. */
#ifndef DISCERN_ENCODER_H
#define DISCERN_ENCODER_H

#include <discern/api.h>
#include <discern/rows.h>
#include <discern/run.h>
#include <discern/table.h>

DN_BEGIN_DECLS

/* The raw value of a category that is not a level of the input. */
#define DN_UNSEEN (-1.0)

/* Limits of the levels, which are stored in the model. */
#define DN_MAX_LEVELS 10000                    /* number of levels of one input */
#define DN_MAX_LEVEL_BYTES ((size_t)1 << 20)   /* bytes of the levels of one input or target */
#define DN_MAX_LEVELS_BYTES ((size_t)16 << 20) /* bytes of the levels of all inputs */

/* Maximum number of features of a sparse input that can be standardised. If the vector inputs have
 * more unstandardised features than this, encoded rows are always sparse. */
#define DN_MAX_DENSE_FEATURES 16384

/* The role of each source row. A NULL array of roles selects every row. */
enum dn_row_role { DN_ROW_SKIP = 0, DN_ROW_TRAIN = 1, DN_ROW_VALIDATE = 2 };

/* The replacement of a missing number or boolean. */
typedef enum dn_missing_number {
    DN_MISSING_MEAN,            /* the weighted mean of the training rows */
    DN_MISSING_FREQUENT_NUMBER, /* the most frequent value of the training rows */
    /* not replaced: a missing number is an error (DN_ERR_DATA) in training rows, in rows that are
     * encoded and in dn_model_predict */
    DN_MISSING_NONE
} dn_missing_number;

/* The replacement of a missing category. */
typedef enum dn_missing_category {
    DN_MISSING_OWN_LEVEL,     /* the level "(missing)", if the input is missing in some training
                               * rows */
    DN_MISSING_FREQUENT_LEVEL /* the most frequent level; of equally frequent levels the first */
} dn_missing_category;

/* The features of a categorical input with K levels. */
typedef enum dn_categorical {
    DN_ONE_HOT,   /* K features, one of which is 1 */
    DN_DROP_FIRST /* K - 1 features; the first level is all zeros */
} dn_categorical;

/* The features of a category that occurs in no training row. */
typedef enum dn_unseen_rule {
    DN_UNSEEN_ZEROS,    /* all zeros */
    DN_UNSEEN_FREQUENT, /* the features of the most frequent level */
    /* an error. A caller that makes raw rows must check it; see dn_encoder_refuses_unseen */
    DN_UNSEEN_REFUSE
} dn_unseen_rule;

/* The value of the feature of a word. tf is the number of times that the word occurs in the text,
 * n the sum of v over the training rows, df the sum of v over the training rows whose text has the
 * word.
 *
 * The last three are for kernels of texts (kernel.h). They use all words, paths or characters of a
 * text: `vocabulary`, `min_rows` and `buckets` have no effect on them. */
typedef enum dn_text_weighting {
    DN_TEXT_COUNTS, /* tf */
    DN_TEXT_BINARY, /* 1 if the word occurs */
    /* tf (1 + ln((1 + n)/(1 + df))); the features of a text are then scaled to Euclidean norm 1.
     * Source: Manning, Raghavan, Schuetze, Introduction to Information Retrieval, section 6.2 */
    DN_TEXT_TFIDF,
    DN_TEXT_SET,   /* 1 for each different word */
    DN_TEXT_PATHS, /* the text is a graph: for each label sequence, the number of paths that have
                    * it */
    /* the text is a sequence of characters: feature j is the code point of character j; 0 after
     * the last character. U+FFFD replaces U+0000 and invalid UTF-8, so that every character is
     * > 0 */
    DN_TEXT_CHARACTERS
} dn_text_weighting;

/* Unseen words. DN_TEXT_SET and DN_TEXT_PATHS have one feature for every word or label sequence of
 * the training rows, and a last feature, "column:(unseen)", which is 0 in all training rows. In
 * another text its value is sqrt(sum of n^2) over the words or sequences that occur in no training
 * row, where n is the number of occurrences in the text. The sum of the squares of the features of
 * a text z is then equal to K(z, z).
 *
 * Graphs. A graph is a text of edges "a-b b-c", separated by ASCII white space. The order and the
 * direction of edges have no meaning; "a-b b-a" is one edge. An empty or missing text is the graph
 * without nodes. A label is UTF-8 without white space and "-"; it is case-sensitive and names a
 * node: equal labels in one text are the same node. A path is a sequence of 1 to `length`
 * different nodes, in which consecutive nodes are joined by an edge. A path has one label sequence
 * per direction, and both are counted: "a-b b-c" has with length 2 the sequences a, b, c, a-b,
 * b-a, b-c, c-b, and with length 3 also a-b-c and c-b-a. Because labels name nodes, every n is 1,
 * and the sum of n_A n_B over the sequences of two graphs A and B is the number of sequences that
 * occur in both: 4 for "a-b b-c" and "b-a a-d" with length 2 (a, b, a-b, b-a).
 *
 * Errors (DN_ERR_DATA with row and column): an edge that is not two labels joined by one "-", or
 * that joins a node to itself; a label of more than 256/length - 1 bytes; more than DN_MAX_PATHS
 * edges or paths; more than DN_MAX_CHARACTERS characters; more than DN_MAX_WORDS different words
 * or sequences. */
#define DN_MAX_PATH_LABELS 8
#define DN_MAX_PATHS 100000 /* maximum number of edges, and of paths, of one graph */
/* Maximum number of characters of one text, each of which is a feature. */
#define DN_MAX_CHARACTERS 10000

/* The features of all text inputs of an encoder. A word is a maximal run of Unicode letters,
 * marks, digits and "_" (text.h). Words become features in one of two ways. With a vocabulary,
 * every chosen word of the training rows is a feature, "column:word". With hashing, words are
 * distributed over `buckets` features, "column:#17", and only df is computed from the training
 * rows. */
typedef struct dn_text_spec {
    dn_text_weighting weighting;
    /* maximum number of words of a column. The words with the greatest df are chosen; of words
     * with equal df the first in byte order. 0: DN_DEFAULT_VOCABULARY */
    size_t vocabulary;
    /* minimum number of training rows, not weighted, in which a word must occur to be a feature.
     * 0: 1 */
    size_t min_rows;
    size_t buckets;  /* number of buckets for hashing, at most DN_MAX_WORDS; 0: a vocabulary is
                      * used */
    bool keep_case;  /* false: words are converted to lower case */
    unsigned length; /* DN_TEXT_PATHS: maximum number of labels, 1 to DN_MAX_PATH_LABELS */
} dn_text_spec;
#define DN_DEFAULT_VOCABULARY 100000
#define DN_MAX_WORDS ((size_t)1 << 22) /* maximum number of features of one text column */

/* The functions of a basis. x is the vector of its columns, D its number of features. */
typedef enum dn_basis_kind {
    DN_BASIS_POLYNOMIAL, /* all monomials of the columns of degree 1 to `degree` */
    DN_BASIS_GAUSSIAN,   /* exp(-|x - c|^2/(2 width^2)) for each centre c */
    DN_BASIS_DISTANCE,   /* |x - p| for each point p */
    /* sqrt(2/D) cos(w'x + b), w ~ N(0, I/width^2), b uniform in [0, 2 pi). Source: Rahimi and
     * Recht, NIPS 2007 */
    DN_BASIS_RANDOM_FOURIER,
    DN_BASIS_FISHER /* projection on the directions of Fisher's discriminant */
} dn_basis_kind;
#define DN_MAX_DEGREE 5
#define DN_MAX_BASIS_FEATURES 20000 /* maximum number of features of all bases of an encoder */

/* Functions of numeric, datetime and boolean inputs as additional features. Missing numbers are
 * replaced before the functions are applied. The functions use the columns in their original units
 * unless `standardize` is set. A column that bases use is itself a feature only if one of these
 * bases has `keep`. */
typedef struct dn_basis_spec {
    dn_basis_kind kind;
    /* [n_columns] different positions in the array `columns` of the encoder spec, each of a
     * numeric, datetime or boolean column; NULL: all such columns, in order */
    const size_t *columns;
    size_t n_columns;
    /* the columns also remain features. No effect on polynomials, whose first monomials are the
     * columns */
    bool keep;
    /* all kinds but polynomials: the columns, including booleans, are standardised to mean 0 and
     * deviation 1 before the functions are applied. Given points are converted in the same way */
    bool standardize;
    unsigned degree;   /* polynomial: 1 to DN_MAX_DEGREE */
    bool interactions; /* polynomial: also products of different columns, in addition to powers */
    /* gaussian, distance: [n_points x n_columns]. NULL, gaussian only: n_points centres are
     * computed by k-means with the run's seed */
    const double *points;
    size_t n_points;
    /* random Fourier: D; fisher: number of directions, 0: the maximum, min(classes - 1, columns) */
    size_t n_features;
    /* gaussian, random Fourier: > 0. 0: the median distance of all pairs of at most 1,000 random
     * training rows, or 1 if this median is 0 */
    double width;
} dn_basis_spec;

/* Returns the number of features of a basis.
 *
 *   n_columns  number of columns of the basis
 *   n_classes  used for fisher only; 0: unknown, one direction is assumed
 *
 * Returns SIZE_MAX if the number exceeds size_t. */
size_t dn_basis_n_features(const dn_basis_spec *spec, size_t n_columns, size_t n_classes);

/* Selection of the indices of a sparse column that become features. */
typedef enum dn_index_filter_kind {
    DN_INDICES_ALL,
    DN_INDICES_KEPT,   /* those listed */
    DN_INDICES_DROPPED /* those not listed */
} dn_index_filter_kind;

typedef struct dn_index_filter {
    dn_index_filter_kind kind;
    const uint32_t *index; /* [n] strictly ascending, each less than the width of the column */
    size_t n;
} dn_index_filter;

/* Returns the number of indices that the filter selects in a column of this width. */
static inline size_t dn_index_filter_count(const dn_index_filter *filter, size_t width) {
    return filter->kind == DN_INDICES_ALL    ? width
           : filter->kind == DN_INDICES_KEPT ? filter->n
                                             : width - filter->n;
}
/* Returns true if the list ascends strictly, is below the width, and selects at least one index. */
bool dn_index_filter_is_valid(const dn_index_filter *filter, size_t width);

/* Specification of an encoder for dn_encoder_fit. Zero is the default of every member except
 * `columns`. */
typedef struct dn_encoder_spec {
    const size_t *columns; /* [n_columns] indices of the source's columns that are inputs, in
                            * feature order */
    size_t n_columns;
    /* [n_columns] one for each column, read for sparse columns only; NULL: all indices of all
     * sparse columns are features */
    const dn_index_filter *index_filters;
    bool standardize;
    /* with `standardize`: also standardises sparse inputs, whose features then are nonzero in
     * every row; at most DN_MAX_DENSE_FEATURES per column */
    bool standardize_sparse;
    size_t max_levels; /* maximum number of levels of one input; more are an error. 0:
                        * DN_MAX_LEVELS */
    dn_missing_number missing_number;
    dn_missing_category missing_category;
    /* adds a feature to each numeric, datetime or boolean input that is missing in some training
     * row: 1 in rows where the input is missing, otherwise 0 */
    bool missing_indicator;
    dn_categorical categorical;
    dn_unseen_rule unseen;
    dn_text_spec text;
    const dn_basis_spec *bases; /* [n_bases] */
    size_t n_bases;
    /* [source->n_rows] class index of each training row; used by fisher bases only; otherwise
     * NULL */
    const double *target;
    size_t n_classes;
} dn_encoder_spec;

/* Checks a spec against the columns of a table, without reading rows. dn_encoder_fit calls it
 * first.
 *
 * Checks that every column exists, the limits of text and sparse columns, and the bases: numeric
 * columns only, no column twice in a basis or in two polynomials, degree, finite points, width >=
 * 0, at most DN_MAX_BASIS_FEATURES features, at least two classes for fisher (n_classes 0:
 * unknown).
 *
 *   columns  [n_cols] of the table
 *
 * Errors: DN_ERR_ARGUMENT, DN_ERR_DATA (field: name of a column, "text" or "basis"). */
DN_MUST_USE dn_status dn_encoder_check(const dn_table_column *columns,
                                       size_t n_cols,
                                       const dn_encoder_spec *spec,
                                       dn_error *err);

/* Returns an upper bound of the bytes of working memory for fitting the bases; 0 without bases.
 * The rows of the columns of the bases are not included: they are kept in memory only if the
 * memory budget allows it. */
double dn_encoder_bases_memory(const dn_encoder_spec *spec,
                               size_t n_rows,
                               size_t n_classes,
                               size_t n_slots);

typedef struct dn_encoder dn_encoder; /* immutable and reference-counted */

#define DN_NO_LEVEL SIZE_MAX

/* Remark of the fit about an input. */
typedef enum dn_input_remark {
    DN_INPUT_VARIES,
    /* numeric, datetime or boolean without indicator: the same value in all training rows */
    DN_INPUT_CONSTANT,
    DN_INPUT_ONE_LEVEL, /* categorical: the same level in all training rows */
    DN_INPUT_EMPTY,     /* no training row has a value or an entry */
    DN_INPUT_WORDLESS,  /* text: no text of the training rows has a word, although some are not
                        * missing */
    DN_INPUT_RARE       /* text: no word occurs in min_rows training rows */
} dn_input_remark;

/* One input of a fitted encoder. Order of its features:
 *   numeric, boolean  the number, then the missing indicator
 *   categorical       the levels in byte order, without the first if it is dropped
 *   text              the words or label sequences in byte order, then "(unseen)"; or the buckets;
 *                     or the characters
 *   sparse            the indices that are features, ascending */
typedef struct dn_input {
    const char *name;
    const char *column; /* name of the column that it reads: with `part` the name without the part,
                         * otherwise `name` */
    dn_column_type type;
    dn_strings levels;  /* categorical: the levels in byte order; otherwise empty */
    bool missing_level; /* categorical: "(missing)" is a level, with the index levels.n */
    bool indicator;     /* numeric, boolean, datetime: the last feature is the missing indicator */
    bool in_basis_only; /* as `indicator`: used by bases, without a feature for the number */
    double fill;        /* as `indicator`: the value that replaces a missing one */
    /* categorical: index of the level that replaces a missing value (levels.n for "(missing)");
     * DN_NO_LEVEL: all features are 0 */
    size_t missing_as;
    size_t unseen_as; /* categorical: index of the level that replaces an unseen category;
                       * DN_NO_LEVEL: all features are 0 */
    size_t first_feature;
    size_t n_features;
    /* sparse: width of the training table's column, which may exceed n_features; otherwise 0 */
    size_t width;
    uint32_t first_index;   /* sparse: the feature of index j has the name
                             * "<name><first_index + j>" */
    dn_datetime_form form;  /* datetime, part: how the cells of the training table are written */
    dn_date_part part;      /* categorical: the categories are this part of a date */
    bool follows;           /* it reads the same column as the input before it */
    dn_input_remark remark; /* always DN_INPUT_VARIES in an encoder that was read from bytes */
} dn_input;

/* Fits an encoder to the rows whose role is DN_ROW_TRAIN.
 *
 *   role    [source->n_rows] or NULL: all rows
 *   weight  [source->n_rows] or NULL: all 1. Rows with weight 0 are ignored, also for the levels
 *   run     NULL: dn_run_default()
 *   out     receives a reference, released by dn_encoder_unref. Unchanged on failure
 *
 * A column is constant if its minimum and maximum are equal, or if its deviation is <= 1e-14 of
 * their magnitude. A number that is missing in all training rows is replaced by 0. The most
 * frequent value or level is the one with the greatest sum of v; of several the smallest value or
 * the first level.
 *
 * Cost: one pass over the rows, two with `standardize`; one for each numeric column and one for
 * all levels, if the most frequent value is needed; one for each text input; one for each sparse
 * input, two if it is standardised. Each basis adds passes over its columns: two with
 * `standardize`, at most 100 for k-means and one per centre, two for fisher, two for a width that
 * is computed from the rows.
 *
 * Errors
 *   DN_ERR_DATA      no training row; no column; too many levels or bytes of levels; fewer
 *                    different rows than centres; a text or missing number that is not allowed
 *   DN_ERR_NUMERIC   a mean, deviation or basis feature is not finite; columns of a fisher basis
 *                    are collinear within the classes (the message names them)
 *   DN_ERR_ARGUMENT  a weight that is negative or not finite; errors of dn_encoder_check
 *   DN_ERR_BUDGET, DN_ERR_MEMORY, DN_ERR_STOPPED, DN_ERR_TIME */
DN_MUST_USE dn_status dn_encoder_fit(const dn_table_source *source,
                                     const dn_encoder_spec *spec,
                                     const uint8_t *role,
                                     const double *weight,
                                     const dn_run *run,
                                     dn_encoder **out,
                                     dn_error *err);

/* Adds a reference and returns the encoder. Thread-safe. */
dn_encoder *dn_encoder_ref(dn_encoder *encoder);
/* Releases a reference. The encoder is freed with its last reference. Thread-safe. NULL is
 * allowed. */
void dn_encoder_unref(dn_encoder *encoder);

/* ---- properties: all are thread-safe; arrays belong to the encoder ---- */

size_t dn_encoder_n_inputs(const dn_encoder *encoder);
const dn_input *dn_encoder_input(const dn_encoder *encoder, size_t i);
size_t dn_encoder_n_features(const dn_encoder *encoder);

/* Returns the number of basis features that are constant in the training rows, found by
 * standardisation; *out_first receives the first of them. 0 in an encoder that was read from
 * bytes. */
size_t dn_encoder_n_constant(const dn_encoder *encoder, size_t *out_first);

/* Returns true if dn_encoder_apply standardises features. */
bool dn_encoder_standardizes(const dn_encoder *encoder);
/* Returns [n_features] the mean of each feature, 0 if the feature is not standardised; NULL if no
 * feature is standardised. */
const double *dn_encoder_mean(const dn_encoder *encoder);
/* Returns [n_features] the deviation of each feature, 1 if the feature is not standardised; NULL
 * if no feature is standardised. */
const double *dn_encoder_scale(const dn_encoder *encoder);

/* A fitted basis. Its functions are applied to z = (x - mean)/scale, where x is the vector of its
 * columns after missing numbers are replaced. */
typedef struct dn_basis {
    dn_basis_kind kind;
    bool keep;
    bool interactions;
    unsigned degree; /* polynomial */
    double width;    /* gaussian, random Fourier: the width used, given or computed */
    size_t n_columns;
    size_t n_features;
    size_t first_feature;
    const size_t *columns; /* [n_columns] input indices, in the order of the elements of x */
    const double *mean;    /* [n_columns]; NULL: z = x */
    const double *scale;   /* [n_columns]; NULL: z = x */
    /* [n_features x n_columns] centres, points, frequencies w or directions, in the units of z;
     * NULL: polynomial */
    const double *points;
    const double *phase; /* random Fourier: [n_features] b; otherwise NULL */
} dn_basis;

size_t dn_encoder_n_bases(const dn_encoder *encoder);
/* Returns basis b, in the order of the spec. The monomials of a polynomial are ordered by degree,
 * then by their factors: a, b, a a, a b, b b. */
dn_basis dn_encoder_basis(const dn_encoder *encoder, size_t b);

/* Returns true if an unseen category is an error. A caller that makes raw rows must then reject a
 * category for which dn_encoder_level returns DN_UNSEEN. */
bool dn_encoder_refuses_unseen(const dn_encoder *encoder);

/* Returns the words or label sequences of a text input, in byte order; none if the input has
 * buckets or characters. *out_idf: [n] the factor 1 + ln((1 + n)/(1 + df)) of each word or bucket,
 * or NULL. */
dn_strings dn_encoder_words(const dn_encoder *encoder, size_t input, const double **out_idf);

/* Returns true if a short text may be expensive to score: a graph has many more paths than
 * characters, and a sequence is compared with all stored sequences. O(number of vector inputs). */
bool dn_encoder_texts_are_costly(const dn_encoder *encoder);

/* Writes the name of feature j, NUL-terminated and truncated to `size` bytes. Returns its full
 * length.
 *
 * Names: "petal_length", "sex=female", "cabin=(missing)", "age=(missing)", "message:free",
 * "message:#17", "message:(unseen)", "message:[3]" (third character), "f17". Features of bases:
 * "a^2", "a*b", "gaussian(1)", "distance(1)", "random_fourier(1)", "fisher(1)", numbered from 1
 * through all bases of a kind.
 *
 * No two features have the same name. An ambiguous part of a name is put in double quotes, and
 * quotes within it are doubled. Ambiguous parts are: the name of a column that contains '=', that
 * begins with '"', that contains '^', '*' or '(' if there are bases, that contains ':' if there
 * are vector inputs, that could be a feature of a sparse column, or that belongs to a sparse
 * column and ends in a digit; a level that begins with '"' or is "(missing)"; a word that begins
 * with '"' or is "(unseen)". */
size_t dn_encoder_feature_name(const dn_encoder *encoder, size_t j, char *out, size_t size);
/* Writes the name of the dropped first level of an input ("sex=female") and returns its length; ""
 * and 0 if no level is dropped. */
size_t dn_encoder_dropped_level(const dn_encoder *encoder, size_t input, char *out, size_t size);

/* Returns the raw value of a category: the index of its level, or DN_UNSEEN. If all levels of the
 * input are numbers as dn_number_format writes them, of less than 2^53 in magnitude, a text that is
 * such a number is compared by its value, without blanks around it: "3.0" is the level "3".
 * Otherwise, as for "007", the texts must be equal. O(length). */
double dn_encoder_level(const dn_encoder *encoder, size_t input, const char *text, size_t length);

/* Writes the raw values of the inputs that read one column of dates: a datetime input and the parts
 * that follow it. A part that is no level is DN_UNSEEN.
 *
 *   input  the first input of the column: datetime or a part
 *   raw    [n] of that input and the next ones
 *
 * Returns n, the number of these inputs; 0: the input has no dates. */
size_t dn_encoder_date(const dn_encoder *encoder, size_t input, double seconds, double *raw);

/* ---- raw rows to x ---- */

/* A view of raw rows. */
typedef struct dn_raw_rows {
    size_t n;
    const double *value; /* [n x n_inputs]; the elements of vector inputs are not read */
    /* [n + 1] index of each row's first entry; NULL: no row has entries */
    const size_t *row_start;
    const uint32_t *feature; /* feature index of each entry, strictly ascending within a row */
    const double *entry;     /* value of each entry, not standardised */
} dn_raw_rows;

/* Returns a view of n rows without entries. */
static inline dn_raw_rows dn_raw_numbers(const double *value, size_t n) {
    dn_raw_rows rows = {n, value, NULL, NULL, NULL};
    return rows;
}
/* Returns a view of the rows first … first + n - 1. row_start of the view need not begin with 0. */
static inline dn_raw_rows dn_raw_part(dn_raw_rows rows, size_t n_inputs, size_t first, size_t n) {
    rows.n = n;
    rows.value += first * n_inputs;
    rows.row_start = rows.row_start == NULL ? NULL : rows.row_start + first;
    return rows;
}

/* Working memory of one thread for dn_encoder_text. */
typedef struct dn_text_work dn_text_work;
DN_MUST_USE dn_status dn_text_work_new(dn_text_work **out, dn_error *err);
void dn_text_work_free(dn_text_work *work); /* NULL is allowed */

/* Computes the entries of a text.
 *
 *   input    a text input
 *   text     [length]
 *   feature  [*n] ascending; valid until the next call with the same `work`
 *   entry    [*n] likewise
 *
 * Cost: O(length) and sorting the entries.
 * Errors: DN_ERR_MEMORY; DN_ERR_DATA (field: the input; the message does not name it) for a text
 * that is not a graph or has too many characters. */
DN_MUST_USE dn_status dn_encoder_text(const dn_encoder *encoder,
                                      size_t input,
                                      const char *text,
                                      size_t length,
                                      dn_text_work *work,
                                      const uint32_t **feature,
                                      const double **entry,
                                      size_t *n,
                                      dn_error *err);

/* Returns the feature of an index of a sparse input. SIZE_MAX: the index does not exist in the
 * training table or is not a feature; the caller must ignore its entries. */
size_t dn_encoder_sparse_feature(const dn_encoder *encoder, size_t input, uint32_t index);
/* Returns the sparse index of feature k of a sparse input, k < n_features of the input. */
uint32_t dn_encoder_sparse_index(const dn_encoder *encoder, size_t input, size_t k);

/* Encodes raw rows to out [rows.n x n_features], standardised if the encoder standardises.
 *
 * Does not allocate and cannot fail. A feature of a basis is infinite or NaN if the numbers of the
 * row are too large (1e300 squared). Thread-safe. */
void dn_encoder_apply(const dn_encoder *encoder, dn_raw_rows rows, double *out);

/* ---- rows of a table to blocks ---- */

/* Creates the encoded rows of a source: the rows with role[row] == wanted, numbered from 0 in
 * order. Columns are found by name and must have the type of the input; a categorical column may
 * be read as text. Rows are dense or CSR (dn_encoder_is_sparse); CSR rows contain no zeros.
 *
 *   role       [source->n_rows] or NULL: all rows
 *   target     [source->n_rows] class indices, copied into the blocks; or NULL
 *   weight     [source->n_rows] copied into the blocks; NULL: all 1
 *   in_memory  true: all rows are encoded by this call, in memory of the run. false: a block is
 *              decoded and encoded each time it is read, in memory for one block per slot; the
 *              source must have as many slots as the run. Both give bitwise equal blocks
 *   out        freed by dn_rows_free. Unchanged on failure
 *
 * The source, the encoder, role, target, weight, and the run's allocator and stop function must
 * outlive the rows. The run's stop function is polled while rows are encoded.
 *
 * Errors
 *   DN_ERR_DATA     a column is missing or has another type (field); a row has an unseen category
 *                   or a missing number that the encoder refuses, and its weight is > 0 (field,
 *                   row)
 *   DN_ERR_NUMERIC  a feature of a basis is not finite (field, row)
 *   DN_ERR_BUDGET   the rows exceed the memory budget; the message has the bytes that they need
 *   DN_ERR_MEMORY, DN_ERR_STOPPED, DN_ERR_TIME. Reading a streamed block has the same errors */
DN_MUST_USE dn_status dn_rows_from_source(const dn_table_source *source,
                                          const dn_encoder *encoder,
                                          const uint8_t *role,
                                          enum dn_row_role wanted,
                                          const double *target,
                                          const double *weight,
                                          bool in_memory,
                                          const dn_run *run,
                                          dn_rows **out,
                                          dn_error *err);

/* Returns true if encoded rows are CSR. They are CSR if less than a quarter of the features of a
 * row are expected to be nonzero, if the vector inputs have more than DN_MAX_DENSE_FEATURES
 * features that are not standardised, and always with DN_TEXT_CHARACTERS. Expected nonzero
 * features: one for a scalar input, the mean number of entries in the training rows for a vector
 * input, all features for a standardised sparse input. The result is stored in the encoder's
 * bytes. */
bool dn_encoder_is_sparse(const dn_encoder *encoder);
/* Returns the mean number of entries of a training row in the vector inputs, without standardised
 * inputs. */
double dn_encoder_entries(const dn_encoder *encoder);
/* Returns the bytes of n_rows encoded rows in memory, including target and weight. CSR rows are
 * assumed to have the mean number of entries. SIZE_MAX: more than can be addressed. */
size_t dn_encoder_rows_bytes(const dn_encoder *encoder, size_t n_rows);

DN_END_DECLS

#endif
