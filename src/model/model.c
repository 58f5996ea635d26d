/* Model files: write, open, check. */
#include "model/model.h"
#include "base/io.h"
#include "base/surroundings.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

#include "text/vocab.h"

static const char tokenizer_key[] = "tokenizer"; /* kind of the vocabulary */
static const char end_key[] = "source_end";      /* "none": its sources are bare */

static bool in_float_file(const ganz_param *p) { return !ganz_param_is_scale(p); }

/* A matrix keeps its two dimensions, anything else is a vector. */
int ganz_model_shape(const ganz_param *p, int64_t dims[2])
{
    dims[0] = p->rows;
    dims[1] = p->cols;
    if (ganz_param_is_matrix(p)) return 2;
    dims[0] = p->cols;
    return 1;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* What is noted of a model, such as the command, has names of files in it, which may be of any bytes: those that are no
 * UTF-8 are no reason to lose it, and become question marks. */
static ganz_status write_text(ganz_writer *w, const char *key, const char *text, ganz_error *err)
{
    if (!text) return GANZ_OK;
    const size_t bytes = strlen(text);
    char *const copy = ganz_strdup(text);
    if (!copy) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the %s of a model", key);
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        const int taken = ganz_utf8_decode(copy + at, bytes - at, &code);
        if (taken == 0) copy[at] = '?';
        at += taken > 0 ? (size_t)taken : 1;
    }
    const ganz_status status = ganz_writer_text(w, key, copy, err);
    ganz_free(copy);
    return status;
}

/* One width says it all where there is one. */
static ganz_status write_scheme(ganz_writer *w, const ganz_scheme *scheme, ganz_error *err)
{
    const ganz_rule *const r = &scheme->rule;
    char exceptions[GANZ_SCHEME_TEXT];
    GANZ_TRY(ganz_writer_int(w, "bits", r->weight_bits, err));
    if (r->input_bits != r->weight_bits) GANZ_TRY(ganz_writer_int(w, "input_bits", r->input_bits, err));
    if (r->bias_bits != r->weight_bits) GANZ_TRY(ganz_writer_int(w, "bias_bits", r->bias_bits, err));
    if (r->attention_bits != r->weight_bits) GANZ_TRY(ganz_writer_int(w, "attention_bits", r->attention_bits, err));
    if (scheme->float_lookup) GANZ_TRY(ganz_writer_text(w, "lookup", "float", err));
    if (r->per_row) GANZ_TRY(ganz_writer_text(w, "weight_steps", "rows", err));
    if (scheme->float_attention) GANZ_TRY(ganz_writer_text(w, "attention", "float", err));
    ganz_scheme_print(scheme, exceptions);
    return scheme->exceptions > 0 ? ganz_writer_text(w, "exceptions", exceptions, err) : GANZ_OK;
}

ganz_status ganz_model_write_info(ganz_writer *w, const ganz_model_info *info, const ganz_scheme *scheme,
                                  ganz_error *err)
{
    const ganz_model_search *const s = &info->search;
    const bool usual = s->beam == 0 && !s->has_alpha && !s->by_length;
    const bool first = ganz_config_is_plain(&info->config) && (!scheme || scheme->exceptions == 0) && usual;
    GANZ_TRY(ganz_writer_text(w, "format", "ganz", err));
    const int version = scheme && ganz_scheme_has_nibbles(scheme) ? GANZ_MODEL_VERSION
                        : first                                   ? GANZ_MODEL_FIRST
                                                                  : GANZ_MODEL_KINDS;
    GANZ_TRY(ganz_writer_int(w, "version", version, err));
    GANZ_TRY(ganz_writer_text(w, "weights", scheme ? "codes" : "float", err));
    GANZ_TRY(ganz_model_write_config(w, &info->config, err));
    GANZ_TRY(ganz_model_write_search(w, &info->search, err));
    GANZ_TRY(write_text(w, "source_language", info->source_language, err));
    GANZ_TRY(write_text(w, "target_language", info->target_language, err));
    GANZ_TRY(write_text(w, "command", info->command, err));
    GANZ_TRY(write_text(w, "origin", info->origin, err));
    GANZ_TRY(write_text(w, "licence", info->licence, err));
    GANZ_TRY(write_text(w, "formal_mark", info->formal_mark, err));
    GANZ_TRY(write_text(w, "informal_mark", info->informal_mark, err));
    return scheme ? write_scheme(w, scheme, err) : GANZ_OK;
}

