/* The main function of a fuzz target without libFuzzer: calls LLVMFuzzerTestOneInput with every
 * file of the folders (or files) that the arguments name, in the order of the file names. `make
 * test` runs the corpora and the inputs of fixed crashes with it. A folder that does not exist
 * counts as empty. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static int replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    int status = 1;
    if (file != NULL && bytes != NULL && fread(bytes, 1, size, file) == size) {
        printf("# %s (%zu bytes)\n", path, size);
        fflush(stdout); /* so that the last line of the output names the input that crashes */
        LLVMFuzzerTestOneInput(bytes, size);
        status = 0;
    } else {
        fprintf(stderr, "cannot read %s\n", path);
    }
    free(bytes);
    if (file != NULL) {
        fclose(file);
    }
    return status;
}

static int replay(const char *path, size_t *count) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return 0;
    }
    if (S_ISREG(st.st_mode)) {
        ++*count;
        return replay_file(path, (size_t)st.st_size);
    }
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    int status = n < 0;
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            size_t length = strlen(path) + strlen(entries[i]->d_name) + 2;
            char *child = malloc(length);
            if (child != NULL) {
                snprintf(child, length, "%s/%s", path, entries[i]->d_name);
                status |= replay(child, count);
            } else {
                status = 1;
            }
            free(child);
        }
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
    return status;
}

int main(int argc, char **argv) {
    if (LLVMFuzzerInitialize != NULL) {
        LLVMFuzzerInitialize(&argc, &argv);
    }
    size_t count = 0;
    int status = 0;
    for (int i = 1; i < argc; i++) {
        status |= replay(argv[i], &count);
    }
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    printf("1..1\n%s 1 - %s: %zu inputs\n", status == 0 ? "ok" : "not ok", argv[0], count);
    return status;
}
