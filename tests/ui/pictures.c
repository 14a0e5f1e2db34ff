/* The program of tests/ui/screenshots, which describes its arguments. */
#include "ui/browser.h"
#include "ui/filled.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The place as a part of a file name: "#/models/iris?tab=quality" is models-iris-tab-quality. */
static const char *file_part(const char *place) {
    char *part = keep(strdup(place), free);
    size_t n = 0;
    for (const char *c = place; *c != '\0'; c++) {
        if (isalnum((unsigned char)*c) || *c == '_' || *c == '.') {
            part[n++] = *c;
        } else if (n > 0 && part[n - 1] != '-') {
            part[n++] = '-';
        }
    }
    part[n] = '\0';
    return n > 0 ? part : "start";
}

static struct {
    const char *folder;
    struct words widths, themes;
} wanted;

/* Opens a place and draws it in all widths and themes, each after rest(). state: the begin of the
 * file names. */
static void draw(const char *state, const char *place, void (*open)(const char *place),
                 void (*rest)(void)) {
    browser_resize(1280, 720);
    open(place);
    for (size_t i = 0; i < wanted.widths.n; i++) {
        const int width = (int)strtol(wanted.widths.word[i], NULL, 10);
        for (size_t k = 0; k < wanted.themes.n; k++) {
            browser_resize(width, width < 600 ? 800 : width * 9 / 16);
            browser_set_colours(wanted.themes.word[k]);
            rest();
            const json_t *wide = browser_run("return document.documentElement.scrollWidth", NULL);
            const char *name =
                text("%s%s-%d-%s.png", state, file_part(place), width, wanted.themes.word[k]);
            if (json_integer_value(wide) > width) {
                printf("%s: the page is %lld pixels wide\n", name,
                       (long long)json_integer_value(wide));
            }
            browser_save_picture(text("%s/%s", wanted.folder, name));
        }
    }
    const char *faults = browser_faults();
    if (faults[0] != '\0') {
        printf("%s%s: %s", state, file_part(place), faults);
    }
    keep_free();
}

static void draw_all(const char *state, const char *places, void (*open)(const char *place)) {
    struct words words = words_of(places);
    for (size_t i = 0; i < words.n; i++) {
        draw(state, words.word[i], open, browser_settle);
    }
    words_free(&words);
}

/* Goes to a place without a load of the page. */
static void go(const char *place) {
    browser_run("location.hash = arguments[0]", ARGUMENTS(place));
}

static void wait_loading(void) {
    browser_wait_text("Loading");
}

/* Draws places whose calls get no answer, because a signal has stopped the daemon. */
static void draw_loading(const char *places) {
    struct words words = words_of(places);
    for (size_t i = 0; i < words.n; i++) {
        filled_open("#/nowhere");
        kill(the_daemon.pid, SIGSTOP);
        draw("loading-", words.word[i], go, wait_loading);
        kill(the_daemon.pid, SIGCONT);
    }
    words_free(&words);
}

/* The views without data, with an unknown name, while they load, and without the daemon. */
static const char views[] = "#/data #/train #/jobs #/models #/try #/boundaries #/playground";
static const char unknown[] = "#/data/none #/jobs/999 #/models/none #/try/none #/boundaries/none";

/* A place and the button there that opens a dialog. */
static const struct dialog {
    const char *place, *button;
} dialogs[] = {
    {"#/data", "Token"},
    {"#/data/iris", "Add a description or tags"},
    {"#/data/iris", "Delete"},
    {"#/jobs/1", "Delete"},
    {"#/jobs/8", "Cancel"},
    {"#/models/cancer", "Delete …"},
    {"#/models/cancer", "Delete version 2"},
};
static const struct dialog *shown; /* by open_dialog */

static void open_dialog(const char *place) {
    filled_open(place);
    browser_click(shown->button);
    browser_wait("document.querySelector('dialog[open]')", "a dialog");
}

/* Draws the dialogs while job 8 runs. */
static void draw_dialogs(void) {
    for (size_t i = 0; i < sizeof dialogs / sizeof dialogs[0]; i++) {
        shown = &dialogs[i];
        draw(text("dialog-%s-", file_part(shown->button)), shown->place, open_dialog,
             browser_settle);
    }
}

static void draw_states(void) {
    draw_all("empty-", views, filled_open);
    service_start(NULL); /* without what the playground has made */
    fill_daemon();
    draw_all("running-", "#/jobs #/jobs/8", filled_open);
    draw_dialogs();
    filled_rest();
    browser_allow("status of 404");
    draw_all("", unknown, filled_open);
    draw_loading("#/data #/jobs #/models");
    service_stop();
    browser_allow("ERR_");
    draw_all("lost-", "#/data #/jobs #/playground", go);
    daemon_start(&the_daemon);
    browser_set_base(NULL);
}

int main(int n_arguments, char **arguments) {
    const char *places = NULL, *widths = "360 1280 2560", *themes = "light dark";
    bool wrong = n_arguments < 2 || n_arguments % 2 != 0;
    for (int i = 2; i + 1 < n_arguments; i += 2) {
        const char **option = strcmp(arguments[i], "--places") == 0   ? &places
                              : strcmp(arguments[i], "--widths") == 0 ? &widths
                              : strcmp(arguments[i], "--themes") == 0 ? &themes
                                                                      : NULL;
        wrong = wrong || option == NULL;
        if (option != NULL) {
            *option = arguments[i + 1];
        }
    }
    const char *missing = browser_missing();
    if (wrong || missing != NULL) {
        fprintf(stderr, "screenshots: %s\n",
                wrong ? "bad arguments (see --help)" : text("%s is not installed", missing));
        return 2;
    }
    wanted.folder = arguments[1];
    wanted.widths = words_of(widths);
    wanted.themes = words_of(themes);
    service_start(NULL);
    browser_start();
    browser_set_base(NULL);
    if (places == NULL) {
        draw_states();
    } else {
        fill_daemon();
        filled_rest();
    }
    draw_all("", places != NULL ? places : filled_places, filled_open);
    browser_end();
    service_end();
    keep_free();
    words_free(&wanted.widths);
    words_free(&wanted.themes);
    return 0;
}