/* The kind of subwords goes without saying, as in all files before there were others. */
ganz_status ganz_model_declare_vocab(ganz_writer *w, const ganz_vocab *vocab, ganz_error *err)
{
    ganz_vocab_part parts[GANZ_VOCAB_PARTS];
    const int count = vocab->kind->parts(vocab, parts);
    if (vocab->kind != &ganz_subwords) GANZ_TRY(ganz_writer_text(w, tokenizer_key, vocab->kind->name, err));
    if (vocab->bare_source) GANZ_TRY(ganz_writer_text(w, end_key, "none", err));
    for (int i = 0; i < count; i++)
        GANZ_TRY(
            ganz_writer_declare(w, parts[i].name, GANZ_DTYPE_U8, 1, (const int64_t[]){(int64_t)parts[i].bytes}, err));
    return GANZ_OK;
}

ganz_status ganz_model_write_vocab(ganz_writer *w, const ganz_vocab *vocab, ganz_error *err)
{
    ganz_vocab_part parts[GANZ_VOCAB_PARTS];
    const int count = vocab->kind->parts(vocab, parts);
    for (int i = 0; i < count; i++) GANZ_TRY(ganz_writer_write(w, parts[i].data, parts[i].bytes, err));
    return GANZ_OK;
}

ganz_status ganz_model_declare(ganz_writer *w, const ganz_model_info *info, const ganz_net *net,
                               const ganz_vocab *vocab, ganz_error *err)
{
    GANZ_ASSERT(ganz_vocab_size(vocab) == info->config.vocab);
    GANZ_TRY(ganz_model_write_info(w, info, NULL, err));
    if (info->dynamic_bits) GANZ_TRY(ganz_writer_int(w, "dynamic_bits", info->dynamic_bits, err));
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        int64_t dims[2];
        const int rank = ganz_model_shape(p, dims);
        if (in_float_file(p)) GANZ_TRY(ganz_writer_declare(w, p->name, GANZ_DTYPE_F32, rank, dims, err));
    }
    return ganz_model_declare_vocab(w, vocab, err);
}

static ganz_status write_param(ganz_writer *w, const real *values, size_t count, ganz_error *err)
{
    float chunk[4096]; /* files hold float whatever `real` is */
    for (size_t at = 0; at < count; at += GANZ_COUNT(chunk)) {
        const size_t n = count - at < GANZ_COUNT(chunk) ? count - at : GANZ_COUNT(chunk);
        for (size_t i = 0; i < n; i++) chunk[i] = (float)values[at + i];
        GANZ_TRY(ganz_writer_write(w, chunk, n * sizeof chunk[0], err));
    }
    return GANZ_OK;
}

ganz_status ganz_model_write(ganz_writer *w, const ganz_net *net, const ganz_vocab *vocab, const real *block,
                             ganz_error *err)
{
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        if (in_float_file(p)) GANZ_TRY(write_param(w, block + p->offset, ganz_param_count(p), err));
    }
    return ganz_model_write_vocab(w, vocab, err);
}

