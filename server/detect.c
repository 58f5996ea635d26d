/* Which of the server's source languages texts and documents are in. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "call.h"

/* Text of a document that is looked at, in bytes. */
enum { SAMPLE_BYTES = 4096 };
/* A guess counts for itself with this confidence, and twice as much as the next one has. Names and words that many
 * languages share ("Impressum", "Video") stay below, two words of a sentence seldom do. */
static const double sure_confidence = 10, sure_ratio = 2;

/* Where the letters say nothing it is the first model's, with no confidence. */
detection call_detect(const call *c, const char *text, size_t bytes)
{
    detection d = {.confidence = 0};
    ganz_guess best[2];
    snprintf(d.code, sizeof d.code, "%s", c->set->models[0].source);
    const size_t count = ganz_detect(c->set->detector, text, bytes, best, 2);
    if (count == 0) return d;
    snprintf(d.code, sizeof d.code, "%s", best[0].language);
    d.confidence = 100 * best[0].confidence;
    if (count > 1) snprintf(d.next, sizeof d.next, "%s", best[1].language);
    d.sure = d.confidence >= sure_confidence && (count == 1 || best[0].confidence >= sure_ratio * best[1].confidence);
    return d;
}

/* The first sentences of a document, without keys, marks and packing; none of one that cannot be read. */
static void read_sample(const char *bytes, size_t count, const char *format, const char *path, buffer *out)
{
    ganz_error err;
    ganz_document *d;
    ganz_segment s = {.text = ""};
    ganz_document_options o;
    ganz_document_defaults(&o);
    o.format = format;
    o.path = path;
    o.source = o.target = NULL;
    if (ganz_document_open(&d, bytes, count, &o, &err) != GANZ_OK) return;
    while (out->bytes < SAMPLE_BYTES && ganz_document_next(d, &s, &err) == GANZ_OK && s.text) {
        buffer_add(out, s.text, cut_characters(s.text, SAMPLE_BYTES));
        buffer_put(out, "\n");
    }
    ganz_document_close(&d);
}

static detection detect_sample(const call *c, buffer *sample)
{
    const detection d = call_detect(c, sample->data ? sample->data : "", sample->data ? sample->bytes : 0);
    buffer_free(sample);
    return d;
}

detection call_detect_text(const call *c, const char *text, size_t bytes, const char *format)
{
    buffer sample = {0};
    if (strcmp(format, "text") == 0) return call_detect(c, text, bytes);
    read_sample(text, bytes, format, NULL, &sample);
    return detect_sample(c, &sample);
}

/* Documents are unpacked one at a time: many that become large would together take more memory than there is. */
detection call_detect_file(const call *c, const char *path, const char *target)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    buffer sample = {0};
    pthread_mutex_lock(&lock);
    read_sample(c->p.file, c->p.file_bytes, NULL, path, &sample);
    pthread_mutex_unlock(&lock);
    detection d = detect_sample(c, &sample);
    /* numbers alone are the same in all languages, and what cannot be read is refused by its translation */
    for (int i = c->set->count - 1; i >= 0 && d.confidence == 0; i--)
        if (strcmp(c->set->models[i].target, target) == 0)
            snprintf(d.code, sizeof d.code, "%s", c->set->models[i].source);
    return d;
}
