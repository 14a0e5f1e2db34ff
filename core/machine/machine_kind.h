/* Machine kinds as tables of functions.
 *
 * A kind is one file with a structure whose first member is `dn_machine base`, an id in
 * dni_kind_id, and one entry in the table of machine_bytes.c. The kind "combination" of models of
 * other kinds is in model/ and has no entry: the model reads and writes its members.
 *
 * Code outside the kind's file calls the functions of machine_dispatch.h, which call the functions
 * of the table. Learners include the header of the kind that they create.
 *
 * All machines of a model have the same kind. Functions with the parameters `machines` and `n`
 * receive all machines of a model, because machines may share results (kernel machines share
 * kernel values).
 *
 * A machine is defined over encoded rows. A machine of a kind with `to_raw` can be converted to
 * a machine of the raw features, which are the encoded features before standardisation.
 * Prediction then scores single rows with `scores` or `scores_entries`. For kinds without
 * `to_raw`, prediction scores tiles of encoded rows. */
#ifndef DNI_MACHINE_KIND_H
#define DNI_MACHINE_KIND_H

#include "machine/machine_dispatch.h"

/* Ids of kinds. The bytes of models contain them: an id is never changed, and never given to
 * another kind. A new kind takes the next number. */
enum dni_kind_id {
    DNI_KIND_LINEAR = 0,
    DNI_KIND_GAUSSIAN = 1,
    DNI_KIND_BAYES = 2,
    DNI_KIND_KERNEL = 3,
    DNI_KIND_NETWORK = 4,
    DNI_KIND_NEIGHBOURS = 5,
    DNI_KIND_COMBINATION = 6, /* model/combination.c; not in the table of machine_bytes.c */
};

enum {
    DNI_MACHINE_FINITE = 1, /* valid scores are finite; without it −∞ and +∞ are valid */
    DNI_MACHINE_SUMS = 2,   /* a score is a sum of one contribution per feature */
    DNI_MACHINE_TWO = 4,    /* machines have exactly two classes */
    DNI_MACHINE_TASKS = 8,  /* score_tile uses the threads of the run */
};

struct dni_machine_kind {
    uint8_t id;       /* a dni_kind_id */
    const char *name; /* name of the kind in descriptions, for example "naive_bayes" */
    /* Name, in messages, of the largest arrays that `describe` omits if visitor->matrices is false,
     * for example "layers". */
    const char *matrices;
    unsigned flags;

    /* ---- memory ---- */
    /* Frees the members that were not allocated by dni_machine_array. Accepts partly constructed
     * machines. NULL: there are no such members. */
    void (*free_parts)(dn_machine *machine);
    /* Returns the bytes of the structure and its members, without shared data. NULL: dn_machine
     * counts the bytes. */
    double (*memory)(const dn_machine *machine);
    /* Returns the bytes of the data that the machines of a model share. NULL: 0. */
    double (*shared_memory)(const dn_machine *machine);
    /* Subtracts the shared memory from the memory charged to the run that trained the machine.
     * NULL: there is no shared memory. */
    void (*leave_run)(dn_machine *machine);
    /* Precomputes data for prediction that the model's bytes do not contain. Called once when the
     * machines become part of a model, before `to_raw`; not for the machines that `to_raw` creates.
     * Before this call the machines are scored without these data. NULL: there are none. */
    void (*finish)(dn_machine *const *machines, size_t n);

    /* ---- bytes ---- */
    /* Writes the machine. `first` is the first machine of the model, or NULL if `machine` is the
     * first. */
    void (*write)(const dn_machine *machine, const dn_machine *first, dni_writer *writer);
    /* Reads and validates a machine. Allocates at most a small multiple of the bytes left. May set
     * *out before it fails; the caller then frees *out. */
    dn_status (*read)(dni_reader *reader, size_t n_classes, size_t n_features,
                      const dn_machine *first, dn_machine **out, dn_error *err);

