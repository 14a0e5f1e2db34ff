/* What a person does with a table, from the file to the predictions, by mouse and keyboard; in each
 * setting of ui/setting.h. */
#include "ui/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns a table of people of two classes; every 40th age is written with a letter. */
static const char *people(size_t n_rows) {
    const size_t room = n_rows * 24 + 64;
    char *csv = keep(malloc(room), free);
    size_t n = (size_t)snprintf(csv, room, "age,height,class\n");
    for (size_t i = 0; i < n_rows; i++) {
        const int age = 18 + (int)(i * 37 % 60), height = 150 + (int)(i * 23 % 50);
        const bool wrong = i % 40 == 30;
        n += (size_t)snprintf(csv + n, room - n, "%s,%d,%s\n", wrong ? "4O" : text("%d", age),
                              height, age + (height - 175) / 2 + (int)(i % 7) > 48 ? "yes" : "no");
    }
    return csv;
}

static void test_a_wrong_type_is_seen_and_mended(void **state) {
    (void)state;
    setting_start();
    browser_open("#/data");
    browser_allow_free_names();
    browser_drop("Drop a table here, or choose a file", "people.csv", people(120));
    browser_wait_text("line 32");
    browser_wait_text("4O");
    assert_int_equal(count_at(call_get("/v1/datasets"), "/items"), 0); /* nothing is stored yet */
    browser_choose("Type of age", "numeric");
    browser_wait_text("a cell must be a number (got \"4O\")");
    browser_click("Leave these rows out");
    browser_wait_text("117 rows");
    browser_fill("Name of the table", "persons");
    browser_click("Store this table");
    browser_wait("location.hash.startsWith('#/data/persons')", "the page of the dataset");
    browser_wait_text("117");
    const struct response *a = status_check(call_get("/v1/datasets/persons"), 200);
    assert_int_equal(whole_at(a, "/rows"), 117);
    assert_string_equal(string_at(a, "/columns/0/type"), "numeric");
    browser_check();
}

static void test_a_search_runs_before_the_eyes(void **state) {
    (void)state;
    setting_start();
    upload_file("iris", "iris.csv");
    browser_open("#/data/iris");
    browser_click("Train a model with this data");
    browser_wait_text("Ready to start");
    assert_string_equal(browser_value("Column to predict"), "class");
    browser_click("Start the search");
    browser_wait("location.hash.startsWith('#/jobs/')", "the page of the job");
    browser_wait_text("Leaderboard");
    browser_wait_text("succeeded");
    browser_wait_text("The search tried");
    browser_click("Open the model");
    browser_wait("location.hash.startsWith('#/models/iris')", "the page of the model");
    browser_wait_text("How good it is");
    assert_int_equal(whole_at(call_get("/v1/models/iris"), "/version"), 1);
    browser_check();
}

static void test_a_running_job_is_cancelled(void **state) {
    (void)state;
    setting_start();
    upload_file("digits", "digits.csv");
    const int64_t id = job_endless("slow");
    browser_open("#/jobs");
    /* the choice of a state has the word, too */
    browser_wait(
        "[...document.querySelectorAll('.badge')].some((b) => b.textContent === 'running')",
        "a running job");
    browser_open(text("#/jobs/%lld", (long long)id));
    browser_wait_text("running");
    browser_click("Cancel");
    browser_wait_text("Cancel the job?");
    browser_press(KEY_ESCAPE);
    browser_wait_no_text("Cancel the job?");
    browser_click("Cancel");
    browser_click("Cancel the job");
    job_wait(id);
    browser_wait_text("cancelled");
    assert_string_equal(string_at(call_get("/v1/jobs/%lld", (long long)id), "/state"), "cancelled");
    browser_check();
}

/* Stores the table and trains two versions of the model "people". */
static void train_two_versions(void) {
    status_check(call_upload("/v1/datasets/people?types=age:numeric&missing=4O", people(400)), 201);
    job_train("{'model':'people','dataset':'people','target':'class','algorithm':'logistic',"
              "'validation':{'holdout':0.3,'curves':true}}");
    job_train("{'model':'people','dataset':'people','target':'class','algorithm':'gaussian',"
              "'validation':{'holdout':0.3,'curves':true}}");
}

