/* k-nearest-neighbour machines with exhaustive search. The distances of a tile of rows to all
 * stored rows are computed first. A heap then selects the k smallest for each row. */
#include "machine/neighbours.h"
#include "base/tasks.h"
#include "kernels/points.h"
#include "linalg/vector.h"
#include "machine/machine_kind.h"
#include "machine/stored_rows.h"

#include <discern/encoder.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SHARE 1e-15 /* keeps scores finite */
/* Maximum number of steps of about 10 ms (dni_points_step) between two checks for cancellation. */
enum { MAX_STEPS = 100 };

static const char *const vote_names[] = {"uniform", "inverse_distance"};

/* ---- memory ---- */
dni_neighbours *dni_neighbours_of(const dn_machine *machine) {
    return (dni_neighbours *)(uintptr_t)machine;
}

double dni_neighbours_memory(size_t n_rows) {
    return (double)sizeof(dni_neighbours) +
           (sizeof(uint32_t) + sizeof(double)) * ((double)n_rows + 1);
}

dn_status dni_neighbours_new(dni_support *rows, size_t n_classes, size_t k, dni_votes votes,
                             dn_machine **out, dn_error *err) {
    const size_t n = rows->x.n_rows, d = rows->kernel.n_features;
    dn_status status = dni_support_charge(rows, dni_neighbours_memory(n), err);
    if (status != DN_OK) {
        return status;
    }
    dni_neighbours *m = dni_machine_alloc(&dni_neighbours_kind, sizeof *m, n_classes, d);
    if (m == NULL) {
        return dni_machine_no_memory(n_classes, d, err);
    }
    m->class_of = dni_machine_array(&m->base, n, sizeof *m->class_of);
    m->weight = dni_machine_doubles(&m->base, n);
    for (size_t i = 0; m->weight != NULL && i < n; i++) {
        m->weight[i] = 1;
    }
    m->k = k;
    m->votes = votes;
    m->rows = dni_support_ref(rows);
    return dni_machine_created(&m->base, out, err);
}

static void neighbours_free(dn_machine *machine) {
    dni_support_unref(dni_neighbours_of(machine)->rows);
}

static double neighbours_shared_memory(const dn_machine *machine) {
    return dni_support_memory(dni_neighbours_of(machine)->rows);
}

static void neighbours_leave_run(dn_machine *machine) {
    dni_support_leave_run(dni_neighbours_of(machine)->rows);
}

/* ---- bytes ---- */
static void neighbours_write(const dn_machine *machine, const dn_machine *first,
                             dni_writer *writer) {
    const dni_neighbours *m = dni_neighbours_of(machine);
    const size_t n = m->rows->x.n_rows;
    (void)first;
    dni_support_write(m->rows, writer);
    dni_write_u64(writer, m->k);
    dni_write_u8(writer, (uint8_t)m->votes);
    dni_write_u32s(writer, m->class_of, n);
    dni_write_f64s(writer, m->weight, n);
}

static bool neighbours_valid(const dni_neighbours *m) {
    for (size_t i = 0; i < m->rows->x.n_rows; i++) {
        if (m->class_of[i] >= m->base.n_classes || !(m->weight[i] > 0) || !isfinite(m->weight[i])) {
            return false;
        }
    }
    return true;
}

/* Reads the fields that follow the rows and creates the machine. */
static dn_status read_votes(dni_reader *r, dni_support *rows, size_t K, dn_machine **out,
                            dn_error *err) {
    const size_t n = rows->x.n_rows;
    const uint64_t k = dni_read_u64(r);
    const uint8_t votes = dni_read_u8(r);
    if (r->failed || k == 0 || k > n || votes > DNI_VOTES_INVERSE_DISTANCE ||
        rows->kernel.type != DN_KERNEL_DISTANCE || rows->kernel.metric == DN_METRIC_EDIT ||
        rows->kernel.width != 1 || rows->kernel.normalize) {
        return dni_machine_corrupt("a parameter of a neighbours machine is out of range", err);
    }
    dn_status status = dni_neighbours_new(rows, K, (size_t)k, (dni_votes)votes, out, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_neighbours *m = dni_neighbours_of(*out);
    return dni_read_u32s(r, m->class_of, n) && dni_read_f64s(r, m->weight, n) && neighbours_valid(m)
               ? DN_OK
               : dni_machine_corrupt("a class or weight of a neighbour is out of range", err);
}

static dn_status neighbours_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                                 dn_machine **out, dn_error *err) {
    dni_support *rows = NULL;
    if (first != NULL) {
        return dni_machine_corrupt("it has several neighbours machines", err);
    }
    dn_status status = dni_support_read(r, d, &rows, err);
    if (status != DN_OK) {
        return status;
    }
    status = read_votes(r, rows, K, out, err);
    dni_support_unref(rows); /* the machine has its own reference */
    return status;
}

