/* A set of models is opened whole and never changes; replacing it is one pointer under a lock, and who still holds the
 * old one closes it in the end. */
#include "models.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct models {
    pthread_mutex_t lock; /* of `now` and of all holders */
    model_set *now;
    models_options options;
};

static pthread_mutex_t holders_lock = PTHREAD_MUTEX_INITIALIZER;

static ganz_status fail(ganz_error *err, ganz_status status, const char *sentence, const char *name)
{
    err->status = status;
    err->line = 0;
    snprintf(err->message, sizeof err->message, sentence, name);
    return status;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* The language of a side: what the model says, else what its name "en-de.safetensors" says. */
static bool find_language(char code[LANGUAGE_BYTES], const char *told, const char *path, bool target)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    const char *const hyphen = strchr(name, '-'), *const dot = strchr(name, '.');
    if (!told && (!hyphen || !dot || dot < hyphen)) return false;
    const char *const begin = told ? told : target ? hyphen + 1 : name;
    const size_t bytes = told ? strlen(told) : target ? (size_t)(dot - begin) : (size_t)(hyphen - begin);
    if (bytes == 0 || bytes >= LANGUAGE_BYTES) return false;
    memcpy(code, begin, bytes);
    code[bytes] = '\0';
    return true;
}

/* Smaller than for files: all that a batch gains from its size it gains here, and nobody waits long for one to end. */
enum { BATCH_TOKENS = 1024 };

static ganz_status open_service(server_model *m, const models_options *o, ganz_error *err)
{
    ganz_service_options service;
    ganz_service_defaults(&service);
    service.translator.beam = o->beam;
    service.translator.n_best = o->beam;
    service.translator.batch_tokens = BATCH_TOKENS;
    service.translator.alignment = service.translator.token_scores = true; /* lines say which of them they want */
    service.workers = o->workers;
    service.remember = o->remember;
    return ganz_service_open(&m->service, m->model, &service, err);
}

static ganz_status open_model(server_model *m, const char *path, const models_options *o, ganz_error *err)
{
    m->path = strdup(path);
    if (!m->path) return fail(err, GANZ_ENOMEM, "out of memory for %s", path);
    ganz_status status = ganz_model_open(&m->model, path, err);
    if (status != GANZ_OK) return status;
    ganz_model_describe(m->model, &m->facts);
    if (!find_language(m->source, m->facts.source_language, path, false) ||
        !find_language(m->target, m->facts.target_language, path, true))
        return fail(err, GANZ_EFORMAT, "%.300s does not say its languages: call it en-de.safetensors or so", path);
    return open_service(m, o, err);
}

static bool has_pair(const model_set *set, const server_model *m)
{
    for (int i = 0; i < set->count - 1; i++)
        if (strcmp(set->models[i].source, m->source) == 0 && strcmp(set->models[i].target, m->target) == 0) return true;
    return false;
}

static ganz_status open_detector(model_set *s, ganz_error *err)
{
    char sources[MODELS_MOST * LANGUAGE_BYTES] = "";
    for (int i = 0; i < s->count; i++) {
        strcat(sources, s->models[i].source);
        strcat(sources, " ");
    }
    return ganz_detector_open(&s->detector, sources, err);
}

ganz_status model_set_open(model_set **set, const models_options *o, ganz_error *err)
{
    model_set *const s = *set = calloc(1, sizeof *s);
    if (!s) return fail(err, GANZ_ENOMEM, "out of memory%s", "");
    ganz_status status = GANZ_OK;
    s->beam = o->beam;
    s->holders = 1;
    if (o->count > MODELS_MOST) status = fail(err, GANZ_ELIMIT, "more models than a server has room for%s", "");
    for (int i = 0; i < o->count && status == GANZ_OK; i++) {
        server_model *const m = &s->models[s->count++];
        status = open_model(m, o->paths[i], o, err);
        if (status == GANZ_OK && has_pair(s, m))
            status = fail(err, GANZ_EINVAL, "two models translate the pair of %.300s: name one of them", o->paths[i]);
    }
    if (status == GANZ_OK) status = open_detector(s, err);
    if (status == GANZ_OK) return GANZ_OK;
    model_set_release(s);
    *set = NULL;
    return status;
}

void model_set_hold(model_set *set)
{
    pthread_mutex_lock(&holders_lock);
    set->holders++;
    pthread_mutex_unlock(&holders_lock);
}

void model_set_release(model_set *set)
{
    if (!set) return;
    pthread_mutex_lock(&holders_lock);
    const bool last = --set->holders == 0;
    pthread_mutex_unlock(&holders_lock);
    if (!last) return;
    for (int i = 0; i < set->count; i++) {
        server_model *const m = &set->models[i];
        ganz_service_close(&m->service);
        ganz_model_close(&m->model);
        free(m->path);
    }
    ganz_detector_close(&set->detector);
    free(set);
}

