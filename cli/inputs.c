/* Text is handed on in pieces that end between paragraphs, as soon as the input pauses or enough is together, so that
 * memory stays flat and answers come soon. Anything else is read whole. */
#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_BYTES = 1 << 10, MOST_BYTES = 1 << 15, SNIFF_BYTES = 1 << 12, DEEPEST = 64 };

typedef struct reader {
    const cli_inputs *in;
    cli_documents *documents;
    ganz_lines *lines;
    ganz_text text;
    size_t piece; /* bytes after which one ends at the next chance */
    bool unended; /* the text so far ended without a newline */
    bool added;   /* something of the file was handed on */
    bool ahead;   /* the file is read to its end before any of it is handed on: it is one of a folder */
    int skipped;
    struct stat out; /* the folder written to */
    void *taken;     /* paths in it that an input has: a tree of tsearch */
} reader;

static ganz_status failed(ganz_error *err, ganz_status status, const char *name, const char *why)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, "%.300s: %s", name, why);
    return status;
}

/* ---- one file ----------------------------------------------------------------------------------- */

static ganz_status add(ganz_text *text, const char *bytes, size_t count, ganz_error *err)
{
    if (text->capacity - text->bytes < count) {
        const size_t capacity = 2 * (text->bytes + count);
        char *const grown = realloc(text->text, capacity);
        if (!grown) return failed(err, GANZ_ENOMEM, "text", "out of memory");
        text->text = grown;
        text->capacity = capacity;
    }
    if (count > 0) memcpy(text->text + text->bytes, bytes, count);
    text->bytes += count;
    return GANZ_OK;
}

/* Appends the next line with its end; *more: there was one. */
static ganz_status add_line(reader *r, bool *more, ganz_error *err)
{
    const char *line;
    size_t bytes;
    const ganz_status status = ganz_lines_next(r->lines, &line, &bytes, err);
    *more = status == GANZ_OK && line;
    if (!*more) return status;
    const ganz_status added = add(&r->text, line, bytes, err);
    return added == GANZ_OK && ganz_lines_whole(r->lines) ? add(&r->text, "\n", 1, err) : added;
}

/* Windows writes UTF-16 where it says Unicode: with a mark at its beginning, or seen by zeros beside letters. */
static bool is_utf16(const char *text, size_t bytes)
{
    const unsigned char *const b = (const unsigned char *)text;
    if (bytes >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF))) return true;
    return bytes >= 4 && ((!b[0] && b[1] && !b[2] && b[3]) || (b[0] && !b[1] && b[2] && !b[3]));
}

static const char in_utf16[] = "this is UTF-16; iconv -f UTF-16 -t UTF-8 makes it UTF-8, which ganz reads";

static ganz_status not_utf8(ganz_error *err, const char *name, long long line)
{
    err->status = GANZ_EINVAL;
    snprintf(err->message, sizeof err->message, "%.300s:%lld: not UTF-8", name, line);
    return GANZ_EINVAL;
}

/* Bytes of text that are not UTF-8 are refused or replaced, as the user wants. */
static ganz_status check_text(reader *r, long long first_line, ganz_error *err)
{
    if (ganz_utf8_valid(r->text.text, r->text.bytes)) return GANZ_OK;
    if (r->in->replace_invalid) {
        ganz_text whole = {.text = malloc(3 * r->text.bytes), .capacity = 3 * r->text.bytes};
        size_t replaced;
        if (!whole.text) return failed(err, GANZ_ENOMEM, "text", "out of memory");
        whole.bytes = ganz_utf8_repair(r->text.text, r->text.bytes, whole.text, &replaced);
        free(r->text.text);
        r->text = whole;
        return GANZ_OK;
    }
    if (is_utf16(r->text.text, r->text.bytes)) return failed(err, GANZ_EINVAL, ganz_lines_name(r->lines), in_utf16);
    const char *line = r->text.text;
    for (const char *end = line; (end = memchr(line, '\n', r->text.bytes - (size_t)(line - r->text.text)));
         line = end + 1, first_line++)
        if (!ganz_utf8_valid(line, (size_t)(end - line))) break;
    return not_utf8(err, ganz_lines_name(r->lines), first_line);
}

