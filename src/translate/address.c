/* German "Sie" is the formal form wherever its capital is not that of a first word; there it may also be "she" or
 * "they", which the English sentence then has a word for. */
#include "translate/address.h"

#include <string.h>

#include "document/language.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

/* "Ihr" first: as the first word it is also the informal form of several. */
static const char *const formal[GANZ_ADDRESS_WORDS] = {"Ihr",   "Sie",   "Ihnen", "Ihre",
                                                       "Ihrem", "Ihren", "Ihrer", "Ihres"};

/* A word that is several tokens is not looked for: the others are beside it. */
static ganz_status look_up(ganz_address *a, const ganz_vocab *vocab, const char *word, ganz_ids *ids, ganz_error *err)
{
    ids->count = 0;
    GANZ_TRY(ganz_vocab_encode(vocab, GANZ_TARGET, word, strlen(word), ids, err));
    if (ids->count == 1) a->ids[a->count++] = ids->ids[0];
    return GANZ_OK;
}

ganz_status ganz_address_find(ganz_address *a, const ganz_model *m, ganz_error *err)
{
    const ganz_model_info *const info = &m->info;
    *a = (ganz_address){.count = 0};
    if (!info->informal_mark || !info->source_language || !info->target_language) return GANZ_OK;
    if (strcmp(info->source_language, "en") != 0 || strcmp(info->target_language, "de") != 0) return GANZ_OK;
    a->mark = ganz_vocab_mark(m->vocab, info->informal_mark);
    ganz_ids ids = {0};
    ganz_status status = GANZ_OK;
    for (size_t i = 0; i < GANZ_COUNT(formal) && status == GANZ_OK; i++) {
        status = look_up(a, m->vocab, formal[i], &ids, err);
        if (i == 0) a->inside = a->count;
    }
    ganz_ids_free(&ids);
    return status;
}

/* What a sentence says about whom its German "Sie" may be. */
typedef struct sentence_facts {
    bool others; /* it names somebody or something else */
    bool inner;  /* another sentence may begin inside of it: a quotation, words behind a colon */
    bool german; /* it is about the word itself */
} sentence_facts;

static void look_at_word(sentence_facts *f, const char *word, size_t bytes)
{
    static const char others[] = " she her hers herself they them their theirs themselves it its itself these those ";
    f->others |= ganz_listed(others, word, bytes);
    for (size_t i = 0; i < GANZ_COUNT(formal); i++)
        f->german |= strlen(formal[i]) == bytes && memcmp(word, formal[i], bytes) == 0;
}

/* True for signs behind which a sentence may begin. */
static bool may_begin_sentence(int32_t code, bool last)
{
    return (code < 0x80 && strchr("\":;()[]*", (char)code)) || (code >= 0x2010 && code <= 0x2026 && code != 0x2019) ||
           (!last && (code == '.' || code == '!' || code == '?'));
}

static sentence_facts look_at(const char *text, size_t bytes)
{
    sentence_facts f = {.others = false};
    size_t word = 0; /* where it begins */
    for (size_t at = 0, step; at < bytes; at += step) {
        int32_t code;
        step = ganz_next_character(text + at, &code);
        if (ganz_is_alnum(code)) continue;
        look_at_word(&f, text + word, at - word);
        f.inner |= may_begin_sentence(code, at + step == bytes);
        word = at + step;
    }
    look_at_word(&f, text + word, bytes - word);
    return f;
}

ganz_avoided ganz_address_avoided(const ganz_address *a, int32_t mark, const char *text, size_t bytes)
{
    if (a->count == 0 || mark != a->mark) return (ganz_avoided){.count = 0};
    const sentence_facts f = look_at(text, bytes);
    if (f.german || (f.others && f.inner)) return (ganz_avoided){.count = 0};
    return (ganz_avoided){a->ids, a->count, f.others ? a->count : a->inside};
}
