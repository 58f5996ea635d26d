/* Labels are entries that the tokenizer knows as text, marks are entries that no text becomes. */
#include "translate/front.h"

#include <stdio.h>
#include <string.h>

#include "text/vocab.h"

/* A label is written >>deu<< in front of a text. */
static ganz_status encode_label(const ganz_vocab *vocab, const char *label, ganz_ids *ids, ganz_error *err)
{
    char text[128];
    const int bytes = snprintf(text, sizeof text, ">>%s<<", label);
    if (bytes < 0 || (size_t)bytes >= sizeof text)
        return ganz_fail(err, GANZ_ELIMIT, "the label %.40s is too long", label);
    return ganz_vocab_encode(vocab, GANZ_SOURCE, text, (size_t)bytes, ids, err);
}

ganz_status ganz_front_label(const ganz_model *model, const char *name, int32_t *id, ganz_error *err)
{
    const char *label;
    *id = -1;
    if (!name) return GANZ_OK;
    for (int i = 0; (label = ganz_vocab_label(model->vocab, i)) && strcmp(label, name) != 0;) i++;
    if (!label)
        return ganz_fail(err, GANZ_EINVAL, "the model has no label %.40s for the language to translate to", name);
    ganz_ids ids = {0};
    const ganz_status status = encode_label(model->vocab, label, &ids, err);
    if (status == GANZ_OK) {
        GANZ_ASSERT(ids.count == 1);
        *id = ids.ids[0];
    }
    ganz_ids_free(&ids);
    return status;
}

ganz_status ganz_front_mark(const ganz_model *model, ganz_formality formality, int32_t *id, ganz_error *err)
{
    const ganz_model_info *const info = &model->info;
    const bool preferred = formality == GANZ_FORMALITY_PREFER_FORMAL || formality == GANZ_FORMALITY_PREFER_INFORMAL;
    const bool formal = formality == GANZ_FORMALITY_FORMAL || formality == GANZ_FORMALITY_PREFER_FORMAL;
    *id = -1;
    if (formality == GANZ_FORMALITY_AUTO || (preferred && !info->formal_mark)) return GANZ_OK;
    if (!formal && !preferred && formality != GANZ_FORMALITY_INFORMAL)
        return ganz_fail(err, GANZ_EINVAL, "there is no formality %d", (int)formality);
    if (!info->formal_mark)
        return ganz_fail(err, GANZ_EINVAL, "the model was not taught to translate formally or informally");
    *id = ganz_vocab_mark(model->vocab, formal ? info->formal_mark : info->informal_mark);
    return GANZ_OK;
}
