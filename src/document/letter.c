/* Whole phrases are looked up; names and titles of an opening are copied behind "Dear". */
#include "document/letter.h"

#include <string.h>

#include "text/tokenizer.h"
#include "text/unicode.h"

typedef struct phrase {
    const char *from, *to; /* the first in small letters: those of the sentence may be any */
} phrase;

static const phrase english_openings[] = {{"dear sir or madam", "Sehr geehrte Damen und Herren"},
                                          {"dear sir/madam", "Sehr geehrte Damen und Herren"},
                                          {"dear sir / madam", "Sehr geehrte Damen und Herren"},
                                          {"dear madam or sir", "Sehr geehrte Damen und Herren"},
                                          {"dear madam/sir", "Sehr geehrte Damen und Herren"},
                                          {"dear sirs", "Sehr geehrte Damen und Herren"},
                                          {"dear sirs and madams", "Sehr geehrte Damen und Herren"},
                                          {"ladies and gentlemen", "Meine Damen und Herren"},
                                          {"to whom it may concern", "Sehr geehrte Damen und Herren"},
                                          {"dear all", "Liebe alle"},
                                          {"hi all", "Hallo zusammen"},
                                          {"hi everyone", "Hallo zusammen"},
                                          {"hello everyone", "Hallo zusammen"}};
static const phrase english_closes[] = {{"cheers", "Viele Gr\xC3\xBC\xC3\x9F"
                                                   "e"},
                                        {"best", "Beste Gr\xC3\xBC\xC3\x9F"
                                                 "e"},
                                        {"best regards", "Beste Gr\xC3\xBC\xC3\x9F"
                                                         "e"},
                                        {"regards", "Mit freundlichen Gr\xC3\xBC\xC3\x9F"
                                                    "en"},
                                        {"kind regards", "Mit freundlichen Gr\xC3\xBC\xC3\x9F"
                                                         "en"},
                                        {"yours", "Viele Gr\xC3\xBC\xC3\x9F"
                                                  "e"},
                                        {"yours truly", "Mit freundlichen Gr\xC3\xBC\xC3\x9F"
                                                        "en"},
                                        {"yours sincerely", "Mit freundlichen Gr\xC3\xBC\xC3\x9F"
                                                            "en"},
                                        {"yours faithfully", "Mit freundlichen Gr\xC3\xBC\xC3\x9F"
                                                             "en"},
                                        {"respectfully", "Hochachtungsvoll"},
                                        {"respectfully yours", "Hochachtungsvoll"},
                                        {"take care", "Alles Gute"},
                                        {"all the best", "Alles Gute"},
                                        {"many thanks", "Vielen Dank"},
                                        {"thanks", "Danke"},
                                        {"thanks in advance", "Danke im Voraus"},
                                        {"see you", "Bis dann"},
                                        {"see you soon", "Bis bald"},
                                        {"see you then", "Bis dann"},
                                        {"see you tomorrow", "Bis morgen"},
                                        {"talk soon", "Bis bald"},
                                        {"talk to you soon", "Bis bald"},
                                        {"love", "Alles Liebe"},
                                        {"lots of love", "Alles Liebe"}};
static const phrase german_openings[] = {{"sehr geehrte damen und herren", "Dear Sir or Madam"},
                                         {"meine damen und herren", "Ladies and gentlemen"},
                                         {"meine sehr geehrten damen und herren", "Ladies and gentlemen"},
                                         {"liebe kolleginnen und kollegen", "Dear colleagues"},
                                         {"liebe kollegen", "Dear colleagues"},
                                         {"liebe alle", "Dear all"},
                                         {"hallo zusammen", "Hi everyone"},
                                         {"liebes team", "Dear team"},
                                         {"liebe oma", "Dear Grandma"},
                                         {"lieber opa", "Dear Grandpa"},
                                         {"liebe mama", "Dear Mum"},
                                         {"lieber papa", "Dear Dad"},
                                         {"liebe eltern", "Dear parents"},
                                         {"liebe freunde", "Dear friends"},
                                         {"liebe freundinnen und freunde", "Dear friends"},
                                         {"liebe familie", "Dear family"},
                                         {"liebe kunden", "Dear customers"},
                                         {"liebe kundinnen und kunden", "Dear customers"},
                                         {"liebe g\xC3\xA4ste", "Dear guests"},
                                         {"liebe mitglieder", "Dear members"},
                                         {"liebe leser", "Dear readers"},
                                         {"liebe leserinnen und leser", "Dear readers"},
                                         {"liebe nachbarn", "Dear neighbours"},
                                         {"liebe mitarbeiterinnen und mitarbeiter", "Dear employees"},
                                         {"hallo alle", "Hi everyone"},
                                         {"guten tag", "Good day"}};