ganz_status ganz_model_save(const char *path, const ganz_model_info *info, const ganz_net *net, const ganz_vocab *vocab,
                            const real *block, ganz_error *err)
{
    ganz_writer *w;
    ganz_status status;
    GANZ_TRY(ganz_writer_open(&w, path, true, err));
    GANZ_CHECK(ganz_model_declare(w, info, net, vocab, err));
    GANZ_CHECK(ganz_model_write(w, net, vocab, block, err));
    return ganz_writer_finish(&w, err);
out:
    ganz_writer_abandon(&w);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status read_number(const ganz_container *file, const char *key, int64_t most, int *value, ganz_error *err)
{
    int64_t number;
    GANZ_TRY(ganz_container_get_int(file, key, 1, most, &number, err));
    *value = (int)number;
    return GANZ_OK;
}

/* Bits of a kind of codes, which may be missing where they have a standard. */
static ganz_status read_width(const ganz_container *file, const char *key, int standard, int *width, ganz_error *err)
{
    int64_t bits = standard;
    if (ganz_container_text(file, key))
        GANZ_TRY(ganz_container_get_int(file, key, GANZ_BITS_LEAST, GANZ_BITS_MOST, &bits, err));
    *width = (int)bits;
    return GANZ_OK;
}

/* Which of two words; missing: the second. */
static ganz_status read_word(const ganz_container *file, const char *key, const char *first, const char *second,
                             bool *is_first, ganz_error *err)
{
    const char *const text = ganz_container_text(file, key);
    *is_first = text && strcmp(text, first) == 0;
    if (!text || *is_first || strcmp(text, second) == 0) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: %s is \"%.40s\", this build knows \"%s\" and \"%s\"",
                     ganz_container_name(file), key, text, first, second);
}

static ganz_status read_exceptions(const ganz_container *file, ganz_scheme *scheme, ganz_error *err)
{
    const char *const text = ganz_container_text(file, "exceptions");
    ganz_error why;
    if (!text || ganz_scheme_parse(scheme, text, &why) == GANZ_OK) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: %s", ganz_container_name(file), why.message);
}

static ganz_status read_scheme(const ganz_container *file, ganz_scheme *scheme, ganz_error *err)
{
    int64_t bits;
    GANZ_TRY(ganz_container_get_int(file, "bits", GANZ_BITS_LEAST, GANZ_BITS_MOST, &bits, err));
    *scheme = ganz_scheme_of_bits((int)bits);
    ganz_rule *const r = &scheme->rule;
    GANZ_TRY(read_width(file, "input_bits", (int)bits, &r->input_bits, err));
    GANZ_TRY(read_width(file, "attention_bits", (int)bits, &r->attention_bits, err));
    const char *const biases = ganz_container_text(file, "bias_bits");
    if (biases && strcmp(biases, "32") == 0) r->bias_bits = GANZ_BITS_FLOAT;
    else GANZ_TRY(read_width(file, "bias_bits", (int)bits, &r->bias_bits, err));
    GANZ_TRY(read_word(file, "lookup", "float", "codes", &scheme->float_lookup, err));
    GANZ_TRY(read_word(file, "weight_steps", "rows", "one", &r->per_row, err));
    GANZ_TRY(read_word(file, "attention", "float", "codes", &scheme->float_attention, err));
    return read_exceptions(file, scheme, err);
}

ganz_status ganz_model_read_info(const ganz_container *file, ganz_model_info *info, ganz_error *err)
{
    *info = (ganz_model_info){0};
    const char *const name = ganz_container_name(file);
    const char *const format = ganz_container_text(file, "format");
    if (!format || strcmp(format, "ganz") != 0) return ganz_fail(err, GANZ_EFORMAT, "%s: not a ganz model", name);
    int version;
    GANZ_TRY(read_number(file, "version", INT32_MAX, &version, err));
    if (version > GANZ_MODEL_VERSION)
        return ganz_fail(err, GANZ_EVERSION, "%s: model file of version %d, this build knows version %d", name, version,
                         GANZ_MODEL_VERSION);
    const char *weights;
    GANZ_TRY(ganz_container_get_text(file, "weights", &weights, err));
    info->integer = strcmp(weights, "codes") == 0;
    if (!info->integer && strcmp(weights, "float") != 0)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: weights are \"%.40s\", this build knows \"float\" and \"codes\"",
                         name, weights);
    if (info->integer) GANZ_TRY(read_scheme(file, &info->scheme, err));
    else GANZ_TRY(read_width(file, "dynamic_bits", 0, &info->dynamic_bits, err));
    info->source_language = ganz_container_text(file, "source_language");
    info->target_language = ganz_container_text(file, "target_language");
    info->command = ganz_container_text(file, "command");
    info->origin = ganz_container_text(file, "origin");
    info->licence = ganz_container_text(file, "licence");
    info->formal_mark = ganz_container_text(file, "formal_mark");
    info->informal_mark = ganz_container_text(file, "informal_mark");
    GANZ_TRY(ganz_model_read_search(file, &info->search, err));
    return ganz_model_read_config(file, &info->config, err);
}