/* ---- scores ---- */
struct neighbour {
    double distance;
    size_t row;
};

static bool is_farther(struct neighbour a, struct neighbour b) {
    return a.distance > b.distance || (a.distance == b.distance && a.row > b.row);
}

/* Restores the order of a max-heap of n neighbours below element i. */
static void sift_down(struct neighbour *heap, size_t n, size_t i) {
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && is_farther(heap[child + 1], heap[child]);
        if (!is_farther(heap[child], heap[i])) {
            return;
        }
        const struct neighbour moved = heap[i];
        heap[i] = heap[child];
        heap[child] = moved;
    }
}

/* out [k] ← the k nearest of n rows, in ascending order of distance. */
static void find_nearest(const double *distance, size_t n, size_t k, struct neighbour *out) {
    for (size_t i = 0; i < k; i++) {
        out[i] = (struct neighbour){distance[i], i};
    }
    for (size_t i = k / 2; i-- > 0;) {
        sift_down(out, k, i);
    }
    for (size_t i = k; i < n; i++) {
        if (distance[i] < out[0].distance) { /* of equal distances the first row is kept */
            out[0] = (struct neighbour){distance[i], i};
            sift_down(out, k, 0);
        }
    }
    for (size_t i = k; i-- > 1;) {
        const struct neighbour last = out[i];
        out[i] = out[0];
        out[0] = last;
        sift_down(out, i, 0);
    }
}

/* Returns the vote of a neighbour: the weight of its row, or the weight divided by the distance.
 * Distances are divided by min_distance, the distance of the nearest neighbour, which does not
 * change the shares. If min_distance is 0, the votes of rows at a distance above 0 are 0. */
static double vote_of(const dni_neighbours *m, struct neighbour neighbour, double min_distance) {
    const double weight = m->weight[neighbour.row];
    if (m->votes == DNI_VOTES_UNIFORM) {
        return weight;
    }
    if (min_distance == 0) {
        return neighbour.distance == 0 ? weight : 0;
    }
    return weight * (min_distance / neighbour.distance);
}

/* scores [n_scores] ← the scores of a row with the given distances. votes [K] and nearest [k] are
 * scratch. The scores are NaN if the distance of a neighbour is not finite. */
static void score_row(const dni_neighbours *m, const double *distance, struct neighbour *nearest,
                      double *votes, double *scores) {
    const size_t K = m->base.n_classes, k = m->k;
    double sum = 0;
    find_nearest(distance, m->rows->x.n_rows, k, nearest);
    memset(votes, 0, K * sizeof *votes);
    for (size_t i = 0; i < k; i++) {
        const double vote = isfinite(nearest[i].distance)
                                ? vote_of(m, nearest[i], nearest[0].distance)
                                : (double)NAN;
        votes[m->class_of[nearest[i].row]] += vote;
        sum += vote;
    }
    for (size_t c = 0; c < K; c++) {
        const double share = votes[c] / sum;
        votes[c] = isnan(sum) ? sum : log(share > MIN_SHARE ? share : MIN_SHARE);
    }
    if (K == 2) {
        scores[0] = votes[1] - votes[0];
    } else {
        memcpy(scores, votes, K * sizeof *scores);
    }
}

/* Returns the number of doubles of work for one thread: distances of DNI_POINTS_QUERIES rows to all
 * stored rows, work of dni_points_query_distances, votes, neighbours. */
static size_t thread_work(const dni_neighbours *m) {
    const size_t of_neighbours = (sizeof(struct neighbour) + sizeof(double) - 1) / sizeof(double);
    return DNI_POINTS_QUERIES * m->rows->x.n_rows + dni_points_query_work(m->rows->points) +
           m->base.n_classes + m->k * of_neighbours;
}

static size_t neighbours_tile_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    (void)n;
    return n_slots * thread_work(dni_neighbours_of(machines[0]));
}

struct tile {
    const dni_neighbours *machine;
    dn_matrix x;
    const dn_run *run;
    double *scores, *work;
};

/* Task i: scores up to DNI_POINTS_QUERIES rows, starting with row i · DNI_POINTS_QUERIES. */
static dn_status score_part(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct tile *t = arg;
    const dni_neighbours *m = t->machine;
    const size_t n = m->rows->x.n_rows, S = dn_machine_n_scores(&m->base),
                 first = i * DNI_POINTS_QUERIES, left = t->x.n_rows - first,
                 rows = left < DNI_POINTS_QUERIES ? left : DNI_POINTS_QUERIES;
    double *distance = t->work + slot * thread_work(m),
           *points_work = distance + DNI_POINTS_QUERIES * n,
           *votes = points_work + dni_points_query_work(m->rows->points);
    struct neighbour *nearest = (struct neighbour *)(void *)(votes + m->base.n_classes);
    dn_status status =
        dni_points_query_distances(m->rows->points, dn_matrix_rows(t->x, first, rows), t->run,
                                   distance, points_work, err);
    for (size_t r = 0; r < rows && status == DN_OK; r++) {
        score_row(m, distance + r * n, nearest, votes, t->scores + (first + r) * S);
    }
    return status;
}

