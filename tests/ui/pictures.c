/* The program of tests/ui/screenshots, which describes its arguments. */
#include "ui/browser.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is drawn if no places are named. */
static const char all_places[] =
    "#/data #/data/iris #/data/iris?column=petal_length #/data/iris?tab=rows"
    " #/data/iris?tab=versions #/data/iris?tab=append #/data/breast_cancer #/data/people"
    " #/train #/train?dataset=iris #/train?dataset=breast_cancer&target=class&way=method"
    " #/train?dataset=breast_cancer&target=class&way=json"
    " #/jobs #/jobs/1 #/jobs/2 #/jobs/4 #/jobs/7"
    " #/models #/models/iris #/models/iris?tab=quality #/models/iris?tab=inside"
    " #/models/cancer #/models/cancer?tab=quality #/models/cancer?tab=decision"
    " #/models/cancer?tab=inside #/models/rings?tab=inside #/models/flowers?tab=inside"
    " #/models/network?tab=inside"
    " #/try #/try/iris #/try/cancer #/boundaries #/boundaries/rings #/boundaries/iris"
    " #/playground #/nowhere /docs";

/* Two rings of 60 rows: classes that no line separates. */
static const char *rings(void) {
    const char *csv = "x,y,ring\n";
    for (int i = 0; i < 120; i++) {
        const int a = i * 53 % 97 - 48, b = i * 31 % 89 - 44;
        csv = text("%s%d,%d,%s\n", csv, a, b, a * a + b * b < 1000 ? "inner" : "outer");
    }
    return csv;
}

/* A table with columns of several types, missing cells and a name of many letters. */
static const char *people(void) {
    const char *csv = "born,age,city,note,a rather long name of a column,income\n";
    static const char *const cities[] = {"Ulm", "Porto", "Århus", "Łódź", ""};
    for (int i = 0; i < 200; i++) {
        csv = text("%s19%02d-0%d-1%d,%s,%s,\"text %d, of some length\",%d.5,%s\n", csv, i % 90 + 10,
                   i % 9 + 1, i % 10, i % 13 == 0 ? "" : text("%d", 18 + i * 37 % 60),
                   cities[i % 5], i, i * 7 % 31, i % 3 == 0 ? "high" : "low");
    }
    return csv;
}

/* Tables, a model of each kind, a job that failed and one that runs. */
static void fill(void) {
    upload_file("iris", "iris.csv");
    upload_file("breast_cancer", "breast_cancer.csv");
    upload_file("digits", "digits.csv");
    status_check(call_upload("/v1/datasets/rings", rings()), 201);
    status_check(call_upload("/v1/datasets/people", people()), 201);
    static const char held_out[] = "'validation':{'holdout':0.3,'curves':true}";
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic',%s}",
              held_out);
    job_train("{'model':'cancer','dataset':'breast_cancer','target':'class',"
              "'algorithm':'gaussian',%s}",
              held_out);
    job_train("{'model':'cancer','dataset':'breast_cancer','target':'class',"
              "'algorithm':'logistic',%s}",
              held_out);
    job_train("{'model':'flowers','dataset':'iris','target':'class','search':{'candidates':'auto'},"
              "'limits':{'seconds':60}}");
    job_train("{'model':'rings','dataset':'rings','target':'ring','algorithm':'svm',"
              "'params':{'kernel':'rbf'},%s}",
              held_out);
    job_train("{'model':'network','dataset':'rings','target':'ring','algorithm':'mlp',%s}",
              held_out);
    (void)job_wait(job_post("{'model':'late','dataset':'digits','target':'class',"
                            "'algorithm':'logistic','params':{'solver':'gradient_descent',"
                            "'max_iterations':100000000,'learning_rate':1e-12,"
                            "'tolerance':1e-300},'limits':{'seconds':1}}"));
    (void)job_wait_state(job_endless("endless"), "running");
}

/* The words of a list, separated by blanks: calls draw with each. */
struct list {
    char *words[100];
    size_t n;
};

static struct list list_of(const char *words) {
    struct list list = {0};
    char *copy = strdup(words), *rest = copy;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && list.n < 100;) {
        list.words[list.n++] = strdup(word);
    }
    free(copy);
    return list;
}

static void list_free(struct list *list) {
    while (list->n > 0) {
        free(list->words[--list->n]);
    }
}

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
    if (place[0] == '/') {
        browser_open_path(place);
    } else {
        browser_open(place);
    }
    browser_settle();
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
    const char *places = all_places, *widths = "360 1280 2560", *themes = "light dark";
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
    struct list at = list_of(places), sizes = list_of(widths), schemes = list_of(themes);
    service_start(NULL);
    fill();
    browser_start();
    browser_set_base(NULL);
    for (size_t i = 0; i < at.n; i++) {
        for (size_t j = 0; j < sizes.n; j++) {
            for (size_t k = 0; k < schemes.n; k++) {
                draw(arguments[1], at.words[i], (int)strtol(sizes.words[j], NULL, 10),
                     schemes.words[k]);
            }
        }
    }
    browser_end();
    service_end();
    keep_free();
    list_free(&at);
    list_free(&sizes);
    list_free(&schemes);
    return 0;
}
