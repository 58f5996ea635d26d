/* Replays files without a fuzzing engine: standalone FILE-OR-FOLDER... runs the target once for each file. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

/* Exactly as many bytes as the file has, so that a sanitizer sees a read past the end. */
static int replay_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    if (!file) return perror(path), -1;
    uint8_t *data = NULL;
    long bytes = -1;
    if (fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
        data = malloc(bytes > 0 ? (size_t)bytes : 1);
    const int good = data && fread(data, 1, (size_t)bytes, file) == (size_t)bytes;
    fclose(file);
    if (good) {
        printf("%s\n", path);
        fflush(stdout); /* the last name printed is the one that fails */
        LLVMFuzzerTestOneInput(data, (size_t)bytes);
    } else {
        fprintf(stderr, "%s: cannot read\n", path);
    }
    free(data);
    return good ? 1 : -1;
}

/* Number of inputs run, or -1. */
static int replay_folder(const char *path)
{
    DIR *const folder = opendir(path);
    if (!folder) return perror(path), -1;
    int count = 0;
    const struct dirent *entry;
    while (count >= 0 && (entry = readdir(folder))) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        const int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        const int one = length > 0 && (size_t)length < sizeof name ? replay_file(name) : -1;
        count = one < 0 ? -1 : count + one;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) != 0) return perror(argv[i]), 1;
        const int count = S_ISDIR(info.st_mode) ? replay_folder(argv[i]) : replay_file(argv[i]);
        if (count < 0) return 1;
        total += count;
    }
    printf("%d inputs replayed\n", total);
    return total > 0 ? 0 : 1;
}