static void test_the_live_version_is_switched_and_back(void **state) {
    (void)state;
    setting_start();
    train_two_versions();
    assert_int_equal(whole_at(call_get("/v1/models/people"), "/version"), 2);
    browser_open("#/models/people");
    browser_click("Make live");
    browser_wait_text("Undo");
    assert_int_equal(whole_at(call_get("/v1/models/people"), "/version"), 1);
    browser_click("Undo");
    browser_wait_text("version 2 of 2");
    assert_int_equal(whole_at(call_get("/v1/models/people"), "/version"), 2);
    browser_allow("status of 404");
    browser_open("#/models/people/9");
    browser_wait_text("It may have been deleted.");
    browser_click("Choose another one");
    browser_wait_text("version 2 of 2");
    browser_check();
}

static void test_a_threshold_is_set_by_cost(void **state) {
    (void)state;
    setting_start();
    train_two_versions();
    browser_open("#/models/people");
    browser_click("Threshold and cost");
    browser_wait_text("Move the threshold");
    browser_fill("Cost of missing “yes”", "10");
    browser_choose("Find the threshold for me", "Least cost on these rows");
    browser_wait("Number(field('Threshold').value) < 0.5", "a lower threshold");
    browser_click("Store this threshold");
    browser_wait_no_text("No rule is stored");
    const struct response *a = status_check(call_get("/v1/models/people/decision"), 200);
    assert_string_equal(string_at(a, "/rule/positive"), "yes");
    assert_true(real_at(a, "/rule/threshold") < 0.5);
    browser_check();
}

static void test_a_row_is_tried(void **state) {
    (void)state;
    setting_start();
    train_two_versions();
    browser_open("#/try/people");
    browser_wait_text("Prediction of class");
    browser_fill("age", "79");
    browser_wait_text("yes, 100");
    const struct response *a =
        call_post("/v1/models/people/predict?output=label,probabilities",
                  "{'instances':[{'age':79,'height':%s}]}", browser_value("height"));
    assert_string_equal(string_at(a, "/predictions/0/label"), "yes");
    browser_fill("age", "20");
    browser_wait_text("no, 100");
    /* the row is in the URL: another tab shows the same */
    const char *place = browser_place();
    assert_non_null(strstr(place, "20"));
    browser_new_tab(place);
    setting_sign_in(); /* another tab has not the token of this one */
    browser_wait_text("no, 100");
    assert_string_equal(browser_value("age"), "20");
    browser_first_tab();
    browser_fill("age", "");
    browser_wait_text("age");
    browser_check();
}

/* A date, a number with a decimal comma and a text: what is typical of them, how they may be typed
 * and along which of them the answer is drawn. */
static void test_dates_and_commas_are_tried(void **state) {
    (void)state;
    setting_start();
    char *csv = keep(malloc(8192), free);
    size_t n = (size_t)sprintf(csv, "day;size;note;class\n");
    for (int i = 0; i < 61; i++) {
        const char *words =
            i % 2 ? "a small one with very few of them" : "one large thing of its kind";
        n += (size_t)sprintf(csv + n, "%02d.%02d.2020;%d,%d;%s %d;%s\n", 1 + i % 28, 1 + i / 28,
                             i % 10, i % 7, words, i, i % 2 ? "small" : "large");
    }
    status_check(call_upload("/v1/datasets/days", csv), 201);
    job_train("{'model':'days','dataset':'days','target':'class','algorithm':'logistic'}");
    browser_open("#/try/days");
    browser_wait_text("Prediction of class");
    assert_string_equal(browser_value("day"), "02.02.2020"); /* of 01.01. to 05.03. */
    browser_wait_text("There is no curve along \xE2\x80\x9Cnote\xE2\x80\x9D");
    browser_fill("size", "3,5");
    browser_wait("location.hash.includes('3%2C5')", "the row in the URL");
    browser_wait("!document.querySelector('.row-form .error')", "a row without a fault");
    browser_choose("Column", "day");
    browser_wait("document.querySelector('.along svg .axis-label')?.textContent === 'day'",
                 "the curve along the dates");
    browser_fill("size", "3,5,1");
    browser_wait_text("Write the number without separators of thousands");
    browser_allow("status of 422");
    browser_check();
}