static bool has_part(void *context, const char *part) { return ganz_container_find(context, part) != NULL; }

static ganz_status get_part(void *context, const char *part, const char **data, size_t *bytes, ganz_error *err)
{
    const ganz_container *const file = context;
    const ganz_entry *e;
    GANZ_TRY(ganz_container_get(file, part, GANZ_DTYPE_U8, 1, (const int64_t[]){-1}, &e, err));
    GANZ_TRY(ganz_container_check(file, e, err));
    *data = e->data;
    *bytes = e->bytes;
    return GANZ_OK;
}

ganz_status ganz_model_read_vocab(const ganz_container *file, const ganz_config *config, ganz_vocab **vocab,
                                  ganz_error *err)
{
    const char *const name = ganz_container_text(file, tokenizer_key), *const end = ganz_container_text(file, end_key);
    const ganz_vocab_kind *const kind = name ? ganz_vocab_find_kind(name) : &ganz_subwords;
    const ganz_vocab_store store = {ganz_container_name(file), has_part, get_part, (void *)(uintptr_t)file};
    *vocab = NULL;
    if (!kind)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: the tokenizer is \"%.40s\", which this build does not know",
                         ganz_container_name(file), name);
    GANZ_TRY(kind->load(vocab, &store, err));
    (*vocab)->bare_source = end && strcmp(end, "none") == 0;
    const int source = ganz_vocab_side_size(*vocab, GANZ_SOURCE), target = ganz_vocab_size(*vocab);
    const bool fits = config->source_vocab > 0 ? source <= config->source_vocab : source == config->vocab;
    if (target == config->vocab && fits) return GANZ_OK;
    ganz_vocab_close(vocab);
    return ganz_fail(err, GANZ_EFORMAT, "%s: the vocabulary has %d entries, the model %d", ganz_container_name(file),
                     fits ? target : source, fits || config->source_vocab == 0 ? config->vocab : config->source_vocab);
}

/* A container begins with the length of a header, which begins with a brace; a text vocabulary has no such bytes, a
 * SentencePiece model has a quite different length there. */
static bool is_container(const char *path)
{
    unsigned char head[9];
    uint64_t file_bytes, header = 0;
    int fd;
    if (ganz_file_open(&fd, path, NULL) != GANZ_OK) return false;
    const bool read = ganz_file_size(fd, path, &file_bytes, NULL) == GANZ_OK && file_bytes >= sizeof head &&
                      ganz_file_read(fd, path, 0, head, sizeof head, NULL) == GANZ_OK;
    ganz_file_close(&fd);
    for (int i = 7; read && i >= 0; i--) header = header << 8 | head[i];
    return read && head[8] == '{' && header < file_bytes;
}

ganz_status ganz_vocab_open_any(ganz_vocab **vocab, const char *path, ganz_error *err)
{
    ganz_container *file;
    ganz_model_info info;
    *vocab = NULL;
    if (strcmp(path, "-") == 0 || !is_container(path)) return ganz_vocab_open(vocab, path, err);
    GANZ_TRY(ganz_container_open(&file, path, err));
    ganz_status status = ganz_model_read_info(file, &info, err);
    if (status == GANZ_OK) status = ganz_model_read_vocab(file, &info.config, vocab, err);
    ganz_container_close(&file);
    return status;
}

ganz_status ganz_model_same_vocab(const ganz_container *file, const ganz_config *config, const ganz_vocab *vocab,
                                  bool *same, ganz_error *err)
{
    ganz_vocab *theirs;
    GANZ_TRY(ganz_model_read_vocab(file, config, &theirs, err));
    *same = ganz_vocab_equal(vocab, theirs);
    ganz_vocab_close(&theirs);
    return GANZ_OK;
}