/* ---- replacing ---------------------------------------------------------------------------------- */

ganz_status models_open(models **all, const models_options *options, ganz_error *err)
{
    models *const m = *all = calloc(1, sizeof *m);
    if (!m) return fail(err, GANZ_ENOMEM, "out of memory%s", "");
    pthread_mutex_init(&m->lock, NULL);
    m->options = *options;
    const ganz_status status = model_set_open(&m->now, options, err);
    if (status != GANZ_OK) models_close(all);
    return status;
}

void models_close(models **all)
{
    models *const m = *all;
    *all = NULL;
    if (!m) return;
    model_set_release(m->now);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

model_set *models_hold(models *m)
{
    pthread_mutex_lock(&m->lock);
    model_set *const set = m->now;
    model_set_hold(set);
    pthread_mutex_unlock(&m->lock);
    return set;
}

ganz_status models_reload(models *m, ganz_error *err)
{
    model_set *fresh;
    const ganz_status status = model_set_open(&fresh, &m->options, err);
    if (status != GANZ_OK) return status;
    pthread_mutex_lock(&m->lock);
    model_set *const old = m->now;
    m->now = fresh;
    pthread_mutex_unlock(&m->lock);
    model_set_release(old);
    return GANZ_OK;
}

/* ---- pairs -------------------------------------------------------------------------------------- */

static const server_model *direct(const model_set *set, const char *source, const char *target)
{
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->models[i].source, source) == 0 && strcmp(set->models[i].target, target) == 0)
            return &set->models[i];
    return NULL;
}

model_chain models_find(const model_set *set, const char *source, const char *target)
{
    const server_model *const one = direct(set, source, target);
    if (one) return (model_chain){.models = {one}, .count = 1};
    for (int i = 0; i < set->count && strcmp(source, target) != 0; i++) {
        const server_model *const first = &set->models[i];
        const server_model *const second = direct(set, first->target, target);
        if (strcmp(first->source, source) == 0 && second) return (model_chain){.models = {first, second}, .count = 2};
    }
    return (model_chain){.count = 0};
}

static int add_language(const char *codes[2 * MODELS_MOST], int count, const char *code)
{
    for (int i = 0; i < count; i++)
        if (strcmp(codes[i], code) == 0) return count;
    codes[count] = code;
    return count + 1;
}

int models_languages(const model_set *set, const char *codes[2 * MODELS_MOST])
{
    int count = 0;
    for (int i = 0; i < set->count; i++) count = add_language(codes, count, set->models[i].source);
    for (int i = 0; i < set->count; i++) count = add_language(codes, count, set->models[i].target);
    return count;
}

bool models_is_source(const model_set *set, const char *code)
{
    bool found = false;
    for (int i = 0; i < set->count; i++) found |= strcmp(set->models[i].source, code) == 0;
    return found;
}

bool models_is_target(const model_set *set, const char *code)
{
    bool found = false;
    for (int i = 0; i < set->count; i++) found |= strcmp(set->models[i].target, code) == 0;
    return found;
}

bool chain_knows_formality(const model_chain *chain)
{
    return chain->count > 0 && chain->models[chain->count - 1]->facts.formality;
}

bool models_know_formality(const model_set *set, const char *target)
{
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->models[i].target, target) == 0 && set->models[i].facts.formality) return true;
    return false;
}

const char *language_name(const char *code)
{
    static const char *const names[][2] = {
        {"ar", "Arabic"},    {"bg", "Bulgarian"},  {"ca", "Catalan"},    {"cs", "Czech"},      {"da", "Danish"},
        {"de", "German"},    {"el", "Greek"},      {"en", "English"},    {"eo", "Esperanto"},  {"es", "Spanish"},
        {"et", "Estonian"},  {"eu", "Basque"},     {"fa", "Persian"},    {"fi", "Finnish"},    {"fr", "French"},
        {"ga", "Irish"},     {"gl", "Galician"},   {"he", "Hebrew"},     {"hi", "Hindi"},      {"hr", "Croatian"},
        {"hu", "Hungarian"}, {"id", "Indonesian"}, {"is", "Icelandic"},  {"it", "Italian"},    {"ja", "Japanese"},
        {"ko", "Korean"},    {"lt", "Lithuanian"}, {"lv", "Latvian"},    {"nb", "Norwegian"},  {"nl", "Dutch"},
        {"no", "Norwegian"}, {"pl", "Polish"},     {"pt", "Portuguese"}, {"ro", "Romanian"},   {"ru", "Russian"},
        {"sk", "Slovak"},    {"sl", "Slovenian"},  {"sq", "Albanian"},   {"sr", "Serbian"},    {"sv", "Swedish"},
        {"th", "Thai"},      {"tr", "Turkish"},    {"uk", "Ukrainian"},  {"vi", "Vietnamese"}, {"zh", "Chinese"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i][0], code) == 0) return names[i][1];
    return code;
}
