#!/usr/bin/env python3
"""Scores translations of everyday sentences: a translation is right if it is one of the forms the list accepts.

    tools/everyday.py --sentences >everyday.en
    ganz translate everyday.en >everyday.de
    tools/everyday.py everyday.de [--wrong]
    tools/everyday.py --absent recipes/phrasebook-en-de.tsv    # is none of them training text?

The list (tests/data/everyday.tsv; --list tests/data/everyday-de.tsv is that of German sentences) has a kind, a sentence and
accepted forms; its head says how forms are written.
Blanks and quotation marks are made alike first, and the mark that ends a sentence counts only where it is a question
mark.
"""
import argparse
import os
import re
import sys

LIST = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "everyday.tsv")
# A blank: nothing beside another one, at an end or before a comma, as when an option is missing.
BLANK = r"(?: |(?<= )|^|$|(?=[,?]))"
MARKS = {"(": "(?:", ")": ")", "[": "(?:", "]": ")?", "/": "|"}


def pattern(form):
    """The regular expression of one form; ValueError if its brackets do not match."""
    out, open_marks, literal = [], [], False
    for c in form:
        if literal or c not in "([/])\\":
            out.append(BLANK if c == " " else re.escape(c))
            literal = False
        elif c == "\\":
            literal = True
        else:
            if c in "([":
                open_marks.append(c)
            elif c in ")]" and (not open_marks or open_marks.pop() + c not in ("()", "[]")):
                raise ValueError("brackets do not match")
            elif c == "/" and not open_marks:
                raise ValueError("a choice outside of brackets")
            out.append(MARKS[c])
    if open_marks or literal:
        raise ValueError("a bracket is not closed")
    return "".join(out)


def alike(text):
    """The text without what does not count: kinds of blanks and quotation marks, and marks at its end."""
    text = re.sub(r"\s+", " ", text.strip())
    text = re.sub("[„“”]", '"', re.sub("[’‘]", "'", text))
    return re.sub(r"(?<=[^\s.!])\s*[.!]+$", "", text)


def forms_of(accepted):
    forms = []
    for form in accepted.split(" | "):
        form = re.sub(r"(?<=[^\s.!\\])[.!]+$", "", form.strip())
        forms.append(pattern(form))
    return re.compile("(?:%s)" % "|".join(forms))


def read_list(path):
    rows = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                continue
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 3 or not all(fields):
                sys.exit("%s:%d: not a kind, a sentence and forms" % (path, number))
            try:
                rows.append((fields[0], fields[1], forms_of(fields[2])))
            except ValueError as why:
                sys.exit("%s:%d: %s" % (path, number, why))
    return rows


def is_right(forms, translation):
    return bool(forms.fullmatch(alike(translation)))


def report(rows, answers, wrong):
    kinds = {}
    for (kind, sentence, forms), answer in zip(rows, answers):
        good = is_right(forms, answer)
        counts = kinds.setdefault(kind, [0, 0])
        counts[0] += good
        counts[1] += 1
        if wrong and not good:
            print("%s\t%s\t%s" % (kind, sentence, answer))
    for kind, (good, count) in kinds.items():
        print("%-10s %3d of %3d  %5.1f%%" % (kind, good, count, 100 * good / count))
    good = sum(counts[0] for counts in kinds.values())
    print("%-10s %3d of %3d  %5.1f%%" % ("all", good, len(rows), 100 * good / len(rows)))


def words(text):
    """The words of a text, so that case and punctuation do not hide a sentence."""
    return re.findall(r"\w+", re.sub("['’‘`]", "", text.lower()))


def pairs_of(rows, path, side):
    """Each pair of a file, whole, and whether its column SIDE is a sentence of the list, or has one of three words and more."""
    sentences = [words(row[1]) for row in rows]
    known = {" ".join(s) for s in sentences}
    longer = [" %s " % " ".join(s) for s in sentences if len(s) > 2]
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 2 or not all(f and f == " ".join(f.split()) for f in fields):
                sys.exit("%s:%d: not a source and its translation" % (path, number))
            text = " ".join(words(fields[side - 1]))
            yield line, text in known or any(s in " %s " % text for s in longer)


def absent(rows, path, side):
    """The number of pairs, if no one has a sentence of the list."""
    pairs = 0
    for pairs, (line, has_one) in enumerate(pairs_of(rows, path, side), 1):
        if has_one:
            sys.exit("%s:%d: has a sentence of the list: %s" % (path, pairs, line.split("\t")[side - 1].strip()))
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("translations", nargs="?", help="one line for each sentence of the list")
    parser.add_argument("--list", default=LIST, help="another list")
    parser.add_argument("--sentences", action="store_true", help="print the sentences instead")
    parser.add_argument("--wrong", action="store_true", help="show what is not right")
    parser.add_argument("--absent", metavar="PAIRS", help="fail if one of these pairs is a sentence of the list or has one in it")
    parser.add_argument("--without", metavar="PAIRS", help="print those of these pairs that are none and have none")
    parser.add_argument("--side", type=int, choices=(1, 2), default=1, help="the column of PAIRS that is compared")
    options = parser.parse_args()
    rows = read_list(options.list)
    if options.absent:
        print("%d pairs, none with a sentence of the list" % absent(rows, options.absent, options.side))
        return
    if options.without:
        sys.stdout.writelines(line for line, has_one in pairs_of(rows, options.without, options.side) if not has_one)
        return
    if options.sentences:
        for row in rows:
            print(row[1])
        return
    if not options.translations:
        parser.error("which translations?")
    with open(options.translations, encoding="utf-8") as lines:
        answers = lines.read().split("\n")[:-1]
    if len(answers) != len(rows):
        sys.exit("%s has %d lines, the list %d" % (options.translations, len(answers), len(rows)))
    report(rows, answers, options.wrong)


if __name__ == "__main__":
    try:
        main()
    except (OSError, UnicodeDecodeError) as why:
        sys.exit("everyday.py: %s" % why)
