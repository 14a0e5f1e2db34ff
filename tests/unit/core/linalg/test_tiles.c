/* The loop over tiles: which rows each tile has, weights, and stops. */
#include "../support.h"
#include "linalg/tiles.h"

enum { N = 2 * DNI_TILE_ROWS + 5, D = 3 };

static double x[N * D], target[N], weight[N];

static void fill(void) {
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            x[i * D + j] = (double)(10 * i + j);
        }
        target[i] = (double)(i % 2);
        weight[i] = 0.5 + (double)i;
    }
}

static void test_tiles_cover_the_block_once(void **state) {
    (void)state;
    fill();
    for (size_t n = 0; n <= N; n += n < 2 ? 1 : DNI_TILE_ROWS - 1) {
        const dn_run run = dn_run_default();
        const dn_block block = {.first_row = 4096,
                                .x = dn_matrix_dense(x, n, D),
                                .target = target,
                                .weight = weight};
        dni_tiles tiles = dni_tiles_of(&run, &block);
        size_t seen = 0;
        while (dni_tiles_next(&tiles, NULL)) {
            const dni_tile *t = &tiles.tile;
            assert_int_equal(t->first_row, 4096 + seen);
            assert_in_range(t->x.n_rows, 1, DNI_TILE_ROWS);
            assert_int_equal(t->first_row % DNI_TILE_ROWS, 0);
            for (size_t i = 0; i < t->x.n_rows; i++, seen++) {
                assert_true(t->x.values[i * t->x.stride] == x[seen * D]);
                assert_true(t->target[i] == target[seen] && t->weight[i] == weight[seen]);
            }
        }
        OK(tiles.status);
        assert_int_equal(seen, n);
    }
}

static void test_rows_without_weights_have_weight_one(void **state) {
    (void)state;
    const dn_run run = dn_run_default();
    const dn_block block = {.x = dn_matrix_dense(x, N, D)};
    dni_tiles tiles = dni_tiles_of(&run, &block);
    while (dni_tiles_next(&tiles, NULL)) {
        assert_null(tiles.tile.target);
        for (size_t i = 0; i < tiles.tile.x.n_rows; i++) {
            assert_true(tiles.tile.weight[i] == 1);
        }
    }
    OK(tiles.status);
}

static void test_a_stop_ends_the_loop_before_its_tile(void **state) {
    (void)state;
    for (size_t at = 1; at <= 3; at++) {
        struct polls polls = {.stop_at = at};
        const dn_run run = polls_run(&polls);
        const dn_block block = {.x = dn_matrix_dense(x, N, D)};
        dni_tiles tiles = dni_tiles_of(&run, &block);
        size_t n = 0;
        while (dni_tiles_next(&tiles, NULL)) {
            n++;
        }
        assert_int_equal(tiles.status, DN_ERR_STOPPED);
        assert_int_equal(n, at - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles_cover_the_block_once),
        cmocka_unit_test(test_rows_without_weights_have_weight_one),
        cmocka_unit_test(test_a_stop_ends_the_loop_before_its_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
