/* Which of the server's source languages a text is in: by the little words that every text has. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "call.h"

static const char *const little_words[][2] = {
    {"de", " der die das und ist nicht ein eine zu den von mit sich des auf für im dem ich sie es wir auch an als wie "
           "bei oder aber hat war wird sind haben kann nach über aus noch nur mehr guten hallo danke "},
    {"en", " the of and to in is that it for was on are with as be this have from or had by not but at you we they he "
           "she what which their there can will would more if no hello thanks good my your "},
    {"fr",
     " le la les de des et est un une que qui dans pour pas sur avec il elle au aux ce cette nous vous je bonjour "},
    {"es", " el la los las de y es un una que en por con para no se su lo como más pero del al está hola "},
    {"it", " il la lo gli le di e è un una che in per con non si come più ma del della sono ciao "},
    {"nl", " de het een en is van in dat op te voor met niet zijn aan er maar ook als bij wij jij hallo "},
};

/* How many of the words of a text are among those of a language. */
static int count_hits(const char *words, const char *text, size_t bytes)
{
    int hits = 0;
    for (size_t i = 0; i < bytes;) {
        char word[18] = " ";
        size_t n = 1;
        while (i < bytes && !isalpha((unsigned char)text[i]) && (unsigned char)text[i] < 0x80) i++;
        const size_t begin = i;
        while (i < bytes && (isalpha((unsigned char)text[i]) || (unsigned char)text[i] >= 0x80)) i++;
        if (i - begin == 0 || i - begin > 14) continue;
        for (size_t k = begin; k < i; k++) word[n++] = (char)tolower((unsigned char)text[k]);
        word[n++] = ' ';
        word[n] = '\0';
        hits += strstr(words, word) != NULL;
    }
    return hits;
}

static int hits_of(const char *code, const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof little_words / sizeof little_words[0]; i++)
        if (strcmp(little_words[i][0], code) == 0) return count_hits(little_words[i][1], text, bytes);
    return 0;
}

detection call_detect(const call *c, const char *text, size_t bytes)
{
    detection d = {.confidence = 0};
    int best = -1, all = 0;
    if (bytes > 4096) bytes = 4096;
    for (int i = 0; i < c->set->count; i++) {
        const char *const code = c->set->models[i].source;
        const int hits = hits_of(code, text, bytes);
        all += hits;
        if (hits <= best) continue;
        best = hits;
        snprintf(d.code, sizeof d.code, "%s", code);
    }
    if (all > 0) d.confidence = 100.0 * best / all;
    return d;
}
