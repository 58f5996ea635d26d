/* The formats in which other programs keep tensors. Each reader checks the whole of a block before anything of it is
 * used and adds what it finds to a list; the block outlives the list. `name` is for messages. */
#ifndef GANZ_IMPORT_FORMATS_H
#define GANZ_IMPORT_FORMATS_H

#include "import/files.h"
#include "import/options.h"
#include "import/tensors.h"

/* safetensors of Hugging Face. */
ganz_status ganz_read_safetensors(ganz_tensors *tensors, const void *data, size_t bytes, const char *name,
                                  ganz_error *err);
/* model.bin of CTranslate2, versions 1 to 6. Aliases become tensors of their own over the same data. */
typedef struct ganz_ct2_file {
    int version, revision;
    char spec[64]; /* "TransformerSpec"; empty in version 1 */
} ganz_ct2_file;
ganz_status ganz_read_ctranslate2(ganz_tensors *tensors, ganz_ct2_file *file, const void *data, size_t bytes,
                                  const char *name, ganz_error *err);
/* What torch.save writes, as a zip archive or in the older form. options NULL: a plain dictionary of tensors, and any
 * class but those of tensors is refused. Else it is a checkpoint of a training program: what is no tensor becomes
 * options, classes are passed over, and nothing is ever called. */
ganz_status ganz_read_torch(ganz_tensors *tensors, ganz_options *options, const void *data, size_t bytes,
                            const char *name, ganz_error *err);
/* A zip archive of numpy arrays. */
ganz_status ganz_read_npz(ganz_tensors *tensors, const void *data, size_t bytes, const char *name, ganz_error *err);
/* Marian's own .bin, and that of the forks of Bergamot and Firefox with integer codes. Matrices of codes are given as
 * they are stored, (out, in). */
ganz_status ganz_read_marian(ganz_tensors *tensors, const void *data, size_t bytes, const char *name, ganz_error *err);
/* A checkpoint of TensorFlow: its index, and the files of data that it speaks of. Checksums of tensors are compared. */
enum { GANZ_BUNDLE_SHARDS = 64 }; /* most */
typedef struct ganz_bundle {
    ganz_bytes index;
    const ganz_bytes *shard; /* (shards) */
    int shards;
} ganz_bundle;
ganz_status ganz_read_bundle(ganz_tensors *tensors, const ganz_bundle *bundle, const char *name, ganz_error *err);

#endif
