/* Machine kinds as tables of functions.
 *
 * A kind is one file with a structure that begins with `dn_machine base`, and one row in the table
 * of machine_bytes.c. Code outside the kind's file calls the functions of machine_impl.h, which look them
 * up here. Learners include the header of the kind that they make, and no one else does.
 *
 * All machines of a model have one kind. Functions that take `machines` and `n` get all of them,
 * since machines may share what they compute (kernel machines share kernel values).
 *
 * A machine is defined over encoded rows. Kinds with `to_raw` also exist as machines of the raw
 * features, the encoded ones before standardisation, and prediction scores single rows with `scores`
 * or `scores_entries`. Kinds without it see encoded rows in prediction too, in tiles. */
#ifndef DNI_MACHINE_KIND_H
#define DNI_MACHINE_KIND_H

#include "machine/machine_impl.h"

enum {
    DNI_MACHINE_FINITE = 1, /* scores are finite numbers; else −∞ and +∞ are answers */
    DNI_MACHINE_SUMS = 2,   /* a score is a sum of parts of one feature each: contributions */
    DNI_MACHINE_TWO = 4,    /* machines are of two classes only */
};

struct dni_machine_kind {
    uint8_t id;           /* in model bytes */
    const char *name;     /* in descriptions: "naive_bayes" */
    const char *matrices; /* the arrays that describe leaves out without `matrices`: "layers" */
    unsigned flags;

    /* ---- life ---- */
    /* Frees what the structure points to. Half-made machines are allowed. */
    void (*free_parts)(dn_machine *machine);
    /* Bytes of the parts, without what machines share. */
    double (*memory)(const dn_machine *machine);
    /* Bytes that the machines share. NULL: none. */
    double (*shared_memory)(const dn_machine *machine);
    /* Ends the accounting of the shared memory in the run that trained the machine. NULL: none. */
    void (*leave_run)(dn_machine *machine);
    /* Computes what prediction needs beside the model's bytes, once all machines are complete.
     * NULL: nothing. */
    void (*finish)(dn_machine *const *machines, size_t n);

    /* ---- bytes ---- */
    /* `first`: the model's first machine; NULL: it is this one. */
    void (*write)(const dn_machine *machine, const dn_machine *first, dni_writer *writer);
    /* Reads and checks. Never allocates more than a small multiple of the bytes left. */
    dn_status (*read)(dni_reader *reader, size_t n_classes, size_t n_features,
                      const dn_machine *first, dn_machine **out, dn_error *err);

    /* ---- raw features ---- */
    /* A new machine of raw features from one of x = (raw − mean)/scale; NULL pointers: 0 and 1.
     * NULL: machines of this kind stay in the encoded space. DN_ERR_NUMERIC: numbers overflow. */
    dn_status (*to_raw)(const dn_machine *machine, const double *mean, const double *scale,
                        dn_machine **out, dn_error *err);
    /* Whether, without standardisation, the machine serves as its own raw machine. NULL: never. */
    bool (*is_raw)(const dn_machine *machine);

    /* ---- one row ---- */
    /* Doubles of `work` for the functions of one row. NULL: none. */
    size_t (*work)(const dn_machine *machine);
    /* scores [n_scores] of x [n_features]. False: no class gives x a likelihood. NULL for kinds that
     * score tiles only. */
    bool (*scores)(const dn_machine *machine, const double *x, double *scores, double *work);
    /* The same of an x that is 0 but for its entries. NULL: all of x is needed. */
    bool (*scores_entries)(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                           double *scores, double *work);
    /* joint [n_classes] ← ln P(C_k) + ln p(x | C_k). NULL: no class densities. False as above. */
    bool (*joint)(const dn_machine *machine, const double *x, double *joint, double *work);
    bool (*joint_entries)(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                          double *joint);
    /* Whether this machine has the densities that `joint` computes. NULL: all machines have. */
    bool (*has_densities)(const dn_machine *machine);
    /* Whether densities need all of x, 0 or not. NULL: no. */
    bool (*needs_all)(const dn_machine *machine);
    /* out [n_scores × n_features]; x may be the first n_features numbers of `out`. NULL: none. */
    void (*contributions)(const dn_machine *machine, const double *x, double *out, double *work);
    /* out [n_scores] ← the parts of the scores that are no feature's; NaN where there are none. */
    void (*intercept)(const dn_machine *machine, double *out, double *work);
    /* The weights [n_scores × n_features] and intercepts [n_scores] of scores that are linear in x.
     * NULL: scores are not linear. */
    void (*linear)(const dn_machine *machine, double **out_w, double **out_w0);
    /* A score divided by this is a distance from the decision surface; NaN: there is none.
     * NULL: none, unless the machine is linear. */
    double (*norm)(const dn_machine *machine);

