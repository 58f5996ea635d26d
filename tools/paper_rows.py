#!/usr/bin/env python3
"""Prints tables of tools/paper.sh as those of docs/PAPER.md: a line for each model, or for the mean of its seeds.

    tools/paper_rows.py OUT [--changes] [--tok 13a|t2t] [--uncased] NAME[=WORDS]...

NAME is a model (float-paper, kl-ours-6), one of its seeds (paper-8-s1) or, without a seed, the mean of them (paper-8,
paper-8.phase-3); WORDS stand in its first column. Each line has BLEU of the sets, the pooled one (with the least and the most of
several seeds), its share of FP32 and p against that. With --changes: seeds, pooled, share, and p against the line of the plan
that differs in one thing.
"""
import argparse
import os
import sys

from paper_tables import rows


def p_words(p):
    """As the docs write it: 0.001 is the least that 1,000 resamples show."""
    value = float(p)
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


class Tables:
    def __init__(self, out, tokenizer, case):
        read = {name: rows(os.path.join(out, name + ".tsv")) for name in ("table", "seeds", "pooled", "means")}
        self.sets = []
        self.scores = {}
        for kind, column in (("seeds", "mean"), ("table", "BLEU")):
            for r in read[kind]:
                if (r["tokenizer"], r["case"]) == (tokenizer, case):
                    self.scores.setdefault(r["name"], {})[r["set"]] = float(r[column])
                    if r["set"] not in self.sets:
                        self.sets.append(r["set"])
        self.sets.sort()
        self.pooled = {(r["name"], r["against"]): r for r in read["pooled"]}
        self.means = {(r["name"], r["against"]): r for r in read["means"]}

    def float_of(self, name):
        """Its line against FP32, of a mean or of a model; None where it has none."""
        for table in (self.means, self.pooled):
            for fp32 in ("float-paper", "float-ours"):
                if (name, fp32) in table:
                    return table[name, fp32]
        return None

    def pooled_words(self, line):
        if "BLEU" in line:
            return f"{float(line['BLEU']):.2f}"
        mean = f"{float(line['mean']):.2f}"
        return mean if line["seeds"] == "1" else f"{mean} ({float(line['least']):.2f}, {float(line['most']):.2f})"

    def row(self, name):
        line = self.float_of(name)
        cells = [f"{self.scores[name][s]:.2f}" if s in self.scores[name] else "" for s in self.sets]
        if line is None:
            return cells + ["", "", ""]
        itself = line["name"] == line["against"]
        return cells + [self.pooled_words(line), "" if itself else f"{float(line['percent']):.1f}%",
                        "" if itself or not line["p"] else p_words(line["p"])]

    def change(self, name):
        line = self.float_of(name)
        if line is None:
            return ["", "", "", ""]
        # the line it differs from in one thing is the one rival that has a seed
        other = next((r for (n, against), r in self.means.items() if n == name and against[:-1].endswith("-s")), None)
        words = ""
        if other:
            words = f"{float(other['percent']):.1f}% of {other['against']}, p {p_words(other['p'])}"
        return [line.get("seeds", "1"), self.pooled_words(line), f"{float(line['percent']):.1f}%", words]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out")
    parser.add_argument("names", nargs="+", metavar="NAME[=WORDS]")
    parser.add_argument("--changes", action="store_true")
    parser.add_argument("--tok", default="13a", choices=["13a", "t2t"])
    parser.add_argument("--uncased", action="store_true")
    args = parser.parse_args()
    tables = Tables(args.out, args.tok, "uncased" if args.uncased else "cased")
    pairs = [(n.split("=", 1) + [n])[:2] if "=" in n else (n, n) for n in args.names]
    unknown = [name for name, _ in pairs if name not in tables.scores]
    if unknown:
        sys.exit(f"paper_rows.py: {args.out} has no scores of {unknown[0]}")
    if args.changes:
        head = ["", "seeds", "pooled", "of its FP32", "beside the line it changes"]
    else:
        head = [""] + [s.removeprefix("newstest") for s in tables.sets] + ["pooled", "of FP32", "p"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name, words in pairs:
        print("| " + " | ".join([words] + (tables.change(name) if args.changes else tables.row(name))) + " |")


if __name__ == "__main__":
    main()