    /* ---- raw features ---- */
    /* Creates a machine of raw features from a machine of x = (raw − mean)/scale. mean and scale
     * may be NULL for 0 and 1. Fails with DN_ERR_NUMERIC if a number overflows, or with
     * DN_ERR_MEMORY. May set *out before it fails; the caller then frees *out. NULL: prediction
     * uses encoded rows. */
    dn_status (*to_raw)(const dn_machine *machine, const double *mean, const double *scale,
                        dn_machine **out, dn_error *err);
    /* Only for kinds with `to_raw`: returns whether to_raw would copy the machine unchanged if the
     * features are not standardised. The model then keeps one machine instead of two. NULL: no. */
    bool (*is_raw)(const dn_machine *machine);

    /* ---- one row ---- */
    /* Returns the number of doubles in `work` for the functions of one row. NULL: 0. */
    size_t (*work)(const dn_machine *machine);
    /* scores [n_scores] ← the scores of x [n_features]. Returns false if the density of x is 0
     * under every class. NULL: the scores are the log densities of `joint` (two classes: their
     * difference), or the kind scores tiles only. */
    bool (*scores)(const dn_machine *machine, const double *x, double *scores, double *work);
    /* Computes the same scores from the entries of a sparse x. NULL: joint_entries is called, or x
     * is expanded. */
    bool (*scores_entries)(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                           double *scores, double *work);
    /* joint [n_classes] ← ln P(C_k) + ln p(x | C_k). If this is −∞ for every class, sets joint to
     * the log priors and returns false. NULL: the kind has no class densities. */
    bool (*joint)(const dn_machine *machine, const double *x, double *joint, double *work);
    /* Computes the same numbers as `joint` from the entries of a sparse x. */
    bool (*joint_entries)(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                          double *joint);
    /* Returns whether this machine has the densities for `joint`. NULL: every machine has them if
     * `joint` is set. */
    bool (*has_densities)(const dn_machine *machine);
    /* Returns P(C_k) [n_classes], all > 0. Only for machines with densities. NULL: the kind has no
     * class densities. */
    const double *(*prior)(const dn_machine *machine);
    /* Returns whether the densities also depend on features that are 0, so that x must be expanded.
     * NULL: no. */
    bool (*needs_all)(const dn_machine *machine);
    /* out [n_scores × n_features] ← the contribution of each feature to each score. x may be the
     * first n_features numbers of `out`, unless `needs_all` returns true. NULL: none. */
    void (*contributions)(const dn_machine *machine, const double *x, double *out, double *work);
    /* out [n_scores] ← the part of each score that depends on no feature. NULL: the scores have no
     * such part, and dni_machine_intercept gives NaN. */
    void (*intercept)(const dn_machine *machine, double *out, double *work);
    /* Returns the weights [n_scores × n_features] and intercepts [n_scores]. NULL: the scores are
     * not linear in x. */
    void (*linear)(const dn_machine *machine, double **out_w, double **out_w0);
    /* Returns the number of units in the last hidden layer. NULL: the kind has no hidden layers. */
    size_t (*n_hidden)(const dn_machine *machine);
    /* out [n_hidden] ← the outputs of these units. NULL: the kind has no hidden layers. */
    void (*hidden)(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                   double *out, double *work);
    /* Returns the number by which a score is divided to give the distance from the decision
     * surface. NaN: the distance is not defined. NULL: NaN. */
    double (*norm)(const dn_machine *machine);

    /* ---- tiles of encoded rows ---- */
    /* Returns the number of doubles in `work` for score_tile. n_slots: threads of the run. */
    size_t (*tile_work)(dn_machine *const *machines, size_t n, size_t n_slots);
    /* Computes the part of `work` that all tiles and slots share. `sparse`: tiles are CSR. NULL:
     * there is no such part. */
    void (*tile_prepare)(dn_machine *const *machines, size_t n, bool sparse, double *work);
    /* Computes the scores [x.n_rows × n_scores of all machines]. The scores of a row do not depend
     * on the other rows. May poll the run for cancellation, and use its threads if the flag
     * DNI_MACHINE_TASKS is set. slot: the calling thread, whose part of `work` is used. run ==
     * NULL: one thread, no cancellation, and the call cannot fail. NULL: rows are scored one by
     * one. */
    dn_status (*score_tile)(dn_machine *const *machines, size_t n, dn_matrix x, const dn_run *run,
                            size_t slot, double *scores, double *work, dn_error *err);
    /* Returns the number of rows that a caller scores between two checks for cancellation.
     * NULL: DNI_TILE_ROWS. */
    size_t (*tile_rows)(const dn_machine *machine);
    /* Returns whether the inputs are values of a precomputed kernel, which must not be missing.
     * NULL: no. */
    bool (*is_precomputed)(const dn_machine *machine);