/* Waits for a file in the folder of downloads, and returns what it holds. */
static const char *downloaded(const char *name) {
    const char *path = text("%s/%s", browser_downloads(), name);
    for (double limit = now() + BROWSER_SECONDS; now() < limit; pause_ms(50)) {
        if (access(path, R_OK) == 0) {
            return read_whole(path, NULL);
        }
    }
    fail_msg("there is no download %s", name);
    return NULL;
}

static size_t count_lines(const char *csv) {
    size_t n = 0;
    for (; *csv != '\0'; csv++) {
        n += *csv == '\n';
    }
    return n;
}

static void test_a_file_is_predicted(void **state) {
    (void)state;
    setting_start();
    train_two_versions();
    browser_open("#/try/people");
    browser_drop("Drop a file with rows to predict, or choose one", "new people.csv",
                 "height,age,name\r\n180,70,\"Ann, \"\"A\"\"\nof Ulm\"\r\n160,20,Bob\r\n,33,\r\n");
    browser_wait_text("3 rows predicted");
    json_t *button = browser_run("return [...document.querySelectorAll('button')]"
                                 ".map((b) => flat(b.textContent))"
                                 ".find((t) => t.startsWith('Save the predictions'))",
                                 NULL);
    browser_click(json_string_value(button));
    const char *csv = downloaded("new people-predictions.csv");
    assert_int_equal(count_lines(csv), 5); /* header, three rows, one of them with a line end */
    assert_non_null(strstr(csv, "\"Ann, \"\"A\"\"\nof Ulm\""));
    assert_non_null(strstr(csv, "yes"));
    assert_non_null(strstr(csv, "Bob"));
    browser_check();
}

/* A file of JSON: rows that the model cannot read are listed by their number. */
static void test_a_file_of_json_is_predicted(void **state) {
    (void)state;
    setting_start();
    train_two_versions();
    browser_open("#/try/people");
    browser_drop("Drop a file with rows to predict, or choose one", "rows.json",
                 "{\"columns\": [\"height\", \"age\"],\n \"rows\": [[180, 70],\n"
                 "  [160, \"old\"],\n  [170, null]]}\n");
    browser_wait_text("2 rows predicted");
    browser_wait_text("1 row of the file has no prediction");
    browser_wait_text("Row of the file");
    browser_drop("Drop a file with rows to predict, or choose one", "only.csv", "height,age\n");
    browser_wait_text("a header and no row below it");
    browser_check();
}

static void test_a_target_of_one_class_is_explained(void **state) {
    (void)state;
    setting_start();
    status_check(call_upload("/v1/datasets/same", "x,class\n1.5,a\n2.5,a\n3,a\n4,a\n"), 201);
    browser_open("#/train?dataset=same");
    browser_wait_text("has one value only, and a classifier needs two: choose another column");
    browser_wait_text("learns what most rows are like");
    browser_allow("status of 422");
    browser_check();
}

/* More rows than one piece holds: each has its prediction, in the order of the file. */
static void test_a_long_file_is_predicted_in_pieces(void **state) {
    (void)state;
    setting_start();
    train_two_versions();
    enum { N_ROWS = 60000, ROW = 160 };
    char *csv = keep(malloc((size_t)N_ROWS * (ROW + 40) + 64), free);
    char *at = csv + sprintf(csv, "age,height,id,note\n");
    for (int i = 0; i < N_ROWS; i++) {
        at += sprintf(at, "%d,%d,%d,%s\n", 18 + i % 60, 150 + i % 50, i, repeat("x", ROW - 20));
    }
    const char *file = text("%s/long.csv", browser_downloads());
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_true(fputs(csv, out) >= 0);
    assert_int_equal(fclose(out), 0);
    browser_open("#/try/people");
    browser_choose_file("Drop a file with rows to predict, or choose one", file);
    browser_wait_text("60,000 rows predicted");
    json_t *button = browser_run("return [...document.querySelectorAll('button')]"
                                 ".map((b) => flat(b.textContent))"
                                 ".find((t) => t.startsWith('Save the predictions'))",
                                 NULL);
    browser_click(json_string_value(button));
    const char *answers = downloaded("long-predictions.csv");
    assert_int_equal(count_lines(answers), N_ROWS + 1);
    const char *line = strchr(answers, '\n') + 1;
    for (int i = 0; i < N_ROWS; i++) {
        int age, height, id;
        assert_int_equal(sscanf(line, "%d,%d,%d,", &age, &height, &id), 3);
        assert_int_equal(id, i);
        line = strchr(line, '\n') + 1;
    }
    unlink(file);
    browser_check();
}

