/* Which language a text is in, by its letters and their neighbours.
 *
 *     ganz_detector *detector;
 *     ganz_guess best;
 *     ganz_detector_open(&detector, "en de fr", &err);
 *     if (ganz_detect(detector, text, bytes, &best, 1) > 0) printf("%s %.2f\n", best.language, best.confidence);
 *     ganz_detector_close(&detector);
 */
#ifndef GANZ_DETECT_H
#define GANZ_DETECT_H

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once open: any number of threads may share one. */
typedef struct ganz_detector ganz_detector;

/* The languages it can tell apart, two-letter codes separated by spaces: "ar be bg ...". */
GANZ_API const char *ganz_detector_languages(void);

/* `languages` are those to choose from, separated by spaces or commas; regions ("pt-BR") count as their language, and
 * languages that are not known are never guessed. NULL: all. */
GANZ_API ganz_status ganz_detector_open(ganz_detector **detector, const char *languages, ganz_error *err);
GANZ_API void ganz_detector_close(ganz_detector **detector);

typedef struct ganz_guess {
    const char *language; /* "en"; lives as long as the program */
    double confidence;    /* 0 to 1, beside all languages that are known, also those that are not to be chosen */
} ganz_guess;

/* Writes up to `most` guesses, the best one first, and returns how many; none if the text has no letters that say
 * something. The text may be anything: bytes that are not UTF-8 and all behind the first 64 KiB are passed over. A
 * sentence is enough for most languages; Danish and Norwegian, Croatian and Slovenian, Czech and Slovak need more. */
GANZ_API size_t ganz_detect(const ganz_detector *detector, const char *text, size_t bytes, ganz_guess *guesses,
                            size_t most);

#ifdef __cplusplus
}
#endif
#endif
