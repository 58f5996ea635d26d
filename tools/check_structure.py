#!/usr/bin/env python3
"""Compares documents before and after a translation, as other programs' parsers see them.

    tools/check_structure.py build/release/tests/fake_translate FILE-OR-FOLDER...

Each .md file goes through markdown-it-py, each .html file through html5lib (pip install markdown-it-py html5lib).
With the translator "identity" every byte must come back. With "umlauts", which only turns vowels into umlauts, the
structure must be the same: elements, attributes, code; and so must the text, but for the dots. With "reverse" the same
elements must be there, in any order. Exit status 77: a parser is missing.
"""
import collections
import html
import os
import re
import subprocess
import sys
import unicodedata

try:
    import html5lib
    from markdown_it import MarkdownIt
except ImportError as missing:
    print(f"check_structure: {missing}")
    sys.exit(77)

TEXT_ATTRIBUTES = {"alt", "title", "placeholder", "aria-label", "aria-description", "aria-placeholder", "summary",
                   "aria-roledescription", "aria-valuetext", "content", "value", "label", "abbr"}
RAW = {"script", "style", "pre", "code", "kbd", "samp", "var", "tt", "iframe", "noframes", "noembed", "xmp", "svg", "math"}


def fold(text):
    """Text as a reader sees it, without accents and case, and with single spaces; soft hyphens are not seen."""
    plain = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c) and c != "\u00ad")
    return " ".join(plain.casefold().split())


# ---- HTML ----------------------------------------------------------------------------------------------------------

def name_of(node):
    return node.tag.rsplit("}", 1)[-1] if isinstance(node.tag, str) else "#comment"


def attributes_of(node, exact):
    pairs = []
    for key, value in node.attrib.items():
        key = str(key)
        pairs.append((key, value if exact or key not in TEXT_ATTRIBUTES else fold(value)))
    return tuple(sorted(pairs))


def html_events(node, raw=False):
    """The tree as a list: elements with attributes, and the text between them."""
    name = name_of(node)
    if name == "#comment":
        yield ("#comment", node.text)
    else:
        raw = raw or name in RAW or node.attrib.get("translate") == "no"
        yield (name, attributes_of(node, raw))
        if node.text:
            yield ("#text", node.text if raw else fold(node.text))
        for child in node:
            yield from html_events(child, raw)
            if child.tail:
                yield ("#text", child.tail if raw else fold(child.tail))
    yield ("/" + name,)


def html_structure(data):
    if not re.search(rb"<(!doctype|html|head|body|meta|title)", data, re.I):
        data = data.decode("utf-8", "replace")  # a part of a page
    tree = html5lib.parse(data, treebuilder="etree", namespaceHTMLElements=False)
    return [e for e in html_events(tree) if e != ("#text", "")]


# ---- Markdown ------------------------------------------------------------------------------------------------------

def markdown_events(tokens):
    for token in tokens:
        if token.type == "inline":
            yield from markdown_events(token.children or [])
        elif token.type in ("text", "softbreak"):
            yield ("#text", " " if token.type == "softbreak" else token.content)
        elif token.type == "image":
            yield ("image", token.attrs.get("src"), fold("".join(e[1] for e in markdown_events(token.children or []) if e[0] == "#text")))
        elif token.type in ("html_inline", "html_block"):
            yield ("html", "".join(fold(html.unescape(token.content)).split()))
        else:
            exact = token.content if token.type in ("code_inline", "code_block", "fence") else fold(token.content)
            title = token.attrs.get("title")
            yield (token.type, token.attrs.get("href"), title and fold(title), exact)


def join_texts(events):
    text = None
    for event in events:
        if event[0] == "#text":
            text = (text or "") + event[1]
            continue
        if text and fold(text):
            yield ("#text", fold(text))
        text = None
        yield event
    if text and fold(text):
        yield ("#text", fold(text))


def without_front_matter(text):
    return re.sub(r"\A(---|\+\+\+)[ \t]*\n.*?\n(\1|\.\.\.)[ \t]*\n", "", text, flags=re.S)


def markdown_structure(data):
    text = data.decode("utf-8", "replace")
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return list(join_texts(markdown_events(parser.parse(without_front_matter(text)))))


# ---- the comparison ------------------------------------------------------------------------------------------------

FORMATS = {".html": ("html", html_structure), ".htm": ("html", html_structure), ".xhtml": ("html", html_structure),
           ".md": ("markdown", markdown_structure)}


def translate(program, form, translator, path):
    done = subprocess.run([program, form, translator, path], capture_output=True, timeout=300)
    return done.stdout if done.returncode == 0 else None


def first_difference(before, after):
    for i in range(max(len(before), len(after))):
        b = before[i] if i < len(before) else None
        a = after[i] if i < len(after) else None
        if a != b:
            return f"{b!r} became {a!r}"
    return ""


def marks(structure):
    return [e for e in structure if e[0] != "#text"]


def letters(structure):
    """All text without the places of marks: one inside a word goes around it."""
    return "".join("".join(e[1].split()) for e in structure if e[0] == "#text")


def elements(structure):
    """Elements without their text and attributes that are text. Words in reverse order may be such that Markdown has no
    emphasis for them."""
    count = collections.Counter()
    for event in structure:
        if event[0] in ("#text", "image", "html") or re.match("/|em_|strong_|s_", event[0]):
            continue
        if isinstance(event[1], tuple):
            count[event[0], tuple(a for a in event[1] if a[0] not in TEXT_ATTRIBUTES)] += 1
        else:
            count[event[0], event[1]] += 1
    return count


def compare_text(before, after):
    for i, (b, a) in enumerate(zip(before, after)):
        if a != b:
            return f"...{before[max(0, i - 30):i + 30]}... became ...{after[max(0, i - 30):i + 30]}..."
    return "text is missing" if len(before) != len(after) else ""


def check(program, path):
    """What is wrong, or ""; and whether also every mark is at its place."""
    form, structure = FORMATS[os.path.splitext(path)[1].lower()]
    data = open(path, "rb").read()
    if translate(program, form, "identity", path) != data:
        return "bytes do not come back", False
    dotted = translate(program, form, "umlauts", path)
    mixed = translate(program, form, "reverse", path)
    if dotted is None or mixed is None:
        return "cannot be translated", False
    before, after = structure(data), structure(dotted)
    problem = first_difference(marks(before), marks(after)) or compare_text(letters(before), letters(after))
    exact = before == after
    lost, new = elements(before), elements(structure(mixed))
    if not problem and lost != new:
        problem = f"reversed: lost {list((lost - new).items())[:3]}, new {list((new - lost).items())[:3]}"
    return problem[:400], exact


def files(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, _, names in sorted(os.walk(path)):
            for name in sorted(names):
                if os.path.splitext(name)[1].lower() in FORMATS:
                    yield os.path.join(folder, name)


def main():
    program, good, bad, same = sys.argv[1], 0, 0, 0
    for path in files(sys.argv[2:]):
        problem, exact = check(program, path)
        if problem:
            print(f"{path}: {problem}")
        good += not problem
        bad += bool(problem)
        same += exact
    print(f"check_structure: {good} files alike ({same} with every mark at its place), {bad} not")
    sys.exit(1 if bad or not good else 0)


main()
