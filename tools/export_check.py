#!/usr/bin/env python3
"""What transformers or native Marian say of a folder that ganz export has written, beside what ganz says.

    ganz translate -q -m MODEL --beam 1 --alpha 0 --scores TEXT >OURS
    python3 tools/export_check.py hf FOLDER TEXT OURS              MarianTokenizer's files are in the folder
    python3 tools/export_check.py ids FOLDER IDS OURS OUT          our own subwords: IDS by ganz encode; ids said go to OUT
    python3 tools/export_check.py npz FOLDER TEXT OURS

All greedy. Prints how many lines are equal and how far log-probabilities are apart at most (of equal lines). Lines that
ganz cuts into sentences differ. Needs transformers and torch, or pymarian and sentencepiece (PyPI).
"""
import argparse
import sys


def by_transformers(folder, lines, tokenizer):
    import torch
    from transformers import AutoModelForSeq2SeqLM
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    end, pad = model.config.eos_token_id, model.config.pad_token_id
    for line in lines:
        ids = tokenizer(line) if tokenizer else [int(i) for i in line.split()]
        source = torch.tensor([ids if ids[-1] == end else ids + [end]])
        with torch.no_grad():
            out = model.generate(source, num_beams=1, max_length=min(300, model.config.max_position_embeddings))[0].tolist()
            logits = model(input_ids=source, decoder_input_ids=torch.tensor([out[:-1]])).logits[0].double()
        logits[:, pad] = -torch.inf
        logp = torch.log_softmax(logits, -1)
        yield sum(logp[i, t].item() for i, t in enumerate(out[1:])), [t for t in out[1:] if t not in (end, pad)]


def by_marian(folder, lines):
    import sentencepiece
    from pymarian import Translator
    pieces = sentencepiece.SentencePieceProcessor(model_file=folder + "/source.spm")
    translator = Translator(config=folder + "/decoder.yml", cpu_threads=1, beam_size=1, normalize=0, n_best=True, quiet=True,
                            quiet_translation=True, mini_batch=8)
    for said in translator.translate([" ".join(pieces.encode(line, out_type=str)) for line in lines]):
        _, text, _, score = said.split("\n")[0].split("|||")
        yield float(score), "".join(text.split()).replace("\u2581", " ").strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("hf", "ids", "npz"))
    parser.add_argument("folder")
    parser.add_argument("text", help="of ids: IDS")
    parser.add_argument("ours")
    parser.add_argument("out", nargs="?", help="of ids alone")
    options = parser.parse_args()
    if (options.kind == "ids") != (options.out is not None):
        parser.error("ids needs OUT, and the others have none")
    try:
        compare(options.kind, options.folder, options.text, options.ours, options.out)
    except ImportError as missing:
        sys.exit(f"export_check: {missing}")


def compare(kind, folder, text, told, ids_out):
    lines = [line.strip() for line in open(text)]
    ours = [line.rstrip("\n").split("\t", 1) for line in open(told)]
    if kind == "npz": said = list(by_marian(folder, lines))
    elif kind == "ids":
        said = list(by_transformers(folder, lines, None))
        with open(ids_out, "w") as out:
            for _, ids in said: print(*ids, file=out)
        gap = max(abs(float(o[0]) - s) for o, (s, _) in zip(ours, said))
        return print(f"log-probabilities at most {gap:.2g} apart, if ganz decode {ids_out} says the same")
    else:
        from transformers import AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained(folder)
        said = [(score, tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))
                for score, ids in by_transformers(folder, lines, lambda line: tokenizer(line)["input_ids"])]
    equal = [abs(float(o[0]) - s) for o, (s, text) in zip(ours, said) if o[1] == text]
    print(f"{len(equal)} of {len(said)} lines equal, log-probabilities at most {max(equal, default=0):.2g} apart")


main()
