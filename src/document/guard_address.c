/* Addresses: of the net, of mail, of files. */
#include "document/guard_shapes.h"

#include "document/language.h"

static size_t count_of(char c, const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += text[i] == c;
    return count;
}

size_t ganz_without_end_signs(const char *text, size_t length)
{
    while (length > 0) {
        const char c = text[length - 1], open = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : 0;
        if (open ? count_of(open, text, length) >= count_of(c, text, length) : !is_one_of(c, ".,;:!?'\"*")) break;
        length--;
    }
    return length;
}

static size_t url_length(const ganz_guard_view *v)
{
    size_t scheme = 0;
    while (scheme < 16 && (is_name(byte_at(v, v->at + scheme)) || is_one_of(byte_at(v, v->at + scheme), "+-.")))
        scheme++;
    const bool full = scheme > 1 && is_letter(v->text[v->at]) && has(v, v->at + scheme, "://");
    const bool short_form = (has(v, v->at, "www.") && is_name(byte_at(v, v->at + 4))) || has(v, v->at, "mailto:");
    if (!full && !short_form) return 0;
    const size_t head = full ? scheme + 3 : 4;
    const size_t length =
        ganz_without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"`", GANZ_LONGEST_GUARD_ADDRESS));
    return length > head ? length : 0;
}

static bool is_known_ending(const char *text, size_t bytes)
{
    static const char known[] =
        " com org net edu gov de at ch uk eu io info us fr it es nl pl ru cn jp html htm php asp aspx txt pdf doc"
        " docx odt ods odp xls xlsx ppt pptx csv tsv json xml yaml yml toml ini conf cfg log md rst tex zip gz xz bz2"
        " zst tar tgz 7z rar deb rpm exe dll msi bat cmd ps1 sh py js ts c h cc cpp hpp java rs go rb pl lua so png"
        " jpg jpeg gif svg bmp webp mp3 mp4 avi mkv ogg wav iso img bin sql db bak tmp css po pot srt vtt epub key"
        " pem crt service ";
    return ganz_listed(known, text, bytes);
}

/* name.example.org, setup.exe; with a path behind it where it is a name of the net. */
static size_t dotted_length(const ganz_guard_view *v)
{
    size_t length = 0, dot = 0;
    while (length < 255 && (is_name(byte_at(v, v->at + length)) || is_one_of(byte_at(v, v->at + length), ".-"))) {
        if (v->text[v->at + length] == '.') dot = length;
        length++;
    }
    while (length > 0 && is_one_of(v->text[v->at + length - 1], ".-")) length--;
    if (dot >= length) { /* it was the last sign: find the one before */
        for (dot = length; dot > 0 && v->text[v->at + dot - 1] != '.'; dot--) {
        }
        dot = dot > 0 ? dot - 1 : 0;
    }
    if (dot < 2 || !is_known_ending(v->text + v->at + dot + 1, length - dot - 1)) return 0;
    if (byte_at(v, v->at + length) != '/') return length;
    return ganz_without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"`", GANZ_LONGEST_GUARD_ADDRESS));
}

static size_t mail_length(const ganz_guard_view *v)
{
    size_t name = 0, host = 0;
    while (name < 64 && (is_name(byte_at(v, v->at + name)) || is_one_of(byte_at(v, v->at + name), ".+-"))) name++;
    if (name == 0 || byte_at(v, v->at + name) != '@') return 0;
    const size_t at = v->at + name + 1;
    while (host < 255 && (is_name(byte_at(v, at + host)) || is_one_of(byte_at(v, at + host), ".-"))) host++;
    host = ganz_without_end_signs(v->text + at, host);
    return host > 2 && memchr(v->text + at, '.', host) ? name + 1 + host : 0;
}

/* A name with blanks in it goes on where a backslash is before the next blank: C:\Program Files\x. */
static size_t windows_path_length(const ganz_guard_view *v)
{
    const bool drive = is_letter(v->text[v->at]) && byte_at(v, v->at + 1) == ':' && byte_at(v, v->at + 2) == '\\';
    if (!drive && !(has(v, v->at, "\\\\") && is_name(byte_at(v, v->at + 2)))) return 0;
    size_t length = word_length(v, v->at, "<>\"|?*`", GANZ_LONGEST_GUARD_ADDRESS);
    while (byte_at(v, v->at + length) == ' ') {
        const size_t more = word_length(v, v->at + length + 1, "<>\"|?*:`", 64);
        if (!memchr(v->text + v->at + length + 1, '\\', more)) break;
        length += 1 + more;
    }
    return ganz_without_end_signs(v->text + v->at, length);
}

static size_t unix_path_length(const ganz_guard_view *v)
{
    const size_t dots = has(v, v->at, "../") ? 2 : has(v, v->at, "./") || has(v, v->at, "~/") ? 1 : 0;
    if (byte_at(v, v->at + dots) != '/' ||
        !(is_name(byte_at(v, v->at + dots + 1)) || byte_at(v, v->at + dots + 1) == '.'))
        return 0;
    const size_t length =
        ganz_without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"|,;()`", GANZ_LONGEST_GUARD_ADDRESS));
    return length > 2 ? length : 0;
}

size_t ganz_address_length(const ganz_guard_view *v)
{
    size_t length = url_length(v);
    if (length == 0) length = mail_length(v);
    if (length == 0) length = windows_path_length(v);
    if (length == 0) length = unix_path_length(v);
    return length > 0 ? length : dotted_length(v);
}
