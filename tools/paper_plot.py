#!/usr/bin/env python3
"""Draws what a model learned our way keeps of FP32 with fewer and fewer bits, from the tables of tools/paper.sh.

    tools/paper_plot.py OUT FILE.svg [--least 90]

OUT has means.tsv and pooled.tsv. Learned models are points with the range of their seeds, baselines are lines; what lies below
--least percent is named at the lower edge.
"""
import argparse
import os
import sys
from xml.sax.saxutils import escape

from paper_tables import rows

WIDTHS = [("8", "8 bits"), ("6", "6 bits"), ("w4a8", "4-bit weights,\n8-bit inputs"), ("5", "5 bits"), ("4", "4 bits")]
BASELINES = [("kl by rows", "#1f77b4", "rows-ours-{}", "w4a8-kl-per-row-ours"), ("kl", "#7f7f7f", "kl-ours-{}", None),
             ("max", "#c49c00", "base-max-ours-{}", None)]
FLOAT = "float-ours"
LEARNED = ("learned", "#c0392b", ["ours-joint-{}", "ours-{}"])
LEFT, TOP, WIDE, HIGH = 62, 34, 600, 300


def baselines(pooled):
    """Percents of FP32: by name of the method, then by width."""
    percent = {r["name"]: float(r["percent"]) for r in pooled if r["against"] == FLOAT}
    found = {}
    for name, _, pattern, mixed in BASELINES:
        for width, _ in WIDTHS:
            model = mixed if width == "w4a8" else pattern.format(width)
            if model in percent:
                found.setdefault(name, {})[width] = percent[model]
    return found


def learned(means):
    """(percent, least, most) by width; the first way of LEARNED that was run counts."""
    found = {}
    for r in means:
        if r["against"] != FLOAT:
            continue
        for width, _ in WIDTHS:
            for rank, pattern in enumerate(LEARNED[2]):
                if r["name"] == pattern.format(width) and (width not in found or rank < found[width][0]):
                    mean, percent = float(r["mean"]), float(r["percent"])
                    share = percent / mean if mean > 0 else 0  # a model that says nothing has no range
                    found[width] = (rank, percent, share * float(r["least"]), share * float(r["most"]))
    return {width: v[1:] for width, v in found.items()}


class Plot:
    def __init__(self, least, most):
        self.least, self.most, self.parts = least, most, []

    def x(self, at):
        return LEFT + WIDE * (at + 0.5) / len(WIDTHS)

    def y(self, percent):
        return TOP + HIGH * (self.most - max(percent, self.least)) / (self.most - self.least)

    def text(self, x, y, words, more=""):
        for i, line in enumerate(words.split("\n")):
            self.parts.append(f'<text x="{x:.1f}" y="{y + 15 * i:.1f}" {more}>{escape(line)}</text>')

    def line(self, x1, y1, x2, y2, colour, more=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {more}/>')

    def axes(self):
        for percent in range(int(self.least), int(self.most) + 1):
            strong = percent == 100
            self.line(LEFT, self.y(percent), LEFT + WIDE, self.y(percent), "#555" if strong else "#ddd")
            if percent % 2 == 0:
                self.text(LEFT - 8, self.y(percent) + 4, f"{percent}%", 'text-anchor="end"')
        for at, (_, words) in enumerate(WIDTHS):
            self.text(self.x(at), TOP + HIGH + 20, words, 'text-anchor="middle"')

    def baseline(self, values, colour):
        before = None
        for at, (width, _) in enumerate(WIDTHS):
            if width not in values:
                continue
            x, y, low = self.x(at), self.y(values[width]), values[width] < self.least
            if before:
                self.line(*before, x, y, colour, 'stroke-width="1.5"')
            if low:
                self.text(x, y - 6, f"{values[width]:.1f}%", f'text-anchor="middle" fill="{colour}"')
            else:
                self.parts.append(f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>')
            before = x, y

    def point(self, at, percent, least, most, colour):
        x = self.x(at)
        self.line(x, self.y(least), x, self.y(most), colour, 'stroke-width="2"')
        for end in (least, most):
            self.line(x - 9, self.y(end), x + 9, self.y(end), colour, 'stroke-width="1.5"')
        self.parts.append(f'<circle cx="{x:.1f}" cy="{self.y(percent):.1f}" r="4" fill="{colour}"/>')
        self.text(x + 12, self.y(percent) - 8, f"{percent:.1f}%", f'fill="{colour}"')

    def legend(self, names):
        x = LEFT
        for name, colour in names:
            self.parts.append(f'<rect x="{x}" y="10" width="10" height="10" fill="{colour}"/>')
            self.text(x + 15, 19, name)
            x += 30 + 8 * len(name)

    def svg(self):
        wide, high = LEFT + WIDE + 20, TOP + HIGH + 50
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
                f'font-family="sans-serif" font-size="12">\n<rect width="{wide}" height="{high}" fill="white"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


def main():
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("out")
    about.add_argument("file")
    about.add_argument("--least", type=int, default=90, help="percent at the lower edge")
    o = about.parse_args()
    lines = baselines(rows(os.path.join(o.out, "pooled.tsv")))
    points = learned(rows(os.path.join(o.out, "means.tsv")))
    if not points:
        sys.exit(f"paper_plot.py: {o.out}/means.tsv has no learned models of {FLOAT}")
    plot = Plot(o.least, max(101, int(max(most for _, _, most in points.values())) + 1))
    plot.axes()
    for name, colour, _, _ in BASELINES:
        plot.baseline(lines.get(name, {}), colour)
    for at, (width, _) in enumerate(WIDTHS):
        if width in points:
            plot.point(at, *points[width], LEARNED[1])
    plot.legend([(LEARNED[0], LEARNED[1])] + [(n, c) for n, c, _, _ in BASELINES if n in lines])
    try:
        with open(o.file, "w", encoding="utf-8") as f:
            f.write(plot.svg())
    except OSError as e:
        sys.exit(f"paper_plot.py: cannot write {o.file}: {e.strerror}")


main()
