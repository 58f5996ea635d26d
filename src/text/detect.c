/* Languages of texts. The script with the most letters says which languages there are to choose from; among those that
 * share it, each trigram of the text counts for the languages in whose profile it is, by how frequent it is there. */
#include "ganz/detect.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/profiles.h"
#include "text/unicode.h"

enum {
    MOST_BYTES = 64 << 10, /* of a text that are read */
    MOST_LANGUAGES = 64,
    RARE = 21,     /* the level of trigrams that are not in a profile */
    OWN = 13,      /* that of a letter outside ASCII for languages that have it */
    KANA_PART = 10 /* Japanese has at least one kana among so many characters */
};

typedef enum letters {
    NO_SCRIPT,
    LATIN,
    CYRILLIC,
    ARABIC,
    HAN,
    KANA,
    ALONE
} letters; /* ALONE + n: only_languages[n] */

/* Scripts that are used for one language here. */
static const struct {
    int32_t first, last;
    char language[3];
} only_languages[] = {
    {0x0370, 0x03FF, "el"}, {0x0530, 0x058F, "hy"}, {0x0590, 0x05FF, "he"}, {0x0900, 0x097F, "hi"},
    {0x0980, 0x09FF, "bn"}, {0x0A00, 0x0A7F, "pa"}, {0x0A80, 0x0AFF, "gu"}, {0x0B80, 0x0BFF, "ta"},
    {0x0C00, 0x0C7F, "te"}, {0x0C80, 0x0CFF, "kn"}, {0x0D00, 0x0D7F, "ml"}, {0x0E00, 0x0E7F, "th"},
    {0x10A0, 0x10FF, "ka"}, {0x1200, 0x137F, "am"}, {0x1780, 0x17FF, "km"}, {0xAC00, 0xD7AF, "ko"},
};

static const struct {
    int32_t first, last;
    letters script;
} shared_scripts[] = {
    {0x0041, 0x024F, LATIN}, {0x1E00, 0x1EFF, LATIN}, {0x0400, 0x052F, CYRILLIC}, {0x0600, 0x06FF, ARABIC},
    {0x3040, 0x30FF, KANA},  {0x3400, 0x4DBF, HAN},   {0x4E00, 0x9FFF, HAN},
};

enum { SCRIPTS = ALONE + (int)GANZ_COUNT(only_languages) };

typedef struct known {
    const char *code;
    int script;
    bool wanted; /* may be guessed */
} known;

struct ganz_detector {
    known languages[MOST_LANGUAGES];
    int language_count;
    uint64_t
        *grams; /* ascending: three characters of 16 bits (or 0, 0, a letter), 8 of the language, 8 of the points */
    size_t gram_count, gram_room;
};

/* ---- opening ------------------------------------------------------------------------------------ */

const char *ganz_detector_languages(void)
{
    return "am ar be bg bn ca cs da de el en es et fa fi fr gu he hi hr hu hy id it ja ka km kn ko lt lv ml nb nl pa pl pt"
           " ro ru sk sl sr sv ta te th tr uk vi zh";
}

/* Whether a list has the code; NULL has all. */
static bool has_language(const char *list, const char *code)
{
    if (!list) return true;
    for (const char *at = list; *at;) {
        const size_t bytes = strcspn(at, " ,");
        if (bytes >= 2 && memcmp(at, code, 2) == 0 && (bytes == 2 || at[2] == '-' || at[2] == '_')) return true;
        at += bytes;
        at += strspn(at, " ,");
    }
    return false;
}

static int add_language(ganz_detector *d, const char *code, int script, const char *list)
{
    GANZ_ASSERT(d->language_count < MOST_LANGUAGES);
    d->languages[d->language_count] = (known){code, script, has_language(list, code)};
    return d->language_count++;
}

static int script_of(int32_t code)
{
    for (size_t i = 0; i < GANZ_COUNT(shared_scripts); i++)
        if (code >= shared_scripts[i].first && code <= shared_scripts[i].last) return (int)shared_scripts[i].script;
    for (size_t i = 0; i < GANZ_COUNT(only_languages); i++)
        if (code >= only_languages[i].first && code <= only_languages[i].last) return ALONE + (int)i;
    return NO_SCRIPT;
}

