/* POST …/transform: coordinates of rows: along the directions of the model (Fisher's projection),
 * after the basis functions, after the hidden layer, or the scores. Runs on a pool thread. lines.c
 * answers NDJSON. */
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/answer.h"
#include "api/predictions/grids/histogram.h"
#include "api/predictions/instances.h"
#include "api/predictions/lines.h"
#include "api/predictions/score.h"
#include "api/predictions/stored_rows.h"
#include "api/predictions/work.h"
#include "api/support.h"

static void transform(struct http_call *call, const struct serving_model *m,
                      const struct instances_options *options, dn_coordinates coordinates) {
    struct api_answer_options how = {.kind = API_COORDINATES,
                                     .of = coordinates,
                                     .format = api_reply_format(call, &format_json)};
    struct keep keep;
    if (api_instances_keep(call, &keep, &how.keep)) {
        (void)api_score_body(call, m, options, &how, true);
        keep_done(&keep);
    }
}

void api_model_transform(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    struct instances_options options;
    dn_coordinates coordinates;
    if (!api_coordinates_read(call, &coordinates)) {
        return;
    }
    const struct serving_model *m = api_model_take(call);
    if (!m) {
        return;
    }
    if (!api_may_work(call, api_call_work(call, m), api_model_transform)) {
        serving_release(app->serving, m);
        return;
    }
    if (api_histogram_answer(call, m, coordinates)) {
        serving_release(app->serving, m);
        return;
    }
    if (api_stored_rows_named(call)) {
        api_stored_rows(call, m,
                        &(struct api_answer_options){.kind = API_COORDINATES, .of = coordinates});
    } else if (api_instances_options(call, false, &options)) {
        if (options.format->instances->lines) {
            api_lines_answer(call, m, API_COORDINATES);
        } else {
            transform(call, m, &options, coordinates);
        }
    }
    serving_release(app->serving, m);
}
