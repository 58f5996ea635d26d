# Every source file of the library, by room and in the order of the rooms (docs/ARCHITECTURE.md), relative to src/. The
# library, its parts and the tests that build some of its files take them from here.
set(GANZ_BASE
  base/alloc.c base/arena.c base/error.c base/file.c base/lines.c base/output.c base/replace.c
  base/rng.c base/surroundings.c base/thread.c base/utf8.c)
set(GANZ_TEXT
  text/bleu.c text/bootstrap.c text/case.c text/chrf.c text/codepoints.c text/detect.c text/ngram.c
  text/matcher.c text/profiles_latin.c text/profiles_other.c text/score.c text/piece_list.c
  text/pieces.c text/spm_merge.c text/spm_normalize.c text/spm_read.c text/spm_unigram.c text/subwords.c
  text/tokenizer.c text/trie.c text/unicode.c text/vocab.c text/words.c)
set(GANZ_TEXT_LEARN # learning a vocabulary
  text/counts.c text/learn.c text/sample.c text/suffixes.c)
set(GANZ_DOCUMENT
  document/attempt.c document/casing.c document/check.c document/clock.c document/clock_english.c
  document/clock_german.c document/code.c document/document.c document/flow.c document/format.c
  document/format_text.c document/glossary.c document/half.c document/guard.c document/guard_address.c document/guard_code.c
  document/guard_holder.c document/guard_sign.c document/guard_street.c document/inflect.c document/language.c
  document/letter.c document/mail.c document/minus.c
  document/money.c document/number.c document/place.c document/raised.c document/results.c document/row.c document/segment.c
  document/sentences.c document/skeleton.c document/slip.c document/span.c document/suffix.c document/tags.c document/tokens.c document/short.c
  document/write.c)
list(APPEND GANZ_DOCUMENT # HTML
  document/format_html.c document/html_attributes.c document/html_element.c document/html_entity.c
  document/html_read.c document/html_row.c document/html_scan.c document/html_text.c document/html_tree.c)
list(APPEND GANZ_DOCUMENT # Markdown
  document/format_markdown.c document/markdown_block.c document/markdown_emphasis.c document/markdown_escape.c
  document/markdown_html.c document/markdown_inline.c document/markdown_line.c document/markdown_link.c
  document/markdown_word.c)
list(APPEND GANZ_DOCUMENT # archives and XML, and the formats made of them
  document/format_epub.c document/format_odf.c document/format_ooxml.c document/format_xliff.c document/ooxml_glue.c
  document/ooxml_paragraph.c document/ooxml_raised.c document/ooxml_survey.c document/package.c document/xhtml.c
  document/xml.c
  document/xml_inline.c document/xml_tree.c document/zip_read.c document/zip_write.c)
list(APPEND GANZ_DOCUMENT # messages of programs, and subtitles
  document/format_json.c document/format_po.c document/format_properties.c document/format_subtitles.c
  document/message.c document/po_write.c document/subtitles.c)
set(GANZ_KERNEL_COMMON
  kernel/bf16_scalar.c kernel/i8_gemm.c kernel/i8_pack.c kernel/i8_scalar.c kernel/i8_unpack.c kernel/kernel.c kernel/rows_scalar.c)
set(GANZ_KERNEL_X86
  kernel/bf16_amx.c kernel/i8_amx.c kernel/i8_avx2.c kernel/i8_avx512_vnni.c kernel/i8_avx_vnni.c
  kernel/rows_avx2.c kernel/rows_avx512.c)
set(GANZ_KERNEL_NEON kernel/i8_dot_neon.c kernel/i8_i8mm_neon.c kernel/i8_neon.c kernel/rows_neon.c)
set(GANZ_BACKEND
  backend/cpu_activation.c backend/cpu_attention.c backend/cpu_attention_grad.c backend/cpu_backend.c
  backend/cpu_blas.c backend/cpu_gemm.c backend/cpu_linear.c backend/cpu_loss.c backend/cpu_optim.c backend/cpu_quantize.c
  backend/cpu_recurrence.c backend/cpu_rows.c backend/device.c)