static bool ends_in_blank_line(const ganz_text *t)
{
    size_t at = t->bytes;
    if (at == 0 || t->text[--at] != '\n') return false;
    while (at > 0 && strchr(" \t\r", t->text[at - 1]) && t->text[at - 1]) at--;
    return at == 0 || t->text[at - 1] == '\n';
}

static bool piece_ends(const reader *r, bool paragraphs)
{
    if (!ganz_lines_ready(r->lines)) return true;
    if (r->text.bytes < r->piece) return false;
    if (!paragraphs || r->text.bytes > 8 * r->piece) return true;
    return ends_in_blank_line(&r->text) && !ganz_ends_in_code(r->text.text, r->text.bytes);
}

/* Before input is waited for, a person sees all answers and then a prompt. */
static void prompt(const reader *r)
{
    if (!r->in->talking || (r->lines && ganz_lines_ready(r->lines))) return;
    cli_documents_wait(r->documents);
    fputs("> ", stderr);
}

/* The rest of a stream of text, in pieces. */
static ganz_status read_pieces(reader *r, const char *format, ganz_error *err)
{
    const bool paragraphs = strcmp(format, "lines") != 0;
    long long line = 1;
    bool more = true;
    for (r->piece = FIRST_BYTES; more;) {
        while (more && !(r->text.bytes > 0 && piece_ends(r, paragraphs))) {
            const ganz_status status = add_line(r, &more, err);
            if (status != GANZ_OK) return status;
        }
        if (r->text.bytes == 0) break;
        if (check_text(r, line, err) != GANZ_OK) return err->status;
        const cli_document what = {format, ganz_lines_name(r->lines), r->added && !r->in->talking};
        r->added = true;
        r->unended = r->text.text[r->text.bytes - 1] != '\n';
        line = ganz_lines_number(r->lines) + 1;
        const ganz_status status = cli_documents_add(r->documents, &r->text, &what, err);
        if (status != GANZ_OK) return status;
        prompt(r);
        if (r->piece < MOST_BYTES) r->piece *= 2;
    }
    const cli_document empty = {.format = format, .name = ganz_lines_name(r->lines)};
    return r->added ? GANZ_OK : cli_documents_add(r->documents, &r->text, &empty, err);
}

static ganz_status read_whole(reader *r, const char *format, const char *name, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (bool more = true; more && status == GANZ_OK;) {
        if (r->text.bytes > GANZ_DOCUMENT_BYTES)
            return failed(err, GANZ_ELIMIT, ganz_lines_name(r->lines), "the document is too long");
        status = add_line(r, &more, err);
    }
    r->unended = r->text.bytes > 0 && r->text.text[r->text.bytes - 1] != '\n';
    const cli_document what = {.format = format, .name = name};
    return status == GANZ_OK ? cli_documents_add(r->documents, &r->text, &what, err) : status;
}

/* The name that says the format: without the suffix of a compressed file. */
static void plain_name(const char *path, char name[CLI_PATH])
{
    static const char *const packed[] = {".gz", ".xz", ".zst"};
    snprintf(name, CLI_PATH, "%s", path);
    for (int i = 0; i < 3; i++) {
        const size_t bytes = strlen(name), suffix = strlen(packed[i]);
        if (bytes > suffix && strcmp(name + bytes - suffix, packed[i]) == 0) {
            name[bytes - suffix] = '\0';
            return;
        }
    }
}

/* What the options say, else what the name or the first bytes say; NULL: nobody knows. */
static ganz_status find_format(reader *r, const char *name, const char **format, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    *format = r->in->format;
    if (strcmp(*format, "auto") != 0) return GANZ_OK;
    for (bool more = true; more && status == GANZ_OK && r->text.bytes < SNIFF_BYTES;) {
        if (r->text.bytes > 0 && !ganz_lines_ready(r->lines)) break;
        status = add_line(r, &more, err);
    }
    *format =
        ganz_document_recognise(strcmp(name, "-") == 0 ? NULL : name, r->text.text ? r->text.text : "", r->text.bytes);
    return status;
}

static const char *why_unknown(const ganz_text *t)
{
    if (is_utf16(t->text, t->bytes)) return in_utf16;
    return t->bytes > 0 && memchr(t->text, '\0', t->bytes)
               ? "the format is not known, and it is no text: it has zero bytes"
               : "the format is not known";
}

