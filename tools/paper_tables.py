"""The tables of tools/paper.sh, for the tools that draw or print them."""
import csv
import os
import sys


def rows(path):
    """Lines of a table as dictionaries, by its heading; ends the program where it cannot be read."""
    try:
        with open(path, encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f, delimiter="\t"))
    except OSError as e:
        sys.exit(f"{os.path.basename(sys.argv[0])}: cannot read {path}: {e.strerror}")
