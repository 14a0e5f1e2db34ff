#include "ui/filled.h"

#include "ui/browser.h"

#include <stdlib.h>
#include <string.h>

const char filled_places[] =
    "#/data #/data/iris #/data/iris?column=petal_length #/data/iris?tab=rows"
    " #/data/iris?tab=versions #/data/iris?tab=append #/data/breast_cancer #/data/people"
    " #/train #/train?dataset=iris #/train?dataset=breast_cancer&target=class&algorithm=logistic"
    " #/train?dataset=breast_cancer&target=class&as=json"
    " #/jobs #/jobs/1 #/jobs/2 #/jobs/4 #/jobs/7 #/jobs/8"
    " #/models #/models/iris #/models/iris?tab=quality #/models/iris?tab=inside"
    " #/models/cancer #/models/cancer?tab=quality #/models/cancer?tab=decision"
    " #/models/cancer?tab=inside #/models/rings?tab=inside #/models/flowers?tab=inside"
    " #/models/" FILLED_LONG_NAME "?tab=inside"
    " #/models/iris?tab=importance&data=iris&metric=accuracy&repeats=5"
    " #/models/cancer?tab=compare&compare=cancer@1,cancer@2&data=breast_cancer"
    " #/try #/try/iris #/try/cancer"
    " #/boundaries #/boundaries/rings #/boundaries/iris #/boundaries/cancer"
    " #/boundaries/" FILLED_LONG_NAME
    " #/playground #/playground/xor #/playground/covariances #/playground/margin"
    " #/nowhere /docs";

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

void fill_daemon(void) {
    upload_file("iris", "iris.csv");
    upload_file("breast_cancer", "breast_cancer.csv");
    upload_file("digits", "digits.csv");
    status_check(call_upload("/v1/datasets/rings", rings()), 201);
    status_check(call_upload("/v1/datasets/people", people()), 201);
    static const char held_out[] = "'validation':{'holdout':0.3,'curves':true}";
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic',"
              "'learning_curve':[0.1,0.2,0.5,1],%s}",
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
    job_train("{'model':'" FILLED_LONG_NAME
              "','dataset':'rings','target':'ring','algorithm':'mlp',%s}",
              held_out);
    (void)job_wait(job_post("{'model':'late','dataset':'digits','target':'class',"
                            "'algorithm':'logistic','params':{'solver':'gradient_descent',"
                            "'max_iterations':100000000,'learning_rate':1e-12,"
                            "'tolerance':1e-300},'limits':{'seconds':1}}"));
    (void)job_wait_state(job_endless("endless"), "running");
}

void filled_rest(void) {
    status_check(call_empty("POST", "/v1/jobs/8/cancel"), 202);
    (void)job_wait(8);
}

void filled_open(const char *place) {
    if (place[0] == '/') {
        browser_open_path(place);
    } else {
        browser_open(place);
    }
    browser_settle();
}

const char *filled_faults(const char *place, const char *found) {
    const char *faults = browser_faults();
    return faults[0] != '\0' ? text("%s%s: %s", found, place, faults) : found;
}

struct words words_of(const char *list) {
    struct words words = {0};
    char *copy = strdup(list), *rest = copy;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && words.n < 100;) {
        words.word[words.n++] = strdup(word);
    }
    free(copy);
    return words;
}

void words_free(struct words *words) {
    while (words->n > 0) {
        free(words->word[--words->n]);
    }
}

struct words filled_words;

int filled_group_start(void **state) {
    (void)group_start(state);
    fill_daemon();
    filled_rest();
    filled_words = words_of(filled_places);
    return browser_group_start(state);
}

int filled_group_end(void **state) {
    words_free(&filled_words);
    return browser_group_end(state);
}