/* No format becomes another: text in a file named .docx would not open in any program. */
static ganz_status check_out(const reader *r, const char *format, ganz_error *err)
{
    char name[CLI_PATH];
    if (cli_inputs_to_folder(r->in) || strcmp(r->in->out, "-") == 0) return GANZ_OK;
    plain_name(r->in->out, name);
    const char *const wanted = ganz_document_recognise(name, NULL, 0);
    if (!wanted || strcmp(wanted, format) == 0 || !ganz_document_is_archive(wanted)) return GANZ_OK;
    err->status = GANZ_EINVAL;
    snprintf(err->message, sizeof err->message, "%.200s: %s stays %s, it does not become %s: choose another --out",
             ganz_lines_name(r->lines), format, format, wanted);
    return GANZ_EINVAL;
}

static bool is_plain(const char *format) { return strcmp(format, "text") == 0 || strcmp(format, "lines") == 0; }

/* One behind the other, text is still text; two objects of JSON or two archives are nothing that a program reads. */
static ganz_status check_together(const reader *r, const char *format, ganz_error *err)
{
    if (r->in->files->count < 2 || cli_inputs_to_folder(r->in)) return GANZ_OK;
    if (is_plain(format) || strcmp(format, "markdown") == 0) return GANZ_OK;
    err->status = GANZ_EINVAL;
    snprintf(err->message, sizeof err->message,
             "%.200s: several documents of format %s do not make one: give --out FOLDER/", ganz_lines_name(r->lines),
             format);
    return GANZ_EINVAL;
}

/* What stands in a folder is left out whole where some line of it is not UTF-8, so that is known before its beginning
 * is on its way. */
static ganz_status check_ahead(const reader *r, const char *path, ganz_error *err)
{
    ganz_lines *lines = NULL;
    const char *line = "";
    size_t bytes;
    ganz_status status = ganz_lines_open(&lines, path, err);
    while (status == GANZ_OK && line) {
        status = ganz_lines_next(lines, &line, &bytes, err);
        if (status != GANZ_OK || !line || r->in->replace_invalid || ganz_utf8_valid(line, bytes)) continue;
        status = ganz_lines_number(lines) == 1 && is_utf16(line, bytes) ? failed(err, GANZ_EINVAL, path, in_utf16)
                                                                        : not_utf8(err, path, ganz_lines_number(lines));
    }
    ganz_lines_close(&lines);
    return status;
}

static ganz_status read_open_file(reader *r, const char *path, ganz_error *err)
{
    char name[CLI_PATH];
    const char *format;
    plain_name(path, name);
    const ganz_status status = find_format(r, name, &format, err);
    if (status != GANZ_OK) return status;
    if (!format) return failed(err, GANZ_EUNSUPPORTED, ganz_lines_name(r->lines), why_unknown(&r->text));
    if (check_out(r, format, err) != GANZ_OK || check_together(r, format, err) != GANZ_OK) return err->status;
    if (!is_plain(format)) return read_whole(r, format, name, err);
    if (r->ahead && check_ahead(r, path, err) != GANZ_OK) return err->status;
    return read_pieces(r, format, err);
}

/* A file that ends in the middle of a line is ended before another one follows. */
static ganz_status end_line(reader *r, ganz_error *err)
{
    if (!r->unended) return GANZ_OK;
    r->unended = false;
    r->text.bytes = 0;
    const ganz_status status = add(&r->text, "\n", 1, err);
    const cli_document newline = {.format = "text", .name = "newline"};
    return status == GANZ_OK ? cli_documents_add(r->documents, &r->text, &newline, err) : status;
}

static ganz_status read_file(reader *r, const char *path, ganz_error *err)
{
    if (strcmp(path, "-") == 0) prompt(r); /* opening waits for the first bytes, which tell the format */
    ganz_status status =
        r->in->part ? ganz_lines_open_part(&r->lines, path, r->in->part, err) : ganz_lines_open(&r->lines, path, err);
    if (status == GANZ_OK) status = end_line(r, err);
    r->text.bytes = 0;
    r->added = false;
    if (status == GANZ_OK) status = read_open_file(r, path, err);
    ganz_lines_close(&r->lines);
    return status;
}

