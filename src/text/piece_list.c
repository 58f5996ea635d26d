/* Lists of pieces: a block of terminated texts, indexed by a trie. */
#include "text/piece_list.h"

#include <string.h>

#include "text/tokenizer.h"

enum { MAX_BLOCK = 64 << 20, MAX_ENTRIES = 1 << 20, MAX_ENTRY = 4096 };

static const char pad_text[] = "<pad>", end_text[] = "</s>", unknown_text[] = "<unk>";

static ganz_status no_memory(const char *name, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for the vocabulary", name);
}

ganz_status ganz_listing_join(ganz_listing *l, const ganz_piece_list *list, const char *name, ganz_error *err)
{
    ganz_text block = {0};
    if (list->unknown <= GANZ_EOS || list->unknown >= list->count)
        return ganz_fail(err, GANZ_EINVAL, "%s: %d is no id for unknown pieces of %d entries", name, list->unknown,
                         list->count);
    for (int i = 0; i < list->count; i++) {
        const char *text = list->texts[i];
        if (i == GANZ_PAD) text = pad_text;
        if (i == GANZ_EOS) text = end_text;
        if (i == list->unknown) text = unknown_text;
        if (ganz_text_append(&block, text, strlen(text) + 1)) continue;
        ganz_text_free(&block);
        return no_memory(name, err);
    }
    l->block = block.text;
    l->bytes = block.bytes;
    return GANZ_OK;
}

ganz_status ganz_listing_copy(ganz_listing *l, const char *block, size_t bytes, const char *name, ganz_error *err)
{
    if (bytes > MAX_BLOCK)
        return ganz_fail(err, GANZ_ELIMIT, "%s: the vocabulary has more than %d bytes", name, MAX_BLOCK);
    l->block = ganz_alloc(bytes + 1, 1);
    if (!l->block) return no_memory(name, err);
    if (bytes > 0) memcpy(l->block, block, bytes);
    l->bytes = bytes;
    return GANZ_OK;
}

void ganz_listing_close(ganz_listing *l)
{
    ganz_trie_close(&l->trie);
    ganz_free(l->entries);
    ganz_free(l->block);
    *l = (ganz_listing){0};
}

/* ---- reading ------------------------------------------------------------------------------------ */

static bool is_label(const char *text, size_t bytes)
{
    return bytes > 4 && memcmp(text, ">>", 2) == 0 && memcmp(text + bytes - 2, "<<", 2) == 0;
}

static ganz_status read_entry(ganz_listing *l, size_t at, const char *name, ganz_error *err)
{
    const size_t id = l->count;
    const char *const text = l->block + at;
    const size_t bytes = strlen(text);
    if (id == MAX_ENTRIES || bytes > MAX_ENTRY)
        return ganz_fail(err, GANZ_ELIMIT, "%s: vocabulary too large (%d entries, %d bytes in one)", name, MAX_ENTRIES,
                         MAX_ENTRY);
    if (bytes == 0 || !ganz_utf8_valid(text, bytes))
        return ganz_fail(err, GANZ_EFORMAT, "%s: piece %zu is empty or not UTF-8", name, id);
    if ((id == GANZ_PAD && strcmp(text, pad_text) != 0) || (id == GANZ_EOS && strcmp(text, end_text) != 0))
        return ganz_fail(err, GANZ_EFORMAT, "%s: the first two pieces must be %s and %s", name, pad_text, end_text);
    const ganz_entry_role role = is_label(text, bytes) ? GANZ_ENTRY_LABEL : GANZ_ENTRY_TEXT;
    l->entries[l->count++] = (ganz_listed){text, (uint32_t)bytes, id <= GANZ_EOS ? GANZ_ENTRY_NOTHING : role};
    return GANZ_OK;
}

static ganz_status read_entries(ganz_listing *l, const char *name, ganz_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < l->bytes; i++) count += l->block[i] == '\0';
    if (l->bytes == 0 || l->block[l->bytes - 1] != '\0' || count < 3)
        return ganz_fail(err, GANZ_EFORMAT, "%s: the list of pieces is damaged", name);
    l->entries = ganz_alloc(count, sizeof *l->entries);
    if (!l->entries) return no_memory(name, err);
    for (size_t at = 0; at < l->bytes; at += l->entries[l->count - 1].bytes + 1) GANZ_TRY(read_entry(l, at, name, err));
    return GANZ_OK;
}

/* Of equal entries only the last could be found; the sorted entries show them. */
static ganz_status check_distinct(const ganz_trie_entry *entries, size_t count, const char *name, ganz_error *err)
{
    for (size_t i = 1; i < count; i++)
        if (entries[i].bytes == entries[i - 1].bytes &&
            memcmp(entries[i].text, entries[i - 1].text, entries[i].bytes) == 0)
            return ganz_fail(err, GANZ_EFORMAT, "%s: pieces %d and %d are the same, \"%.40s\"", name, entries[i - 1].id,
                             entries[i].id, entries[i].text);
    return GANZ_OK;
}

static ganz_status index_entries(ganz_listing *l, const char *name, ganz_error *err)
{
    ganz_trie_entry *const entries = ganz_alloc(l->count, sizeof *entries);
    if (!entries) return no_memory(name, err);
    for (size_t i = 0; i < l->count; i++)
        entries[i] = (ganz_trie_entry){l->entries[i].text, l->entries[i].bytes, (int32_t)i};
    ganz_status status = ganz_trie_open(&l->trie, entries, l->count, err);
    if (status == GANZ_OK) status = check_distinct(entries, l->count, name, err);
    ganz_free(entries);
    return status;
}

/* What the SentencePiece model says about entries of its own. */
static void take_roles(ganz_listing *l, const ganz_spm *spm)
{
    for (size_t i = 0; i < spm->count; i++) {
        const ganz_spm_piece *const p = &spm->pieces[i];
        const bool byte = p->role == GANZ_SPM_BYTE && spm->byte_fallback;
        if (p->role != GANZ_SPM_CONTROL && p->role != GANZ_SPM_UNKNOWN && !byte) continue;
        const int32_t id = ganz_trie_find(&l->trie, p->text, p->bytes);
        if (id > GANZ_EOS && l->entries[id].role == GANZ_ENTRY_TEXT)
            l->entries[id].role = byte ? GANZ_ENTRY_BYTE : GANZ_ENTRY_NOTHING;
    }
}

ganz_status ganz_listing_read(ganz_listing *l, const ganz_spm *spm, const char *name, ganz_error *err)
{
    GANZ_TRY(read_entries(l, name, err));
    GANZ_TRY(index_entries(l, name, err));
    l->unknown = ganz_trie_find(&l->trie, unknown_text, sizeof unknown_text - 1);
    if (l->unknown < 0) return ganz_fail(err, GANZ_EFORMAT, "%s: the list of pieces has no %s", name, unknown_text);
    l->entries[l->unknown].role = GANZ_ENTRY_NOTHING;
    if (spm) take_roles(l, spm);
    return GANZ_OK;
}

int32_t ganz_listing_find(const ganz_listing *l, const char *text, size_t bytes, ganz_entry_role role)
{
    const int32_t id = ganz_trie_find(&l->trie, text, bytes);
    return id >= 0 && l->entries[id].role == role ? id : l->unknown;
}