static const phrase german_closes[] = {{"mit freundlichen gr\xC3\xBC\xC3\x9F"
                                        "en",
                                        "Kind regards"},
                                       {"mit freundlichem gru\xC3\x9F", "Kind regards"},
                                       {"mit besten gr\xC3\xBC\xC3\x9F"
                                        "en",
                                        "Best regards"},
                                       {"mit herzlichen gr\xC3\xBC\xC3\x9F"
                                        "en",
                                        "Warm regards"},
                                       {"mit lieben gr\xC3\xBC\xC3\x9F"
                                        "en",
                                        "Best wishes"},
                                       {"freundliche gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Kind regards"},
                                       {"viele gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Best regards"},
                                       {"beste gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Best regards"},
                                       {"herzliche gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Warm regards"},
                                       {"sch\xC3\xB6ne gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Best wishes"},
                                       {"liebe gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Best wishes"},
                                       {"viele liebe gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Best wishes"},
                                       {"ganz liebe gr\xC3\xBC\xC3\x9F"
                                        "e",
                                        "Lots of love"},
                                       {"gru\xC3\x9F", "Regards"},
                                       {"lieben gru\xC3\x9F", "Best wishes"},
                                       {"sch\xC3\xB6nen gru\xC3\x9F", "Best wishes"},
                                       {"mfg", "Kind regards"},
                                       {"vg", "Best regards"},
                                       {"lg", "Best wishes"},
                                       {"hochachtungsvoll", "Yours faithfully"},
                                       {"bis bald", "See you soon"},
                                       {"bis dann", "See you then"},
                                       {"bis morgen", "See you tomorrow"},
                                       {"alles gute", "All the best"},
                                       {"alles liebe", "Lots of love"},
                                       {"danke im voraus", "Thanks in advance"},
                                       {"vielen dank im voraus", "Many thanks in advance"}};

/* Openings with a name: "Sehr geehrter Herr Dr. Brown". */
static const phrase english_names[] = {{"dear mr. ", "Sehr geehrter Herr "},
                                       {"dear mr ", "Sehr geehrter Herr "},
                                       {"dear mrs. ", "Sehr geehrte Frau "},
                                       {"dear mrs ", "Sehr geehrte Frau "},
                                       {"dear ms. ", "Sehr geehrte Frau "},
                                       {"dear ms ", "Sehr geehrte Frau "},
                                       {"dear miss ", "Sehr geehrte Frau "},
                                       {"dear dr. ", "Guten Tag Dr. "},
                                       {"dear dr ", "Guten Tag Dr. "},
                                       {"dear prof. ", "Guten Tag Prof. "},
                                       {"dear professor ", "Guten Tag Prof. "},
                                       {"dear ", "Hallo "},
                                       {"hi ", "Hallo "},
                                       {"hey ", "Hey "},
                                       {"hello ", "Hallo "}};
static const phrase german_names[] = {{"sehr geehrter herr dr. ", "Dear Dr. "},
                                      {"sehr geehrte frau dr. ", "Dear Dr. "},
                                      {"sehr geehrter herr prof. ", "Dear Prof. "},
                                      {"sehr geehrte frau prof. ", "Dear Prof. "},
                                      {"sehr geehrter herr ", "Dear Mr "},
                                      {"sehr geehrte frau ", "Dear Ms "},
                                      {"lieber herr ", "Dear Mr "},
                                      {"liebe frau ", "Dear Ms "},
                                      {"guten tag herr ", "Dear Mr "},
                                      {"guten tag frau ", "Dear Ms "},
                                      {"hallo herr ", "Hello Mr "},
                                      {"hallo frau ", "Hello Ms "},
                                      {"lieber ", "Dear "},
                                      {"liebe ", "Dear "},
                                      {"hallo ", "Hi "},
                                      {"hi ", "Hi "},
                                      {"hey ", "Hey "}};