static ganz_status add_gram(ganz_detector *d, const int32_t gram[3], int language, int level, ganz_error *err)
{
    if (!ganz_grow((void **)&d->grams, &d->gram_room, d->gram_count + 1, sizeof *d->grams))
        return ganz_fail(err, GANZ_ENOMEM, "no memory for the languages");
    d->grams[d->gram_count++] = (uint64_t)gram[0] << 48 | (uint64_t)gram[1] << 32 | (uint64_t)gram[2] << 16 |
                                (uint64_t)language << 8 | (uint64_t)(RARE - level);
    return GANZ_OK;
}

/* A letter that not all languages have says much. */
static ganz_status add_letter(ganz_detector *d, int32_t letter, int language, ganz_error *err)
{
    const int32_t gram[3] = {0, 0, letter};
    return letter < 0x80 ? GANZ_OK : add_gram(d, gram, language, OWN, err);
}

/* A number, trigrams, a number, ... */
static ganz_status add_grams(ganz_detector *d, const char *text, int language, ganz_error *err)
{
    int level = 0;
    while (*text) {
        int32_t gram[3];
        if (*text >= '0' && *text <= '9') {
            level = (int)strtol(text, (char **)&text, 10);
            continue;
        }
        for (int i = 0; i < 3; i++) text += ganz_next_character(text, &gram[i]);
        if (level < RARE) GANZ_TRY(add_gram(d, gram, language, level, err));
        for (int i = 0; i < 3; i++) GANZ_TRY(add_letter(d, gram[i], language, err));
    }
    return GANZ_OK;
}

/* The script of a profile is that of its first letter. */
static int script_of_text(const char *text)
{
    int script = NO_SCRIPT;
    while (script == NO_SCRIPT) {
        int32_t code;
        text += ganz_next_character(text, &code);
        script = code == '_' ? NO_SCRIPT : script_of(code);
    }
    return script;
}

static ganz_status add_profiles(ganz_detector *d, const ganz_profile *profile, const char *list, ganz_error *err)
{
    for (; profile->language; profile++) {
        const int language = add_language(d, profile->language, script_of_text(profile->text[0]), list);
        for (size_t i = 0; i < GANZ_COUNT(profile->text); i++) GANZ_TRY(add_grams(d, profile->text[i], language, err));
    }
    return GANZ_OK;
}

static int compare_grams(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* Letters come again and again. */
static void sort_grams(ganz_detector *d)
{
    size_t count = 1;
    qsort(d->grams, d->gram_count, sizeof *d->grams, compare_grams);
    for (size_t i = 1; i < d->gram_count; i++)
        if (d->grams[i] != d->grams[count - 1]) d->grams[count++] = d->grams[i];
    d->gram_count = count;
}

ganz_status ganz_detector_open(ganz_detector **detector, const char *languages, ganz_error *err)
{
    ganz_detector *const d = *detector = ganz_alloc(1, sizeof *d);
    if (!d) return ganz_fail(err, GANZ_ENOMEM, "no memory for the languages");
    for (size_t i = 0; i < GANZ_COUNT(only_languages); i++)
        add_language(d, only_languages[i].language, ALONE + (int)i, languages);
    add_language(d, "zh", HAN, languages);
    add_language(d, "ja", KANA, languages);
    ganz_status status = add_profiles(d, ganz_profiles_latin, languages, err);
    if (status == GANZ_OK) status = add_profiles(d, ganz_profiles_other, languages, err);
    if (status != GANZ_OK) {
        ganz_detector_close(detector);
        return status;
    }
    sort_grams(d);
    return GANZ_OK;
}

void ganz_detector_close(ganz_detector **detector)
{
    if (!*detector) return;
    ganz_free((*detector)->grams);
    ganz_free(*detector);
    *detector = NULL;
}

/* ---- guessing ----------------------------------------------------------------------------------- */

/* What a text has shown so far. */
typedef struct evidence {
    int64_t letters[SCRIPTS];
    int64_t points[MOST_LANGUAGES];
    uint64_t gram; /* the last three characters, 16 bits each */
} evidence;

static void count_gram(const ganz_detector *d, evidence *e, uint64_t gram)
{
    const uint64_t key = gram << 16;
    size_t low = 0, high = d->gram_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (d->grams[middle] < key) low = middle + 1;
        else high = middle;
    }
    for (; low < d->gram_count && d->grams[low] >> 16 == gram; low++)
        e->points[d->grams[low] >> 8 & 0xFF] += (int64_t)(d->grams[low] & 0xFF);
}

