/* Each tokenizer is a short list of substitutions that set spaces, as in the scripts they come from. What one rule
 * inserts the next one sees, so the rules are applied to the text one after another and not to a mask of breaks. */
#include "text/words.h"

#include <utf8proc.h>

typedef bool is_kind(int32_t code);

typedef enum {
    AROUND,       /* "a"  -> " a "  */
    AROUND_FIRST, /* "ab" -> " a b" */
    AROUND_SECOND /* "ab" -> "a b " */
} placing;

typedef struct rule {
    placing spaces;
    is_kind *first, *second; /* second is NULL for AROUND; first NULL ends a list */
} rule;

/* ---- kinds of characters ------------------------------------------------------------------------ */

static bool is_punctuation(int32_t c)
{
    const utf8proc_category_t k = utf8proc_category(c);
    return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

static bool is_symbol(int32_t c)
{
    const utf8proc_category_t k = utf8proc_category(c);
    return k >= UTF8PROC_CATEGORY_SM && k <= UTF8PROC_CATEGORY_SO;
}

static bool is_no_number(int32_t c)
{
    const utf8proc_category_t k = utf8proc_category(c);
    return k < UTF8PROC_CATEGORY_ND || k > UTF8PROC_CATEGORY_NO;
}

static bool is_no_decimal(int32_t c) { return utf8proc_category(c) != UTF8PROC_CATEGORY_ND; }

/* t2t-bleu puts all punctuation between brackets of a regular expression unescaped, and the backslash is lost. */
static bool is_t2t_punctuation(int32_t c) { return c != '\\' && is_punctuation(c); }

/* ASCII punctuation but ' , - . and with the space. */
static bool is_13a_symbol(int32_t c)
{
    return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static bool is_ascii_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_no_ascii_digit(int32_t c) { return !is_ascii_digit(c); }
static bool is_dot_or_comma(int32_t c) { return c == '.' || c == ','; }
static bool is_dash(int32_t c) { return c == '-'; }

/* ---- rules -------------------------------------------------------------------------------------- */

static const rule rules_13a[] = {
    {AROUND, is_13a_symbol, NULL},
    {AROUND_SECOND, is_no_ascii_digit, is_dot_or_comma},
    {AROUND_FIRST, is_dot_or_comma, is_no_ascii_digit},
    {AROUND_SECOND, is_ascii_digit, is_dash},
    {AROUND, NULL, NULL},
};
static const rule rules_intl[] = {
    {AROUND_SECOND, is_no_number, is_punctuation},
    {AROUND_FIRST, is_punctuation, is_no_number},
    {AROUND, is_symbol, NULL},
    {AROUND, NULL, NULL},
};
static const rule rules_t2t[] = {
    {AROUND_SECOND, is_no_decimal, is_t2t_punctuation},
    {AROUND_FIRST, is_t2t_punctuation, is_no_decimal},
    {AROUND, is_symbol, NULL},
    {AROUND, NULL, NULL},
};

/* From left to right; what has matched is not looked at again. */
static void apply(const rule *r, const ganz_codepoints *in, ganz_codepoints *out)
{
    out->count = 0;
    out->failed = in->failed;
    for (size_t i = 0; i < in->count; i++) {
        const int32_t c = in->at[i];
        if (!r->first(c) || (r->second && (i + 1 == in->count || !r->second(in->at[i + 1])))) {
            ganz_codepoints_push(out, c);
            continue;
        }
        if (r->spaces != AROUND_SECOND) ganz_codepoints_push(out, ' ');
        ganz_codepoints_push(out, c);
        ganz_codepoints_push(out, ' ');
        if (r->second) ganz_codepoints_push(out, in->at[++i]);
        if (r->spaces == AROUND_SECOND) ganz_codepoints_push(out, ' ');
    }
}

/* What mteval-v13a does to a line before its rules: markup undone, a space at both ends. */
static void prepare_13a(ganz_codepoints *text, ganz_codepoints *scratch)
{
    static const char *const replaced[][2] = {{"<skipped>", ""}, {"-\n", ""},   {"\n", " "},  {"&quot;", "\""},
                                              {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"}};
    for (size_t i = 0; i < GANZ_COUNT(replaced); i++) ganz_codepoints_replace(text, replaced[i][0], replaced[i][1]);
    scratch->count = 0;
    scratch->failed = text->failed;
    ganz_codepoints_push(scratch, ' ');
    for (size_t i = 0; i < text->count; i++) ganz_codepoints_push(scratch, text->at[i]);
    ganz_codepoints_push(scratch, ' ');
}

static void swap(ganz_codepoints *a, ganz_codepoints *b)
{
    const ganz_codepoints t = *a;
    *a = *b;
    *b = t;
}

void ganz_words_split(ganz_score_words how, ganz_codepoints *text, ganz_codepoints *scratch)
{
    if (how != GANZ_WORDS_T2T) ganz_codepoints_strip_right(text);
    if (how == GANZ_WORDS_13A) {
        prepare_13a(text, scratch);
        swap(text, scratch);
    }
    const rule *const rules = how == GANZ_WORDS_13A ? rules_13a : how == GANZ_WORDS_INTL ? rules_intl : rules_t2t;
    for (const rule *r = rules; r->first; r++) {
        apply(r, text, scratch);
        swap(text, scratch);
    }
}
