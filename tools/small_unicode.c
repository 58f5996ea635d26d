/* small_unicode OUT: writes the few functions of utf8proc that ganz calls as a C file of their own, for a program of
 * one file: utf8proc's tables have 330 KB, those of categories and case of single characters a sixth. They are filled
 * by asking utf8proc about every character there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { CHARACTERS = 0x110000, MOST_KINDS = 256, SIZE = 128 };

/* What a character can be asked; cases as the distance to the other one. */
typedef struct kind {
    int category, is_lower, lower, upper, title;
} kind;

static kind kinds[MOST_KINDS];
static int kind_count;
static int kind_of[CHARACTERS];
static int block_of[CHARACTERS], first_of[CHARACTERS]; /* by block; its number, and where one of that number begins */

static int number_of_kind(const kind *k)
{
    for (int i = 0; i < kind_count; i++)
        if (memcmp(&kinds[i], k, sizeof *k) == 0) return i;
    if (kind_count == MOST_KINDS) {
        fprintf(stderr, "small_unicode: more than %d kinds of characters\n", MOST_KINDS);
        exit(1);
    }
    kinds[kind_count] = *k;
    return kind_count++;
}

static int ask(int32_t c)
{
    const kind k = {(int)utf8proc_category(c), utf8proc_islower(c), utf8proc_tolower(c) - c, utf8proc_toupper(c) - c,
                    utf8proc_totitle(c) - c};
    return number_of_kind(&k);
}

/* Numbers blocks of SIZE characters, equal ones alike; their count. */
static int number_blocks(void)
{
    int count = 0;
    for (int b = 0; b < CHARACTERS / SIZE; b++) {
        int same = 0;
        while (same < count &&
               memcmp(kind_of + first_of[same], kind_of + b * SIZE, (size_t)SIZE * sizeof *kind_of) != 0)
            same++;
        if (same == count) first_of[count++] = b * SIZE;
        block_of[b] = same;
    }
    return count;
}

static void write_numbers(FILE *out, const char *head, const int *numbers, int count)
{
    fprintf(out, "%s = {", head);
    for (int i = 0; i < count; i++) fprintf(out, "%s%d,", i % 32 ? "" : "\n", numbers[i]);
    fprintf(out, "\n};\n");
}

static void write_all(FILE *out)
{
    static int numbers[CHARACTERS];
    const int blocks = number_blocks();
    const int nothing = ask(-1);
    fprintf(out, "/* Written by tools/small_unicode.c from utf8proc %s. */\n#include <utf8proc.h>\n\n",
            utf8proc_version());
    fprintf(out, "static const struct { signed char category, is_lower; int lower, upper, title; } kinds[] = {\n");
    for (int i = 0; i < kind_count; i++)
        fprintf(out, "{%d,%d,%d,%d,%d},\n", kinds[i].category, kinds[i].is_lower, kinds[i].lower, kinds[i].upper,
                kinds[i].title);
    fprintf(out, "};\n");
    write_numbers(out, "static const unsigned short block_of[]", block_of, CHARACTERS / SIZE);
    for (int b = 0; b < blocks; b++) memcpy(numbers + b * SIZE, kind_of + first_of[b], (size_t)SIZE * sizeof *kind_of);
    write_numbers(out, "static const unsigned char kind_of[]", numbers, blocks * SIZE);
    fprintf(
        out,
        "\n#define KIND(c) kinds[(c) < 0 || (c) >= %d ? %d : kind_of[block_of[(c) / %d] * %d + (c) %% %d]]\n"
        "utf8proc_category_t utf8proc_category(utf8proc_int32_t c) { return (utf8proc_category_t)KIND(c).category; }\n"
        "int utf8proc_islower(utf8proc_int32_t c) { return KIND(c).is_lower; }\n"
        "utf8proc_int32_t utf8proc_tolower(utf8proc_int32_t c) { return c + KIND(c).lower; }\n"
        "utf8proc_int32_t utf8proc_toupper(utf8proc_int32_t c) { return c + KIND(c).upper; }\n"
        "utf8proc_int32_t utf8proc_totitle(utf8proc_int32_t c) { return c + KIND(c).title; }\n",
        CHARACTERS, nothing, SIZE, SIZE, SIZE);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: small_unicode OUT\n");
        return 2;
    }
    FILE *const out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return 1;
    }
    for (int32_t c = 0; c < CHARACTERS; c++) kind_of[c] = ask(c);
    write_all(out);
    if (fclose(out) != 0) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