set(GANZ_BACKEND_FLOAT # integers beside float rows: not part of the library in double
  backend/cpu_codes.c backend/cpu_codes_attention.c backend/cpu_topk.c)
set(GANZ_BACKEND_CUDA
  backend/cuda_attention.cu backend/cuda_attention_plain.cu backend/cuda_attention_tensor.cu
  backend/cuda_attention_tensor_grad.cu backend/cuda_backend.cu backend/cuda_finish.cu backend/cuda_linear.cu
  backend/cuda_loss.cu backend/cuda_optim.cu backend/cuda_quantize.cu backend/cuda_rows.cu)
set(GANZ_BACKEND_CUDA_EXACT # the CPU's bits: compiled without contraction
  backend/cuda_codes.cu backend/cuda_codes_attention.cu backend/cuda_codes_learn.cu
  backend/cuda_codes_linear.cu backend/cuda_topk.cu)
set(GANZ_BACKEND_CUDA_HOPPER # the same, with instructions of sm_90a alone
  backend/cuda_codes_wide.cu)
set(GANZ_BACKEND_NO_CUDA # stands in for it
  backend/cuda_none.c)
set(GANZ_NN
  nn/audit.c nn/config.c nn/freeze.c nn/instrument.c nn/keys.c nn/measure.c nn/net.c nn/net_build.c nn/op_attention.c
  nn/op_linear.c nn/op_recurrence.c nn/op_rows.c nn/op_site.c nn/pack_weights.c nn/param.c nn/scheme.c nn/tape.c nn/timing.c nn/trim.c
  nn/weights.c)
set(GANZ_MODEL
  model/config_file.c model/copies.c model/container_read.c model/container_write.c model/integer_file.c
  model/json.c model/model.c)
set(GANZ_TRANSLATE
  translate/address.c translate/align.c translate/bench.c translate/cache.c translate/calibrate.c translate/columns.c
  translate/decode.c translate/decode_candidates.c translate/documents.c translate/draw.c translate/fit.c
  translate/forced.c translate/front.c translate/histogram.c translate/inspect.c translate/origin.c
  translate/random_model.c translate/repeats.c translate/round_weights.c translate/search.c translate/service.c
  translate/service_queue.c translate/service_run.c translate/service_worker.c translate/split.c
  translate/translator.c translate/translator_links.c)
set(GANZ_BULK
  bulk/join.c bulk/part.c bulk/proof.c)
set(GANZ_RANKS
  ranks/mpi_load.c ranks/nccl.c ranks/ranks.c ranks/sockets.c)
set(GANZ_TRAIN
  train/augment.c train/average.c train/batch.c train/bench.c train/chart.c train/checkpoint.c train/corpus_read.c
  train/corpus_write.c train/folder.c train/formality.c train/history.c train/log.c train/operands.c train/optim.c train/own_text.c train/budget.c train/widths.c train/phases.c
  train/plan.c train/prepare.c train/recipe.c train/recipe_file.c train/report.c train/run.c train/seen.c
  train/shape.c train/stepper.c train/trainer.c train/trainer_open.c train/trainer_result.c train/tree.c train/tutor.c train/upload.c
  train/validate.c)
list(APPEND GANZ_TRAIN # many processes
  train/crew.c train/exchange.c)
set(GANZ_IMPORT # models of other programs
  import/build.c import/bundle.c import/ctranslate2.c import/draft.c import/family_ctranslate2.c import/family_fairseq.c
  import/family_huggingface.c import/family_marian.c import/family_tensor2tensor.c import/files.c import/import.c import/marian.c import/naming.c
  import/npz.c import/options.c import/pickle.c import/safetensors.c import/tensors.c import/torch.c import/words.c)
set(GANZ_EXPORT # models, and records of their products, for other programs
  export/arrays.c export/ctranslate2.c export/folder.c export/golden.c export/huggingface.c export/marian.c export/npy.c
  export/npz.c export/onnx.c export/onnx_write.c export/outline.c export/weights.c)