static void take_character(const ganz_detector *d, evidence *e, int32_t code)
{
    const bool letter = ganz_is_alnum(code) && !(code >= '0' && code <= '9') && code < 0x10000;
    if (letter) e->letters[script_of(code)]++;
    if (!letter && (e->gram & 0xFFFF) == '_') return;
    e->gram = (e->gram << 16 | (letter ? (uint64_t)ganz_to_lower(code) & 0xFFFF : '_')) & 0xFFFFFFFFFFFF;
    if (e->gram >> 32) count_gram(d, e, e->gram);
    if (letter && code >= 0x80) count_gram(d, e, e->gram & 0xFFFF);
}

static void read_text(const ganz_detector *d, evidence *e, const char *text, size_t bytes)
{
    if (bytes > MOST_BYTES) bytes = MOST_BYTES;
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        const int length = ganz_utf8_decode(text + at, bytes - at, &code);
        take_character(d, e, length > 0 ? code : ' ');
        at += (size_t)(length > 0 ? length : 1);
    }
    take_character(d, e, ' ');
}

/* The script of most letters and its part of them. Han is Japanese where there is kana among it. */
static int main_script(evidence *e, double *part)
{
    int best = LATIN;
    int64_t all = 0;
    if (e->letters[KANA] * KANA_PART >= e->letters[KANA] + e->letters[HAN]) {
        e->letters[KANA] += e->letters[HAN];
        e->letters[HAN] = 0;
    } else {
        e->letters[HAN] += e->letters[KANA];
        e->letters[KANA] = 0;
    }
    for (int i = LATIN; i < SCRIPTS; i++) {
        all += e->letters[i];
        if (e->letters[i] > e->letters[best]) best = i;
    }
    *part = all > 0 ? (double)e->letters[best] / (double)all : 0;
    return best;
}

/* 2^(-n / 4). Two points are a factor of e by the profiles, but trigrams overlap: neighbours say the same again. */
static double weight(int64_t n)
{
    static const double quarters[] = {1, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605};
    return n >= 240 ? 0 : quarters[n & 3] / (double)((uint64_t)1 << (n / 4));
}

/* A language and what the text says for it. */
typedef struct candidate {
    const known *language;
    int64_t points;
} candidate;

static int compare_candidates(const void *a, const void *b)
{
    const candidate *const first = a, *const second = b;
    if (first->points != second->points) return first->points < second->points ? 1 : -1;
    return strcmp(first->language->code, second->language->code);
}

/* The languages of a script, the best one first. */
static size_t rank(const ganz_detector *d, const evidence *e, int script, candidate *out)
{
    size_t count = 0;
    for (int i = 0; i < d->language_count; i++)
        if (d->languages[i].script == script) out[count++] = (candidate){&d->languages[i], e->points[i]};
    qsort(out, count, sizeof *out, compare_candidates);
    return count;
}

size_t ganz_detect(const ganz_detector *d, const char *text, size_t bytes, ganz_guess *guesses, size_t most)
{
    evidence e = {.gram = '_'};
    candidate list[MOST_LANGUAGES];
    double part, sum = 0;
    size_t found = 0;
    read_text(d, &e, text, bytes);
    const int script = main_script(&e, &part);
    const size_t count = rank(d, &e, script, list);
    if (e.letters[script] == 0 || (count > 1 && list[0].points == 0)) return 0;
    for (size_t i = 0; i < count; i++) sum += weight(list[0].points - list[i].points);
    for (size_t i = 0; i < count && found < most; i++) {
        const double share = weight(list[0].points - list[i].points);
        if (list[i].language->wanted) guesses[found++] = (ganz_guess){list[i].language->code, part * share / sum};
    }
    return found;
}