/* A text of the command line, which ends a line as a file does. */
static ganz_status read_text(reader *r, ganz_error *err)
{
    const char *const format = strcmp(r->in->format, "auto") == 0 ? "text" : r->in->format;
    ganz_text text = {0};
    ganz_status status = add(&text, r->in->text, strlen(r->in->text), err);
    if (status == GANZ_OK) status = add(&text, "\n", 1, err);
    if (status == GANZ_OK) status = ganz_lines_open_text(&r->lines, text.text, text.bytes, "--text", err);
    free(text.text);
    if (status != GANZ_OK) return status;
    status = check_out(r, format, err);
    if (status == GANZ_OK)
        status = is_plain(format) ? read_pieces(r, format, err) : read_whole(r, format, "--text", err);
    ganz_lines_close(&r->lines);
    return status;
}

/* ---- folders ------------------------------------------------------------------------------------ */

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool cli_inputs_to_folder(const cli_inputs *in)
{
    const size_t bytes = strlen(in->out);
    bool folder = strcmp(in->out, "-") != 0 && (is_folder(in->out) || (bytes > 0 && in->out[bytes - 1] == '/'));
    for (int i = 0; i < in->files->count; i++) folder |= is_folder(in->files->items[i]);
    return folder;
}

static ganz_status join(char path[CLI_PATH], const char *folder, const char *name, ganz_error *err)
{
    const size_t bytes = strlen(folder);
    const char *const slash = bytes > 0 && folder[bytes - 1] == '/' ? "" : "/";
    if (snprintf(path, CLI_PATH, "%s%s%s", folder, slash, name) < CLI_PATH) return GANZ_OK;
    return failed(err, GANZ_ELIMIT, folder, "the path is too long");
}

static ganz_status make_folder(const char *path, ganz_error *err)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_folder(path))) return GANZ_OK;
    if (errno == EEXIST) return failed(err, GANZ_EIO, path, "a folder is needed here, and this is a file");
    return failed(err, GANZ_EIO, path, strerror(errno));
}

static void note(const reader *r, const char *path, const char *why)
{
    if (!r->in->quiet) fprintf(stderr, "ganz translate: %s: %s\n", path, why);
}

static int compare_paths(const void *a, const void *b) { return strcmp(a, b); }

/* No two inputs have one output: the second would take the place of the first without a word. */
static ganz_status take_path(reader *r, const char *path, ganz_error *err)
{
    char *const copy = strdup(path);
    char **const node = copy ? tsearch(copy, &r->taken, compare_paths) : NULL;
    if (node && *node == copy) return GANZ_OK;
    free(copy);
    return node ? failed(err, GANZ_EINVAL, path, "two inputs would be written here")
                : failed(err, GANZ_ENOMEM, path, "out of memory");
}

static void forget_paths(reader *r)
{
    while (r->taken) {
        char *const path = *(char **)r->taken;
        tdelete(path, &r->taken, compare_paths);
        free(path);
    }
}

static ganz_status file_to_path(reader *r, const char *from, const char *to, ganz_error *err)
{
    const ganz_status status = cli_documents_output(r->documents, to, err);
    r->unended = false;
    return status == GANZ_OK ? read_file(r, from, err) : status;
}

/* A file of a folder that cannot be read does not stop the others, unless its beginning is on its way already; what
 * stands where its translation would go stays. */
static ganz_status file_of_tree(reader *r, const char *from, const char *to, ganz_error *err)
{
    ganz_status status = take_path(r, to, err);
    if (status != GANZ_OK) return status;
    r->ahead = true;
    status = file_to_path(r, from, to, err);
    r->ahead = false;
    const bool unreadable = status == GANZ_EFORMAT || status == GANZ_EUNSUPPORTED || status == GANZ_EINVAL;
    if (!unreadable || r->added) return status;
    cli_documents_no_output(r->documents);
    note(r, err->message, "skipped");
    r->skipped++;
    return GANZ_OK;
}

static ganz_status tree_to_tree(reader *r, const char *from, const char *to, int depth, ganz_error *err);

