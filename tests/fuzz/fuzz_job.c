/* Reads the input as the body of POST /v1/jobs, with a stored dataset of five columns. An accepted
 * request is stored and read again, and is accepted again in the form that names every value. A
 * refused request has a fault with a place. The input is also read as the stored text of a job. */
#include "base/ids.h"
#include "base/json/json.h"
#include "fuzz/support.h"
#include "jobs/request/job_request.h"
#include "store/store.h"

#include <stdatomic.h>
#include <unistd.h>

static struct store *store;
static char folder[] = "/tmp/discern-fuzz.XXXXXX";

static void store_end(void) {
    static const char *const endings[] = {"", "-wal", "-shm", ".lock"};
    store_close(store);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s/d.db%s", folder, endings[i]);
        unlink(name);
    }
    rmdir(folder);
}

static void appended(void *arg, const struct problem *problem) {
    CHECK(problem == NULL);
    atomic_store((atomic_int *)arg, 1);
}

static void store_begin(void) {
    static const char body[] =
        "x,y,colour,when,kind\n1.5,2,red,2024-01-02,a\n2.5,1,blue,2024-02-03,"
        "b\n3,7,red,2024-01-05,b\n1,2.5,green,2024-06-07,a\n2,1.5,,"
        "2023-01-01,b\n3.5,6,red,2024-12-31,a\n";
    char path[64];
    struct problem problem = {0};
    CHECK(ids_init() && mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/d.db", folder);
    CHECK(store_open(&(struct store_settings){.path = path}, &store, &problem));
    (void)atexit(store_end);
    struct fuzz_table t = fuzz_read(&(struct table_options){0}, body, sizeof body - 1, 0);
    CHECK(t.well && t.n_columns == 5 && t.n_chunks == 1);
    struct store_blob blobs[5];
    for (size_t j = 0; j < 5; j++) {
        blobs[j].bytes = t.blobs[j].bytes;
        blobs[j].size = t.blobs[j].size;
        t.blobs[j].bytes = NULL;
    }
    const int64_t part = store_part_begin(store, NULL);
    atomic_int done = 0;
    store_part_append(store, part, 0, 6, blobs, 5, appended, &done);
    while (atomic_load(&done) == 0) {
        usleep(1000);
    }
    const struct store_dataset_new dataset = {.name = "d",
                                              .part = part,
                                              .n_rows = 6,
                                              .n_cols = 5,
                                              .bytes = 1,
                                              .sha256 = "00",
                                              .content = "b2:00",
                                              .columns = t.columns,
                                              .notes = "{}",
                                              .options = ""};
    struct store_dataset_published out;
    CHECK(store_dataset_publish(store, &dataset, &out, NULL, &problem));
    fuzz_table_done(&t);
}

/* Reads the stored text of an accepted request: it must be written as the same text. */
static void check_stored(const struct jobs_request *request) {
    struct buf first = {0}, second = {0};
    struct arena arena;
    struct jobs_request again = {0};
    struct problem problem = {0};
    arena_init(&arena, 0);
    jobs_request_write_stored(request, &first);
    CHECK(jobs_request_read_stored(buf_cstr(&first), &arena, &again, &problem));
    jobs_request_write_stored(&again, &second);
    CHECK(strcmp(buf_cstr(&first), buf_cstr(&second)) == 0);
    jobs_request_done(&again);
    problem_done(&problem);
    arena_done(&arena);
    buf_done(&first);
    buf_done(&second);
}

/* Reads a body. resolved: appends the form that names every value, if it is accepted. */
static bool read_body(const char *body, size_t size, struct buf *resolved) {
    const struct jobs_limits limits = {.memory_bytes = (int64_t)256 << 20, .threads = 1};
    struct problem problem = {0};
    struct arena arena;
    struct jobs_request request = {0};
    json_t *root = json_parse(body, size, &problem);
    bool well = false;
    arena_init(&arena, 0);
    if (root != NULL && json_is_object(root)) {
        well = jobs_request_read(root, store, &limits, &arena, &request, &problem);
        CHECK(well || (problem.type != PROBLEM_NONE && problem.type != PROBLEM_INTERNAL &&
                       problem.type != PROBLEM_UNAVAILABLE));
        if (well) {
            check_stored(&request);
            jobs_request_write_resolved(&request, NULL, resolved);
        }
        jobs_request_done(&request);
    }
    problem_done(&problem);
    arena_done(&arena);
    json_decref(root);
    return well;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (store == NULL) {
        store_begin();
    }
    char *body = calloc(1, size + 1);
    struct buf resolved = {0}, again = {0};
    struct problem problem = {0};
    struct arena arena;
    struct jobs_request stored = {0};
    CHECK(body != NULL);
    if (size > 0) {
        memcpy(body, data, size);
    }
    if (read_body(body, size, &resolved)) {
        CHECK(read_body(resolved.data, resolved.size, &again));
    }
    arena_init(&arena, 0);
    if (!jobs_request_read_stored(body, &arena, &stored, &problem)) {
        CHECK(problem.type == PROBLEM_INTERNAL);
    }
    jobs_request_done(&stored);
    arena_done(&arena);
    problem_done(&problem);
    buf_done(&resolved);
    buf_done(&again);
    free(body);
    return 0;
}
