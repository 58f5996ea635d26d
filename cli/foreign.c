/* A warning when the text is not in the model's language: the first sentences are shown to the library's detector. */
#include "foreign.h"

#include <stdio.h>
#include <string.h>

#include "ganz/detect.h"

enum { FEWEST_BYTES = 50 }; /* names and quotations make less of it look foreign */
static const double sure = 0.9999;

/* Whether the detector could tell that it is this language. */
static bool is_known(const char *language)
{
    for (const char *at = ganz_detector_languages(); *at; at += at[2] ? 3 : 2)
        if (strncmp(at, language, 2) == 0) return true;
    return false;
}

void cli_foreign_start(cli_foreign *f, const char *language)
{
    f->bytes = 0;
    f->language[0] = '\0';
    const size_t bytes = language ? strcspn(language, "-_") : 0;
    if (bytes == 2 && is_known(language)) snprintf(f->language, sizeof f->language, "%.2s", language);
}

void cli_foreign_take(cli_foreign *f, const char *sentence, size_t bytes)
{
    if (!f->language[0] || f->bytes + bytes + 1 > sizeof f->sample) return;
    memcpy(f->sample + f->bytes, sentence, bytes);
    f->bytes += bytes;
    f->sample[f->bytes++] = '\n';
}

bool cli_foreign_is_full(const cli_foreign *f) { return f->language[0] && f->bytes > CLI_FOREIGN_BYTES / 2; }

void cli_foreign_warn(cli_foreign *f, cli_progress *progress)
{
    ganz_detector *detector;
    ganz_guess best = {0};
    if (!f->language[0] || f->bytes < FEWEST_BYTES || ganz_detector_open(&detector, NULL, NULL) != GANZ_OK) return;
    const size_t count = ganz_detect(detector, f->sample, f->bytes, &best, 1);
    ganz_detector_close(&detector);
    const bool foreign = count > 0 && best.confidence >= sure && strcmp(best.language, f->language) != 0;
    if (foreign && progress->terminal && progress->drawn) fputs("\r\033[K", stderr);
    if (foreign)
        fprintf(stderr,
                "ganz translate: the text looks like %s, but the model translates from %s (--from %s or --model takes "
                "another)\n",
                best.language, f->language, best.language);
    if (foreign || cli_foreign_is_full(f)) f->language[0] = '\0';
}