/* Sets four points around the middle of each of two opposite corners of the plane. */
static void set_corners(const char *class_name, double y_left, double y_right) {
    browser_click(class_name);
    for (int i = 0; i < 4; i++) {
        const double dx = 0.06 * (i % 2), dy = 0.06 * (i / 2);
        browser_click_at(".plane-surface", 0.22 + dx, y_left + dy);
        browser_click_at(".plane-surface", 0.72 + dx, y_right + dy);
    }
}

static void test_xor_is_drawn_and_solved_by_a_kernel(void **state) {
    (void)state;
    setting_start();
    browser_open("#/playground");
    browser_click("Remove all");
    browser_wait("/(^|\\s)0 points/.test(document.body.innerText)", "no points");
    set_corners("A", 0.22, 0.72);
    set_corners("B", 0.72, 0.22);
    browser_wait_text("of 16 points right");
    browser_wait_no_text("16 of 16 points right"); /* logistic regression: a line */
    browser_choose("Method", "Support vector machine");
    browser_choose("Kernel", "rbf");
    browser_wait_text("16 of 16 points right (100.0 %)");
    browser_wait("document.querySelectorAll('.plane-point').length === 16", "the points");
    /* the same by the interface: a dataset and a model whose names expire */
    const struct response *a = status_check(call_get("/v1/datasets"), 200);
    assert_int_equal(count_at(a, "/items"), 1);
    assert_int_equal(whole_at(a, "/items/0/rows"), 16);
    assert_true(json_is_string(value_at(a, "/items/0/expires_at")));
    a = status_check(call_get("/v1/models"), 200);
    assert_true(json_is_string(value_at(a, "/items/0/expires_at")));
    /* a reload shows the same drawing */
    browser_wait("location.hash.includes('rbf') && location.hash.includes('points=')",
                 "the drawing in the URL");
    browser_open(browser_place());
    browser_click_nth("Train", 1); /* the first is the view */
    browser_wait_text("16 of 16 points right (100.0 %)");
    browser_check();
}

static size_t n_datasets(void) {
    return count_at(status_check(call_get("/v1/datasets"), 200), "/items");
}

/* A link shows its points; a click trains on them. A link that is chosen in the playground trains
 * at once. */
static void test_a_link_to_a_drawing_stores_nothing(void **state) {
    (void)state;
    static const char *const places[] = {"#/playground/xor", "#/playground?method=gaussian"};
    setting_start();
    for (size_t i = 0; i < 2; i++) {
        browser_open(places[i]);
        browser_wait_text("Nothing is stored yet");
        browser_wait("document.querySelectorAll('.plane-point').length > 0", "the points");
        browser_settle();
        pause_ms(500); /* more than the delay before a training */
        assert_int_equal(n_datasets(), 0);
    }
    browser_click_nth("Train", 1); /* the first is the view */
    browser_wait_text("points right");
    assert_int_equal(n_datasets(), 1);
    browser_wait_no_text("Nothing is stored yet");
    /* the same page is led to other points, as a link of another site can do */
    browser_run("location.hash = '#/playground?method=fisher'", NULL);
    browser_wait_text("Nothing is stored yet");
    browser_settle();
    pause_ms(500);
    assert_int_equal(count_at(call_get("/v1/jobs"), "/items"), 1);
    browser_click("XOR: no line will doBasis functions, exclusive or; units that learn features");
    browser_wait_text("points right");
    browser_wait_no_text("Nothing is stored yet");
    browser_settle();
    browser_check();
}

