/* What there is in a paragraph of runs: the elements around runs, the fields, and the format that most of the text has.
 */
#ifndef GANZ_DOCUMENT_OOXML_SURVEY_H
#define GANZ_DOCUMENT_OOXML_SURVEY_H

#include "document/ooxml.h"

#define OOXML_NONE UINT32_MAX
enum { OOXML_FIELD_DEPTH = 32 };

/* A paragraph, or an element around runs in it. */
typedef struct ganz_ooxml_frame {
    uint32_t event;  /* its start */
    uint32_t outer;  /* start of the element around it that holds nothing else of interest; else `event` */
    uint32_t base;   /* a run in the base format; OOXML_NONE: there is no text */
    uint64_t format; /* the base format */
    size_t votes;
    bool has_text; /* itself, or an element in it */
} ganz_ooxml_frame;

typedef struct ganz_ooxml_field {
    uint32_t begin, middle, end; /* events of its characters; OOXML_NONE: missing */
    uint32_t middle_run, end_run;
    uint32_t frame; /* number of it */
    bool word;      /* a number or date that is made anew: not translated */
} ganz_ooxml_field;

typedef struct ganz_ooxml_survey {
    ganz_ooxml_frame *frames; /* in the order of their starts; the first is the paragraph */
    size_t frame_count, frame_capacity;
    ganz_ooxml_field *fields; /* in the order of their begins; no more than OOXML_FIELD_DEPTH inside each other */
    size_t field_count, field_capacity;
    size_t last_text; /* event of the last text or word */
} ganz_ooxml_survey;

/* Looks through the paragraph that starts with this event. False: memory is out, which the skeleton keeps. To be closed
 * in any case. */
bool ganz_ooxml_survey_open(ganz_ooxml_survey *survey, ganz_ooxml_reader *reader, size_t event);
void ganz_ooxml_survey_close(ganz_ooxml_survey *survey);

/* The element with the runs: an element around runs itself, or the content of a holder; 0: there is none. */
size_t ganz_ooxml_runs_of(const ganz_xml_tree *tree, size_t event);

#endif