ganz_status ganz_model_check_float(const ganz_container *file, const ganz_model_info *info, ganz_error *err)
{
    const char *const name = ganz_container_name(file);
    if (info->integer) return ganz_fail(err, GANZ_EINVAL, "%s: an integer model, where a float one is needed", name);
    if (info->dynamic_bits)
        return ganz_fail(err, GANZ_EINVAL, "%s: emulates integers, where a plain float model is needed", name);
    return GANZ_OK;
}

static ganz_status get_param(const ganz_container *file, const ganz_param *p, const ganz_entry **e, ganz_error *err)
{
    int64_t dims[2];
    const int rank = ganz_model_shape(p, dims);
    return ganz_container_get(file, p->name, GANZ_DTYPE_F32, rank, dims, e, err);
}

ganz_status ganz_model_check_params(const ganz_container *file, const ganz_net *net, ganz_error *err)
{
    for (int i = 0; i < net->params.count; i++) {
        const ganz_entry *e;
        if (in_float_file(&net->params.list[i])) GANZ_TRY(get_param(file, &net->params.list[i], &e, err));
    }
    return GANZ_OK;
}

/* NaN and infinity have the largest exponent, so one integer maximum finds them, and it vectorises. */
bool ganz_model_all_finite(const void *floats, size_t count)
{
    const uint32_t *const bits = floats;
    uint32_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t magnitude = bits[i] & 0x7FFFFFFFu;
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest < 0x7F800000u;
}

/* -infinity in the bias of the logits bans an entry. */
bool ganz_model_may_hold(const ganz_param *p, const void *floats)
{
    const float *const values = floats;
    const size_t count = ganz_param_count(p);
    if (ganz_model_all_finite(floats, count)) return true;
    if (strcmp(p->name, "logits.bias") != 0) return false;
    size_t banned = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] < INFINITY)) return false;
        banned += values[i] == -INFINITY;
    }
    return banned < count;
}

ganz_status ganz_model_read_params(const ganz_container *file, const ganz_net *net, real *block, ganz_error *err)
{
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const ganz_entry *e;
        if (!in_float_file(p)) continue;
        GANZ_TRY(get_param(file, p, &e, err));
        GANZ_TRY(ganz_container_check(file, e, err));
        const size_t count = ganz_param_count(p);
        if (!ganz_model_may_hold(p, e->data))
            return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s holds numbers that are not finite",
                             ganz_container_name(file), p->name);
        const float *const values = e->data;
        for (size_t j = 0; j < count; j++) block[p->offset + j] = values[j];
        ganz_container_forget(file, e); /* else all of the file is in memory */
    }
    return GANZ_OK;
}

/* ---- a model in memory -------------------------------------------------------------------------- */

static const char *copy_text(const char *text, bool *failed)
{
    char *const copy = text ? ganz_strdup(text) : NULL;
    if (text && !copy) *failed = true;
    return copy;
}

ganz_status ganz_model_check_marks(const char *formal, const char *informal, const ganz_vocab *vocab, const char *name,
                                   ganz_error *err)
{
    if (!formal && !informal) return GANZ_OK;
    const int f = formal ? ganz_vocab_mark(vocab, formal) : -1, i = informal ? ganz_vocab_mark(vocab, informal) : -1;
    if (f >= 0 && i >= 0 && f != i) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: its marks of formality are not two marks of its vocabulary", name);
}

/* The texts are the container's until here. */
static ganz_status own_texts(ganz_model_info *info, ganz_error *err)
{
    bool failed = false;
    info->source_language = copy_text(info->source_language, &failed);
    info->target_language = copy_text(info->target_language, &failed);
    info->command = copy_text(info->command, &failed);
    info->origin = copy_text(info->origin, &failed);
    info->licence = copy_text(info->licence, &failed);
    info->formal_mark = copy_text(info->formal_mark, &failed);
    info->informal_mark = copy_text(info->informal_mark, &failed);
    return failed ? ganz_fail(err, GANZ_ENOMEM, "out of memory") : GANZ_OK;
}

