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

void api_problems_list(struct http_call *call) {
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_begin_array(&w, "items");
    for (int type = PROBLEM_NONE + 1; type < PROBLEM_COUNT; type++) {
        put_problem(&w, api_app_of(call)->base_path, (enum problem_type)type);
    }
    json_end_array(&w);
    json_kv_null(&w, "next");
    json_end_object(&w);
    api_reply_json(call, 200, &body);
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
