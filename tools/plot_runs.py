#!/usr/bin/env python3
"""One picture of several runs: a column of their log.tsv against another, as SVG.

    tools/plot_runs.py out.svg base/log.tsv big/log.tsv
    tools/plot_runs.py --y loss --x tokens --smooth 20 out.svg run*/log.tsv
    tools/plot_runs.py --y valid_bleu --x seconds --list base/log.tsv     (numbers instead of a picture)

Columns: step epoch tokens seconds rate loss accuracy tokens/s valid_loss valid_accuracy valid_bleu phase. Lines that
lack either number are left out. Needs nothing but Python.
"""
import argparse
import csv
import html
import math
import os
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 520, 80, 20, 30, 60
COLORS = ["#1f5fa8", "#d1550a", "#2a8a3e", "#8e3a9d", "#b08800", "#00808a", "#c2185b", "#555555"]


def read(path, x, y, smooth):
    """Points of one run; y becomes the mean of the last `smooth` values."""
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
    except (OSError, UnicodeDecodeError) as err:
        raise SystemExit(f"plot_runs: cannot read {path}: {err}")
    if rows and (x not in rows[0] or y not in rows[0]):
        raise SystemExit(f"plot_runs: {path} has no column {x if x not in rows[0] else y}")
    points = [(float(row[x]), float(row[y])) for row in rows if row[x] and row[y]]
    last = []
    for i, (place, value) in enumerate(points):
        last = (last + [value])[-smooth:]
        points[i] = (place, sum(last) / len(last))
    return points


def ticks(low, high):
    """About six round numbers from low to high."""
    raw = (high - low) / 6 or 1
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= raw)
    first = math.ceil(low / step)
    return [i * step for i in range(first, math.floor(high / step) + 1)]


def draw(runs, x, y):
    every = [p for _, points in runs for p in points]
    low_x, high_x = min(p[0] for p in every), max(p[0] for p in every)
    low_y, high_y = min(p[1] for p in every), max(p[1] for p in every)
    if high_x == low_x:
        high_x += 1
    room = (high_y - low_y) * 0.05 or 0.5
    low_y, high_y = low_y - room, high_y + room
    top = TOP + 18 * len(runs)  # their names stand above, where no line can run through them

    def at(p):
        return (LEFT + (p[0] - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - (p[1] - low_y) / (high_y - low_y) * (HEIGHT - top - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for value in ticks(low_x, high_x):
        place = at((value, low_y))[0]
        out.append(f'<path d="M{place:.1f} {top}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>'
                   f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:g}</text>')
    for value in ticks(low_y, high_y):
        place = at((low_x, value))[1]
        out.append(f'<path d="M{LEFT} {place:.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>'
                   f'<text x="{LEFT - 8}" y="{place + 4:.1f}" text-anchor="end">{value:g}</text>')
    out.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{html.escape(x)}</text>'
               f'<text x="{LEFT}" y="{top - 10}">{html.escape(y)}</text>')
    for i, (name, points) in enumerate(runs):
        color = COLORS[i % len(COLORS)]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in map(at, points))
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
                   f'<text x="{WIDTH - RIGHT - 6}" y="{20 + 18 * i}" text-anchor="end" fill="{color}">{html.escape(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--x", default="step")
    parser.add_argument("--y", default="valid_bleu")
    parser.add_argument("--smooth", type=int, default=1, metavar="N", help="mean of the last N values")
    parser.add_argument("--list", action="store_true", help="print the points; then all names are logs")
    parser.add_argument("names", nargs="+", metavar="OUT.svg LOG...")
    args = parser.parse_args()
    logs = args.names if args.list else args.names[1:]
    if not logs:
        parser.error("no logs")
    if not args.list and not args.names[0].endswith(".svg"):
        parser.error(f"the first name is that of the picture and ends in .svg, not {args.names[0]}")
    runs = []
    for path in logs:
        points = read(path, args.x, args.y, max(1, args.smooth))
        if not points:
            print(f"plot_runs: {path} has no {args.y} yet", file=sys.stderr)
            continue
        runs.append((os.path.dirname(path) or path, points))
    if args.list:
        for name, points in runs:
            for place, value in points:
                print(f"{name}\t{place:g}\t{value:g}")
    elif runs:
        with open(args.names[0], "w") as file:
            file.write(draw(runs, args.x, args.y))
    return 0 if runs else 1


if __name__ == "__main__":
    raise SystemExit(main())
