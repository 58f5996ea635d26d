/* What one model file holds: configuration, vocabulary, parameters. docs/FORMAT.md describes the file.
 *
 * A float model has every parameter of the net (but no scales) as F32 under its registry name. An integer model has I8
 * codes under the names of weights and biases, an F32 scale beside each (NAME.step), and the scales of the inputs; its
 * metadata says "weights": "codes" and "bits". Names the reader does not know are passed over, so a checkpoint is a
 * model file with more in it. */
#ifndef GANZ_MODEL_MODEL_H
#define GANZ_MODEL_MODEL_H

#include "ganz/vocab.h"
#include "model/container.h"
#include "model/copies.h"
#include "nn/net.h"

/* A file that is all as version 1 knows it says so, and older programs read it. */
enum { GANZ_MODEL_FIRST = 1, GANZ_MODEL_KINDS = 2, GANZ_MODEL_VERSION = 3, GANZ_MODEL_POSITIONS = 4096 /* most */ };

/* How a model wants to be searched; all zero: as ganz does where nobody says otherwise (beam 4, alpha 0.6). */
typedef struct ganz_model_search {
    int beam;       /* 0: not said */
    bool has_alpha; /* alpha is said */
    double alpha;
    bool by_length; /* the penalty is length^alpha, not ((5 + length) / 6)^alpha */
} ganz_model_search;

/* Texts may be NULL; in a file opened they are the model's. */
typedef struct ganz_model_info {
    ganz_config config; /* max_positions: longest input the model takes, in ids with the end mark */
    const char *source_language, *target_language; /* "en", "de" */
    const char *command;                           /* what made it */
    const char *origin, *licence;                  /* of a model of another program */
    const char *formal_mark, *informal_mark;       /* of its vocabulary: it was taught to follow them; or both NULL */
    bool integer;                                  /* weights are codes, by this scheme: */
    ganz_scheme scheme; /* what of it files keep: not ranges and powers of two, which have become numbers */
    int dynamic_bits;   /* of a float model: inputs of dense products are rounded row by row; 0: not */
    ganz_model_search search;
} ganz_model_info;

/* Immutable once open: any number of threads may share it. */
struct ganz_model {
    ganz_model_info info;
    ganz_vocab *vocab;
    ganz_net net; /* its timing table reaches to the longest output of the longest input */
    ganz_backend *be;
    ganz_weights weights; /* in ordinary memory */
    ganz_copies *copies;  /* of the weights on other devices */
};

/* Opens a model from a block, which need not outlive the call; `name` is for messages. */
ganz_status ganz_model_parse(ganz_model **model, const void *data, size_t bytes, const char *name, ganz_error *err);

/* Writes a float model whole or not at all. `block`: the parameters, in ordinary memory. */
ganz_status ganz_model_save(const char *path, const ganz_model_info *info, const ganz_net *net, const ganz_vocab *vocab,
                            const real *block, ganz_error *err);

/* Writes an integer model from weights in state FAKE on any device, by the net's scheme. */
ganz_status ganz_model_save_codes(const char *path, const ganz_model_info *info, const ganz_net *net,
                                  const ganz_vocab *vocab, const ganz_weights *weights, ganz_error *err);

/* ---- the parts, for files that hold a model and more -------------------------------------------- */

/* Metadata and tensors of a float model; its last tensors are of bytes, so what is wider is to be declared before. */
ganz_status ganz_model_declare(ganz_writer *writer, const ganz_model_info *info, const ganz_net *net,
                               const ganz_vocab *vocab, ganz_error *err);
/* Their data, in the same order. */
ganz_status ganz_model_write(ganz_writer *writer, const ganz_net *net, const ganz_vocab *vocab, const real *block,
                             ganz_error *err);

/* The tensors of a vocabulary, of bytes, and its kind; and their data. */
ganz_status ganz_model_declare_vocab(ganz_writer *writer, const ganz_vocab *vocab, ganz_error *err);
ganz_status ganz_model_write_vocab(ganz_writer *writer, const ganz_vocab *vocab, ganz_error *err);

/* Format, version, configuration and texts; scheme: of an integer model, NULL: float weights. */
ganz_status ganz_model_write_info(ganz_writer *writer, const ganz_model_info *info, const ganz_scheme *scheme,
                                  ganz_error *err);
/* Its part about the network (config_file.c). */
ganz_status ganz_model_write_config(ganz_writer *writer, const ganz_config *config, ganz_error *err);
ganz_status ganz_model_read_config(const ganz_container *file, ganz_config *config, ganz_error *err);
ganz_status ganz_model_write_search(ganz_writer *writer, const ganz_model_search *search, ganz_error *err);
ganz_status ganz_model_read_search(const ganz_container *file, ganz_model_search *search, ganz_error *err);
const char *ganz_activation_name(ganz_activation activation);            /* "relu"; not of NONE */
void ganz_attention_bias_names(const ganz_config *config, char text[8]); /* "q o" */

/* Checks format and version, and reads the configuration. The texts live as long as the container. */
ganz_status ganz_model_read_info(const ganz_container *file, ganz_model_info *info, ganz_error *err);
ganz_status ganz_model_read_vocab(const ganz_container *file, const ganz_config *config, ganz_vocab **vocab,
                                  ganz_error *err);
/* Refuses marks of formality that are not two of this vocabulary; `name` is the file's that names them. */
ganz_status ganz_model_check_marks(const char *formal, const char *informal, const ganz_vocab *vocab, const char *name,
                                   ganz_error *err);
/* Whether a file has this vocabulary. */
ganz_status ganz_model_same_vocab(const ganz_container *file, const ganz_config *config, const ganz_vocab *vocab,
                                  bool *same, ganz_error *err);
/* Refuses what is no plain float model: integer models, and those that emulate integers in float (dynamic_bits). */
ganz_status ganz_model_check_float(const ganz_container *file, const ganz_model_info *info, ganz_error *err);
/* Checks that every parameter of a float model is there, in the shape of the net, before memory is asked for. */
ganz_status ganz_model_check_params(const ganz_container *file, const ganz_net *net, ganz_error *err);
/* Copies them into a block in ordinary memory; refuses NaN and infinity. Scales are left as they are. */
ganz_status ganz_model_read_params(const ganz_container *file, const ganz_net *net, real *block, ganz_error *err);

/* The same for integer models: codes within their range, positive scales. Packs the weights as it goes. */
ganz_status ganz_model_check_codes(const ganz_container *file, const ganz_net *net, ganz_error *err);
ganz_status ganz_model_read_codes(const ganz_container *file, const ganz_net *net, ganz_weights *weights,
                                  ganz_error *err);

/* A parameter in a file: its rank, and its dimensions. */
int ganz_model_shape(const ganz_param *param, int64_t dims[2]);
bool ganz_model_all_finite(const void *floats, size_t count);
/* Whether a parameter may have these values: finite ones, or bans. */
bool ganz_model_may_hold(const ganz_param *param, const void *floats);

#endif