    /* ---- tiles of encoded rows ---- */
    /* Doubles of work for score_tile; n_slots: threads of the run. */
    size_t (*tile_work)(dn_machine *const *machines, size_t n, size_t n_slots);
    /* Writes to the work what all tiles need. NULL: nothing. `sparse`: tiles are CSR. */
    void (*tile_prepare)(dn_machine *const *machines, size_t n, bool sparse, double *work);
    /* scores [x.n_rows × n_scores of all machines]. A row's scores do not depend on the other rows.
     * Polls the run's stop and may use its threads; run == NULL: neither, and it cannot fail.
     * NULL: rows are scored one by one. */
    dn_status (*score_tile)(dn_machine *const *machines, size_t n, dn_matrix x, const dn_run *run,
                            double *scores, double *work, dn_error *err);
    /* Rows to score between two polls of a stop by the caller. NULL: DNI_TILE_ROWS. */
    size_t (*tile_rows)(const dn_machine *machine);
    /* Whether inputs must not be missing: they are values of a precomputed kernel. NULL: no. */
    bool (*is_precomputed)(const dn_machine *machine);

    /* ---- for readers ---- */
    /* Multiplications for one row by all machines, about. */
    double (*cost)(dn_machine *const *machines, size_t n);
    /* Numbers that `describe` and `describe_shared` pass only with visitor->matrices: of one
     * machine, and of what all machines share (NULL: nothing). */
    double (*matrix_numbers)(const dn_machine *machine);
    double (*shared_matrix_numbers)(const dn_machine *machine, const dn_encoder *encoder);
    /* Passes the machine's parameters to the visitor; DN_ERR_MEMORY. NULL: there are none beside
     * those of `linear`. */
    dn_status (*describe)(const dn_machine *machine, const dn_encoder *encoder,
                          const dn_visitor *visitor, dn_error *err);
    /* Whether `describe` passes anything. NULL: always. */
    bool (*describes)(const dn_machine *machine);
    dn_status (*describe_shared)(const dn_machine *machine, const dn_encoder *encoder,
                                 const dn_visitor *visitor, dn_error *err);
};

extern const dni_machine_kind dni_linear_kind, dni_gaussian_kind, dni_bayes_kind, dni_kernel_kind,
    dni_network_kind, dni_neighbours_kind;

/* ---- for the files of the kinds ---- */
/* A structure of `size` bytes that begins with a dn_machine, zeroed but for its base. NULL: no
 * memory. */
void *dni_machine_alloc(const dni_machine_kind *kind, size_t size, size_t n_classes,
                        size_t n_features);
/* DN_ERR_MEMORY, with the usual message. */
dn_status dni_machine_no_memory(size_t n_classes, size_t n_features, dn_error *err);
/* DN_ERR_CORRUPT: "the model is damaged: " and what. */
dn_status dni_machine_corrupt(const char *what, dn_error *err);
/* n numbers, zeroed; NULL: no memory, or n is SIZE_MAX. Products of sizes: SIZE_MAX on overflow. */
double *dni_machine_numbers_new(size_t n);
size_t dni_machine_product(size_t a, size_t b);
/* Whether a × b doubles may still follow in the bytes. */
bool dni_machine_fits(const dni_reader *reader, size_t a, size_t b);
/* DN_ERR_NUMERIC: weights of raw columns overflow. */
dn_status dni_machine_not_finite(dn_error *err);

#endif