static dn_status neighbours_score_tile(dn_machine *const *machines, size_t n, dn_matrix x,
                                       const dn_run *run, size_t slot, double *scores, double *work,
                                       dn_error *err) {
    struct tile tile = {dni_neighbours_of(machines[0]), x, run, scores, work};
    const size_t n_parts = (x.n_rows + DNI_POINTS_QUERIES - 1) / DNI_POINTS_QUERIES;
    (void)n; /* always 1 */
    (void)slot;
    if (run != NULL) {
        return dni_tasks_run(run, n_parts, score_part, &tile, err);
    }
    dn_status status = DN_OK;
    for (size_t i = 0; i < n_parts && status == DN_OK; i++) {
        status = score_part(&tile, i, 0, err);
    }
    return status;
}

static size_t neighbours_tile_rows(const dn_machine *machine) {
    const dni_support *rows = dni_neighbours_of(machine)->rows;
    const size_t at_once = MAX_STEPS * dni_points_step(rows->points) / rows->x.n_rows;
    return at_once == 0 ? 1 : at_once < DNI_POINTS_QUERIES ? at_once : DNI_POINTS_QUERIES;
}

/* Returns the multiplications for one row: one for each number of the stored rows, plus 4 for each
 * stored row, for the heap. */
static double neighbours_cost(dn_machine *const *machines, size_t n_machines) {
    const dn_matrix x = dni_neighbours_of(machines[0])->rows->x;
    const double n = (double)x.n_rows;
    (void)n_machines;
    return (x.kind == DN_DENSE ? n * (double)x.n_cols : (double)x.row_start[x.n_rows]) + 4 * n;
}

/* ---- description ---- */
static double neighbours_matrix_numbers(const dn_machine *machine) {
    return 2 * (double)dni_neighbours_of(machine)->rows->x.n_rows;
}

static double neighbours_shared_matrix_numbers(const dn_machine *machine,
                                               const dn_encoder *encoder) {
    return dni_rows_numbers(dni_neighbours_of(machine)->rows->x, encoder);
}

static dn_status neighbours_describe(const dn_machine *machine, const dn_encoder *encoder,
                                     const dn_visitor *v, dn_error *err) {
    const dni_neighbours *m = dni_neighbours_of(machine);
    const dn_matrix x = m->rows->x;
    const char *metric = dn_kernel_metric_name(m->rows->kernel.metric),
               *votes = vote_names[m->votes];
    v->integer(v->ctx, "k", (int64_t)m->k);
    v->text(v->ctx, "metric", metric, strlen(metric));
    v->text(v->ctx, "votes", votes, strlen(votes));
    v->integer(v->ctx, "n_rows", (int64_t)x.n_rows);
    v->boolean(v->ctx, "sparse", x.kind == DN_CSR);
    if (!v->matrices) {
        return DN_OK;
    }
    if (dn_encoder_mean(encoder) != NULL) {
        dn_visit_vector(v, "mean", dn_encoder_mean(encoder), x.n_cols);
        dn_visit_vector(v, "scale", dn_encoder_scale(encoder), x.n_cols);
    }
    v->begin_array(v->ctx, "class_indexes");
    for (size_t i = 0; i < x.n_rows; i++) {
        v->integer(v->ctx, NULL, m->class_of[i]);
    }
    v->end_array(v->ctx);
    dn_visit_vector(v, "row_weights", m->weight, x.n_rows);
    return dni_rows_describe(x, encoder, "rows", v, err);
}

const dni_machine_kind dni_neighbours_kind = {
    .id = DNI_KIND_NEIGHBOURS,
    .name = "neighbours",
    .matrices = "rows",
    .flags = DNI_MACHINE_FINITE | DNI_MACHINE_TASKS,
    .free_parts = neighbours_free,
    .shared_memory = neighbours_shared_memory,
    .leave_run = neighbours_leave_run,
    .write = neighbours_write,
    .read = neighbours_read,
    .tile_work = neighbours_tile_work,
    .score_tile = neighbours_score_tile,
    .tile_rows = neighbours_tile_rows,
    .cost = neighbours_cost,
    .matrix_numbers = neighbours_matrix_numbers,
    .shared_matrix_numbers = neighbours_shared_matrix_numbers,
    .describe = neighbours_describe,
};