/* A character that reverses the text behind it is shown as a mark, in plots as well. */
static void test_control_characters_are_marked(void **state) {
    (void)state;
    static const char *const places[] = {"#/data/turned",          "#/data/turned?tab=rows",
                                         "#/train?dataset=turned", "#/models/turned?tab=inside",
                                         "#/try/turned",           "#/boundaries/turned"};
    setting_start();
    const char *csv = "a\u202Eegnar,width,class\n";
    for (int i = 0; i < 40; i++) {
        csv = text("%s%d,%d,%s\n", csv, i * 5 % 23, i * 7 % 11,
                   i * 5 % 23 < 11 ? "lo\u202Ew" : "high");
    }
    status_check(call_upload("/v1/datasets/turned", csv), 201);
    job_train("{'model':'turned','dataset':'turned','target':'class','algorithm':'logistic'}");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        browser_open(places[i]);
        browser_wait("document.body.textContent.includes('[U+202E]')", places[i]);
        browser_settle();
        assert_true(json_is_true(browser_run(
            "return ![document.title, document.body.textContent, ...[...document"
            ".querySelectorAll('[title], [aria-label]')].map((e) => e.getAttribute('title') +"
            " e.getAttribute('aria-label'))].some((t) => t.includes('\\u202e'))",
            NULL)));
    }
    browser_wait("[...document.querySelectorAll('svg text')].some((t) => "
                 "t.textContent.includes('[U+202E]'))",
                 "a mark in the plot");
    browser_check();
}

static void test_names_that_expire_are_listed_on_demand(void **state) {
    (void)state;
    static const char *const job =
        "{'model':'%s','dataset':'%s','target':'class','algorithm':'gaussian','expires_in':3600}";
    static const char *const views[] = {"data", "models", "jobs", "try", "boundaries", "train"};
    static const char *const hidden[] = {"table", "model", "job", "model", "model", "table"};
    setting_start();
    status_check(call_upload("/v1/datasets/scratch?expires_in=3600", people(60)), 201);
    job_train(job, "scratch", "scratch");
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        browser_open(text("#/%s", views[i]));
        browser_wait_text(text("1 %s that expires is hidden.", hidden[i]));
    }
    browser_open("#/jobs");
    browser_click("Show it");
    browser_wait("[...document.querySelectorAll('datalist option')].some((o) => "
                 "o.value === 'scratch')",
                 "a suggestion of the name");
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'gaussian'}");
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        browser_open(text("#/%s", views[i]));
        browser_wait_text("iris");
        assert_null(strstr(browser_text(), "scratch"));
        browser_click("Show names that expire");
        browser_wait_text("scratch");
        /* a link restores it */
        browser_open(browser_place());
        browser_wait_text("scratch");
        browser_click("Show names that expire");
        browser_wait_no_text("scratch");
    }
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_wrong_type_is_seen_and_mended),
        TEST(test_a_search_runs_before_the_eyes),
        TEST(test_a_running_job_is_cancelled),
        TEST(test_the_live_version_is_switched_and_back),
        TEST(test_a_threshold_is_set_by_cost),
        TEST(test_a_row_is_tried),
        TEST(test_dates_and_commas_are_tried),
        TEST(test_a_file_of_json_is_predicted),
        TEST(test_a_target_of_one_class_is_explained),
        TEST(test_a_file_is_predicted),
        TEST(test_a_long_file_is_predicted_in_pieces),
        TEST(test_xor_is_drawn_and_solved_by_a_kernel),
        TEST(test_a_link_to_a_drawing_stores_nothing),
        TEST(test_control_characters_are_marked),
        TEST(test_names_that_expire_are_listed_on_demand),
    };
    const struct CMUnitTest some[] = {
        TEST(test_a_wrong_type_is_seen_and_mended),
        TEST(test_a_search_runs_before_the_eyes),
        TEST(test_a_row_is_tried),
        TEST(test_a_file_is_predicted),
    };
    return SETTING_RUN(tests, some);
}