static ganz_status read_floats(ganz_model *m, const ganz_container *file, ganz_error *err)
{
    for (int i = 0; m->info.dynamic_bits && i < m->net.sites; i++) {
        ganz_site *const site = &m->net.site[i];
        site->inputs = GANZ_INPUTS_DYNAMIC;
        site->rule.input_bits = m->info.dynamic_bits;
    }
    GANZ_TRY(ganz_model_check_params(file, &m->net, err));
    GANZ_TRY(ganz_weights_open(&m->weights, &m->net, m->be, false, err));
    GANZ_TRY(ganz_model_read_params(file, &m->net, m->weights.master, err));
    return ganz_weights_refresh(&m->weights, &m->net, err);
}

static ganz_status read_integers(ganz_model *m, const ganz_container *file, ganz_error *err)
{
    ganz_net_set_scheme(&m->net, &m->info.scheme);
    ganz_net_set_states(&m->net, GANZ_WEIGHTS_CODES, GANZ_INPUTS_CODES);
    GANZ_TRY(ganz_model_check_codes(file, &m->net, err));
    GANZ_TRY(ganz_weights_open_codes(&m->weights, &m->net, m->be, err));
    return ganz_model_read_codes(file, &m->net, &m->weights, err);
}

static ganz_status read_model(ganz_model *m, const ganz_container *file, ganz_error *err)
{
    ganz_model_info info;
    GANZ_TRY(ganz_model_read_info(file, &info, err));
    m->info = info;
    GANZ_TRY(own_texts(&m->info, err));
    GANZ_TRY(ganz_model_read_vocab(file, &info.config, &m->vocab, err));
    GANZ_TRY(ganz_model_check_marks(info.formal_mark, info.informal_mark, m->vocab, ganz_container_name(file), err));
    info.config.max_positions = 2 * info.config.max_positions + 50;
    GANZ_TRY(ganz_net_open(&m->net, &info.config, err));
    GANZ_TRY(ganz_cpu_backend_open(&m->be, 1, err));
    GANZ_TRY(ganz_copies_open(&m->copies, &m->net, &m->weights, err));
    GANZ_TRY(m->info.integer ? read_integers(m, file, err) : read_floats(m, file, err));
    return m->be->sync(m->be, err);
}

/* Ends the container, which is not needed once all is copied. */
static ganz_status open_model(ganz_model **model, ganz_container *file, ganz_error *err)
{
    ganz_model *m = ganz_alloc(1, sizeof *m);
    ganz_status status = m ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", ganz_container_name(file));
    if (m) status = read_model(m, file, err);
    ganz_container_close(&file);
    if (status != GANZ_OK) ganz_model_close(&m);
    *model = m;
    return status;
}

ganz_status ganz_model_open(ganz_model **model, const char *path, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    *model = NULL;
    ganz_container *file;
    GANZ_TRY(ganz_container_open(&file, path, err));
    return open_model(model, file, err);
}

ganz_status ganz_model_parse(ganz_model **model, const void *data, size_t bytes, const char *name, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    *model = NULL;
    ganz_container *file;
    GANZ_TRY(ganz_container_parse(&file, data, bytes, name, err));
    return open_model(model, file, err);
}

void ganz_model_close(ganz_model **model)
{
    ganz_model *const m = *model;
    *model = NULL;
    if (!m) return;
    ganz_copies_close(&m->copies);
    if (m->weights.be) ganz_weights_close(&m->weights);
    ganz_net_close(&m->net);
    if (m->be) m->be->close(m->be);
    ganz_vocab_close(&m->vocab);
    ganz_free((char *)m->info.source_language);
    ganz_free((char *)m->info.target_language);
    ganz_free((char *)m->info.command);
    ganz_free((char *)m->info.origin);
    ganz_free((char *)m->info.licence);
    ganz_free((char *)m->info.formal_mark);
    ganz_free((char *)m->info.informal_mark);
    ganz_free(m);
}