/* Words with a capital that are no names. */
static const char no_names[] =
    " sir sirs madam team all colleague colleagues customer customers client clients friend friends student students "
    "parent parents guest guests member members reader readers editor editors professor doctor mom mum dad mother father "
    "grandma grandpa aunt uncle diary god lord santa hiring applicant applicants user users subscriber subscribers "
    "neighbor neighbors neighbour neighbours partner partners community everyone everybody minister president lady "
    "ladies gentlemen supplier suppliers participant participants resident residents tenant tenants shareholder "
    "shareholders employee employees candidate candidates recruiter manager support teacher teachers folks guys people "
    "there world again comrades brother brothers sister sisters son daughter children kids family love heart honey sweetheart "
    "darling baby future past mr mrs ms miss dr prof the your our a an its my his her their this that to for and or "
    "kollegin kolleginnen kollege kollegen kunde kunden kundin kundinnen freund freunde freundin freundinnen eltern "
    "mitglieder g\xC3\xA4ste leser leserin leserinnen sch\xC3\xBCler sch\xC3\xBClerinnen studierende mama papa oma opa mutter vater "
    "tante onkel nachbarn nachbar nachbarin kinder mitarbeiter mitarbeiterin mitarbeiterinnen b\xC3\xBCrger b\xC3\xBCrgerinnen "
    "damen herren herr frau familie fans teilnehmer teilnehmerinnen gott leute welt schatz liebling bruder schwester sohn "
    "tochter besucher nutzer nutzerin nutzerinnen zuschauer zuh\xC3\xB6rer bewerber bewerberin lehrer lehrerin redaktion "
    "gemeinde genossen vereinsmitglieder interessenten hallo guten liebe lieber der die das ihr ihre dein deine euer eure mein meine unser unsere "
    "ich er sie es wir man jemand i kundenservice kundendienst vertrieb service sales marketing department office director head chief officer ";

enum { MOST_WORDS = 4, LONGEST_LINE = 80 };

/* ---- words -------------------------------------------------------------------------------------- */

static bool is(const ganz_language *language, const char *code) { return strcmp(language->code, code) == 0; }

/* The text without what ends it: its last sign, or 0. */
static char split_end(const char *text, size_t *bytes)
{
    const char last = *bytes > 0 ? text[*bytes - 1] : 0;
    if (!last || !strchr(",!:.", last)) return 0;
    --*bytes;
    return last;
}

/* True if a text begins with a phrase in small letters, whatever the case of its own. */
static bool begins_with(const char *text, size_t bytes, const char *small)
{
    const size_t wanted = strlen(small);
    if (bytes < wanted) return false;
    for (size_t at = 0; at < wanted;) {
        int32_t code, other;
        const size_t step = ganz_next_character(text + at, &code), step_other = ganz_next_character(small + at, &other);
        if (step != step_other || at + step > wanted || (code != other && ganz_to_lower(code) != other)) return false;
        at += step;
    }
    return true;
}

/* Bytes of a word at a place, up to a space; 0: it has signs that no name has. */
static size_t name_part(const char *text, size_t bytes, size_t at)
{
    size_t end = at;
    while (end < bytes && text[end] != ' ') {
        int32_t code;
        const size_t step = ganz_next_character(text + end, &code);
        const bool letter = ganz_is_alnum(code) && !(code >= '0' && code <= '9');
        if (!letter && code != '-' && code != '\'' && code != 0x2019 && (code != '.' || end - at > 4)) return 0;
        end += step;
    }
    return end - at;
}