static ganz_status entry_to_tree(reader *r, const char *from, const char *to, const char *name, int depth,
                                 ganz_error *err)
{
    char source[CLI_PATH], target[CLI_PATH];
    struct stat facts;
    if (join(source, from, name, err) != GANZ_OK || join(target, to, name, err) != GANZ_OK) return err->status;
    if (lstat(source, &facts) != 0) return failed(err, GANZ_EIO, source, strerror(errno));
    if (facts.st_dev == r->out.st_dev && facts.st_ino == r->out.st_ino) return GANZ_OK; /* our own output */
    if (S_ISDIR(facts.st_mode)) return tree_to_tree(r, source, target, depth + 1, err);
    char plain[CLI_PATH];
    plain_name(source, plain);
    if (S_ISREG(facts.st_mode) && (strcmp(r->in->format, "auto") != 0 || ganz_document_recognise(plain, NULL, 0)))
        return file_of_tree(r, source, target, err);
    note(r, source, "skipped, the format is not known");
    r->skipped++;
    return GANZ_OK;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static ganz_status tree_to_tree(reader *r, const char *from, const char *to, int depth, ganz_error *err)
{
    struct dirent **entries;
    if (depth > DEEPEST) return failed(err, GANZ_ELIMIT, from, "the folders are nested too deep");
    const int count = scandir(from, &entries, visible, alphasort);
    if (count < 0) return failed(err, GANZ_EIO, from, strerror(errno));
    ganz_status status = make_folder(to, err);
    if (depth == 0 && status == GANZ_OK && stat(r->in->out, &r->out) != 0)
        status = failed(err, GANZ_EIO, to, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == GANZ_OK) status = entry_to_tree(r, from, to, entries[i]->d_name, depth, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Where a file that is named goes in the folder. */
static ganz_status path_in_folder(const reader *r, const char *from, char to[CLI_PATH], ganz_error *err)
{
    const char *const slash = strrchr(from, '/');
    return join(to, r->in->out, slash ? slash + 1 : from, err);
}

/* What cannot go to a folder is known before anything is read. */
static ganz_status check_for_folder(reader *r, ganz_error *err)
{
    static const char nameless[] = "this is a folder, and a text without a name needs a file to go to";
    char to[CLI_PATH];
    if (strcmp(r->in->out, "-") == 0)
        return failed(err, GANZ_EINVAL, "an input is a folder", "--out FOLDER says where its translations go");
    if (r->in->text || r->in->files->count == 0) return failed(err, GANZ_EINVAL, r->in->out, nameless);
    for (int i = 0; i < r->in->files->count; i++) {
        const char *const from = r->in->files->items[i];
        if (strcmp(from, "-") == 0) return failed(err, GANZ_EINVAL, r->in->out, nameless);
        if (is_folder(from)) continue;
        if (path_in_folder(r, from, to, err) != GANZ_OK || take_path(r, to, err) != GANZ_OK) return err->status;
    }
    return GANZ_OK;
}

static ganz_status read_to_folder(reader *r, ganz_error *err)
{
    ganz_status status = check_for_folder(r, err);
    if (status == GANZ_OK) status = make_folder(r->in->out, err);
    for (int i = 0; i < r->in->files->count && status == GANZ_OK; i++) {
        const char *const from = r->in->files->items[i];
        char to[CLI_PATH];
        if (is_folder(from)) {
            status = tree_to_tree(r, from, r->in->out, 0, err);
            continue;
        }
        status = path_in_folder(r, from, to, err);
        if (status == GANZ_OK) status = file_to_path(r, from, to, err);
    }
    forget_paths(r);
    return status;
}

/* ---- all ---------------------------------------------------------------------------------------- */

long long cli_inputs_bytes(const cli_inputs *in)
{
    long long sum = 0;
    if (in->part) return (long long)(in->part->end - in->part->begin);
    for (int i = 0; i < in->files->count; i++) {
        struct stat facts;
        char plain[CLI_PATH];
        plain_name(in->files->items[i], plain);
        if (stat(in->files->items[i], &facts) != 0 || !S_ISREG(facts.st_mode) ||
            strcmp(plain, in->files->items[i]) != 0)
            return 0;
        sum += (long long)facts.st_size;
    }
    return sum;
}

ganz_status cli_inputs_read(const cli_inputs *in, cli_documents *documents, int *skipped, ganz_error *err)
{
    reader r = {.in = in, .documents = documents};
    ganz_status status;
    if (cli_inputs_to_folder(in)) {
        status = read_to_folder(&r, err);
    } else {
        status = cli_documents_output(documents, in->out, err);
        if (status == GANZ_OK && in->text) status = read_text(&r, err);
        else if (status == GANZ_OK && in->files->count == 0) status = read_file(&r, "-", err);
        for (int i = 0; i < in->files->count && status == GANZ_OK; i++)
            status = read_file(&r, in->files->items[i], err);
    }
    free(r.text.text);
    *skipped = r.skipped;
    return status;
}