    /* ---- description ---- */
    /* Returns the approximate number of multiplications that all machines need for one row. */
    double (*cost)(dn_machine *const *machines, size_t n);
    /* Returns how many numbers `describe` passes only if visitor->matrices is set. NULL: 0. */
    double (*matrix_numbers)(const dn_machine *machine);
    /* Returns how many numbers describe_shared passes only if visitor->matrices is set. NULL: 0. */
    double (*shared_matrix_numbers)(const dn_machine *machine, const dn_encoder *encoder);
    /* Passes the machine's parameters, except those of `linear`, to the visitor. Fails with
     * DN_ERR_MEMORY. NULL: there are none. */
    dn_status (*describe)(const dn_machine *machine, const dn_encoder *encoder,
                          const dn_visitor *visitor, dn_error *err);
    /* Returns whether `describe` passes any member. NULL: always. */
    bool (*describes)(const dn_machine *machine);
    /* Passes the parameters that all machines of a model share. NULL: there are none. */
    dn_status (*describe_shared)(const dn_machine *machine, const dn_encoder *encoder,
                                 const dn_visitor *visitor, dn_error *err);
};

extern const dni_machine_kind dni_linear_kind, dni_gaussian_kind, dni_bayes_kind, dni_kernel_kind,
    dni_network_kind, dni_neighbours_kind;

/* ---- for the files of the kinds ---- */
/* Allocates a structure of `size` bytes whose first member is a dn_machine. Initialises the base
 * and zeroes the rest. Returns NULL if memory is exhausted. */
void *dni_machine_alloc(const dni_machine_kind *kind, size_t size, size_t n_classes,
                        size_t n_features);
/* Allocates an array of n zeroed elements that the machine owns. If memory is exhausted, or n is
 * SIZE_MAX, it returns NULL, and dni_machine_created fails. */
void *dni_machine_array(dn_machine *machine, size_t n, size_t size);
double *dni_machine_doubles(dn_machine *machine, size_t n);
/* Ends the creation of a machine: sets *out if all arrays were allocated. Otherwise it frees the
 * machine and fails with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_machine_created(dn_machine *machine, dn_machine **out, dn_error *err);
/* Sets the out-of-memory message for a machine and returns DN_ERR_MEMORY. */
static inline dn_status dni_machine_no_memory(size_t n_classes, size_t n_features, dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "a machine for %zu classes and %zu features needs memory which the "
                        "system does not have",
                        n_classes, n_features);
}
/* Sets the message "the model is damaged: <what>" and returns DN_ERR_CORRUPT. */
dn_status dni_machine_corrupt(const char *what, dn_error *err);
/* Allocates n zeroed doubles, which the caller frees. Returns NULL if memory is exhausted or n is
 * SIZE_MAX. */
double *dni_machine_numbers_new(size_t n);
/* Returns a × b, or SIZE_MAX on overflow. */
size_t dni_machine_product(size_t a, size_t b);
/* Returns whether at least a × b doubles are left in the bytes. */
bool dni_machine_fits(const dni_reader *reader, size_t a, size_t b);
/* Sets the message for overflowing weights of raw columns and returns DN_ERR_NUMERIC. */
dn_status dni_machine_not_finite(dn_error *err);
/* Completes joint [K]: replaces NaN by −∞. If all are −∞, sets joint to the logarithms of prior [K]
 * and returns false. */
bool dni_machine_joint_or_priors(const double *prior, size_t K, double *joint);

#endif