/* None of the words is known as something else; some are small in names. */
bool ganz_is_name(const char *text, size_t bytes)
{
    static const char between[] = " von van de der den del la zu y da dos ";
    int words = 0;
    for (size_t at = 0; at < bytes;) {
        int32_t first;
        const size_t part = name_part(text, bytes, at);
        if (part == 0) return false;
        ganz_next_character(text + at, &first);
        const bool small = at + part < bytes && !ganz_is_upper(first) && ganz_listed(between, text + at, part);
        if (!small && (!ganz_is_upper(first) || ganz_listed(no_names, text + at, part))) return false;
        words += !small;
        at += part + 1;
    }
    return words > 0 && words <= MOST_WORDS;
}

static const char *look_up(const phrase *phrases, size_t count, const char *text, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(phrases[i].from) == bytes && begins_with(text, bytes, phrases[i].from)) return phrases[i].to;
    return NULL;
}

/* ---- signatures --------------------------------------------------------------------------------- */

/* Phrases that close a letter also without a comma: not "Best", which may be a heading. first: of the last word. */
static bool is_phrase(const char *text, size_t bytes, size_t first)
{
    static const char words[] = " regards sincerely cheers wishes greetings gr\xC3\xBC\xC3\x9F"
                                "e gr\xC3\xBC\xC3\x9F"
                                "en gru\xC3\x9F gr\xC3\xBCsse gr\xC3\xBCssen gruss lg vg mfg hochachtungsvoll ";
    if (ganz_listed(words, text + first, bytes - first)) return true;
    return first > 0 && (look_up(english_closes, GANZ_COUNT(english_closes), text, bytes) ||
                         look_up(german_closes, GANZ_COUNT(german_closes), text, bytes));
}

static bool is_close(const char *text, size_t bytes)
{
    static const char last_words[] =
        " best yours love soon faithfully truly respectfully care thanks hugs kisses tomorrow advance dank danke bald "
        "dann morgen liebe gute dein deine ihr ihre euer eure voraus ";
    if (bytes == 0 || bytes > LONGEST_LINE) return false;
    const char end = split_end(text, &bytes);
    size_t first = bytes, words = 1;
    while (first > 0 && text[first - 1] != ' ') first--;
    for (size_t i = 0; i < first; i++) words += text[i] == ' ';
    if (words > MOST_WORDS) return false;
    if (end == '!') return ganz_listed(" thanks cheers danke ", text + first, bytes - first);
    if ((end == 0 || end == ',') && is_phrase(text, bytes, first)) return true;
    return end == ',' && ganz_listed(last_words, text + first, bytes - first);
}

bool ganz_is_signature(const char *text, size_t bytes, const char *before, size_t before_bytes)
{
    return bytes <= LONGEST_LINE && ganz_is_name(text, bytes) && !is_close(text, bytes) &&
           is_close(before, before_bytes);
}

/* ---- openings and closes ------------------------------------------------------------------------ */

/* What is known of one language, in another. */
typedef struct letter_way {
    const char *from, *to;
    const phrase *openings, *names, *closes;
    size_t opening_count, name_count, close_count;
    bool comma; /* behind a close */
} letter_way;
static const letter_way ways[] = {
    {"en", "de", english_openings, english_names, english_closes, GANZ_COUNT(english_openings),
     GANZ_COUNT(english_names), GANZ_COUNT(english_closes), false},
    {"de", "en", german_openings, german_names, german_closes, GANZ_COUNT(german_openings), GANZ_COUNT(german_names),
     GANZ_COUNT(german_closes), true}};

/* Single English words and short forms close a letter with a comma, but for some: "Love", "LG" may be something else.
 */
static bool may_close(const letter_way *w, const char *text, size_t bytes, char end)
{
    if (end) return end == ',';
    if (bytes <= 3) return false;
    return w->comma || memchr(text, ' ', bytes) || begins_with(text, bytes, "cheers") ||
           begins_with(text, bytes, "regards");
}

/* "Dear Mr. Smith", by the longest title: those come first. */
static const phrase *title_of(const letter_way *w, const char *text, size_t bytes)
{
    for (size_t i = 0; i < w->name_count; i++)
        if (begins_with(text, bytes, w->names[i].from)) return &w->names[i];
    return NULL;
}

