/* The program of tests/ui/screenshots, which describes its arguments. */
#include "ui/browser.h"
#include "ui/filled.h"

#include <ctype.h>
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

static void draw(const char *folder, const char *place, int width, const char *theme) {
    browser_resize(width, width < 600 ? 800 : width * 9 / 16);
    browser_set_colours(theme);
    filled_open(place);
    const json_t *wide = browser_run("return document.documentElement.scrollWidth", NULL);
    const char *name = text("%s-%d-%s.png", file_part(place), width, theme);
    if (json_integer_value(wide) > width) {
        printf("%s: the page is %lld pixels wide\n", name, (long long)json_integer_value(wide));
    }
    browser_save_picture(text("%s/%s", folder, name));
    const char *faults = browser_faults();
    if (faults[0] != '\0') {
        printf("%s: %s", name, faults);
    }
    keep_free();
}

int main(int n_arguments, char **arguments) {
    const char *places = filled_places, *widths = "360 1280 2560", *themes = "light dark";
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
    struct words at = words_of(places), sizes = words_of(widths), schemes = words_of(themes);
    service_start(NULL);
    fill_daemon();
    browser_start();
    browser_set_base(NULL);
    for (size_t i = 0; i < at.n; i++) {
        for (size_t j = 0; j < sizes.n; j++) {
            for (size_t k = 0; k < schemes.n; k++) {
                draw(arguments[1], at.word[i], (int)strtol(sizes.word[j], NULL, 10),
                     schemes.word[k]);
            }
        }
    }
    browser_end();
    service_end();
    keep_free();
    words_free(&at);
    words_free(&sizes);
    words_free(&schemes);
    return 0;
}
