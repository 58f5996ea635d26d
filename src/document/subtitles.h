/* Subtitle files, SRT and WebVTT: finding the cues, and wrapping what has been translated. */
#ifndef GANZ_DOCUMENT_SUBTITLES_H
#define GANZ_DOCUMENT_SUBTITLES_H

#include "base/base.h"
#include "ganz/vocab.h"

typedef struct ganz_subtitles {
    const char *text;
    size_t bytes;
    bool vtt;
} ganz_subtitles;

typedef struct ganz_subtitle_line {
    size_t begin, end, next; /* text [begin, end), then its newline */
} ganz_subtitle_line;

typedef struct ganz_cue {
    size_t begin, end;  /* text: from its first line's first byte to its last line's last */
    long long from, to; /* milliseconds */
    size_t number;      /* of lines with times up to it */
} ganz_cue;

ganz_subtitle_line ganz_subtitle_line_at(const ganz_subtitles *in, size_t begin);
bool ganz_subtitle_is_blank(const ganz_subtitles *in, const ganz_subtitle_line *line);
/* A line with "-->" in it. */
bool ganz_subtitle_has_arrow(const ganz_subtitles *in, const ganz_subtitle_line *line);
/* A line that names the cue below it: a number or, in WebVTT, anything. */
bool ganz_subtitle_is_name(const ganz_subtitles *in, const ganz_subtitle_line *line);

/* The next cue with text at or after *at, which moves behind it; false: there is none. cue->number goes on from its
 * value. */
bool ganz_next_cue(const ganz_subtitles *in, size_t *at, ganz_cue *cue);

/* Bytes of a tag or of an override in braces at text[0]; 0: it is text. */
size_t ganz_subtitle_tag(const ganz_subtitles *in, const char *text, size_t bytes);

/* True if "- " at `at`, perhaps behind tags, begins what another speaker says. */
bool ganz_begins_speech(const ganz_subtitles *in, const ganz_cue *cue, size_t at);

/* ---- writing ------------------------------------------------------------------------------------ */

/* Stands between text and translation of a bilingual file until it is written. */
#define GANZ_SUBTITLE_BETWEEN "\x01"

typedef struct ganz_subtitle_state {
    ganz_subtitles in; /* the file as it was */
    const char *newline;
} ganz_subtitle_state;

/* ganz_format.finish: cues whose text has changed are wrapped anew. */
ganz_status ganz_subtitles_finish(void *state, const ganz_text *sections, size_t count, ganz_text *out,
                                  ganz_error *err);

#endif