bool ganz_letter_write(ganz_text *out, const char *text, size_t bytes, const ganz_language *source,
                       const ganz_language *target, bool *known)
{
    const letter_way *w = ways;
    *known = false;
    while (w < ways + GANZ_COUNT(ways) && !(is(source, w->from) && is(target, w->to))) w++;
    if (w == ways + GANZ_COUNT(ways) || bytes > LONGEST_LINE) return true;
    const char end = split_end(text, &bytes);
    const char *const close = may_close(w, text, bytes, end) ? look_up(w->closes, w->close_count, text, bytes) : NULL;
    const char *const opening = end == '.' ? NULL : look_up(w->openings, w->opening_count, text, bytes);
    const phrase *const title = end == '.' || close || opening ? NULL : title_of(w, text, bytes);
    const size_t name = title ? strlen(title->from) : 0;
    const char *const words = close ? close : opening ? opening : title ? title->to : NULL;
    *known = words && (!title || ganz_is_name(text + name, bytes - name));
    if (!*known) return true;
    return ganz_text_append(out, words, strlen(words)) &&
           (!title || ganz_text_append(out, text + name, bytes - name)) &&
           (!end || (close && !w->comma) || ganz_text_append(out, ",", 1));
}

bool ganz_opens_letter(const char *text, size_t bytes)
{
    if (bytes > LONGEST_LINE || split_end(text, &bytes) != ',') return false;
    for (size_t i = 0; i < GANZ_COUNT(ways); i++)
        if (title_of(&ways[i], text, bytes) || look_up(ways[i].openings, ways[i].opening_count, text, bytes))
            return true;
    return begins_with(text, bytes, "guten ");
}

/* ---- address ------------------------------------------------------------------------------------ */

/* "Subject: ...", "Our reference: ..." */
static bool has_label(const char *text, size_t bytes)
{
    enum { LONGEST_LABEL = 20 };
    const char *const colon = memchr(text, ':', bytes < LONGEST_LABEL ? bytes : LONGEST_LABEL);
    return colon && colon > text && (colon + 1 == text + bytes || colon[1] == ' ') && ganz_is_upper(text[0]);
}

/* A word that is small, which a name or a street has none of. */
static bool has_small_word(const char *text, size_t bytes)
{
    for (size_t at = 0, step; at < bytes; at += step) {
        int32_t code;
        step = ganz_next_character(text + at, &code);
        if ((at == 0 || text[at - 1] == ' ') && ganz_is_lower(code)) return true;
    }
    return false;
}

bool ganz_is_letter_head(const char *text, size_t bytes)
{
    if (bytes == 0 || bytes > LONGEST_LINE) return false;
    return has_label(text, bytes) || !strchr(".!?", text[bytes - 1]) || !has_small_word(text, bytes);
}

static bool begins_with_one(const char *text, size_t bytes, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins_with(text, bytes, list[i])) return true;
    return false;
}

ganz_formality ganz_letter_formality(const char *text, size_t bytes, const ganz_language *source)
{
    static const char *const formal[] = {
        "dear sir",       "dear madam",      "to whom it may",  "dear customer", "dear client", "dear guest",
        "dear applicant", "dear mr",         "dear mrs",        "dear ms",       "dear miss ",  "dear dr",
        "dear prof",      "good morning mr", "good morning ms", "hello mr",      "hello ms",    "hi mr",
        "hi ms"};
    static const char *const informal[] = {"hi ",      "hey ",       "dear mom",   "dear mum",
                                           "dear dad", "dear grand", "dear friend"};
    if (!is(source, "en") || bytes > LONGEST_LINE || split_end(text, &bytes) != ',') return GANZ_FORMALITY_AUTO;
    if (begins_with_one(text, bytes, formal, GANZ_COUNT(formal))) return GANZ_FORMALITY_PREFER_FORMAL;
    if (begins_with_one(text, bytes, informal, GANZ_COUNT(informal))) return GANZ_FORMALITY_PREFER_INFORMAL;
    const size_t dear = begins_with(text, bytes, "dear ") ? 5 : 0;
    if (dear == 0 || !ganz_is_name(text + dear, bytes - dear)) return GANZ_FORMALITY_AUTO;
    return memchr(text + dear, ' ', bytes - dear) ? GANZ_FORMALITY_PREFER_FORMAL : GANZ_FORMALITY_PREFER_INFORMAL;
}
