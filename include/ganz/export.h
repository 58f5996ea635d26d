/* What other programs read: records of products for those who build hardware or kernels of their own, the network as
 * ONNX, models as folders of others. A folder is made unless it is there; with something in it, it is GANZ_EINVAL. */
#ifndef GANZ_EXPORT_H
#define GANZ_EXPORT_H

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ganz_golden_options {
    int lines;   /* of the text, at most; 0: 4 */
    int beam;    /* of the search for the translations; 0: as the model wants */
    int threads; /* 0: 1; the numbers do not depend on it */
} ganz_golden_options;

typedef struct ganz_golden_report {
    int lines;         /* recorded */
    long long runs;    /* products, both of an attention counted as one */
    long long skipped; /* runs of products in float, of which nothing is written */
    long long bytes;   /* of all files */
} ganz_golden_report;

/* Translates the first lines of a text ("-": standard input) and writes every integer product of the network to a
 * folder: operands, steps, sums and results as .npy files, and index.json, which names them and is written last.
 * docs/GOLDEN.md describes the files. The products are those of one pass over each line and its translation; a search
 * computes the same rows one by one. GANZ_EUNSUPPORTED for a float model. options and report may be NULL. */
GANZ_API ganz_status ganz_export_golden(const ganz_model *model, const char *text, const char *folder,
                                        const ganz_golden_options *options, ganz_golden_report *report,
                                        ganz_error *err);

/* Writes FOLDER/encoder.onnx (source ids to memory) and FOLDER/decoder.onnx (memory and target ids, the start first, to
 * logits), each whole or not at all. Every product of an integer model has its operands rounded by
 * QuantizeLinear and DequantizeLinear with the model's steps. docs/GOLDEN.md has more. GANZ_EUNSUPPORTED for recurrent
 * decoders and for float models that round row by row. */
GANZ_API ganz_status ganz_export_onnx(const ganz_model *model, const char *folder, ganz_error *err);

/* Writes the model as a folder of CTranslate2: model.bin, config.json, vocabularies and SentencePiece
 * models. Padding is left out, as CTranslate2 has none; weights of integer models stay codes, with a scale for each
 * row, while inputs and attention are rounded, or not, as CTranslate2 does it. GANZ_EUNSUPPORTED for recurrent
 * decoders, for float models that round row by row, and where the decoder begins with a vector that is no entry. */
GANZ_API ganz_status ganz_export_ctranslate2(const ganz_model *model, const char *folder, ganz_error *err);

/* Writes the model, in float, as a folder of Hugging Face: config.json, model.safetensors, and
 * vocab.json, SentencePiece models and tokenizer_config.json for MarianTokenizer. Networks with norms after sublayers
 * become MarianMTModel, those with norms before them PegasusForConditionalGeneration; both add 1e-5 to variances,
 * whatever the model does. GANZ_EUNSUPPORTED for recurrent decoders, for float models that round row by row, and for
 * norms before sublayers with a table for each side. */
GANZ_API ganz_status ganz_export_huggingface(const ganz_model *model, const char *folder, ganz_error *err);

/* Writes the model, in float, as a folder of Marian: model.npz, vocabularies, SentencePiece models,
 * decoder.yml. GANZ_EUNSUPPORTED for our own subwords, a target space, a start vector, gelu by the error function, and
 * float models that round row by row. */
GANZ_API ganz_status ganz_export_npz(const ganz_model *model, const char *folder, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
