/* The models that a server has open, and the pairs of languages that they make alone or one behind another. */
#ifndef GANZ_SERVER_MODELS_H
#define GANZ_SERVER_MODELS_H

#include "ganz/detect.h"
#include "ganz/document.h"
#include "ganz/inspect.h"
#include "ganz/service.h"

enum { MODELS_MOST = 64, CHAIN_MOST = 2, LANGUAGE_BYTES = 16 };

typedef struct server_model {
    char *path;
    ganz_model *model;
    ganz_model_facts facts;
    char source[LANGUAGE_BYTES], target[LANGUAGE_BYTES];
    ganz_service *service; /* gives as many translations of a line as the beam has; lines say how many they want */
} server_model;

/* Immutable once open, and shared: held by each request that uses it. */
typedef struct model_set {
    server_model models[MODELS_MOST];
    int count, beam;
    ganz_detector *detector; /* of the source languages */
    long holders;
} model_set;

typedef struct models_options {
    const char *const *paths; /* (count) borrowed */
    int count;
    int beam;
    int workers;     /* for each model; 0: one for each core */
    size_t remember; /* bytes for each model; see ganz_service_options */
} models_options;

/* Opens all models and starts their workers. Two models for one pair are refused. */
ganz_status model_set_open(model_set **set, const models_options *options, ganz_error *err);
/* One more hold on a set that is held already. */
void model_set_hold(model_set *set);
/* Gives one hold back; the last one closes the models. */
void model_set_release(model_set *set);

/* The set that requests get, which may be replaced at any time. */
typedef struct models models;
ganz_status models_open(models **all, const models_options *options, ganz_error *err);
void models_close(models **all);
model_set *models_hold(models *all);                     /* for model_set_release */
ganz_status models_reload(models *all, ganz_error *err); /* if it fails, all stays as it was */

/* The models that lead from one language to another, in turn. */
typedef struct model_chain {
    const server_model *models[CHAIN_MOST];
    int count; /* 0: there is no way */
} model_chain;
model_chain models_find(const model_set *set, const char *source, const char *target);

/* Languages, each once: sources first in the order of the models. Returns how many. */
int models_languages(const model_set *set, const char *codes[2 * MODELS_MOST]);
bool models_is_source(const model_set *set, const char *code);
bool models_is_target(const model_set *set, const char *code);
/* Whether the last model of a chain translates formally or informally as it is told, and whether one into a language
 * does. */
bool chain_knows_formality(const model_chain *chain);
bool models_know_formality(const model_set *set, const char *target);

/* English name of a language, else its code. */
const char *language_name(const char *code);

#endif
