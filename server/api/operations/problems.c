/* GET /problems: the meaning of each `type` of a problem document. */
#include "api/handlers.h"
#include "api/support.h"

#include <stdio.h>

static void put_problem(struct json_writer *w, const char *base_path, enum problem_type type) {
    json_begin_object(w);
    problem_put_type(w, base_path, type);
    json_kv_string(w, "name", problem_name(type));
    json_kv_int(w, "status", problem_status(type));
    json_kv_string(w, "title", problem_title(type));
    json_kv_string(w, "meaning", problem_meaning(type));
    json_end_object(w);
}

static void write_item(const void *base_path, size_t i, struct json_writer *w) {
    put_problem(w, base_path, (enum problem_type)(PROBLEM_NONE + 1 + i));
}

void api_problems_list(struct http_call *call) {
    static const char *const fields[] = {"type", "name", "status", "title", "meaning", NULL};
    static const char *const long_members[] = {NULL};
    api_items_reply(call, &(struct api_items){.n = PROBLEM_COUNT - PROBLEM_NONE - 1,
                                              .write = write_item,
                                              .arg = api_app_of(call)->base_path,
                                              .fields = fields,
                                              .long_members = long_members});
}

void api_problem_get(struct http_call *call) {
    struct buf body = {0};
    enum problem_type type;
    const char *name = http_path_param(call, "name");
    if (!problem_find(name, &type)) {
        http_fail(call, PROBLEM_UNKNOWN_PROBLEM,
                  "there is no problem type \"%s\"; GET /problems lists them", name);
        return;
    }
    struct json_writer w = json_writer_of(&body);
    put_problem(&w, api_app_of(call)->base_path, type);
    api_reply_json(call, 200, &body);
}
